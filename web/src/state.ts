// What the page knows: which sessions, what is compared with what, and the answers so far.
import type { Answer, Line, Options, PolicySaid, Screen, ScreenAdvice, SessionLine } from "./answers";
import type { CurvePoint } from "./plot";
import { Pool } from "./pool";
import type { Trail } from "./picture";
import type { Numbered } from "./sliders";
import type { Failed } from "./seat";

/** What the sessions had. */
export const BASE = "identity";
/** The session that the README shows, with what its scenario assumes, so that both have the same numbers. */
export const EXAMPLE = "recorded/claude-code";

/** What is compared. */
export type Policy = { kind: "named"; name: string } | { kind: "written"; name: string; ron: string } | { kind: "code"; name: string };

export const pool = new Pool();
export const state = {
  paths: [] as string[],
  isExample: false,
  /** What it is compared with: what the sessions had, or a bundled policy. */
  base: BASE,
  policy: null as Policy | null,
  said: null as PolicySaid | null,
  set: new Map<string, number>(),
  /** The usual policies. */
  usual: null as Answer | null,
  /** What is compared, with the base. */
  pair: null as Answer | null,
  /** The numbers that the pair was asked with. */
  asked: {} as Options["set"],
  isPart: false,
  /** Whether nobody has chosen yet, so that the verdict is that on the usual policies. */
  isFirst: true,
  trail: [] as Trail[],
  active: null as Numbered | null,
  points: new Map<number, CurvePoint>(),
  screen: null as { screen: Screen; advice: ScreenAdvice } | null,
  /** Titles of bundled policies, by name. */
  titles: new Map<string, string>(),
};

export const short = (name: string) => name.split("/").at(-1)!;

/** What a policy is called where the sentence is about it. */
export function titleOf(name: string): string {
  if (name === BASE) return "Keep everything";
  return state.titles.get(name) ?? short(name);
}

/** What the base is called. */
export const baseTitle = () => (state.base === BASE ? "Today" : titleOf(state.base));

export const isUsual = () =>
  state.base === BASE && state.set.size === 0 && state.policy?.kind === "named" && !!state.usual?.lines.some((it) => it.policy === state.policy!.name);

export function optionsOf(policy: Policy, set: Map<string, number>): Options {
  const other = policy.kind === "written" ? { ron: policy.ron } : policy.name;
  return { policies: policy.name === state.base ? [state.base] : [state.base, other], set: Object.fromEntries(set) };
}

export const options = () => optionsOf(state.policy!, state.set);

export function lineOf(it: Answer): Line {
  return it.lines.find((one) => one.policy === state.policy?.name) ?? it.lines.find((one) => one.policy !== state.base) ?? it.lines[0]!;
}

export const nowName = () => (state.set.size > 0 && state.policy ? `${state.policy.name}, moved` : (state.policy?.name ?? ""));

/** What a session costs as it was. */
export const had = (one: SessionLine) => one.runs.find((run) => run.policy === state.base)?.usd ?? null;

/** What went wrong, in a sentence. */
export function wrong(error: unknown): string {
  const { message, problems = [] } = error as Failed;
  const [first] = problems;
  return first ? [first.message, first.help].filter(Boolean).join(": ") : message;
}

/** Whoever shows something is told when there is something new to show; `page` puts them together. */
export const on = {
  show: () => {},
  requests: () => {},
};
