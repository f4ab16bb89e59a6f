// A slider for each number of a policy.
import type { PolicySaid } from "./answers";
import { el } from "./dom";
import { plain } from "./numbers";

export interface Numbered {
  path: string;
  name: string;
  unit: string;
  value: number | null;
}

interface Range {
  min: number;
  max: number;
  step: number;
}

export function numbersOf(policy: PolicySaid): Numbered[] {
  return policy.numbers.map((it) => {
    const [, name, unit] = it.path.split(".") as [string, string, string];
    return { path: it.path, name, unit, value: it.value };
  });
}

/** A round step of which a range has about a hundred. */
function step(max: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, max / 100)));
  return max / unit > 300 ? 5 * unit : unit;
}

/** The values that a slider goes through: a size up to the longest prompt, or to four times what it is. */
export function rangeOf({ unit, value }: Numbered, promptMax: number): Range {
  if (unit === "ratio") return { min: 0, max: 1, step: 0.01 };
  if (unit === "count") return { min: 0, max: Math.max(10, 4 * (value ?? 3)), step: 1 };
  const most = value === 0 ? promptMax / 2 : value === null || value >= 20_000 ? Math.max(promptMax, 1.5 * (value ?? 0)) : Math.max(1000, 4 * value);
  const by = step(most);
  return { min: 0, max: Math.ceil(most / by) * by, step: by };
}

/** So many sliders are seen; the rest is folded. */
const SEEN = 3;

/** Shows sliders, those with a value first; `moved` is called with each value that the hand passes. */
export function sliders([first, rest]: [HTMLElement, HTMLDetailsElement], policy: PolicySaid, promptMax: number, set: Map<string, number>, moved: (it: Numbered, value: number) => void): void {
  const ordered = numbersOf(policy).sort((one, other) => Number(one.value === null) - Number(other.value === null));
  const all = ordered.map((it) => slider(it, rangeOf(it, promptMax), set, moved));
  first.replaceChildren(...all.slice(0, SEEN));
  rest.hidden = all.length <= SEEN;
  rest.open = false;
  rest.querySelector("summary")!.textContent = `${all.length - SEEN} more ${all.length === SEEN + 1 ? "number" : "numbers"}`;
  rest.querySelector("div")!.replaceChildren(...all.slice(SEEN));
}

function slider(it: Numbered, range: Range, set: Map<string, number>, moved: (it: Numbered, value: number) => void): HTMLElement {
  const now = set.get(it.path) ?? it.value;
  const id = `slider-${it.name}`;
  const shown = el("output", { for: id }, now === null ? "as computed" : plain(now));
  const input = el("input", { id, type: "range", ...range, value: now ?? range.max, "data-path": it.path });
  const label = el("label", { for: id }, it.name.replaceAll("_", " "), " ", el("span", { class: "unit" }, it.unit === "count" ? "" : it.unit));
  const whole = el("div", { class: `slider${now === null ? " unset" : ""}` }, label, shown, input, el("span", { class: "inert-says hint" }, "changes nothing in these sessions"));
  const show = () => {
    shown.textContent = plain(Number(input.value));
    whole.classList.remove("unset", "inert");
  };
  input.addEventListener("shown", show);
  input.addEventListener("input", () => {
    show();
    moved(it, Number(input.value));
  });
  return whole;
}
