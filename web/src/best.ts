// While the hand rests: the curve of the slider that was moved, the best point that is known, and which sliders do nothing here.
import type { PolicySaid } from "./answers";
import { answer, wish } from "./ask";
import { byId, el } from "./dom";
import { change, plain, share } from "./numbers";
import { clear, curve } from "./plot";
import { type Numbered, numbersOf, rangeOf } from "./sliders";
import { lineOf, optionsOf, pool, state } from "./state";

const promptMax = () => state.usual?.lines[0]?.promptMax ?? state.pair?.lines[0]?.promptMax ?? 200_000;
/** The points of a curve. */
const POINTS = 12;

let resting = 0;

/** Looks around while nothing else is asked. */
export function restSoon(): void {
  clearTimeout(resting);
  showCurve();
  resting = setTimeout(rest, 700);
}

async function rest(): Promise<void> {
  const mine = wish.turn;
  const goes = () => mine === wish.turn && !wish.isAnswering;
  if (!goes() || !state.policy || state.policy.kind === "code" || !state.said) return;
  const tokens = numbersOf(state.said).filter((it) => it.value !== null && it.unit === "tokens");
  const number = state.active ?? tokens.find((it) => it.name.includes("trigger")) ?? tokens[0];
  if (number && !pool.isLarge) await sweep(number, goes);
  if (goes()) await inert(state.said, goes);
}

/** Asks what other values of a number would come to. */
async function sweep(number: Numbered, goes: () => boolean): Promise<void> {
  const { policy } = state;
  if (!state.active) {
    state.active = number;
    const line = state.pair && lineOf(state.pair);
    if (number.value !== null && line?.usd != null) state.points.set(number.value, { value: number.value, usd: line.usd, evidence: line.evidence });
  }
  const { min, max, step } = rangeOf(number, promptMax());
  for (let nth = 1; nth <= POINTS; nth++) {
    const value = Number((Math.round((min + ((max - min) * nth) / POINTS) / step) * step).toFixed(6));
    if ([...state.points.keys()].some((it) => Math.abs(it - value) < (max - min) / (3 * POINTS))) continue;
    const set = new Map(state.set).set(number.path, value);
    const found = await pool.whole.ask("answer", [optionsOf(policy!, set)]).catch(() => null);
    if (!goes()) return;
    const line = found && lineOf(found);
    if (line?.usd != null) state.points.set(value, { value, usd: line.usd, evidence: line.evidence });
  }
  showCurve();
}

function showCurve(): void {
  const points = [...state.points.values()].sort((one, other) => one.value - other.value);
  const at = byId("curve");
  const { active } = state;
  at.hidden = points.length < 3 || !active || points.every((it) => it.usd === points[0]!.usd);
  const now = active && (state.set.get(active.path) ?? active.value);
  if (!at.hidden) curve(at, active!.name.replaceAll("_", " "), points, now ?? points[0]!.value);
  offer();
}

export function forget(): void {
  clearTimeout(resting);
  state.points.clear();
  clear(byId("curve"));
  byId("curve").hidden = true;
  byId("best").hidden = true;
}

/** Offers the best point that is known, if it is better than what is shown: cheaper than that, and keeping enough. */
function offer(): void {
  const { pair, active } = state;
  const at = byId("best");
  at.hidden = true;
  if (!pair || !active || state.isPart) return;
  const [base, now] = [pair.lines[0]!.usd, lineOf(pair)];
  const isEnough = (it: number | null) => it === null || it >= pair.minEvidence;
  const found = [...state.points.values()].filter((it) => isEnough(it.evidence)).sort((one, other) => one.usd - other.usd)[0];
  if (!found || base === null || now.usd === null || found.usd >= base || (found.usd >= now.usd - 1e-9 && isEnough(now.evidence))) return;
  const use = () => {
    state.set.set(active.path, found.value);
    const input = document.querySelector<HTMLInputElement>(`[data-path="${active.path}"]`);
    if (input) {
      input.value = String(found.value);
      input.dispatchEvent(new Event("shown"));
    }
    state.isFirst = false;
    at.hidden = true;
    void answer();
  };
  at.replaceChildren(
    el("span", {}, "Best found: ", el("strong", {}, `${active.name.replaceAll("_", " ")} ${plain(found.value)}`), " → ", el("strong", { class: "saves" }, change(found.usd / base - 1)), found.evidence === null ? "" : `, keeps ${share(found.evidence)}`),
    el("button", { type: "button", class: "button small", id: "use-best", onclick: use }, "Use it"));
  at.hidden = false;
}

/** Greys sliders whose ends come to the same as what is shown. */
async function inert(said: PolicySaid, goes: () => boolean): Promise<void> {
  if (!state.pair || state.isPart) return;
  const seat = pool.isLarge ? pool.quick : pool.whole;
  const part = pool.isLarge ? { sessions: [0, 6] as [number, number] } : {};
  const at = async (set: Map<string, number>) => {
    const found = await seat.ask("answer", [{ ...optionsOf(state.policy!, set), ...part }]).catch(() => null);
    const line = found && lineOf(found);
    return line ? `${line.usd} ${line.evidence}` : null;
  };
  const now = await at(state.set);
  for (const number of numbersOf(said)) {
    if (!goes() || now === null) return;
    const input = document.querySelector<HTMLInputElement>(`#hand [data-path="${number.path}"]`);
    if (!input || input.closest("details:not([open])")) continue;
    const { min, max } = rangeOf(number, promptMax());
    const least = number.unit === "ratio" ? 0.05 : Math.max(min, Math.round(max / 20));
    const ends = [await at(new Map(state.set).set(number.path, least)), await at(new Map(state.set).set(number.path, max))];
    if (!goes()) return;
    input.closest(".slider")!.classList.toggle("inert", ends.every((it) => it === now || it === null));
  }
}
