// What workers answer: the numbers of a report that the page shows, without the report.
import type { AdviceOptions, Options, Paste, PolicySaid, Problem, RunHeld, RunRows, Screened, Told } from "../../bindings/wasm/pkg/ctxsim.js";

export type { AdviceOptions, Options, Paste, PolicySaid, Problem, RunHeld, RunRows, Screened, Told };

/** One policy over all sessions, or on one. Costs are US dollars, shares are fractions. */
export interface Line {
  policy: string;
  usd: number | null;
  /** What of the cost is read, written, plain input and output; the rest is what is expected beside requests. */
  parts: [number, number, number, number] | null;
  /** The cost at both ends of the recovery assumptions. */
  usdEnds: [number, number] | null;
  /** Against the first policy; null for the first itself. */
  change: number | null;
  /** The 95% interval of the change over sessions; null for a single session. */
  interval: [number, number] | null;
  evidence: number | null;
  promptMax: number;
  hitRate: number | null;
  recoveryCalls: number | null;
}

export interface Bill {
  requests: number;
  exact: number;
  predicted_usd: number;
  billed_usd: number;
}

/** What fills a session's prompts, and what of them was sent before and not read from the cache, by its bills. */
export interface Filled {
  by_tool: { what: string; tokens: number; entered_usd: number; carried_usd: number }[];
  missed: { request: number; cause: string; because: string; tokens: number; usd: number }[];
  /** What 1,000 tokens at the front of every prompt cost. */
  front_usd: number;
}

export interface SessionLine {
  name: string;
  format: string;
  model: string | null;
  requests: number;
  bill: Bill | null;
  isUnderOwnModel: boolean;
  filled: Filled | null;
  /** The cost under each policy of the answer, and the evidence kept. */
  runs: { policy: string; usd: number | null; evidence: number | null }[];
}

export interface Answer {
  lines: Line[];
  /** What the report says: one sentence a table. */
  words: string[];
  cheapest: string | null;
  minEvidence: number;
  sessions: SessionLine[];
  bill: Bill | null;
  /** Sessions that cannot be played, with the reason. */
  skipped: { file: string; reason: string }[];
  notes: string[];
  failures: { policy: string; reason: string }[];
  /** How many sessions it is about. */
  count: number;
}

export interface Failure {
  name: string;
  message: string;
  problems: Problem[];
}

/** A file of a folder, and the name that its session gets. */
export interface Found {
  path: string;
  name: string;
  /** Null for a bundled session, which has the name of a scenario. */
  file: File | null;
}

/** What can be done about the bill, as the first screen of the command line has it. */
export interface ScreenLever {
  agent: string;
  name: string;
  set: string[];
  title: string;
  word: "do" | "your_call" | "try" | "dont" | "cannot_tell";
  why: string;
  saved_month: number | null;
  saved_interval: [number, number] | null;
  change: number | null;
  evidence_kept: number | null;
  known_by: "bills" | "simulated";
}

/** The first screen of the command line: what was read, what it was billed, where that goes, what can be done. */
export interface Screen {
  read: { sessions: number; sub_agents: number; requests: number; people: number; projects: number; days: number; first_day: string | null; last_day: string | null; agents: { agent: string; sessions: number; has_settings: boolean }[] };
  predicted: { requests: number; exact: number; predicted_usd: number; billed_usd: number } | null;
  bill: { total_usd: number; last_30_days_usd: number | null };
  month: { of: "last_30_days" | "scaled" | "all_sessions"; usd: number; parts: { part: string; about: string; usd: number }[]; other_misses: { cause: string; about: string; usd: number }[] };
  by_project: { project: string; sessions: number; usd: number }[];
  by_day: { day: string; usd: number }[];
  levers: ScreenLever[];
  certainty: string;
}

/** Of the advice behind a screen: what to paste for the levers that are certain. */
export interface ScreenAdvice {
  agents: { agent: string; levers: { set: string[] }[]; pasted: number | null; paste: Paste[]; heed: string[]; month: { usd: number | null } }[];
}

/** What a worker can be asked. */
export interface Calls {
  start(module: WebAssembly.Module): void;
  clear(): void;
  add(name: string, file: Blob): string[];
  bundled(name: string): void;
  once(): string[];
  copies(files: Blob[]): number[];
  layOut(paths: string[]): { path: string; name: string }[];
  policies(): PolicySaid[];
  policy(name: string, ron?: string): PolicySaid;
  policyText(name: string): string;
  diagnose(text: string): Problem[];
  code(name: string, url: string): void;
  answer(options: Options): Answer;
  json(options: Options): string;
  page(options: Options): string;
  requests(session: string, options: Options): RunRows[];
  explain(session: string, request: number, options: Options): Told;
  screen(options: AdviceOptions): { screen: Screen; advice: ScreenAdvice };
  holds(session: string, options: Options): RunHeld[];
  pasteOf(agent: string, set: string[]): Paste[];
}
