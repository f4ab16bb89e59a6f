// What is shared has no text of a session: a canary in every string of every sample that can be read with it, in names and paths, is nowhere in it.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, launch, open, recordings, serve, settled, skip, until } from "./server.mjs";

const CANARY = "zqcanary";

/** Returns a value with the canary behind every string, but for those of keys that are left as they are. */
function marked(value, left, key = "") {
  if (typeof value === "string") return left.has(key) ? value : `${value} ${CANARY}`;
  if (Array.isArray(value)) return value.map((it) => marked(it, left, key));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, marked(it, left, name)]));
  return value;
}

function keysOf(value, all = new Set(), key = "") {
  if (typeof value === "string") all.add(key);
  else if (value && typeof value === "object") for (const [name, it] of Object.entries(value)) keysOf(it, all, Array.isArray(value) ? key : name);
  return all;
}

/** Returns a log with canaries in all strings of all keys without which it can still be read, with as many requests; null if it is no JSON. */
function canaried(path, requestsOf) {
  const text = readFileSync(path, "utf8");
  let records;
  try {
    records = path.endsWith(".jsonl") ? text.split("\n").filter((it) => it.trim()).map((it) => JSON.parse(it)) : [JSON.parse(text)];
  } catch {
    return null;
  }
  const written = (left) => records.map((it) => JSON.stringify(marked(it, left))).join("\n");
  const keys = keysOf(records);
  const n = requestsOf(written(keys));
  if (!n) return null;
  // Most keys at a time: halves are tried before single keys.
  const left = new Set(keys);
  const free = (some) => {
    const without = new Set([...left].filter((it) => !some.includes(it)));
    if (requestsOf(written(without)) === n) for (const it of some) left.delete(it);
    else if (some.length > 1) [some.slice(0, some.length >> 1), some.slice(some.length >> 1)].forEach(free);
  };
  free([...keys]);
  return { text: written(left), marked: keys.size - left.size };
}

test("a shared report has no text of any session: no names, paths, tools, prompts or results", { skip }, async () => {
  const { Bench, initSync } = await import("../../bindings/wasm/pkg/ctxsim.js");
  initSync({ module: readFileSync(new URL("../../bindings/wasm/pkg/ctxsim_bg.wasm", import.meta.url)) });
  const requestsOf = (text) => {
    const bench = new Bench();
    try {
      bench.add("one", new TextEncoder().encode(text));
      return JSON.parse(bench.compare({ policies: ["identity"], skipUnusable: true })).sessions.reduce((sum, it) => sum + it.requests, 0);
    } catch {
      return 0;
    } finally {
      bench.free();
    }
  };
  const folder = join(mkdtempSync(join(tmpdir(), "ctxsim-share-")), CANARY, "sessions");
  mkdirSync(folder, { recursive: true });
  const samples = ["tests/data/recorded", "scenarios/recorded"].flatMap((it) => readdirSync(join(ROOT, it)).filter((name) => /\.jsonl?$/.test(name)).map((name) => join(ROOT, it, name)));
  const { CTXSIM_REFERENCE } = process.env;
  if (CTXSIM_REFERENCE) samples.push(...recordings(join(CTXSIM_REFERENCE, "formats")).filter((it) => statSync(it).size < 2_000_000));
  let strings = 0;
  let files = 0;
  for (const path of samples) {
    const found = canaried(path, requestsOf);
    if (!found) continue;
    strings += found.marked;
    files++;
    writeFileSync(join(folder, `${CANARY}-${files}${path.endsWith(".jsonl") ? ".jsonl" : ".json"}`), found.text);
  }
  console.log(`canaries in the strings of ${strings} keys of ${files} samples of ${samples.length}`);
  assert.ok(files > 15 && strings > 10 * files, `${strings} keys of ${files} files`);

  const [server, browser] = [await serve(), await launch()];
  try {
    const page = await open(browser, server.url);
    await page.locator("#folder").setInputFiles(folder);
    await settled(page);
    await until(page, () => "screen" in document.body.dataset && document.querySelector("#bands-at svg"), null, 120_000);
    const saved = async () => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#save-page").click()]);
      return readFileSync(await file.path(), "utf8");
    };
    const shared = await saved();
    assert.ok(!shared.toLowerCase().includes(CANARY), shared.slice(Math.max(0, shared.toLowerCase().indexOf(CANARY) - 200)).slice(0, 300));
    assert.match(shared, /<h2>Where the \$/);
    assert.match(shared, /<svg/);
    assert.ok(shared.length < 400_000, `${shared.length} bytes`);
    assert.ok(!(await page.evaluate(() => location.href)).includes(CANARY));
    await page.locator("#no-text").uncheck();
    assert.ok((await saved()).toLowerCase().includes(CANARY), "the report with names has them, so that this test sees what it looks for");
  } finally {
    await browser.close();
    server.close();
    rmSync(join(folder, "../.."), { recursive: true });
  }
});
