// Drawings of requests side by side: stacked bars on one axis, lines that stop at gaps, and ticks.
import { svg } from "./dom";

/** A column of a stack: the heights of its parts, from the foot up; null where there is no such request. */
export type Parts = number[] | null;

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  n: number;
  high: number;
}

const at = (it: number) => Number(it.toFixed(1));
export const x = (of: Frame, nth: number) => of.left + ((of.right - of.left) * nth) / Math.max(1, of.n);
export const y = (of: Frame, value: number) => of.bottom - ((of.bottom - of.top) * value) / (of.high || 1);

export const sum = (parts: Parts) => (parts ?? []).reduce((sum, it) => sum + it, 0);

/** Draws stacked bars, one path a part. */
export function stacked(of: Frame, columns: Parts[], classes: string[]): SVGElement[] {
  const width = at(Math.max(0.6, (of.right - of.left) / Math.max(1, of.n) - ((of.right - of.left) / Math.max(1, of.n) > 4 ? 1 : 0)));
  return classes.map((kind, part) => {
    let d = "";
    columns.forEach((column, nth) => {
      const value = column?.[part] ?? 0;
      if (!column || value <= 0) return;
      const foot = sum(column.slice(0, part));
      const [low, high] = [at(y(of, foot)), at(y(of, foot + value))];
      if (low - high >= 0.1) d += `M${at(x(of, nth))} ${high}h${width}V${low}h-${width}z`;
    });
    return svg("path", { class: `part ${kind}`, d });
  });
}

/** Draws a line in steps; where there is no value, there is no line. */
export function steps(of: Frame, values: (number | null)[], kind: string): SVGElement {
  let d = "";
  let isOn = false;
  values.forEach((value, nth) => {
    if (value === null) return void (isOn = false);
    d += `${isOn ? "V" : `M${at(x(of, nth))} `}${at(y(of, value))}H${at(x(of, nth + 1))}`;
    isOn = true;
  });
  return svg("path", { class: `step ${kind}`, d });
}

/** A round step for about so many ticks. */
function tick(high: number, most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(high / most, 1e-9)));
  return [1, 2, 5, 10].map((it) => it * unit).find((it) => high / it <= most) ?? high;
}

/** Draws the axis of a frame, with its name above. */
export function axis(of: Frame, name: string, words: (value: number) => string): SVGElement {
  const by = tick(of.high, 3);
  const grid = svg("g", { class: "axis" });
  for (let value = 0; value <= of.high * 1.0001; value += by) {
    grid.append(svg("line", { class: "grid", x1: of.left, x2: of.right, y1: at(y(of, value)), y2: at(y(of, value)) }));
    grid.append(svg("text", { x: of.left - 6, y: at(y(of, value)) + 4, "text-anchor": "end" }, words(value)));
  }
  // A long name keeps its end, where its dollars are.
  const most = Math.floor((of.right - of.left) / 8.4);
  const end = name.match(/(: \S+|, tokens)$/)?.[0] ?? "";
  const shown = name.length > most ? `${name.slice(0, most - end.length - 1)}…${end}` : name;
  grid.append(svg("text", { class: "name", x: of.left, y: of.top - 8 }, shown));
  return grid;
}

/** Draws the numbers of requests under the last frame. */
export function numbers(of: Frame): SVGElement {
  const by = Math.max(1, tick(of.n, of.right - of.left < 500 ? 5 : 10));
  const all = svg("g", { class: "axis" });
  for (let nth = by; nth <= of.n; nth += by) if (x(of, nth) - of.left > 70) all.append(svg("text", { x: at(x(of, nth - 0.5)), y: of.bottom + 16, "text-anchor": "middle" }, String(nth)));
  all.append(svg("text", { x: of.left, y: of.bottom + 16 }, "request"));
  return all;
}
