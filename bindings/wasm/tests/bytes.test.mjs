// The bytes are those of the command line.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, SESSIONS, benchOf, ctxsim, filesBelow, printed } from "./shared.mjs";

test("every bundled suite gives the bytes that every platform gives", () => {
  const list = readFileSync(join(ROOT, "tests/data/digests.txt"), "utf8").trim().split("\n").map((it) => it.split("  "));
  assert.deepEqual(list.map(([, suite]) => suite), ctxsim.names("suites"));
  for (const [digest, suite] of list) {
    const json = new ctxsim.Bench().compare({ suite });
    assert.equal(createHash("sha256").update(json).digest("hex"), digest, suite);
  }
});

test("sessions from bytes give the bytes of the command line", () => {
  const expected = printed("run", "--format", "json", ...SESSIONS);
  assert.equal(benchOf(SESSIONS).compare(), expected);
});

test("the session that the README and the page show has the same bytes, and the same requests", () => {
  const name = "recorded/claude-code";
  const bundled = { scenarios: [name], ownModels: true };
  const bench = new ctxsim.Bench();
  const json = bench.compare({ ...bundled, skipUnusable: true });
  assert.equal(json, printed("run", "--format", "json", name));
  const [first] = bench.requests(name, { ...bundled, policies: ["identity"] });
  const usd = JSON.parse(json).runs.find((it) => it.policy === "identity").totals.cost_usd.base;
  assert.ok(Math.abs(first.rows.reduce((sum, it) => sum + it.usd, 0) - usd) < 1e-9);
  assert.throws(() => bench.requests("recorded/claude-code", {}), /there is no session/);
});

test("the shared sessions give the bytes of the command line", { skip: !process.env.CTXSIM_REFERENCE && "CTXSIM_REFERENCE names no folder" }, () => {
  const below = filesBelow(join(process.env.CTXSIM_REFERENCE, "recorded"));
  const paths = below.filter((it) => /\/recorded\/claude-code[^/]*\/.*\.jsonl$/.test(it));
  assert.ok(paths.length >= 23, `${paths.length} sessions`);
  const expected = printed("run", "--format", "json", ...paths);
  const names = [...new Set(JSON.parse(expected).runs.map((it) => it.scenario))];
  const bench = new ctxsim.Bench();
  paths.forEach((path, at) => bench.add(names[at], readFileSync(path)));
  assert.equal(bench.compare(), expected);
});

test("options are those of the command line", () => {
  const options = { policies: ["identity", "truncate_oldest"], profiles: ["anthropic/claude-opus-4.5"], set: { "*.params.budget": "tokens(40k)" }, minEvidence: 0.5 };
  const args = ["--policy", "identity", "--policy", "truncate_oldest", "--profile", "anthropic/claude-opus-4.5", "--set", "*.params.budget=tokens(40k)", "--min-evidence", "0.5"];
  assert.equal(benchOf(SESSIONS).compare(options), printed("run", "--format", "json", ...args, ...SESSIONS));
});
