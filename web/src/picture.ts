// Cost against evidence: one point a policy, with its interval, its name beside it.
import type { Line } from "./answers";
import { svg } from "./dom";
import { change, interval, share } from "./numbers";
import { titleOf } from "./state";

export interface Trail {
  change: number;
  evidence: number;
}

const MARGIN = { top: 14, right: 16, bottom: 40, left: 46 };

interface Point {
  line: Line;
  x: number;
  y: number;
  isOff: boolean;
}

/** The range of changes that is drawn: a policy that costs twice as much must not press all others together. */
function range(lines: Line[]): [number, number] {
  const all = lines.flatMap((it) => [it.change ?? 0, ...(it.interval ?? [])]);
  const low = Math.max(-1, Math.min(-0.1, ...all.filter((it) => it <= 0)));
  const within = lines.map((it) => it.change ?? 0).filter((it) => it <= 0.5);
  return [low * 1.08, Math.max(0.15, ...within) * 1.25 + 0.03];
}

function ticks(from: number, to: number, most: number): number[] {
  const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
  const step = steps.find((it) => (to - from) / it <= most) ?? 2;
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.floor(to / step + 1e-9) - first + 1 }, (_, nth) => (first + nth) * step);
}

export function picture(lines: Line[], now: string, trail: Trail[], width: number, choose: (policy: string) => void): SVGElement {
  const known = lines.filter((it) => it.usd !== null && it.evidence !== null);
  const height = Math.round(Math.min(440, Math.max(270, width * 0.52)));
  const [low, high] = range(known);
  const least = Math.min(0.9, ...known.map((it) => it.evidence!));
  const bottom = Math.max(0, Math.floor(least * 10 - 0.2) / 10);
  const right = width - MARGIN.right;
  const x = (value: number) => MARGIN.left + ((value - low) / (high - low)) * (right - MARGIN.left);
  const y = (value: number) => MARGIN.top + ((1.01 - value) / (1.01 - bottom)) * (height - MARGIN.top - MARGIN.bottom);

  const grid = svg("g", { class: "axis", "aria-hidden": "true" });
  for (const value of ticks(low, high, width < 500 ? 5 : 9)) {
    const isZero = Math.abs(value) < 1e-9;
    grid.append(svg("line", { class: isZero ? "zero" : "grid", x1: x(value), x2: x(value), y1: MARGIN.top, y2: height - MARGIN.bottom }));
    grid.append(svg("text", { x: x(value), y: height - MARGIN.bottom + 16, "text-anchor": "middle" }, change(value).replace(".0%", "%")));
  }
  for (const value of ticks(bottom, 1, 5)) {
    grid.append(svg("line", { class: "grid", x1: MARGIN.left, x2: right, y1: y(value), y2: y(value) }));
    grid.append(svg("text", { x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, `${Math.round(100 * value)}%`));
  }
  grid.append(svg("text", { x: right, y: height - 6, "text-anchor": "end" }, "change in cost →"));
  grid.append(svg("text", { x: 2, y: height - 6 }, "↑ kept"));

  const points = known.map((line): Point => {
    const value = line.change ?? 0;
    return { line, x: x(Math.min(value, high)), y: y(line.evidence!), isOff: value > high };
  });
  // Names keep apart from points and from each other.
  const placed = points.map((it) => ({ x: it.x - 7, y: it.y + 4, to: it.x + 7 }));
  const drawn = [...points].sort((one, other) => one.y - other.y || one.x - other.x).map((it) => named(it, placed, right, now, choose, { x, high, low }));
  const dots = trail.filter((it) => it.change <= high).map((it) => svg("circle", { class: "trail", cx: x(it.change), cy: y(it.evidence), r: 2.5, "aria-hidden": "true" }));
  const label = `Cost against what is kept of ${known.length} policies; the table below has the numbers.`;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label }, grid, ...dots, ...drawn);
}

interface Scale {
  x(value: number): number;
  high: number;
  low: number;
}

function named(point: Point, placed: { x: number; y: number; to: number }[], right: number, now: string, choose: (policy: string) => void, scale: Scale): SVGElement {
  const { line } = point;
  const isBase = line.change === null;
  const kind = isBase ? "base" : line.policy === now ? "now" : "";
  const most = right < 520 ? 20 : 48;
  const name = isBase ? "today" : line.policy.endsWith(", moved") ? `${titleOf(line.policy.slice(0, -7))}, moved` : titleOf(line.policy);
  const text = (name.length > most ? `${name.slice(0, most - 1)}…` : name) + (point.isOff ? ` ${change(line.change)} →` : "");
  const wide = text.length * (kind === "now" ? 8.4 : 7.6);
  const isLeft = point.isOff || point.x + 10 + wide > right;
  const from = Math.max(0, isLeft ? point.x - 10 - wide : point.x + 10);
  const isFree = (at: number) => !placed.some((it) => Math.abs(it.y - at) < 15 && it.x < from + wide && from < it.to);
  // The nearest free place, below before above.
  const away = Array.from({ length: 12 }, (_, nth) => (nth % 2 ? 1 : -1) * Math.ceil(nth / 2) * 15);
  const at = point.y + 4 + (away.find((it) => point.y + it > 4 && isFree(point.y + 4 + it)) ?? 0);
  placed.push({ x: from, y: at, to: from + wide });
  const [low, high] = line.interval ?? [0, 0];
  const ends = [Math.max(low, scale.low), Math.min(high, scale.high)] as const;
  const whisker = line.interval && ends[0] < ends[1] && svg("line", { class: "whisker", x1: scale.x(ends[0]), x2: scale.x(ends[1]), y1: point.y, y2: point.y });
  const words = `${text}, ${line.policy}: cost ${change(line.change) || "as recorded"}${line.interval ? `, 95% interval ${interval(line.interval)}` : ""}; ${share(line.evidence)} kept`;
  const activate = (event: Event) => {
    event.preventDefault();
    choose(line.policy);
  };
  return svg(
    "a",
    {
      class: kind,
      role: "button",
      tabindex: 0,
      "aria-label": words,
      onclick: activate,
      onkeydown: (event: Event) => ["Enter", " "].includes((event as KeyboardEvent).key) && activate(event),
    },
    svg("title", {}, words),
    whisker || null,
    svg("circle", { class: "dot", cx: point.x, cy: point.y, r: kind === "now" ? 6.5 : 5 }),
    svg("text", { x: isLeft ? from + wide : from, y: at, "text-anchor": isLeft ? "end" : "start" }, text),
  );
}
