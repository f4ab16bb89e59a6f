// The chart that explains a bill: per request what is read, written, plain and answered in dollars, today above and the candidate below on one
// axis, where the prefix broke and why, and the sizes of prompts above both.
import { svg } from "./dom";
import { count, usd } from "./numbers";
import type { Pair, Row } from "./requests";
import { type Frame, type Parts, axis, numbers, stacked, steps, sum, x, y } from "./stack";

/** The parts of a request's price, from the foot up; expected costs are left out, as they belong to no single request. */
export const PARTS = ["read", "written", "uncached", "output"];
export const PART_WORDS = ["read from the cache", "written to the cache", "uncached input", "output"];

/** Why a request's prefix broke: who edited it, or what the log and the clock tell. */
export interface Broke {
  kind: "edit" | "pause" | "other";
  why: string;
}

export interface Side {
  name: string;
  rows: (Row | null)[];
  broke: (Broke | null)[];
}

export interface Drawing {
  node: SVGElement;
  /** The number of the pair at a place of the drawing, from the left in pixels. */
  nth(at: number): number;
}

const parts = (row: Row | null): Parts => row?.parts_usd ?? null;
const thousands = (it: number) => (it >= 1000 ? `${count(it / 1000)}k` : count(it));

function marks(of: Frame, side: Side): SVGElement {
  const all = svg("g", {});
  side.broke.forEach((it, nth) => {
    if (!it) return;
    const [left, top] = [x(of, nth + 0.5), Math.max(of.top + 2, y(of, sum(parts(side.rows[nth]!))) - 2)];
    const mark = svg("path", { class: `mark ${it.kind}`, d: `M${left.toFixed(1)} ${top.toFixed(1)}l-4 -7h8z` });
    mark.append(svg("title", {}, `Request ${nth + 1}: ${it.why}`));
    all.append(mark);
  });
  return all;
}

/** Draws two sides of one session. */
export function bands(pairs: Pair[], today: Side, then: Side, width: number): Drawing {
  const n = pairs.length;
  const [left, right] = [54, width - 8];
  const prompts = [today, then].map((it) => it.rows.map((row) => (row?.role === "main" ? row.prompt : null)));
  const high = Math.max(1e-9, ...[...today.rows, ...then.rows].map((it) => sum(parts(it)))) * 1.12;
  const tall = Math.max(1, ...prompts.flat().map((it) => it ?? 0)) * 1.08;
  const frame = (top: number, height: number, most: number): Frame => ({ left, right, top, bottom: top + height, n, high: most });
  const [above, first, second] = [frame(24, 74, tall), frame(132, 116, high), frame(282, 116, high)];
  const money = (it: number) => (it === 0 ? "$0" : usd(it, high > 0.06 ? 1 : it));
  const node = svg("svg", { viewBox: `0 0 ${width} 428`, width, height: 428, class: "bands" },
    axis(above, "Prompt size, tokens", thousands), steps(above, prompts[0]!, "had"), steps(above, prompts[1]!, "would"),
    axis(first, `${today.name}: ${usd(total(today))}`, money), ...stacked(first, today.rows.map(parts), PARTS), marks(first, today),
    axis(second, `${then.name}: ${usd(total(then))}`, money), ...stacked(second, then.rows.map(parts), PARTS), marks(second, then),
    numbers(second));
  return { node, nth: (at) => Math.min(n - 1, Math.max(0, Math.floor(((at - left) / (right - left)) * n))) };
}

/** What the requests of a side cost, without what is expected beside them. */
export const total = (side: Side) => side.rows.reduce((all, it) => all + sum(parts(it)), 0);

/** Says what a place of the drawing is. */
export function readout(nth: number, today: Side, then: Side): string {
  const of = (side: Side) => {
    const row = side.rows[nth];
    if (!row) return `${side.name}: no such request`;
    const money = row.parts_usd ? row.parts_usd.map((it, part) => (it > 0 ? `${PART_WORDS[part]} ${usd(it)}` : "")).filter(Boolean).join(", ") : "no price";
    return `${side.name}: ${count(row.prompt)} tokens; ${money}${side.broke[nth] ? `; ${side.broke[nth]!.why}` : ""}`;
  };
  return `Request ${nth + 1}. ${of(today)}. ${of(then)}.`;
}

/** Sums up where prefixes broke: `4 breaks: 3× the policy edits 12 entries, 1× a pause outlived the entries`. */
export function breaks(side: Side): string {
  const by = new Map<string, number>();
  for (const it of side.broke) if (it) by.set(it.why.replace(/[\d,]+ entr(y|ies)/, "entries"), (by.get(it.why.replace(/[\d,]+ entr(y|ies)/, "entries")) ?? 0) + 1);
  const all = [...by].sort((one, other) => other[1] - one[1]).map(([why, n]) => `${n}× ${why}`);
  return all.length ? all.join(", ") : "never";
}
