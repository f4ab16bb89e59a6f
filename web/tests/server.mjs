// The built page below a folder of a server, as any host may have it, and a browser.
import { existsSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DIST, answer } from "../serve.mjs";

export { DIST };

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

const { chromium } = await import("playwright-core").catch(() => ({ chromium: null }));
/** Why there are no tests in a browser, if there are none. */
export const skip = (!chromium && "there is no playwright-core") || (!existsSync(CHROMIUM) && `there is no ${CHROMIUM}`) || (!existsSync(join(DIST, "page.js")) && "the page is not built: run ./build");

const built = ["release", "debug"].map((it) => join(ROOT, "target", it, "ctxsim")).filter(existsSync);
/** The command line: CTXSIM, else what was built last. */
export const COMMAND = process.env.CTXSIM ?? built.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0];

/** Serves the page below a folder, as any host may; remembers what the page asked for. Whether the service worker is still the same, a browser asks on its own, when it likes. */
export async function serve() {
  const asked = [];
  const server = createServer((request, response) => {
    const path = decodeURI(new URL(request.url, "http://x").pathname);
    if (request.headers["service-worker"] !== "script") asked.push(path);
    if (path.startsWith("/below/")) answer(path.slice("/below/".length), request, response);
    else response.writeHead(404).end();
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { asked, url: `http://127.0.0.1:${server.address().port}/below/`, close: () => server.close() };
}

export function launch() {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

/** Waits until something is true in the page; its policy forbids what Playwright would do. */
export async function until(page, test, arg, limit = 20_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await page.evaluate(test, arg);
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${limit} ms in vain for ${test}; the page says: ${await page.locator("#status").textContent()}`);
    await new Promise((later) => setTimeout(later, 15));
  }
}

/** Opens the page, ready. */
export async function open(browser, url, options = {}, context = null) {
  context ??= await browser.newContext(options);
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  await page.goto(url);
  await until(page, () => "ready" in document.body.dataset);
  return page;
}

/** Waits until the first answer to all sessions stands, with the policy that the page itself chooses to compare. */
export const settled = (page) => until(page, () => document.querySelector("#hero").dataset.part === "false" && document.querySelector("#hero").dataset.of?.startsWith(document.querySelector("#policy").value) && document.querySelectorAll("#lines tbody tr").length > 2 && document.querySelector("#policy").value && !document.querySelector("#status").textContent);

/** The recordings below folders. */
export function recordings(...folders) {
  const below = (folder) => readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? below(path) : /\.(jsonl|json|csv)$/.test(name) ? [path] : [];
  });
  return folders.flatMap(below);
}
