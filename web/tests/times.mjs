// Prints how long the page takes with 1, 40 and 276 sessions of folders, how high it is, and what it weighs. `npm run times FOLDER…`
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIST, launch, open, recordings, serve, settled, until } from "./server.mjs";

const paths = recordings(...process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), "ctxsim-times-"));

/** Writes so many sessions, those of the folders again and again under other ids, so that none is left out as a copy. */
function written(n) {
  const to = join(folder, `sessions-${n}`);
  mkdirSync(to);
  for (let at = 0; at < n; at++) {
    const [path, nth] = [paths[at % paths.length], Math.floor(at / paths.length)];
    const text = readFileSync(path, "utf8");
    writeFileSync(join(to, `${nth}-${at % paths.length}.jsonl`), nth ? text.replaceAll(/"sessionId":\s*"([^"]*)"/g, `"sessionId":"$1-${nth}"`) : text);
  }
  return to;
}

/** Moves a slider through values, each once the last has been answered; returns how long each took to its first and to its last answer. */
function moves(page, path, values, isLast) {
  return page.evaluate(async ({ path, values, isLast }) => {
    const { body } = document;
    const hero = document.querySelector("#hero");
    const times = [];
    for (const value of values) {
      const before = body.dataset.answers;
      const from = performance.now();
      const input = document.querySelector(`[data-path="${path}"]`);
      input.value = value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      while (body.dataset.answers === before || (isLast && hero.dataset.part === "true")) await new Promise((later) => setTimeout(later, 1));
      times.push(performance.now() - from);
    }
    return times;
  }, { path, values, isLast });
}

/** Returns the tasks of a trace that ran longest on threads of a name, in milliseconds of processor time: other programs do not count. */
function tasks(trace, thread, from = 0) {
  const { traceEvents } = JSON.parse(trace.toString());
  const named = traceEvents.filter((it) => it.name === "thread_name" && it.args.name.startsWith(thread));
  const threads = new Set(named.map((it) => `${it.pid} ${it.tid}`));
  const all = traceEvents.filter((it) => it.ph === "X" && /RunTask/.test(it.name) && threads.has(`${it.pid} ${it.tid}`) && it.ts >= from);
  return all.map((it) => (it.tdur ?? 0) / 1000).sort((one, other) => other - one);
}

const median = (all) => [...all].sort((one, other) => one - other)[all.length >> 1];
const ms = (all) => `median ${median(all).toFixed(0)} ms, at most ${Math.max(...all).toFixed(0)} ms, of ${all.length}`;
const VALUES = [40, 60, 80, 100, 120, 50, 70, 90, 110, 45, 65, 85, 105].map((it) => it * 1000);
const PATH = "params.trigger.tokens";

async function measured(server, browser, n) {
  const sessions = written(n);
  const page = await open(browser, server.url, { viewport: { width: 1440, height: 900 } });
  await until(page, () => "demo" in document.body.dataset);
  await page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => list.getEntries().forEach((it) => globalThis.long.push(it.duration))).observe({ type: "longtask" });
    globalThis.first = {};
    const seen = (name) => (globalThis.first[name] ??= performance.now() - globalThis.from);
    document.querySelector("#folder").addEventListener("change", () => (globalThis.from = performance.now()), { capture: true });
    new MutationObserver(() => {
      seen("cost");
      if (document.querySelector("#lines").rows.length > 4) seen("usual");
      if (document.querySelector("#lines").rows.length > 4 && document.querySelector("#hero").dataset.part === "false") seen("exact");
    }).observe(document.body, { attributeFilter: ["data-answers"] });
  });
  const CATEGORIES = ["toplevel", "disabled-by-default-cpu_profiler.none"];
  await browser.startTracing(page, { categories: CATEGORIES });
  await page.locator("#folder").setInputFiles(sessions);
  await until(page, () => globalThis.first.exact, null, 240_000);
  await settled(page);
  const first = await page.evaluate(() => globalThis.first);
  console.log(`${n} sessions: first answer after ${first.cost.toFixed(0)} ms, the usual policies after ${first.usual.toFixed(0)} ms, all of them on all sessions after ${first.exact.toFixed(0)} ms`);
  await page.locator("#policy").fill("clear_tool_results");
  await page.locator("#policy").press("Enter");
  await page.locator("#policy").blur();
  await until(page, (path) => document.querySelector(`[data-path="${path}"]`), PATH);
  await settled(page);
  const began = performance.now();
  await until(page, () => "screen" in document.body.dataset, null, 240_000);
  console.log(`  the first screen's cards ${((performance.now() - began) / 1000).toFixed(1)} s after that`);
  await page.waitForTimeout(3000);
  const reading = tasks(await browser.stopTracing(), "CrRendererMain");
  await browser.startTracing(page, { categories: CATEGORIES });
  console.log(`  slider to first answer: ${ms(await moves(page, PATH, VALUES, false))}`);
  const sliding = await browser.stopTracing();
  const [main, worker] = [tasks(sliding, "CrRendererMain"), tasks(sliding, "DedicatedWorker").slice(0, VALUES.length)];
  console.log(`  in processor time: the longest main-thread task ${reading[0]?.toFixed(0)} ms while reading and ${main[0]?.toFixed(0)} ms while sliding; a worker's answer to the slider ${ms(worker)}`);
  await page.waitForTimeout(n > 1 ? 6000 : 2000);
  await browser.startTracing(page, { categories: CATEGORIES });
  console.log(`  slider to exact answer: ${ms(await moves(page, PATH, n > 40 ? VALUES.slice(0, 5) : VALUES, true))}`);
  await page.waitForTimeout(2000);
  const exact = await browser.stopTracing();
  console.log(`  in processor time, the longest tasks of workers while exact answers were given: ${tasks(exact, "DedicatedWorker").slice(0, n > 40 ? 5 : VALUES.length).map((it) => it.toFixed(0)).join(", ")} ms`);
  console.log(`  the page is ${await page.evaluate(() => document.documentElement.scrollHeight)} pixels high at 1440`);
  const long = await page.evaluate(() => globalThis.long);
  console.log(`  main thread: ${long.length} tasks above 50 ms, the longest ${Math.max(0, ...long).toFixed(0)} ms`);
  await page.context().close();
}

/** Prints what is sent of each file: its .br. */
function weights() {
  const sent = readdirSync(DIST).filter((it) => it.endsWith(".br")).map((it) => [it.slice(0, -3), statSync(join(DIST, it)).size]);
  console.log(`sent, compressed: ${sent.sort((one, other) => other[1] - one[1]).map(([name, size]) => `${name} ${(size / 1000).toFixed(1)} kB`).join(", ")}`);
}

const [server, browser] = [await serve(), await launch()];
try {
  for (const n of [1, 40, 276]) await measured(server, browser, n);
  weights();
} finally {
  await browser.close();
  server.close();
  rmSync(folder, { recursive: true });
}
