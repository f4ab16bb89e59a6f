// Sessions, policies as functions, and what is said of mistakes.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PROFILE, ROOT, SESSION, SESSIONS, benchOf, ctxsim, printed } from "./shared.mjs";

const run = (json, policy) => JSON.parse(json).runs.find((it) => it.policy === policy);
const under = (...policies) => ({ policies, profiles: [PROFILE] });

test("a function that keeps everything costs what identity costs", () => {
  const bench = benchOf([SESSION]);
  bench.code("entries", () => (cx, history) => history);
  bench.code("numbers", () => (cx, history) => history.map((it) => it.id));
  const json = bench.compare({ ...under("identity", "entries", "numbers"), playTwice: true });
  for (const policy of ["entries", "numbers"]) {
    assert.deepEqual(run(json, policy).totals, run(json, "identity").totals);
  }
});

test("a function sees the history and rewrites it", () => {
  const bench = benchOf([SESSION]);
  const seen = [];
  bench.code("clears", (trace) => {
    seen.push(trace);
    return (cx, history) => {
      assert.ok(cx.promptTokens > 0 && cx.newFrom <= history.length && history.every((it, at) => at === 0 || it.id > history[at - 1].id));
      const results = history.filter((it) => it.kind === "tool_result").slice(0, -3);
      const old = new Set(results.map((it) => it.id));
      return history.map((it) => (old.has(it.id) ? { rewrite: it.id, text: "[cleared]" } : it));
    };
  });
  const json = bench.compare(under("identity", "clears"));
  assert.equal(seen[0].requests, 69);
  assert.ok(run(json, "clears").totals.prompt_tokens_max < run(json, "identity").totals.prompt_tokens_max);
  assert.ok(run(json, "clears").totals.recovery.expected_calls > 0);
});

test("a function that throws ends its run and no other, with its words and its line", () => {
  const bench = benchOf([SESSION]);
  bench.code("broken", () => (cx, history) => {
    if (cx.request === 3) throw new TypeError("no such thing");
    return history;
  });
  bench.code("promises", () => async (cx, history) => history);
  bench.code("nothing", () => undefined);
  bench.code("strange", () => () => [{ rewrite: 1, insert: "user", text: "both" }]);
  const report = JSON.parse(bench.compare(under("identity", "broken", "promises", "nothing", "strange")));
  const failed = Object.fromEntries(report.failures.map((it) => [it.policy, it.reason]));
  assert.match(failed.broken, /TypeError: no such thing \(at .*bench\.test\.mjs:\d+/);
  assert.match(failed.promises, /not with a promise/);
  assert.match(failed.nothing, /return `view\(cx, history\)`/);
  assert.match(failed.strange, /either `rewrite` or `insert`/);
  assert.deepEqual(report.runs.map((it) => it.policy), ["identity"]);
});

test("a policy may be a text", () => {
  const ron = readFileSync(join(ROOT, "policies/truncate_oldest.ron"), "utf8").replace('"truncate_oldest"', '"mine"');
  const json = benchOf([SESSION]).compare(under("truncate_oldest", { ron }));
  assert.deepEqual(JSON.parse(json).runs.map((it) => it.policy), ["truncate_oldest", "mine"]);
  assert.deepEqual(run(json, "mine").totals, run(json, "truncate_oldest").totals);
});

test("bundled inputs are listed and shown, and a text is diagnosed at its line", () => {
  assert.ok(ctxsim.names("policies").includes("identity") && ctxsim.names("profiles").includes(PROFILE));
  assert.throws(() => ctxsim.names("cakes"), { name: "CtxsimError", message: /policies, scenarios/ });
  const text = ctxsim.policyText("truncate_oldest");
  assert.equal(text, readFileSync(join(ROOT, "policies/truncate_oldest.ron"), "utf8"));
  assert.match(ctxsim.profileText(PROFILE), /sources/);
  for (const name of ctxsim.names("policies")) {
    const format = existsSync(join(ROOT, `policies/${name}.ron`)) ? "ron" : "toml";
    assert.deepEqual(ctxsim.diagnose(ctxsim.policyText(name), format).filter((it) => !it.isWarning), [], name);
  }
  const [problem] = ctxsim.diagnose(text.replace("scope:", "scpoe:"), "ron");
  assert.equal(problem.line, text.split("\n").findIndex((it) => it.includes("scope:")) + 1);
  assert.match(problem.help, /scope/);
  const [rule] = ctxsim.diagnose('(name: "x", about: "X.", sources: ["me"], stages: [(name: "a", when: prompt(above: ratio(1.5)), apply: hide)])', "ron");
  assert.equal(rule.line, 1);
});

test("every mistake is thrown at once, with its problems", () => {
  const bench = benchOf([SESSION]);
  assert.throws(() => bench.compare({ policies: ["identitty"], profiles: ["nope"] }), (error) => error.problems.length === 2 && /identity/.test(error.message));
  assert.throws(() => bench.compare({ polices: ["identity"] }), { message: /unknown field `polices`/ });
  assert.throws(() => bench.add("mine", new TextEncoder().encode("nothing")), (error) => error.problems[0].file === "mine");
  assert.throws(() => bench.code("mine", 3), { name: "CtxsimError" });
  assert.deepEqual(bench.names, ["claude-code-session"], "what could not be read is not there");
});

test("requests, explanations and advice are those of the command line", () => {
  const bench = benchOf([SESSION]);
  const [had, cut] = bench.requests("claude-code-session", under("identity", "truncate_oldest"));
  const report = bench.compare(under("identity", "truncate_oldest"));
  assert.equal(cut.rows.length, 69);
  assert.equal(Math.max(...cut.rows.map((it) => it.prompt)), run(report, "truncate_oldest").totals.prompt_tokens_max);
  assert.ok(had.rows.every((it) => it.first_changed === null) && cut.rows.some((it) => it.first_changed !== null));
  assert.deepEqual(cut.rows.map((it) => it.pair), had.rows.map((it) => it.pair), "each request has its partner");
  const total = (rows) => rows.reduce((sum, it) => sum + BigInt(Math.round(it.total_usd * 1e12)), 0n);
  assert.equal(total(cut.rows), BigInt(Math.round(run(report, "truncate_oldest").totals.cost_usd.total * 1e12)), "rows add up to the total");
  const { json, text } = bench.explain("claude-code-session", 9, under("truncate_oldest"));
  const explained = JSON.parse(printed("explain", "--policy", "truncate_oldest", "--profile", PROFILE, "--request", "9", "--format", "json", SESSION));
  assert.deepEqual(JSON.parse(json).cache, explained.cache);
  assert.match(text, /^Request 9 of 69/);
  assert.throws(() => bench.explain("nobody", 9, under("identity")), { message: /no session `nobody`/ });
  const advice = JSON.parse(bench.advise().json);
  assert.deepEqual(advice.agents[0].tried, JSON.parse(printed("advise", "--format", "json", SESSION)).agents[0].tried);
  assert.throws(() => bench.advise({ agent: "nobody" }), { message: /nobody/ });
});

test("the first screen is the command line's, what a request's parts cost adds up, and prompts hold what is sent", () => {
  const bench = benchOf(SESSIONS);
  const found = bench.screen();
  const [told, known] = [JSON.parse(found.screen), JSON.parse(printed("screen", "--format", "json", ...SESSIONS))];
  for (const part of ["predicted", "bill", "month", "by_day", "certainty"]) assert.deepEqual(told[part], known[part], part);
  assert.deepEqual(told.levers.map((it) => [it.title, it.word, it.saved_month]), known.levers.map((it) => [it.title, it.word, it.saved_month]));
  assert.equal(JSON.parse(found.advice).agents[0].agent, known.read.agents[0].agent);
  assert.deepEqual(ctxsim.pasteOf("Claude Code", ["autoCompactWindow=100000"]).map((it) => JSON.parse(it.text)), [{ autoCompactWindow: 100_000 }]);
  assert.deepEqual(ctxsim.pasteOf("nobody", ["key=1"]), []);

  const options = under("identity", "truncate_oldest");
  const rows = bench.requests("claude-code-session", options);
  for (const row of rows.flatMap((it) => it.rows)) assert.ok(Math.abs(row.parts_usd.reduce((sum, it) => sum + it, 0) - row.usd) < 1e-9);
  bench.holds("claude-code-session", options).forEach(({ policy, held }, nth) => {
    assert.equal(policy, rows[nth].policy);
    const main = rows[nth].rows.filter((it) => it.role === "main");
    assert.deepEqual(held.map((it) => Object.values(it).reduce((sum, one) => sum + one, 0)), main.map((it) => it.prompt));
  });
});

test("files of a folder are named and ordered, and policies tell their numbers", () => {
  assert.deepEqual(ctxsim.layOut(["p/two/a.jsonl", "p/one/a.jsonl"]), [{ path: "p/one/a.jsonl", name: "one/a" }, { path: "p/two/a.jsonl", name: "two/a" }]);
  assert.ok(ctxsim.policies().some((it) => it.name === "identity" && it.about));
  const { numbers } = ctxsim.policy("clear_tool_results");
  assert.equal(numbers.find((it) => it.path === "params.trigger.tokens").value, 100000);
  const ron = '(name: "mine", about: "X.", base: "clear_tool_results", params: { "trigger": tokens(5) })';
  assert.equal(ctxsim.policy("", ron).numbers.find((it) => it.path === "params.trigger.tokens").value, 5);
  const bench = benchOf(SESSIONS);
  assert.equal(JSON.parse(bench.compare({ ...under("identity"), sessions: [1, 2] })).runs.length, 1);
});

test("progress is told, and stops", () => {
  const bench = benchOf(SESSIONS);
  const told = [];
  bench.compare(under("identity"), (done, all) => void told.push([done, all]));
  assert.deepEqual(told.at(-1), [3, 3]);
  assert.throws(() => bench.compare(under("identity"), () => false), (error) => error.problems[0].code === "run-stopped");
  assert.throws(() => bench.compare(under("identity"), () => { throw new Error("mine"); }), { message: "mine" });
});

test("a page is whole", () => {
  const page = benchOf([SESSION]).page(under("identity", "truncate_oldest"));
  assert.match(page, /^<!DOCTYPE html>/i);
  assert.match(page, /truncate_oldest/);
});
