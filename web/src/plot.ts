// Live curves: what a slider does, and the prompts of a session.
import uPlot from "uplot";
import { plain, share, usd } from "./numbers";

/** A colour as it is in the theme of now: a canvas cannot choose one of two. */
function color(name: string): string {
  const probe = document.body.appendChild(document.createElement("span"));
  probe.className = "hidden";
  probe.style.color = `var(${name})`;
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
const plots = new Map<HTMLElement, { plot: uPlot; key: string; draw(): void }>();

/** Draws again where the colours or the width have changed. */
function redraw(): void {
  for (const { draw } of plots.values()) draw();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("theme", redraw);
let later = 0;
addEventListener("resize", () => {
  clearTimeout(later);
  later = setTimeout(redraw, 100);
});

/** Shows a plot; one of the same key has only its data replaced. */
function show(at: HTMLElement, key: string, label: string, options: (width: number) => uPlot.Options, data: uPlot.AlignedData): void {
  at.setAttribute("role", "img");
  at.setAttribute("aria-label", label);
  const had = plots.get(at);
  const draw = () => {
    plots.get(at)?.plot.destroy();
    at.replaceChildren();
    plots.set(at, { plot: new uPlot(options(Math.max(260, at.clientWidth)), data, at), key, draw });
  };
  if (had?.key !== key || !key) return draw();
  had.plot.setData(data);
  plots.set(at, { plot: had.plot, key, draw });
}

export function clear(at: HTMLElement): void {
  plots.get(at)?.plot.destroy();
  plots.delete(at);
  at.replaceChildren();
}

const axis = (more: uPlot.Axis): uPlot.Axis => ({
  stroke: color("--quiet"),
  grid: { stroke: color("--rule"), width: 1 },
  ticks: { stroke: color("--rule"), width: 1 },
  font: "12px system-ui, sans-serif",
  ...more,
});

export interface CurvePoint {
  value: number;
  usd: number;
  evidence: number | null;
}

/** The value at which a curve is marked. */
let marked = 0;

/** Cost and what is kept over the values of a number. */
export function curve(at: HTMLElement, name: string, points: CurvePoint[], now: number): void {
  const data: uPlot.AlignedData = [points.map((it) => it.value), points.map((it) => it.usd), points.map((it) => it.evidence)];
  const cheapest = points.reduce((one, other) => (other.usd < one.usd ? other : one));
  const label = `Cost and what is kept over ${name}: the cheapest of ${points.length} values is ${plain(cheapest.value)}, at ${usd(cheapest.usd)}.`;
  marked = now;
  const mark = (plot: uPlot) => {
    const x = Math.round(plot.valToPos(marked, "x", true));
    plot.ctx.save();
    plot.ctx.strokeStyle = color("--mark");
    plot.ctx.setLineDash([4, 4]);
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, plot.bbox.top);
    plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    plot.ctx.stroke();
    plot.ctx.restore();
  };
  show(at, name, label, (width) => ({
    width,
    height: 190,
    legend: { live: false },
    hooks: { draw: [mark] },
    scales: { x: { time: false }, usd: {}, kept: { range: (_, low) => [Math.min(0.8, low), 1] } },
    axes: [
      axis({ values: (_, all) => all.map(plain) }),
      axis({ scale: "usd", size: 64, values: (_, all) => all.map((it) => usd(it)) }),
      axis({ scale: "kept", side: 1, size: 50, grid: { show: false }, values: (_, all) => all.map((it) => `${Math.round(100 * it)}%`) }),
    ],
    series: [
      { label: name, value: (_, it) => (it === null ? "" : plain(it)) },
      { label: "cost", scale: "usd", stroke: color("--mark"), width: 2, points: { size: 6 }, value: (_, it) => (it === null ? "" : usd(it)) },
      { label: "kept", scale: "kept", stroke: color("--other"), width: 1.5, dash: [5, 3], points: { size: 4 }, value: (_, it) => (it === null ? "" : share(it)) },
    ],
  }), data);
}
