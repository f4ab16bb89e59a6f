// What fills the prompts, request by request: system prompt and tools, messages, calls, the results of each tool.
import { svg } from "./dom";
import { count } from "./numbers";
import { type Frame, axis, numbers, stacked } from "./stack";

/** So many have a colour of their own; the rest is one. */
const MOST = 7;
export const FIRST = ["system prompt and tools", "user messages"];

/** The names of what fills most, in a fixed order: first what every prompt begins with. */
export function namesOf(sides: Record<string, number>[][]): string[] {
  const sums = new Map<string, number>();
  for (const held of sides.flat()) for (const [what, tokens] of Object.entries(held)) sums.set(what, (sums.get(what) ?? 0) + tokens);
  const most = [...sums].sort((one, other) => other[1] - one[1]).slice(0, MOST).map((it) => it[0]);
  const rank = (it: string) => (FIRST.includes(it) ? FIRST.indexOf(it) : FIRST.length);
  const ordered = most.sort((one, other) => rank(one) - rank(other));
  return sums.size > most.length ? [...ordered, "other"] : ordered;
}

export function held(sides: { name: string; held: Record<string, number>[] }[], names: string[], width: number): SVGElement {
  const columns = sides.map(({ held }) => held.map((one) => {
    const known = names.filter((it) => it !== "other").map((it) => one[it] ?? 0);
    const all = Object.values(one).reduce((sum, it) => sum + it, 0);
    return names.includes("other") ? [...known, all - known.reduce((sum, it) => sum + it, 0)] : known;
  }));
  const n = Math.max(...columns.map((it) => it.length));
  const high = Math.max(1, ...columns.flat().map((it) => it.reduce((sum, one) => sum + one, 0))) * 1.06;
  const frames = sides.map((_, nth): Frame => ({ left: 54, right: width - 8, top: 24 + nth * 140, bottom: 126 + nth * 140, n, high }));
  const thousands = (it: number) => (it >= 1000 ? `${count(it / 1000)}k` : count(it));
  const classes = names.map((_, nth) => `h${nth}`);
  const height = frames.at(-1)!.bottom + 28;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "held" },
    ...frames.flatMap((frame, nth) => [axis(frame, `${sides[nth]!.name}, tokens`, thousands), ...stacked(frame, columns[nth]!, classes)]), numbers(frames.at(-1)!));
}
