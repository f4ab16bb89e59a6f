// What is asked of workers: at most one question is under way, and what was wanted meanwhile and is no more is never asked.
import type { Answer, Options } from "./answers";
import { say } from "./dom";
import { lineOf, on, options, pool, state, wrong } from "./state";

/** Counts what was wanted; whoever works for an older wish stops. */
export const wish = { turn: 0, isAnswering: false };

/** Answers what is wanted now. */
export async function answer(): Promise<void> {
  wish.turn++;
  if (wish.isAnswering) return;
  wish.isAnswering = true;
  for (let done = 0; done !== wish.turn; ) {
    const mine = wish.turn;
    const asked = options();
    await pool
      .steps(asked, () => mine === wish.turn, (it, isAll) => heard(it, asked, !isAll))
      .catch((error) => mine === wish.turn && say(wrong(error), true));
    done = mine;
  }
  wish.isAnswering = false;
}

/** What the big number is of from now on. */
export function compare(pair: Answer, isPart: boolean, asked: Options["set"] = {}): void {
  Object.assign(state, { pair, isPart, asked });
}

function heard(it: Answer, { set }: Options, isPart: boolean): void {
  compare(it, isPart, set);
  const line = lineOf(it);
  if (state.active && line.usd !== null && !isPart) {
    const value = state.set.get(state.active.path);
    if (value !== undefined) state.points.set(value, { value, usd: line.usd, evidence: line.evidence });
  }
  if (line.change !== null && line.evidence !== null) state.trail.push({ change: line.change, evidence: line.evidence });
  say(it.failures.length ? it.failures.map((one) => `${one.policy}: ${one.reason}`).join(" ") : "", it.failures.length > 0);
  on.show();
  if (!isPart) on.requests();
}
