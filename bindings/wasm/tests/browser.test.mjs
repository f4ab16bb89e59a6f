// The package in Chromium: the same bytes, under a strict content security policy, and a page that survives a crash.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { PROFILE, ROOT, SESSIONS, printed } from "./shared.mjs";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const playwright = await import("playwright-core").catch(() => null);
const skip = (!playwright && "there is no playwright-core") || (!existsSync(CHROMIUM) && `there is no ${CHROMIUM}`);
const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), "node_modules/ctxsim-wasm");
const POLICY = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html", ".jsonl": "text/plain" };
const PAGE = `import { WorkerBench } from "/ctxsim/worker-bench.js";
window.bench = new WorkerBench();
window.digest = async (text) => {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((it) => it.toString(16).padStart(2, "0")).join("");
};`;
const OWN = `import { initSync } from "/ctxsim/ctxsim.js";
export const keeps = () => (cx, history) => history;
export const greedy = () => (cx, history) => {
  const { memory } = initSync();
  for (let pages = 1 << 15; pages > 0; pages >>= 1) {
    try {
      for (;;) memory.grow(pages);
    } catch {
      // No room for so many.
    }
  }
  return history.map((it) => ({ rewrite: it.id, text: "x".repeat(1 << 24) }));
};`;

let server, browser, page;
const asked = [];

function served(path) {
  if (path === "/") return [".html", '<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="/page.js"></script>'];
  if (path === "/page.js") return [".js", PAGE];
  if (path === "/own.js") return [".js", OWN];
  const session = path.match(/^\/session\/(\d)$/);
  if (session) return [".jsonl", readFileSync(SESSIONS[session[1]])];
  const file = join(PACKAGE, path.replace(/^\/ctxsim\//, ""));
  return path.startsWith("/ctxsim/") && existsSync(file) ? [extname(file), readFileSync(file)] : null;
}

before(async () => {
  if (skip) return;
  server = createServer((request, response) => {
    asked.push(request.url);
    const found = served(request.url);
    response.writeHead(found ? 200 : 404, { "content-type": TYPES[found?.[0]] ?? "text/plain", "content-security-policy": POLICY });
    response.end(found?.[1]);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  browser = await playwright.chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  while (!(await page.evaluate(() => Boolean(window.digest)))) {
    await new Promise((later) => setTimeout(later, 20));
  }
});

after(async () => {
  await browser?.close();
  server?.close();
});

test("every bundled suite gives the bytes that every platform gives, in Chromium", { skip }, async () => {
  const list = readFileSync(join(ROOT, "tests/data/digests.txt"), "utf8").trim().split("\n").map((it) => it.split("  "));
  for (const [digest, suite] of list) {
    assert.equal(await page.evaluate(async (suite) => digest(await bench.compare({ suite })), suite), digest, suite);
  }
});

test("sessions in Chromium give the bytes of the command line, and nothing is asked of the server meanwhile", { skip }, async () => {
  const names = SESSIONS.map((it) => it.split("/").at(-1).replace(".jsonl", ""));
  await page.evaluate(async (names) => {
    for (const [at, name] of names.entries()) await bench.add(name, await (await fetch(`/session/${at}`)).blob());
  }, names);
  asked.length = 0;
  const sha = await page.evaluate(async () => digest(await bench.compare()));
  assert.equal(sha, createHash("sha256").update(printed("run", "--format", "json", ...SESSIONS)).digest("hex"));
  assert.deepEqual(asked, []);
});

test("a crash in Chromium is a failed run, and the page goes on", { skip }, async () => {
  const said = await page.evaluate(async (profile) => {
    const run = (policy) => bench.compare({ policies: [policy], profiles: [profile] });
    await bench.code("keeps", "/own.js", "keeps");
    await bench.code("greedy", "/own.js", "greedy");
    const before = await run("keeps");
    const crash = await run("greedy").catch((error) => error.name);
    return [crash, (await run("keeps")) === before];
  }, PROFILE);
  assert.deepEqual(said, ["CtxsimCrash", true]);
});
