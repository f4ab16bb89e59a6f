// From today's bill to the candidate's, part by part; a saving is negative and green.
import type { Line } from "./answers";
import { svg } from "./dom";
import { delta, usd } from "./numbers";

const NAMES = ["Reads", "Writes", "Uncached", "Output", "Expected"];

/** By how much each part of the bill changes; the last is what is expected beside requests, so that all add up. */
export function changes(base: Line, line: Line): number[] | null {
  if (!base.parts || !line.parts || base.usd === null || line.usd === null) return null;
  const rest = (it: Line) => it.usd! - it.parts!.reduce((sum, one) => sum + one, 0);
  return [...line.parts.map((it, part) => it - base.parts![part]!), rest(line) - rest(base)];
}

export function waterfall(base: Line, line: Line, names: [string, string], width: number): SVGElement | null {
  const all = changes(base, line);
  if (!all) return null;
  const bars: { name: string; from: number; to: number; kind: string; says: string }[] = [{ name: names[0], from: 0, to: base.usd!, kind: "whole", says: usd(base.usd) }];
  let level = base.usd!;
  all.forEach((by, part) => {
    if (Math.abs(by) >= 0.00005) bars.push({ name: NAMES[part]!, from: level, to: level + by, kind: by < 0 ? "saves" : "costs", says: delta(by) });
    level += by;
  });
  bars.push({ name: names[1], from: 0, to: line.usd!, kind: "whole", says: usd(line.usd) });
  const high = Math.max(...bars.flatMap((it) => [it.from, it.to])) || 1;
  const [row, left, right] = [30, 128, width - 84];
  const x = (value: number) => left + (Math.max(0, value) / high) * (right - left);
  const cut = (it: string) => (it.length > 17 ? `${it.slice(0, 16)}…` : it);
  const drawn = bars.flatMap((it, nth) => {
    const [low, top] = [x(Math.min(it.from, it.to)), x(Math.max(it.from, it.to))];
    return [
      svg("text", { x: left - 8, y: nth * row + 20, "text-anchor": "end" }, svg("title", {}, it.name), cut(it.name)),
      svg("rect", { class: `bar ${it.kind}`, x: low, y: nth * row + 6, width: Math.max(1.5, top - low), height: row - 10 }),
      svg("text", { class: it.kind, x: top + 6, y: nth * row + 20 }, it.says),
    ];
  });
  return svg("svg", { viewBox: `0 0 ${width} ${bars.length * row + 6}`, width, height: bars.length * row + 6, class: "waterfall" }, ...drawn);
}
