// The live demo of the first screen: one recorded session under three settings, simulated as the page opens; prompt and bill side by side.
import type { Line, Options, RunRows } from "./answers";
import { PARTS } from "./bands";
import { byId, el, svg } from "./dom";
import { change, count, share, tone, usd, verdict } from "./numbers";
import { pairs, whyBroke } from "./requests";
import { type Frame, stacked, steps, sum } from "./stack";
import { BASE, EXAMPLE, pool, titleOf } from "./state";

const CLEARS = "clear_tool_results";
const SLIDES = "sliding_window";
const TRIGGER = "params.trigger.tokens";
/** The triggers that are tried for the best one, and how far beside the best of them it is looked again. */
const TRIED = Array.from({ length: 13 }, (_, nth) => 45_000 + 5_000 * nth);
const BESIDE = [-4, -3, -2, -1, 0, 1, 2, 3, 4].map((it) => 1_000 * it);

/** One of the three, and how one gets there. */
export interface Shown {
  policy: string;
  set: [string, number][];
  title: string;
  line: Line;
  rows: RunRows;
}

const at = (trigger: number) => ({ ron: `(name: "at_${trigger}", about: "Tried.", base: "${CLEARS}", params: { "trigger": tokens(${trigger}) })` });

/** Returns the trigger that costs least of those that keep enough. */
async function best(triggers: number[]): Promise<number> {
  const tried = await pool.desk.ask("answer", [{ policies: [BASE, ...triggers.map(at)] }]);
  const enough = tried.lines.slice(1).filter((it) => it.usd !== null && it.evidence !== null && it.evidence >= tried.minEvidence);
  const found = enough.sort((one, other) => one.usd! - other.usd!)[0] ?? tried.lines[1]!;
  return Number(found.policy.replace("at_", ""));
}

/** Simulates the three; the best of them comes last. */
export async function simulate(): Promise<Shown[]> {
  await pool.desk.ask("bundled", [EXAMPLE]);
  const about = await best(TRIED);
  const trigger = await best(BESIDE.map((it) => about + it));
  const one = async (policies: Options["policies"], set: Options["set"] = {}) => {
    const [answer, rows] = [await pool.desk.ask("answer", [{ policies, set }]), await pool.desk.ask("requests", [EXAMPLE, { policies, set }])];
    return answer.lines.map((line, nth) => ({ line, rows: rows[nth]! }));
  };
  const [keeps, slides] = await one([BASE, SLIDES]);
  const [, clears] = await one([BASE, CLEARS], { [TRIGGER]: trigger });
  return [
    { policy: BASE, set: [], title: titleOf(BASE), ...keeps! },
    { policy: SLIDES, set: [], title: titleOf(SLIDES), ...slides! },
    { policy: CLEARS, set: [[TRIGGER, trigger]], title: `${titleOf(CLEARS)} at ${count(trigger)} tokens`, ...clears! },
  ];
}

function spark(it: Shown, base: Shown, high: { usd: number; prompt: number }): SVGElement[] {
  const all = pairs(base.rows.rows, it.rows.rows);
  const rows = all.map((one) => one.would);
  const [, broke] = whyBroke(all, new Map(), it === base);
  const frame = (most: number): Frame => ({ left: 0, right: 300, top: 8, bottom: 58, n: rows.length, high: most });
  const prompt = svg("svg", { viewBox: "0 0 300 60", class: "spark bands", preserveAspectRatio: "none", role: "img", "aria-label": `Prompts up to ${count(it.line.promptMax)} tokens` },
    steps(frame(high.prompt), rows.map((one) => one?.prompt ?? null), "would"));
  const bill = svg("svg", { viewBox: "0 0 300 60", class: "spark bands", preserveAspectRatio: "none", role: "img", "aria-label": `${usd(it.line.usd)}, request by request` },
    ...stacked(frame(high.usd), rows.map((one) => one?.parts_usd ?? null), PARTS),
    ...broke.flatMap((one, nth) => (one ? [svg("path", { class: `mark ${one.kind}`, d: `M${((nth + 0.5) * 300) / rows.length} 7l-3 -6h6z` })] : [])));
  return [prompt, bill];
}

/** Shows the three; `pick` is called with the one that is chosen. */
export function draw(all: Shown[], pick: (it: Shown) => void): void {
  const [base] = all as [Shown, ...Shown[]];
  const high = {
    usd: Math.max(...all.flatMap((it) => it.rows.rows.map((row) => sum(row.parts_usd)))) * 1.05,
    prompt: Math.max(...all.map((it) => it.line.promptMax)) * 1.05,
  };
  const row = (it: Shown) => {
    const [prompt, bill] = spark(it, base, high);
    const said = it === base ? "today" : `${verdict(it.line.change ?? 0)}`;
    return el("button", { type: "button", class: "demo-row", "data-policy": it.policy, "aria-pressed": String(it === all.at(-1)), onclick: () => choose(it) },
      el("span", { class: "demo-name" }, el("strong", {}, it.title), el("span", { class: `demo-says-one ${tone(it.line.change)}` }, said), el("span", { class: "hint" }, it === base ? "keeps 100%" : `keeps ${share(it.line.evidence)}`)),
      el("span", { class: "demo-usd number", "data-usd": it.line.usd }, usd(it.line.usd)),
      el("span", { class: "demo-chart" }, prompt!, el("span", { class: "hint" }, `prompt, up to ${count(Math.round(it.line.promptMax / 1000))}k`)),
      el("span", { class: "demo-chart" }, bill!, el("span", { class: "hint" }, "bill, per request")));
  };
  const choose = (it: Shown) => {
    for (const one of byId("demo-rows").children) one.setAttribute("aria-pressed", String((one as HTMLElement).dataset.policy === it.policy));
    say(it, base);
    pick(it);
  };
  byId("demo-rows").replaceChildren(...all.map(row));
  byId("demo-count").textContent = String(base.rows.rows.length);
  say(all.at(-1)!, base);
  pick(all.at(-1)!);
}

function say(it: Shown, base: Shown): void {
  const hit = `${share(it.line.hitRate)} of its input is read from the cache`;
  byId("demo-says").textContent = it === base
    ? `As recorded: ${usd(it.line.usd)}; ${hit}.`
    : it.policy === SLIDES
      ? `A smaller prompt, ${((it.line.usd ?? 0) / (base.line.usd || 1)).toFixed(1)} times the bill: each request drops something at the front, so most of the prompt is written to the cache again. Only ${hit}.`
      : `${change(it.line.change)}, and prompts still hold ${share(it.line.evidence)} of what later steps reuse. Clearing breaks the cached prefix too, but once: the shorter prompt then pays for it.`;
}
