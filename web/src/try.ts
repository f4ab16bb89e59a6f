// Try it yourself: which setting is compared with which, its numbers, and what that comes to.
import type { Answer, Line, PolicySaid } from "./answers";
import { answer, compare, wish } from "./ask";
import * as best from "./best";
import { byId, el } from "./dom";
import { change, count, interval, share, tone, usd, verdict } from "./numbers";
import * as own from "./own";
import { Picker } from "./picker";
import { picture } from "./picture";
import { type Numbered, sliders } from "./sliders";
import { BASE, type Policy, baseTitle, isUsual, lineOf, nowName, on, pool, state, titleOf, wrong } from "./state";
import { type Column, table } from "./table";

export const picker = new Picker((name) => void choose(name));

/** Compares with a bundled policy; `set` are numbers that it has from the start. */
export async function choose(name: string, isKnown = false, set: [string, number][] = []): Promise<void> {
  if (name === own.NAME) return;
  state.isFirst = isKnown;
  try {
    const said = await pool.desk.ask("policy", [name]);
    begin({ kind: "named", name }, said, set);
    if (isUsual()) {
      wish.turn++;
      compare(state.usual!, state.isPart);
      on.show();
      if (!isKnown) on.requests();
      return;
    }
    await answer();
  } catch (error) {
    picker.fail(wrong(error));
  }
}

/** Compares with another policy, as it is written. */
export function begin(policy: Policy, said: PolicySaid | null, set: [string, number][] = []): void {
  Object.assign(state, { policy, said, trail: [], active: null });
  state.set = new Map(set);
  best.forget();
  picker.value = policy.name;
  byId("about").textContent = [said?.title, said?.about ?? "Your function."].filter(Boolean).join(". ").replace("..", ".");
  showSliders();
}

function showSliders(): void {
  const promptMax = state.usual?.lines[0]?.promptMax ?? state.pair?.lines[0]?.promptMax ?? 200_000;
  const [first, rest] = [byId("sliders"), byId<HTMLDetailsElement>("more-sliders")];
  if (state.said && state.policy?.kind !== "code") return sliders([first, rest], state.said, promptMax, state.set, moved);
  first.replaceChildren();
  rest.hidden = true;
}

function moved(it: Numbered, value: number): void {
  if (state.active?.path !== it.path) {
    state.points.clear();
    state.trail = [];
    const line = state.pair && lineOf(state.pair);
    if (it.value !== null && line && line.usd !== null && !state.set.has(it.path)) {
      state.points.set(it.value, { value: it.value, usd: line.usd, evidence: line.evidence });
    }
    state.active = it;
  }
  state.set.set(it.path, value);
  state.isFirst = false;
  void answer();
}

/** Compares with another base from now on. */
export function rebase(name: string): void {
  state.base = name;
  state.isFirst = false;
  state.trail = [];
  best.forget();
  void answer();
}

/** Fills the choice of bases: what the sessions had, and the usual policies. */
export function showBases(usual: Answer): void {
  const select = byId<HTMLSelectElement>("base");
  const names = usual.lines.map((it) => it.policy);
  if (!names.includes(state.base)) names.push(state.base);
  select.replaceChildren(...names.map((it) => el("option", { value: it }, it === BASE ? "today: everything is kept" : titleOf(it))));
  select.value = state.base;
}

/** The cheapest policy that keeps enough, though it may not be cheaper for sure; if nothing that does costs less, the cheapest of the others. */
export function firstChoice({ cheapest, lines, minEvidence }: Answer): string {
  if (cheapest && cheapest !== BASE) return cheapest;
  const others = lines.filter((it) => it.policy !== BASE).sort((one, other) => (one.usd ?? Infinity) - (other.usd ?? Infinity));
  const enough = others.find((it) => it.evidence !== null && it.evidence >= minEvidence && (it.change ?? 0) < 0);
  return (enough ?? others[0])?.policy ?? BASE;
}

export function showVerdict(pair: Answer): void {
  const base = pair.lines[0]!;
  const line = state.policy ? lineOf(pair) : base;
  const all = pool.files.length - pool.broken.length;
  const sessions = `${count(pair.count)} ${pair.count === 1 ? "session" : "sessions"}`;
  const isBase = line === base;
  const enough = line.evidence === null || line.evidence >= pair.minEvidence;
  const isSure = !tone(line.change) || !line.interval || line.interval[0] > 0 || line.interval[1] < 0;
  const kind = !enough ? "low" : isSure ? tone(line.change) : "";
  const hero = byId("hero");
  hero.replaceChildren(...(isBase || line.change === null
    ? [usd(line.usd)]
    : [el("strong", { class: kind }, `${verdict(line.change)}${!enough ? ", but forgets too much" : isSure ? "" : ", not certain"}:`), ` ${usd(line.usd)} instead of ${usd(base.usd)}`]));
  hero.dataset.usd = String(line.usd);
  hero.dataset.part = String(state.isPart);
  hero.dataset.of = [line.policy, ...Object.entries(state.asked ?? {}).map(([path, value]) => `${path}=${value}`)].join(" ");
  byId("hero-of").textContent = isBase ? `is what ${pair.count === 1 ? "this session costs" : "these sessions cost"} as recorded` : line.interval ? `${change(line.change)} (95% interval ${interval(line.interval)}) over ${sessions}` : `${change(line.change)} in one session, so there is no interval`;
  byId("hero-more").replaceChildren(...(isBase || line.evidence === null ? [] : [
    "Prompts still hold ", el("strong", { class: enough ? "" : "low" }, share(line.evidence)), " of what later steps reuse", enough ? "." : `: less than ${share(pair.minEvidence)}, so it is not recommended.`]));
  byId("words").textContent = isBase ? "" : (isUsual() ? state.usual! : pair).words.join(" ");
  const part = byId("part");
  part.hidden = !state.isPart;
  part.textContent = `So far on ${count(pair.count)} of ${count(all)} sessions, of every size; the rest follows.`;
  figures(base, line);
}

function figures(base: Line, line: Line): void {
  const isBase = line === base;
  const figure = (name: string, now: string, before: string, more = "") =>
    el("div", {}, el("dt", {}, name), el("dd", { class: "now" }, now), el("dd", { class: "before" }, isBase ? "" : `${baseTitle().toLowerCase()}: ${before}`), more && el("dd", { class: "before" }, more));
  const ends = line.usdEnds && usd(line.usdEnds[0]) !== usd(line.usdEnds[1]) ? `${usd(line.usdEnds[0])} to ${usd(line.usdEnds[1])} if every assumption is wrong one way` : "";
  byId("figures-list").replaceChildren(
    figure("Cost", usd(line.usd), usd(base.usd), ends),
    figure("Kept", share(line.evidence), share(base.evidence)),
    figure("Longest prompt", count(line.promptMax), count(base.promptMax)),
    figure("Cache hit rate", share(line.hitRate), share(base.hitRate)),
  );
}

/** The lines of the table and of the picture: the usual policies, and what is compared now. */
function lines(): Line[] {
  const usual = state.usual?.lines ?? state.pair!.lines;
  if (isUsual() || !state.policy || state.policy.name === BASE || state.base !== BASE) return usual;
  const now = lineOf(state.pair!);
  // A usual policy with other numbers stands beside itself.
  const named = state.set.size > 0 && usual.some((it) => it.policy === now.policy) ? { ...now, policy: nowName() } : now;
  return [...usual.filter((it) => it.policy !== named.policy), named];
}

const nameOf = (it: Line) => (it.policy === BASE ? "Today: keep everything" : it.policy.endsWith(", moved") ? `${titleOf(it.policy.replace(/, moved$/, ""))}, moved` : titleOf(it.policy));

function columns(minEvidence: number): Column<Line>[] {
  const by = <K extends keyof Line>(key: K) => (it: Line) => it[key] as number | null;
  return [
    { head: "Setting", isLeft: true, by: nameOf, cell: (it) => el("button", { type: "button", title: it.policy, onclick: () => choose(it.policy.replace(/, moved$/, "")) }, nameOf(it)) },
    { head: "Cost", by: by("usd"), cell: (it) => usd(it.usd) },
    { head: "Change", by: by("change"), cell: (it) => change(it.change), mark: (it) => tone(it.change) },
    { head: "Kept", by: by("evidence"), cell: (it) => share(it.evidence), mark: (it) => (it.evidence !== null && it.evidence < minEvidence ? "low" : "") },
    { head: "95% interval", by: (it) => it.interval?.[0] ?? null, cell: (it) => interval(it.interval) },
    { head: "Longest prompt", by: by("promptMax"), cell: (it) => count(it.promptMax) },
    { head: "Hit rate", by: by("hitRate"), cell: (it) => share(it.hitRate) },
    { head: "Fetched again", by: by("recoveryCalls"), cell: (it) => (it.recoveryCalls === null ? "" : it.recoveryCalls.toFixed(1)) },
  ];
}

let drawing = 0;

export function showLines(): void {
  const all = lines();
  const named = nowName();
  const now = all.some((it) => it.policy === named) ? named : (state.policy?.name ?? "");
  const caption = `${state.usual ? "The usual settings" : "What you have"}${all.length > (state.usual?.lines.length ?? 99) ? ", and the one that is compared" : ""}. Choose one to compare with it. Kept: what later steps reuse and prompts still hold.`;
  table(byId<HTMLTableElement>("lines"), caption, columns(state.pair!.minEvidence), all, { column: 1, isDown: false }, (it) => (it.policy === now ? "chosen" : ""));
  cancelAnimationFrame(drawing);
  drawing = requestAnimationFrame(() => drawPicture(all, now));
  const notes = (isUsual() ? state.usual! : state.pair!).notes;
  byId("notes").replaceChildren(...notes.map((it) => el("li", {}, it)));
  byId("notes-fold").hidden = notes.length === 0;
}

function drawPicture(all: Line[], now: string): void {
  const at = byId("chart");
  const focused = at.contains(document.activeElement) ? [...at.querySelectorAll("a")].indexOf(document.activeElement as unknown as HTMLAnchorElement) : -1;
  byId("picture").hidden = all.every((it) => it.evidence === null) || all.length < 2;
  if (byId("picture").hidden) return;
  at.replaceChildren(picture(all, now, state.trail, Math.max(300, at.clientWidth), (it) => choose(it.replace(/, moved$/, ""))));
  if (focused >= 0) at.querySelectorAll("a")[focused]?.focus();
}
