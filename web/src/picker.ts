// Choosing a policy: a list that is filtered as one types, grouped by agent, provider and family, each with its title and a line; what no policy
// can reach, because it knows the future, stands apart as the ceiling.
import type { PolicySaid } from "./answers";
import { byId, el } from "./dom";

/** Policies that know what later steps will need. */
const CEILING = ["clairvoyant", "hindsight"];
/** Companies whose interfaces edit the context themselves; the other folders of agents are agents and frameworks. */
const PROVIDERS = ["anthropic", "openai"];
/** Families that a folder of recorded sessions says nothing of: they need planted facts or several sessions. */
const OTHER_LOADS = ["aging", "context_decay", "memory_runners"];

export interface Group {
  head: string;
  all: PolicySaid[];
}

const before = (title: string | null | undefined) => (title?.includes(":") ? title.split(":")[0]! : null);

function groupOf(it: PolicySaid): [rank: number, head: string] {
  const [first, second] = it.name.split("/") as [string, string?];
  if (CEILING.includes(first)) return [4, "Ceiling: knows the future, so no policy can do it"];
  if (second === undefined) return [0, "Usual"];
  if (first === "agents") return PROVIDERS.includes(second) ? [2, `Provider: ${second === "openai" ? "OpenAI" : "Anthropic"}`] : [1, `Agent: ${(before(it.title) ?? second).replace(/ (before|up to|API|SDK|as shipped).*$/, "")}`];
  if (OTHER_LOADS.includes(first)) return [5, `For other loads than sessions: ${before(it.title) ?? first.replaceAll("_", " ")}`];
  return [3, `Family: ${before(it.title)?.replace(/ as shipped.*$/, "") ?? first}`];
}

/** Under a heading that names the agent, its title need not. */
function titled(it: PolicySaid, head: string): string {
  const [who, ...rest] = (it.title ?? it.name).split(": ");
  const text = head.endsWith(`: ${who}`) && rest.length ? rest.join(": ") : (it.title ?? it.name);
  return text[0]!.toUpperCase() + text.slice(1);
}

export function grouped(all: PolicySaid[]): Group[] {
  const groups = new Map<string, { rank: number; all: PolicySaid[] }>();
  for (const it of all) {
    const [rank, head] = groupOf(it);
    const group = groups.get(head) ?? { rank, all: [] };
    group.all.push(it);
    groups.set(head, group);
  }
  return [...groups].sort(([one, a], [other, b]) => a.rank - b.rank || one.localeCompare(other)).map(([head, it]) => ({ head, all: it.all }));
}

export class Picker {
  readonly #input = byId<HTMLInputElement>("policy");
  readonly #list = byId("policies");
  readonly #said = byId("policy-said");
  #groups: Group[] = [];
  #shown: PolicySaid[] = [];
  #at = -1;
  #name = "";

  constructor(readonly chosen: (name: string) => void) {
    const input = this.#input;
    input.addEventListener("focus", () => input.select());
    input.addEventListener("click", () => this.#open(""));
    input.addEventListener("input", () => this.#open(input.value));
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => setTimeout(() => this.#close(), 120));
  }

  set all(policies: PolicySaid[]) {
    this.#groups = grouped(policies);
  }

  /** Shows a choice that was made elsewhere. */
  set value(name: string) {
    this.#name = this.#input.value = name;
    this.fail("");
  }

  /** Says what is wrong with what was typed, where it was typed. */
  fail(text: string): void {
    this.#said.textContent = text;
    this.#said.hidden = !text;
    this.#input.setAttribute("aria-invalid", String(!!text));
  }

  #open(text: string): void {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (it: PolicySaid, head: string) => words.every((word) => `${it.name} ${it.title ?? ""} ${it.about} ${head}`.toLowerCase().includes(word));
    this.#shown = [];
    const option = (it: PolicySaid, head: string) => {
      const nth = this.#shown.push(it) - 1;
      const take = (event: Event) => {
        event.preventDefault();
        this.#take(it.name);
      };
      return el("div", { role: "option", id: `option-${nth}`, "aria-selected": "false", onmousedown: take }, el("span", { class: "option-title" }, titled(it, head)), el("code", {}, it.name), el("span", { class: "option-about" }, it.about));
    };
    const groups = this.#groups.map(({ head, all }) => ({ head, all: all.filter((it) => fits(it, head)) })).filter((it) => it.all.length > 0);
    this.#list.replaceChildren(...groups.map(({ head, all }, nth) => el("div", { role: "group", "aria-labelledby": `group-${nth}` }, el("div", { class: "group", id: `group-${nth}`, role: "presentation" }, head), ...all.map((it) => option(it, head)))));
    this.#list.hidden = this.#shown.length === 0;
    this.#input.setAttribute("aria-expanded", String(!this.#list.hidden));
    this.#mark(-1);
  }

  #close(): void {
    this.#list.hidden = true;
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
    this.#at = -1;
  }

  #mark(at: number): void {
    this.#list.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    this.#at = at;
    const now = this.#list.querySelector(`#option-${at}`);
    if (!now) return this.#input.removeAttribute("aria-activedescendant");
    now.setAttribute("aria-selected", "true");
    now.scrollIntoView({ block: "nearest" });
    this.#input.setAttribute("aria-activedescendant", now.id);
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (this.#list.hidden) this.#open("");
      this.#mark((this.#at + step + this.#shown.length) % this.#shown.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.#enter();
    } else if (event.key === "Escape") {
      this.#close();
      this.value = this.#name;
    }
  }

  #enter(): void {
    const typed = this.#input.value.trim();
    const all = this.#groups.flatMap((it) => it.all);
    const found = this.#shown[this.#at] ?? all.find((it) => it.name === typed) ?? all.find((it) => it.title?.toLowerCase() === typed.toLowerCase()) ?? (this.#shown.length === 1 ? this.#shown[0] : undefined);
    if (found) return this.#take(found.name);
    const near = this.#shown.length > 1 ? `${this.#shown.length} policies have it in their name or description: choose one from the list.` : "Clear the field to see all of them.";
    this.fail(typed ? `Unknown policy “${typed}”. ${near}` : "Type a name, or choose one from the list.");
  }

  #take(name: string): void {
    this.#close();
    this.value = name;
    this.chosen(name);
  }
}
