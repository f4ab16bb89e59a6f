// One session under two policies, request by request.
import type { RunRows } from "./answers";
import type { Broke } from "./bands";
import { captioned, el } from "./dom";
import { change, count, usd } from "./numbers";

export type Row = RunRows["rows"][number];

/** The same request under both policies, by what the engine says it is; one may have requests that the other has not, such as those that write summaries. */
export interface Pair {
  had: Row | null;
  would: Row | null;
  /** The numbers of the requests in their runs, from 1. */
  numbers: [number, number];
}

export function pairs(had: Row[], would: Row[]): Pair[] {
  const others = new Map(would.map((it, at) => [it.pair, at]));
  const isPaired = new Set(had.map((it) => it.pair));
  const all: Pair[] = [];
  let next = 0;
  // What only the policy asks stands before what comes next in both.
  const alone = (to: number) => {
    for (; next < to; next++) if (!isPaired.has(would[next]!.pair)) all.push({ had: null, would: would[next]!, numbers: [0, next + 1] });
  };
  had.forEach((it, at) => {
    const found = others.get(it.pair);
    if (found !== undefined) alone(found);
    all.push({ had: it, would: found === undefined ? null : would[found]!, numbers: [at + 1, found === undefined ? 0 : found + 1] });
  });
  alone(would.length);
  return all;
}

/** Says where the prefix broke: the policy's edit, or everything was gone from the cache. */
export function broke(row: Row | null, nth: number): string {
  if (!row) return "";
  if (row.first_changed !== null) return `at entry ${row.first_changed}, ${row.edits} changed`;
  return nth > 0 && row.cache_read === 0 && row.role === "main" ? "all of it: nothing was in the cache" : "";
}

/** A miss that the bills tell, by the number of its request. */
export type Missed = Map<number, { cause: string; because: string }>;

/** Returns why the prefixes of both sides broke: by the bills, by edits, or because nothing was in the cache any more. */
export function whyBroke(all: Pair[], missed: Missed, isToday: boolean): [(Broke | null)[], (Broke | null)[]] {
  const told = (it: Pair): Broke | null => {
    const found = it.had && it.had.role === "main" ? missed.get(it.numbers[0]) : undefined;
    if (!found || found.cause === "began") return null;
    return { kind: found.cause === "paused" ? "pause" : "other", why: found.because };
  };
  const edited = (row: Row | null): Broke | null => (row && row.first_changed !== null ? { kind: "edit", why: `the policy changed ${count(row.edits)} ${row.edits === 1 ? "entry" : "entries"}` } : null);
  const gone = (row: Row | null, nth: number): Broke | null =>
    row && nth > 0 && row.role === "main" && row.cache_read === 0 && row.prompt > 0 ? { kind: "other", why: "nothing of it was in the cache" } : null;
  const harness = (it: Broke | null): Broke | null => it && { ...it, kind: "other", why: "the agent changed what it had sent" };
  const first = all.map((it, nth) => told(it) ?? (isToday ? harness(edited(it.had)) : edited(it.had)) ?? gone(it.had, nth));
  const second = all.map((it, nth) => {
    const row = it.would;
    if (!row) return null;
    const isOwn = edited(row) && !(it.had && it.had.first_changed !== null && it.had.edits === row.edits);
    return (isOwn ? edited(row) : null) ?? (row.cache_read < (it.had?.cache_read ?? 0) + 1 ? told(it) : null) ?? harness(edited(row)) ?? gone(row, nth);
  });
  return [first, second];
}

const clock = (ms: number) => {
  const s = Math.floor(ms / 1000);
  const two = (it: number) => String(it).padStart(2, "0");
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
};

/** The rows that are made at a time, so that no long session holds the page up. */
const CHUNK = 40;

/** Fills the table; `explain` is called with the side, 0 as it is and 1 under the policy, and the number of the request. */
export function requests(at: HTMLTableElement, [base, policy]: [string, string], all: Pair[], explain: (side: 0 | 1, request: number) => void): void {
  const th = (text: string, props = {}) => el("th", { scope: "col", ...props }, text);
  const head = el("thead", {},
    el("tr", {}, el("th", { scope: "col", rowspan: 2 }, "Request"), th(base, { colspan: 4, scope: "colgroup" }), th(policy, { colspan: 5, scope: "colgroup" })),
    el("tr", {}, ...["prompt", "read", "written", "cost", "prompt", "read", "written", "cost", "prefix broke"].map((it) => th(it))),
  );
  const body = el("tbody");
  at.replaceChildren(captioned(at, "Tokens and US dollars of each request, with what is expected beside it, such as fetching again. Choose a prompt to have it explained."), head, body);
  const cells = (row: Row | null, side: 0 | 1, number: number) => row
    ? [
        el("td", {}, el("button", { type: "button", "aria-label": `Explain request ${number} ${side ? `under ${policy}` : `under ${base}`}: ${count(row.prompt)} tokens`, onclick: () => explain(side, number) }, count(row.prompt))),
        el("td", {}, count(row.cache_read)),
        el("td", {}, count(row.cache_write)),
        el("td", {}, usd(row.total_usd)),
      ]
    : [el("td", { colspan: 4 }, "–")];
  const line = (it: Pair, nth: number) => {
    const row = (it.had ?? it.would)!;
    const why = broke(it.would, nth);
    const role = row.role === "main" ? "" : row.role === "summariser" ? " summary" : " keep-alive";
    return el("tr", { class: why ? "broke" : undefined },
      el("th", { scope: "row" }, `${nth + 1}${role} · ${clock(row.at_ms)}`),
      ...cells(it.had, 0, it.numbers[0]), ...cells(it.would, 1, it.numbers[1]), el("td", { class: "break" }, why));
  };
  const more = (from: number) => {
    if (at.tBodies[0] !== body) return;
    body.append(...all.slice(from, from + CHUNK).map((it, nth) => line(it, from + nth)));
    if (from + CHUNK < all.length) requestAnimationFrame(() => more(from + CHUNK));
  };
  more(0);
}

/** Sums up a session. */
export function summary([base, policy]: [string, string], had: Row[], would: Row[]): string {
  const sum = (all: Row[]) => all.reduce<number | null>((sum, it) => (sum === null || it.total_usd === null ? null : sum + it.total_usd), 0);
  const [one, other] = [sum(had), sum(would)];
  const costs = one === null || other === null ? "" : ` ${base}: ${usd(one)}. ${policy}: ${usd(other)} (${change(other / one - 1)}), with what fetching again is expected to cost, which belongs to no single request.`;
  return `${count(had.length)} requests.${costs}`;
}
