// The page in Chromium: what it shows is what the command line prints, and nothing that goes wrong takes it down.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, constants } from "node:zlib";
import { COMMAND, DIST, ROOT, launch, open, recordings, serve, settled, skip, until } from "./server.mjs";

const SESSIONS = ["scenarios/recorded/claude-code-session.jsonl", "tests/data/recorded/pi-session.jsonl", "tests/data/recorded/codex-rollout.jsonl"];
/** What a server sends, compressed. */
const MOST = { wasm: 2_400_000, page: 2_680_000 };

let server, browser, folder;

/** What the command line says of the folder. */
const printed = (...args) => JSON.parse(execFileSync(COMMAND, ["run", "--format", "json", ...args, folder], { encoding: "utf8", maxBuffer: 1 << 30 }));
const usd = (report, policy) => report.totals[0].policies.find((it) => it.policy === policy).totals.cost_usd.total;
const shown = (page) => page.locator("#hero").getAttribute("data-usd").then(Number);
const answers = (page) => page.evaluate(() => Number(document.body.dataset.answers ?? 0));

/** Waits until the big number is of a policy, and of all sessions: an answer that was asked for earlier may still be on its way. */
const isOf = (page, name) => until(page, (name) => document.querySelector("#hero").dataset.of === name && document.querySelector("#hero").dataset.part === "false", name);

/** Puts a slider where a hand would. */
async function slide(page, path, value) {
  const policy = await page.locator("#policy").inputValue();
  await page.evaluate(({ path, value }) => {
    const input = document.querySelector(`[data-path="${path}"]`);
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, { path, value });
  await isOf(page, `${policy} ${path}=${value}`);
}

async function choose(page, name) {
  await page.locator("#policy").fill(name);
  await page.locator("#policy").press("Enter");
  await page.locator("#policy").blur();
  await isOf(page, name);
}

async function loaded(options) {
  const page = await open(browser, server.url, options);
  await page.locator("#folder").setInputFiles(folder);
  await settled(page);
  return page;
}

before(async () => {
  if (skip) return;
  folder = join(mkdtempSync(join(tmpdir(), "ctxsim-page-")), "sessions");
  mkdirSync(join(folder, "one"), { recursive: true });
  mkdirSync(join(folder, "two"));
  SESSIONS.forEach((it, at) => copyFileSync(join(ROOT, it), join(folder, at % 2 ? "one" : "two", basename(it))));
  copyFileSync(join(ROOT, SESSIONS[0]), join(folder, "two", "zz-copy.jsonl"));
  copyFileSync(join(ROOT, "tests/data/broken/negative_usage.jsonl"), join(folder, "negative.jsonl"));
  writeFileSync(join(folder, "notes.json"), '{"hello": 1}');
  writeFileSync(join(folder, "ignored.txt"), "nothing");
  [server, browser] = [await serve(), await launch()];
});

after(async () => {
  await browser?.close();
  server?.close();
  if (folder) rmSync(join(folder, ".."), { recursive: true });
});

test("a folder in, a policy chosen, a slider moved: the numbers are the command line's, and nothing is asked of the server", { skip }, async () => {
  const page = await loaded();
  server.asked.length = 0;
  const usual = printed();
  const rows = await page.locator("#lines tbody tr").count();
  assert.equal(rows, usual.totals[0].policies.length);
  assert.deepEqual((await page.locator("#session option").allTextContents()).map((it) => it.split(",")[0]).sort(), usual.sessions.map((it) => it.name).sort());
  assert.equal(await shown(page), usd(usual, await page.locator("#policy").inputValue()));

  await choose(page, "agents/claude_code/auto_compact");
  assert.equal(await shown(page), usd(printed("--policy", "identity", "--policy", "agents/claude_code/auto_compact"), "agents/claude_code/auto_compact"));

  await choose(page, "clear_tool_results");
  const args = ["--policy", "identity", "--policy", "clear_tool_results"];
  for (const value of [60_000, 20_000]) {
    await slide(page, "params.trigger.tokens", value);
    const report = printed(...args, "--set", `params.trigger.tokens=${value}`);
    assert.equal(await shown(page), usd(report, "clear_tool_results"));
    const { evidence_kept, prompt_tokens_max, cache_hit_ratio } = report.totals[0].policies[1].totals;
    const figures = await page.locator("#figures-list .now").allTextContents();
    assert.deepEqual(figures.slice(1), [`${(100 * evidence_kept).toFixed(1)}%`, prompt_tokens_max.toLocaleString("en-US"), `${(100 * cache_hit_ratio).toFixed(1)}%`]);
  }
  const command = await page.locator("#command").textContent();
  assert.equal(command, "ctxsim run --policy identity --policy clear_tool_results --set params.trigger.tokens=20000 sessions");

  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#save-json").click()]);
  assert.deepEqual(JSON.parse(readFileSync(await file.path(), "utf8")).totals, printed(...args, "--set", "params.trigger.tokens=20000").totals);
  const [report] = await Promise.all([page.waitForEvent("download"), page.locator("#save-page").click()]);
  assert.match(readFileSync(await report.path(), "utf8"), /^<!DOCTYPE html>[\s\S]*clear_tool_results/i);
  assert.deepEqual(server.asked, [], "nothing is asked once there is an answer");
  assert.deepEqual(page.problems, []);
});

test("a policy's file that is saved costs what the sliders showed", { skip }, async () => {
  const page = await loaded();
  await choose(page, "clear_tool_results");
  await slide(page, "params.trigger.tokens", 30_000);
  const seen = await shown(page);
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#save-policy").click()]);
  const path = join(folder, "..", file.suggestedFilename());
  await file.saveAs(path);
  assert.equal(usd(printed("--policy", "identity", "--policy", path), "clear_tool_results_mine"), seen);
});

test("a broken session is listed with its reason, and a copy counts once", { skip }, async () => {
  const page = await loaded();
  const listed = await page.locator("#broken li").allTextContents();
  const skipped = printed().skipped;
  assert.equal(listed.length, skipped.length);
  for (const { file, reason } of skipped) {
    const line = listed.find((it) => it.includes(basename(file)));
    assert.ok(line, `${file} is listed`);
    assert.ok(reason.startsWith("the same") ? line.includes(reason) : line.length > file.length - folder.length + 10, line);
  }
  assert.ok(listed.some((it) => /negative\.jsonl.*line \d+/.test(it)), listed.join("\n"));
});

test("a text that is no policy shows its line, and a right one is played", { skip }, async () => {
  const page = await loaded();
  await choose(page, "truncate_oldest");
  await page.locator("#edit summary").click();
  await until(page, () => document.querySelector("#text").value.includes("truncate_oldest"));
  const text = await page.locator("#text").inputValue();
  const line = text.split("\n").findIndex((it) => it.includes("scope:")) + 1;
  await page.locator("#text").fill(text.replace("scope:", "scpoe:"));
  await until(page, () => document.querySelector("#problems [data-line]"));
  assert.equal(await page.locator("#problems li").first().getAttribute("data-line"), String(line));
  assert.match(await page.locator("#problems li").first().textContent(), new RegExp(`line ${line}.*scope`));
  assert.equal(await page.locator("#gutter .at").textContent(), `${line}\n`);

  await page.locator("#text").fill(text.replace('"truncate_oldest"', '"mine"'));
  await isOf(page, "mine");
  assert.equal(await shown(page), usd(printed("--policy", "identity", "--policy", "truncate_oldest"), "truncate_oldest"));
});

test("a function is played, and one that throws, panics or never ends leaves the page alive", { skip }, async () => {
  const page = await loaded();
  await page.locator("#program summary").click();
  const play = async (text) => {
    await page.locator("#own").fill(text);
    await page.locator("#play").click();
  };
  const ended = () => until(page, () => document.querySelector("#stop").hidden && document.querySelector("#own-said").textContent, null, 90_000);
  await play("export default () => (cx, history) => history;");
  assert.equal(await ended(), "Played.");
  assert.equal(await page.locator("#hero").textContent(), "0.0%", "to keep everything is what there was");
  await choose(page, "truncate_oldest");
  const had = await shown(page);
  server.asked.length = 0;

  await play("export default () => () => { throw new Error('no such thing'); };");
  assert.match(await ended(), /failed: .*no such thing/);
  await play("export default () => (;");
  assert.match(await ended(), /failed: .*SyntaxError|failed: Unexpected token/);
  // More parts than the module has memory for make it abort.
  await play("export default () => (cx, history) => new Array(1 << 26).fill(history[0].id);");
  assert.match(await ended(), /failed: .*(panicked|unreachable|memory|overflow)/);
  await play("export default () => () => { for (;;); };");
  await until(page, () => document.querySelector("#own-said").textContent.startsWith("Playing"));
  await page.locator("#stop").click();
  assert.match(await ended(), /it was stopped/);
  await play("export default () => (cx, history) => history;");
  assert.equal(await ended(), "Played.");

  await choose(page, "truncate_oldest");
  assert.equal(await shown(page), had);
  assert.ok(server.asked.every((it) => it === "/below/worker.js"), `workers have their code, and nothing else is asked: ${server.asked}`);
});

test("a session is shown request by request, and a request is explained in the command line's words", { skip }, async () => {
  const page = await loaded();
  await choose(page, "clear_tool_results_at_40k_min_5k");
  await page.locator("#session").selectOption("claude-code-session");
  await until(page, () => document.querySelectorAll("#requests tbody tr").length === 69 && document.querySelector("#one-said").textContent.includes("at_40k"));
  assert.ok(Number(await page.locator("#trace").getAttribute("data-breaks")) > 0);
  await page.locator("#requests tbody tr").nth(8).locator("button").nth(1).click();
  await until(page, () => !document.querySelector("#explained").hidden);
  const told = await page.locator("#explained-text").textContent();
  const words = execFileSync(COMMAND, ["explain", "--policy", "clear_tool_results_at_40k_min_5k", "--request", "9", "--width", "100", join(folder, "two/claude-code-session.jsonl")], { encoding: "utf8" });
  const [one, other] = [told, words].map((it) => it.replace(/\s+/g, " ").slice(0, 1000));
  assert.equal(one, other);
});

test("advice is the command line's", { skip }, async () => {
  const page = await loaded();
  await page.locator("#advise").click();
  await until(page, () => document.querySelector("#advice-text pre"));
  const words = execFileSync(COMMAND, ["advise", folder, "--width", "100"], { encoding: "utf8" });
  const told = await page.locator("#advice-text pre").textContent();
  // The page knows the project from the log alone, and these logs name none; what is left out stands elsewhere on it.
  const known = (it) => it.replace(/\s+/g, " ").replace(/ in 1 project/g, "").replace(/(No projects are known|With 1 project)[^.]*\./g, "").replace(/(no project is known|they are of one project), so/g, "so").replace(/\d+ skipped:.*\)\. /, "");
  assert.equal(known(told), known(words));
  assert.ok((await page.locator(".advice-head").count()) > 0);
});

test("what fills the prompts and what missed the cache are the command line's, session by session", { skip }, async () => {
  const page = await loaded();
  const filled = printed("--policy", "identity").sessions.map((it) => it.filled).filter(Boolean);
  const fills = new Map();
  for (const it of filled.flatMap((it) => it.by_tool)) fills.set(it.what, (fills.get(it.what) ?? 0) + it.tokens);
  const rows = await page.locator("#fill-lines tbody tr").evaluateAll((all) => all.map((it) => [it.cells[0].textContent, Number(it.cells[1].textContent.replaceAll(",", ""))]));
  assert.ok(rows.length > 5);
  assert.deepEqual(new Map(rows), fills);
  const missed = await page.locator("#miss-lines tbody tr").evaluateAll((all) => all.map((it) => Number(it.cells[1].textContent)));
  assert.equal(missed.reduce((sum, it) => sum + it, 0), filled.flatMap((it) => it.missed).length);
});

test("the bundled session is there for whoever has none, and sessions that are all broken say so", { skip }, async () => {
  const page = await open(browser, server.url);
  server.asked.length = 0;
  await page.locator("#try").click();
  await settled(page);
  assert.equal(await page.locator("#session option").count(), 1);
  assert.deepEqual(server.asked, []);
  const readme = JSON.parse(execFileSync(COMMAND, ["run", "--format", "json", "recorded/claude-code"], { encoding: "utf8", maxBuffer: 1 << 30 }));
  const policy = await page.locator("#policy").inputValue();
  assert.equal(await shown(page), readme.runs.find((it) => it.policy === policy).totals.cost_usd.total, "the numbers of the README");
  await page.locator("#some").setInputFiles([join(folder, "negative.jsonl")]);
  await until(page, () => document.querySelector("#status").textContent.startsWith("No session is left"));
  assert.match(await page.locator("#broken").textContent(), /negative\.jsonl/);
});

test("files that are dropped are read", { skip }, async () => {
  const page = await open(browser, server.url);
  const text = readFileSync(join(ROOT, SESSIONS[0]), "utf8");
  await page.evaluate((text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], "dropped.jsonl"));
    document.querySelector("#drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, text);
  await settled(page);
  assert.match(await page.locator("#session option").textContent(), /^dropped, 69 requests/);
});

test("axe finds nothing, in light and dark, wide and narrow, and nothing is wider than the screen", { skip }, async () => {
  const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  for (const [width, colorScheme] of [[1200, "light"], [1200, "dark"], [400, "light"], [400, "dark"]]) {
    const page = await loaded({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
    await choose(page, "clear_tool_results");
    for (const it of ["#edit", "#program"]) await page.locator(`${it} summary`).click();
    await slide(page, "params.trigger.tokens", 50_000);
    await until(page, () => document.querySelectorAll("#requests tbody tr").length > 3);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document));
    assert.deepEqual(violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.target).join(" ")}`), [], `${width} ${colorScheme}`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    await page.context().close();
  }
});

test("everything can be reached and used with the keyboard alone", { skip }, async () => {
  const page = await loaded();
  await page.locator("#skip, .skip").first().focus();
  const reached = new Set();
  for (let at = 0; at < 60; at++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.closest("[id]")?.id));
  }
  for (const id of ["folder", "some", "try", "policy", "chart", "lines"]) assert.ok(reached.has(id), `${id} is reached: ${[...reached]}`);
  const before = await answers(page);
  await page.locator("#chart a").last().focus();
  await page.keyboard.press("Enter");
  await until(page, (before) => Number(document.body.dataset.answers) > before, before);
});

test("the page is as small as it may be", { skip }, () => {
  const packed = (name) => brotliCompressSync(readFileSync(join(DIST, name)), { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } }).length;
  const sizes = Object.fromEntries(readdirSync(DIST).map((it) => [it, packed(it)]));
  const all = Object.values(sizes).reduce((sum, it) => sum + it, 0);
  console.log(JSON.stringify({ ...sizes, all }));
  assert.ok(sizes["ctxsim_bg.wasm"] <= MOST.wasm, `${sizes["ctxsim_bg.wasm"]} bytes of WebAssembly`);
  assert.ok(all <= MOST.page, `${all} bytes in all`);
  assert.ok(recordings(DIST).length <= 1);
});
