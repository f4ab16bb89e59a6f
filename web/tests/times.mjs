// Prints how long the page takes, with the sessions of folders and with twelve times as many. `npm run times FOLDER…`
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, recordings, serve, settled, until } from "./server.mjs";

const paths = recordings(...process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), "ctxsim-times-"));

/** Writes the sessions `times` times, each time under other ids, so that none is left out as a copy. */
function written(times) {
  const to = join(folder, `sessions-${times}`);
  mkdirSync(to);
  paths.forEach((path, at) => {
    const text = readFileSync(path, "utf8");
    for (let nth = 0; nth < times; nth++) {
      writeFileSync(join(to, `${nth}-${at}.jsonl`), nth ? text.replaceAll(/"sessionId":\s*"([^"]*)"/g, `"sessionId":"$1-${nth}"`) : text);
    }
  });
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

async function measured(server, browser, times) {
  const sessions = written(times);
  const page = await open(browser, server.url);
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
  console.log(`${paths.length * times} sessions: first answer after ${first.cost.toFixed(0)} ms, the usual policies after ${first.usual.toFixed(0)} ms, all of them on all sessions after ${first.exact.toFixed(0)} ms`);
  await page.locator("#policy").fill("clear_tool_results");
  await page.locator("#policy").press("Enter");
  await page.locator("#policy").blur();
  await until(page, (path) => document.querySelector(`[data-path="${path}"]`), PATH);
  await settled(page);
  await page.waitForTimeout(2000);
  const reading = tasks(await browser.stopTracing(), "CrRendererMain");
  await browser.startTracing(page, { categories: CATEGORIES });
  console.log(`  slider to first answer: ${ms(await moves(page, PATH, VALUES, false))}`);
  const sliding = await browser.stopTracing();
  const [main, worker] = [tasks(sliding, "CrRendererMain"), tasks(sliding, "DedicatedWorker").slice(0, VALUES.length)];
  console.log(`  in processor time: the longest main-thread task ${reading[0]?.toFixed(0)} ms while reading and ${main[0]?.toFixed(0)} ms while sliding; a worker's answer to the slider ${ms(worker)}`);
  await page.waitForTimeout(times > 1 ? 8000 : 2000);
  console.log(`  slider to exact answer: ${ms(await moves(page, PATH, times > 1 ? VALUES.slice(0, 3) : VALUES, true))}`);
  await page.waitForTimeout(2000);
  const long = await page.evaluate(() => globalThis.long);
  console.log(`  main thread: ${long.length} tasks above 50 ms, the longest ${Math.max(0, ...long).toFixed(0)} ms`);
  await page.context().close();
}

const [server, browser] = [await serve(), await launch()];
try {
  for (const times of [1, 12]) await measured(server, browser, times);
} finally {
  await browser.close();
  server.close();
  rmSync(folder, { recursive: true });
}
