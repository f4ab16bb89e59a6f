// A worker: one bench, asked by messages in their order. It needs no network, so it has none.
import { Bench, diagnose, initSync, layOut, pasteOf, policies, policy, policyText } from "../../bindings/wasm/pkg/ctxsim.js";
import type { Answer, Calls, Failure, Line, Options } from "./answers";

for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport"]) {
  Object.defineProperty(globalThis, name, { value: undefined });
}

let bench: Bench;

// What a panic says goes to the console; whoever asked wants to read it.
let panic = "";
const log = console.error;
console.error = (...words: unknown[]) => {
  panic = words.join(" ").split("\n\nStack:")[0]!.trim();
  log(...words);
};

/** Sessions are those of a folder: one that cannot be used is left out with its reason. */
const FOLDER = { skipUnusable: true };

type Tell = (done: number, all: number) => void;

const bytes = async (file: Blob) => new Uint8Array(await file.arrayBuffer());

type Async<C> = { [K in keyof C]: C[K] extends (...args: infer A) => infer R ? (...args: [...A, Tell]) => R | Promise<R> : never };

/** What is compared beside the sessions that were added: a bundled one, under its own model. */
let bundled: Pick<Options, "scenarios" | "ownModels"> = {};

const calls: Async<Calls> = {
  start: (module) => {
    initSync({ module });
    bench = new Bench();
  },
  clear: () => {
    bench.clear();
    bundled = {};
  },
  bundled: (name) => void (bundled = { scenarios: [name], ownModels: true }),
  add: async (name, file) => bench.add(name, await bytes(file)),
  once: () => bench.once(),
  copies,
  layOut: (paths) => layOut(paths),
  policies: () => policies(),
  // The last argument of a call tells the progress, also where one before it is left out.
  policy: (name, ron) => policy(name, typeof ron === "string" ? ron : undefined),
  policyText: (name) => policyText(name),
  diagnose: (text) => diagnose(text, "ron"),
  code: async (name, url) => bench.code(name, (await import(url)).default),
  answer: (options, tell) => answerOf(bench.compare({ ...options, ...FOLDER, ...bundled }, tell)),
  json: (options, tell) => bench.compare({ ...options, ...FOLDER, ...bundled }, tell),
  page: (options, tell) => bench.page({ ...options, ...FOLDER, ...bundled }, tell),
  requests: (session, options) => bench.requests(session, { ...options, ...bundled }),
  explain: (session, request, options) => bench.explain(session, request, { ...options, ...bundled }),
  screen: (options) => {
    const { screen, advice } = bench.screen({ ...options, ...FOLDER, ...bundled });
    return { screen: JSON.parse(screen), advice: JSON.parse(advice) };
  },
  holds: (session, options) => bench.holds(session, { ...options, ...bundled }),
  pasteOf: (agent, set) => pasteOf(agent, set),
};

/** Returns which files have the content of an earlier one: only files of equal length are read for it. */
async function copies(files: Blob[]): Promise<number[]> {
  const ofSize = new Map<number, number[]>();
  files.forEach((it, at) => ofSize.set(it.size, [...(ofSize.get(it.size) ?? []), at]));
  const found: number[] = [];
  for (const alike of [...ofSize.values()].filter((it) => it.length > 1)) {
    const first: Uint8Array[] = [];
    for (const at of alike) {
      const content = await bytes(files[at]!);
      const isCopy = first.some((it) => it.every((byte, nth) => byte === content[nth]));
      isCopy ? found.push(at) : first.push(content);
    }
  }
  return found;
}

function lineOf(policy: string, totals: any, change: number | null, spread: any): Line {
  const { cost_usd: cost, recovery } = totals;
  const ends = typeof cost.total_low === "number" && typeof cost.total_high === "number";
  return {
    policy,
    usd: cost.total,
    parts: cost.base === null ? null : [cost.cache_read, cost.cache_write, cost.uncached, cost.output],
    usdEnds: ends ? [cost.total_low, cost.total_high] : null,
    change,
    interval: spread?.interval ?? null,
    evidence: totals.evidence_kept,
    promptMax: totals.prompt_tokens_max,
    hitRate: totals.cache_hit_ratio,
    recoveryCalls: recovery?.expected_calls ?? null,
  };
}

/** Returns what the page shows of a report: the table over all sessions, else that of the only one. */
function answerOf(json: string): Answer {
  const report = JSON.parse(json);
  const table = report.totals.find((it: any) => !it.is_part);
  const first = report.runs[0]?.totals.cost_usd.total;
  const ofRun = (it: any, nth: number) => {
    const usd = it.totals.cost_usd.total;
    return lineOf(it.policy, it.totals, nth === 0 || first == null || usd == null ? null : usd / first - 1, null);
  };
  const lines = table ? table.policies.map((it: any) => lineOf(it.policy, it.totals, it.change, it.spread)) : report.runs.map(ofRun);
  const runsOf = new Map<string, any[]>();
  for (const run of report.runs) {
    const { policy, scenario, totals } = run;
    const all = runsOf.get(scenario) ?? [];
    all.push({ policy, usd: totals.cost_usd.total, evidence: totals.evidence_kept });
    runsOf.set(scenario, all);
  }
  return {
    lines,
    words: report.verdicts.map((it: any) => it.words),
    cheapest: report.verdicts[0]?.verdict.cheapest?.policy ?? null,
    minEvidence: report.verdicts[0]?.verdict.min_evidence ?? 0.9,
    sessions: report.sessions.map((it: any) => ({
      name: it.name,
      format: it.format,
      model: it.model,
      requests: it.requests,
      bill: it.bill,
      filled: it.filled ?? null,
      isUnderOwnModel: it.is_under_own_model,
      runs: runsOf.get(it.name) ?? [],
    })),
    bill: report.bill ?? report.sessions[0]?.bill ?? null,
    skipped: report.skipped,
    notes: report.notes,
    failures: report.failures ?? [],
    count: report.sessions.length,
  };
}

/** Whether an error leaves the memory of the module in a state that nobody knows. */
function isFatal(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError || /recursive use of an object/.test((error as Error)?.message);
}

async function asked({ id, call, args }: { id: number; call: keyof Calls; args: unknown[] }): Promise<void> {
  const tell = (done: number, all: number) => postMessage({ id, done, all });
  try {
    const value = await (calls[call] as (...args: unknown[]) => unknown)(...args, tell);
    postMessage({ id, value });
  } catch (error) {
    const { name, message, problems = [] } = error instanceof Error ? (error as Error & Partial<Failure>) : { name: "Error", message: String(error) };
    postMessage({ id, failed: { name, message, problems }, fatal: isFatal(error), panic });
  }
}

let last = Promise.resolve();
addEventListener("message", (event) => {
  last = last.then(() => asked(event.data));
});
