// The page in Chromium: what it shows is what the command line prints, and nothing that goes wrong takes it down.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, constants } from "node:zlib";
import { COMMAND, DIST, ROOT, launch, open, recordings, serve, settled, skip, until } from "./server.mjs";

const SESSIONS = ["scenarios/recorded/claude-code-session.jsonl", "tests/data/recorded/pi-session.jsonl", "tests/data/recorded/codex-rollout.jsonl"];
/** What a server sends, compressed. */
const MOST = { wasm: 2_680_000, page: 2_980_000 };

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

/** Asserts that axe finds nothing. */
async function clean(page, where) {
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  assert.deepEqual(violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.target).join(" ")}`), [], where);
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
  const usual = printed("--suite", "default");
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
  await page.locator("#no-text").uncheck();
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
  const skipped = printed("--suite", "default").skipped;
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
  assert.equal(await ended(), "Simulated.");
  assert.match(await page.locator("#hero").textContent(), /^Costs the same: /, "to keep everything is what there was");
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
  await until(page, () => document.querySelector("#own-said").textContent.startsWith("Simulating"));
  await page.locator("#stop").click();
  assert.match(await ended(), /it was stopped/);
  await play("export default () => (cx, history) => history;");
  assert.equal(await ended(), "Simulated.");

  await choose(page, "truncate_oldest");
  assert.equal(await shown(page), had);
  assert.ok(server.asked.every((it) => it === "/below/worker.js"), `workers have their code, and nothing else is asked: ${server.asked}`);
});

test("a session is shown request by request, and a request is explained in the command line's words", { skip }, async () => {
  const page = await loaded();
  await choose(page, "clear_tool_results_at_40k_min_5k");
  await page.locator("#session").selectOption("claude-code-session");
  await until(page, () => document.querySelectorAll("#requests tbody tr").length === 69 && document.querySelector("#one-said").textContent.includes("early, if it pays"));
  assert.ok(Number(await page.locator("#bands-at").getAttribute("data-breaks")) > 0);
  await page.locator("#table-fold summary").click();
  await page.locator("#requests tbody tr").nth(8).locator("button").nth(1).click();
  await until(page, () => !document.querySelector("#explained").hidden);
  const told = await page.locator("#explained-text").textContent();
  const words = execFileSync(COMMAND, ["explain", "--policy", "clear_tool_results_at_40k_min_5k", "--request", "9", "--width", "100", join(folder, "two/claude-code-session.jsonl")], { encoding: "utf8" });
  const [one, other] = [told, words].map((it) => it.replace(/\s+/g, " ").slice(0, 1000));
  assert.equal(one, other);
});

test("the cards are the command line's first screen: the line, what to do, and parts that add up", { skip }, async () => {
  const page = await loaded();
  await until(page, () => "screen" in document.body.dataset, null, 60_000);
  const screen = JSON.parse(execFileSync(COMMAND, ["screen", "--format", "json", folder], { encoding: "utf8" }));
  const { sessions } = screen.read;
  const { exact, requests } = screen.predicted;
  const line = await page.locator("#line").textContent();
  assert.ok(line.startsWith(`${sessions} sessions · $${screen.month.usd.toFixed(2)} `), line);
  assert.ok(line.endsWith(`${((100 * exact) / requests).toFixed(1)}% of ${requests} requests predicted to the token`), line);
  const titles = await page.locator(".lever-head strong").allTextContents();
  assert.deepEqual(titles, screen.levers.map((it) => it.title));
  const parts = await page.locator("#where-parts tr").evaluateAll((all) => all.map((it) => [it.cells[0].textContent, Number(it.cells[1].textContent.replace(/[$,]/g, ""))]));
  assert.deepEqual(parts.map((it) => it[0]), screen.month.parts.filter((it) => it.usd > 0).map((it) => it.about));
  assert.equal(parts.reduce((sum, it) => sum + Math.round(100 * it[1]), 0), Math.round(100 * screen.month.usd), "cents add up");
  // The command line draws the same dollars and shares.
  const drawn = execFileSync(COMMAND, ["screen", folder], { encoding: "utf8" });
  const rows = await page.locator("#where-parts tr").evaluateAll((all) => all.map((it) => [...it.cells].map((cell) => cell.textContent)));
  for (const [about, dollars, part] of rows) assert.match(drawn, new RegExp(`${about.replace(/[()]/g, "\\$&")} +\\${dollars} +${part}`));
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

test("the demo has run on load, with the command line's numbers, and the page explores what is chosen in it", { skip }, async () => {
  const page = await open(browser, server.url);
  await until(page, () => "demo" in document.body.dataset);
  server.asked.length = 0;
  const said = await page.locator(".demo-row").evaluateAll((all) => all.map((it) => ({ policy: it.dataset.policy, usd: Number(it.querySelector("[data-usd]").dataset.usd), isChosen: it.ariaPressed })));
  assert.deepEqual(said.map((it) => [it.policy, it.isChosen]), [["identity", "false"], ["sliding_window", "false"], ["clear_tool_results", "true"]]);
  const run = (...args) => JSON.parse(execFileSync(COMMAND, ["run", "--format", "json", ...args, "recorded/claude-code"], { encoding: "utf8", maxBuffer: 1 << 30 })).runs.map((it) => it.totals.cost_usd.total);
  assert.deepEqual(said.slice(0, 2).map((it) => it.usd), run("--policy", "identity", "--policy", "sliding_window"));
  const trigger = (await page.locator(".demo-row").nth(2).locator("strong").textContent()).match(/[\d,]+/)[0].replace(",", "");
  const args = ["--policy", "identity", "--policy", "clear_tool_results"];
  assert.equal(said[2].usd, run(...args, "--set", `params.trigger.tokens=${trigger}`)[1]);
  for (const other of [-5000, -1000, 1000, 5000]) assert.ok(said[2].usd <= run(...args, "--set", `params.trigger.tokens=${Number(trigger) + other}`)[1], "no trigger beside it is cheaper");

  const alt = await page.locator('meta[property="og:image:alt"]').getAttribute("content");
  for (const { usd } of said) assert.ok(alt.includes(`$${usd.toFixed(2)}`), `npm run card, and what it shows in words: ${usd}`);

  await page.locator("#try").click();
  await settled(page);
  assert.equal(await shown(page), said[2].usd);
  assert.equal(await page.locator("#session option").count(), 1);
  assert.deepEqual(server.asked, []);
  assert.match(await page.locator("#hero").textContent(), /^Saves [\d.]+%: \$[\d.]+ instead of \$4\.64$/);
  assert.equal(await page.locator("#hero strong").getAttribute("class"), "saves");
  await choose(page, "sliding_window");
  assert.match(await page.locator("#hero").textContent(), /^Costs [\d.]+×: /);
  assert.equal(await page.locator("#hero strong").getAttribute("class"), "costs");
});

test("claims of trust are held by the documents and by the command line", { skip }, () => {
  const page = readFileSync(join(DIST, "index.html"), "utf8");
  const claim = (name) => page.match(new RegExp(`id="claim-${name}">([^<]*)<`))[1];
  const [percent, requests] = claim("exact").split(" of ");
  const row = readFileSync(join(ROOT, "docs/explanation/trust.md"), "utf8").split("\n").find((it) => it.startsWith("| Does it reproduce a bill"));
  assert.ok(row.includes(`Claude Code: ${percent} of requests to the token`) && row.includes(`${requests} requests`), row);
  assert.match(execFileSync(COMMAND, ["list", "formats"], { encoding: "utf8" }), new RegExp(`^formats \\(${claim("formats")}\\)`));
  // A test of the documents holds this number.
  assert.match(execFileSync(COMMAND, ["list", "profiles"], { encoding: "utf8" }), new RegExp(`^profiles \\(${claim("profiles")}\\)`));
  for (const [, link] of page.matchAll(/href="([a-z]+\.txt)"/g)) assert.ok(readFileSync(join(DIST, link)).length > 100, link);
});

test("a file that cannot be read says so under the button, and opens nothing", { skip }, async () => {
  const page = await open(browser, server.url);
  await page.locator("#some").setInputFiles([join(folder, "negative.jsonl")]);
  await until(page, () => document.querySelector("#start-said").textContent);
  assert.match(await page.locator("#start-broken").textContent(), /negative\.jsonl.*line \d+/);
  assert.equal(await page.locator("#results").isVisible(), false);
  const [said, button] = await Promise.all(["#start-said", "#folder"].map((it) => page.locator(it).boundingBox()));
  assert.ok(said.y - button.y < 120, "right under the button");
  await page.locator("#some").setInputFiles([join(folder, "two/claude-code-session.jsonl")]);
  await settled(page);
  assert.equal(await page.locator("#start-said").textContent(), "");
  await page.locator("#some").setInputFiles([join(folder, "notes.json")]);
  await until(page, () => document.querySelector("#start-said").textContent);
  assert.equal(await page.locator("#results").isVisible(), false, "what was there before is not taken for it");
});

test("an address holds the setting, its numbers and its base, and no text of a session", { skip }, async () => {
  const page = await loaded();
  await choose(page, "clear_tool_results");
  await slide(page, "params.trigger.tokens", 45_000);
  await page.locator("#base").selectOption("truncate_oldest");
  await until(page, () => location.hash.includes("base="));
  const hash = await page.evaluate(() => location.hash);
  assert.equal(hash, "#policy=clear_tool_results&base=truncate_oldest&params.trigger.tokens=45000");
  const other = await open(browser, server.url + hash);
  await isOf(other, "clear_tool_results params.trigger.tokens=45000");
  assert.equal(await other.locator("#base").inputValue(), "truncate_oldest");
  await other.locator("#folder").setInputFiles(folder);
  await until(other, () => document.querySelector("#session").options.length > 1);
  await isOf(other, "clear_tool_results params.trigger.tokens=45000");
  assert.equal(await other.locator("#hero").textContent(), await page.locator("#hero").textContent(), "on the reader's own sessions, too");
});

test("policies are grouped, the ceiling stands apart, and an unknown name is told where it was typed", { skip }, async () => {
  const page = await loaded();
  await page.locator("#policy").click();
  const groups = await page.locator("#policies .group").allTextContents();
  assert.equal(groups[0], "Usual");
  assert.ok(groups.includes("Agent: Claude Code") && groups.includes("Provider: Anthropic") && groups.includes("Family: DuckAgent"), groups.join());
  const ceiling = page.locator("#policies [role=group]").filter({ has: page.locator(".group", { hasText: "Ceiling: " }) });
  assert.deepEqual(await ceiling.locator("code").allTextContents(), ["clairvoyant", "hindsight"]);
  await page.locator("#policy").fill("claude code near");
  await page.locator("#policy").press("ArrowDown");
  await page.locator("#policy").press("Enter");
  await isOf(page, "agents/claude_code/auto_compact");
  await page.locator("#policy").fill("no_such_policy");
  await page.locator("#policy").press("Enter");
  assert.match(await page.locator("#policy-said").textContent(), /Unknown policy “no_such_policy”/);
  const [said, input] = await Promise.all(["#policy-said", "#policy"].map((it) => page.locator(it).boundingBox()));
  assert.ok(Math.abs(said.y - input.y) < 80);
});

test("a better point that the page knows is offered, and a slider that does nothing is grey", { skip }, async () => {
  const page = await open(browser, server.url);
  await page.locator("#try").click();
  await settled(page);
  await slide(page, "params.trigger.tokens", 60_000);
  await until(page, () => !document.querySelector("#best").hidden);
  assert.match(await page.locator("#best").textContent(), /Best found: trigger [\d,]+ → −[\d.]+%, keeps [\d.]+%/);
  const before = await shown(page);
  await page.locator("#use-best").click();
  await until(page, (before) => Number(document.querySelector("#hero").dataset.usd) < before, before);
  await slide(page, "params.trigger.tokens", 110_000);
  await until(page, () => document.querySelector('[data-path="params.clear_at_least.tokens"]').closest(".inert"));
});

test("charts are saved as SVG and PNG with a title and a caption", { skip }, async () => {
  const page = await loaded();
  await until(page, () => document.querySelector("#bands-at svg") && document.querySelector("#held-at svg"));
  for (const id of ["bands", "water", "held"]) {
    const [svg] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id} .save button`).first().click()]);
    const text = readFileSync(await svg.path(), "utf8");
    assert.match(text, /^<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.match(text, /class="title"[\s\S]*Simulated by ctxsim/);
    const [png] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id} .save button`).nth(1).click()]);
    assert.equal(readFileSync(await png.path()).subarray(1, 4).toString(), "PNG");
  }
  assert.deepEqual(page.problems, []);
});

test("the folder that was read last is read again by one click", { skip }, async () => {
  const context = await browser.newContext();
  // A folder of the browser's own stands for one that a reader would choose in a dialog.
  await context.addInitScript(() => (globalThis.showDirectoryPicker = () => navigator.storage.getDirectory().then((it) => it.getDirectoryHandle("mine", { create: true }))));
  const page = await open(browser, server.url, {}, context);
  assert.equal(await page.locator("#again").isVisible(), false);
  await page.evaluate(async (text) => {
    const below = await (await (await navigator.storage.getDirectory()).getDirectoryHandle("mine", { create: true })).getDirectoryHandle("below", { create: true });
    const to = await (await below.getFileHandle("kept.jsonl", { create: true })).createWritable();
    await to.write(text);
    await to.close();
  }, readFileSync(join(ROOT, SESSIONS[0]), "utf8"));
  await page.locator("#folder").click();
  await settled(page);
  const before = await shown(page);
  await page.reload();
  await until(page, () => "ready" in document.body.dataset && !document.querySelector("#again").hidden);
  assert.equal(await page.locator("#again").textContent(), "Read “mine” again");
  await page.locator("#again").click();
  await settled(page);
  assert.equal(await shown(page), before);
  assert.match(await page.locator("#command").textContent(), / mine$/);
});

test("a theme is chosen, and kept", { skip }, async () => {
  const page = await open(browser, server.url, { colorScheme: "light" });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.locator("#theme").selectOption("dark");
  const dark = await paper();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await paper(), dark);
  await page.locator("#theme").selectOption("system");
  assert.equal(await paper(), light);
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
    const page = await open(browser, server.url, { viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
    await until(page, () => "demo" in document.body.dataset);
    await page.evaluate(axe);
    await clean(page, `${width} ${colorScheme}, first screen`);
    await page.locator("#folder").setInputFiles(folder);
    await settled(page);
    await until(page, () => "screen" in document.body.dataset, null, 60_000);
    await choose(page, "clear_tool_results");
    for (const it of ["#edit", "#program", "#table-fold"]) await page.locator(`${it} summary`).click();
    await slide(page, "params.trigger.tokens", 50_000);
    await until(page, () => document.querySelectorAll("#requests tbody tr").length > 3);
    await page.evaluate(axe);
    await clean(page, `${width} ${colorScheme}`);
    await page.locator("#policy").click();
    await clean(page, `${width} ${colorScheme}, choosing`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    await page.context().close();
  }
});

test("everything can be reached and used with the keyboard alone, and a setting is copied within twelve tabs of the start", { skip }, async () => {
  const page = await open(browser, server.url, { permissions: ["clipboard-read", "clipboard-write"] });
  await until(page, () => "demo" in document.body.dataset);
  let tabs = 0;
  const to = async (test) => {
    for (; tabs <= 12; ) {
      await page.keyboard.press("Tab");
      tabs++;
      if (await page.evaluate(test)) return;
    }
    assert.fail(`not within ${tabs} tabs`);
  };
  await to(() => document.activeElement.id === "try");
  await page.keyboard.press("Enter");
  await until(page, () => "screen" in document.body.dataset, null, 60_000);
  await to(() => "copy" in document.activeElement.dataset);
  await page.keyboard.press("Enter");
  await until(page, () => /Copied/.test(document.querySelector("#do").textContent));
  console.log(`${tabs} tabs from the start to a copied setting`);
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /autoCompactWindow|promptCacheTtl/);
  const reached = new Set();
  for (let at = 0; at < 60; at++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.closest("[id]")?.id));
  }
  for (const id of ["policy", "base", "session", "lines", "chart"]) assert.ok(reached.has(id), `${id} is reached: ${[...reached]}`);
  const before = await answers(page);
  await page.locator("#chart a").last().focus();
  await page.keyboard.press("Enter");
  await until(page, (before) => Number(document.body.dataset.answers) > before, before);
});

test("many sessions stand on a page of at most 8,000 pixels, and an answer comes from some of them first", { skip }, async () => {
  const many = mkdtempSync(join(tmpdir(), "ctxsim-many-"));
  const text = readFileSync(join(ROOT, SESSIONS[0]), "utf8");
  for (let nth = 0; nth < 30; nth++) writeFileSync(join(many, `${nth}.jsonl`), text.replaceAll(/"(uuid|parentUuid)":"([^"]*)"/g, `"$1":"$2-${nth}"`));
  const page = await open(browser, server.url, { viewport: { width: 1440, height: 900 } });
  await page.locator("#folder").setInputFiles(many);
  await settled(page);
  await until(page, () => document.querySelectorAll("#session-lines tbody tr").length === 30);
  const high = await page.evaluate(() => document.documentElement.scrollHeight);
  console.log(`${high} pixels high with 30 sessions at 1440`);
  assert.ok(high <= 8000, `${high} pixels`);
  await page.locator("#filter").fill("29");
  await until(page, () => document.querySelectorAll("#session-lines tbody tr").length === 1);
  rmSync(many, { recursive: true });
});

test("the page is as small as it may be", { skip }, () => {
  const packed = (name) => brotliCompressSync(readFileSync(join(DIST, name)), { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } }).length;
  const sizes = Object.fromEntries(readdirSync(DIST).filter((it) => !/\.(br|gz)$/.test(it)).map((it) => [it, readdirSync(DIST).includes(`${it}.br`) ? statSync(join(DIST, `${it}.br`)).size : packed(it)]));
  const all = Object.values(sizes).reduce((sum, it) => sum + it, 0);
  console.log(JSON.stringify({ ...sizes, all }));
  assert.ok(sizes["ctxsim_bg.wasm"] <= MOST.wasm, `${sizes["ctxsim_bg.wasm"]} bytes of WebAssembly`);
  assert.ok(all <= MOST.page, `${all} bytes in all`);
  assert.ok(recordings(DIST).length <= 1);
});

test("what is packed beside a file is what the server sends, to whoever accepts it", { skip }, async () => {
  for (const [encoding, end] of [["br", ".br"], ["gzip", ".gz"], ["identity", ""]]) {
    const sent = await new Promise((done) => get(`${server.url}ctxsim_bg.wasm`, { headers: { "accept-encoding": encoding } }, (answer) => {
      let size = 0;
      answer.on("data", (it) => (size += it.length)).on("end", () => done([answer.headers["content-encoding"], answer.headers["content-type"], size]));
    }));
    assert.deepEqual(sent, [end ? encoding : undefined, "application/wasm", statSync(join(DIST, `ctxsim_bg.wasm${end}`)).size]);
  }
});
