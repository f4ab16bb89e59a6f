// A policy as the reader's own function: a module of this page's origin, played in a worker of its own.
import type { Answer } from "./answers";
import type { Pool } from "./pool";

export const NAME = "mine.js";

export const EXAMPLE = `// Called once for each session; what it returns is called before each request and answers with what is sent.
export default (trace) => (cx, history) => {
  const results = history.filter((it) => it.kind === "tool_result").slice(0, -10);
  const old = new Set(results.map((it) => it.id));
  return history.map((it) => (old.has(it.id) ? { rewrite: it.id, text: "[cleared]" } : it));
};
`;

/** A function that says nothing for so long is taken to be endless. */
const SILENCE_MS = 60_000;

/** Resolves once this page's requests go through its service worker. */
export const served: Promise<void> = (async () => {
  const { serviceWorker } = navigator;
  if (!serviceWorker) throw new Error("functions need a page from https or localhost: only there can it serve what you write");
  await serviceWorker.register(new URL("sw.js", import.meta.url), { scope: "./" });
  if (!serviceWorker.controller) {
    await new Promise((done) => serviceWorker.addEventListener("controllerchange", done, { once: true }));
  }
})();
served.catch(() => {});

let number = 0;

/** Plays a function beside what the sessions had. */
export async function play(pool: Pool, text: string, told: (words: string) => void): Promise<Answer> {
  await served;
  const url = new URL(`own/${Date.now()}-${++number}.js`, document.baseURI).href;
  const cache = await caches.open("own");
  await cache.put(url, new Response(text, { headers: { "content-type": "text/javascript" } }));
  let timer = 0;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => pool.own.stop(`the function said nothing for ${SILENCE_MS / 1000} seconds`), SILENCE_MS);
  };
  try {
    await pool.fill(pool.own, (it) => told(`Reading ${it.read} of ${it.all} sessions`));
    alive();
    await pool.own.ask("code", [NAME, url]);
    told("Simulating your function");
    return await pool.own.ask("answer", [{ policies: ["identity", NAME] }], (done, all) => {
      alive();
      told(`Simulating: ${done} of ${all} sessions`);
    });
  } finally {
    clearTimeout(timer);
    await cache.delete(url);
  }
}
