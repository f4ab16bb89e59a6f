// The line and the two cards that the first screen of the command line fills: what to do, and where the money goes.
import type { Paste, Screen, ScreenLever } from "./answers";
import { byId, copy, el } from "./dom";
import { addingUp, count, plural, rough, share, tone, usd } from "./numbers";
import { pool, state, wrong } from "./state";

const WORDS = { do: "Do", your_call: "Your call", try: "Try", dont: "Don’t", cannot_tell: "Cannot tell" } as const;
/** So many levers stand in the card; the others are folded. */
const SEEN = 4;

let asking = 0;

/** Asks for the first screen and fills the cards; what was asked of other sessions is dropped. */
export async function screen(settings?: [name: string, text: string]): Promise<void> {
  const mine = ++asking;
  byId("do-says").textContent = "Trying every setting of your agent on these sessions…";
  byId("levers").replaceChildren();
  byId("do-more").hidden = true;
  try {
    await pool.fill(pool.whole);
    const found = await pool.whole.ask("screen", [settings ? { settings } : {}]);
    if (mine !== asking) return;
    state.screen = found;
    line();
    await levers(found.screen.levers);
    money(found.screen);
    document.body.dataset.screen = String(mine);
  } catch (error) {
    if (mine === asking) byId("do-says").textContent = wrong(error);
  }
}

/** Forgets what it showed. */
export function forget(): void {
  asking++;
  state.screen = null;
  delete document.body.dataset.screen;
}

/** Says in one line what was read, what it costs, and how well that is predicted. */
export function line(): void {
  const { pair, usual, screen } = state;
  const answer = usual ?? pair;
  const parts = [];
  if (screen) {
    const { read, month, predicted } = screen.screen;
    parts.push(plural(read.sessions, "session"), `${usd(month.usd)} ${month.of === "all_sessions" ? "billed" : month.of === "scaled" ? "a month" : "in the last 30 days"}`);
    if (read.projects > 0) parts.push(plural(read.projects, "project"));
    if (predicted) parts.push(`${share(predicted.exact / predicted.requests)} of ${count(predicted.requests)} requests predicted to the token`);
  } else if (answer) {
    parts.push(plural(answer.count, "session"), usd(answer.lines[0]?.usd ?? null));
    if (answer.bill) parts.push(`${share(answer.bill.exact / answer.bill.requests)} of ${count(answer.bill.requests)} requests predicted to the token`);
  }
  byId("line").textContent = parts.join(" · ");
}

/** Says what a lever saves: a saving is negative and green. */
function saves(it: ScreenLever): HTMLElement | null {
  if (it.saved_month === null) return null;
  const ends = it.saved_interval && [-it.saved_interval[1], -it.saved_interval[0]].map((it) => rough(it)).join(" to ");
  return el("span", { class: `saved ${it.word === "cannot_tell" ? "kept" : tone(-it.saved_month)}` }, el("strong", {}, `${it.known_by === "simulated" ? "~" : ""}${rough(-it.saved_month)} a month`), ends && ` ${ends}`);
}

async function pastes(it: ScreenLever): Promise<Paste[]> {
  if (it.set.length === 0) return [];
  const own = state.screen!.advice.agents.find((one) => one.agent === it.agent);
  const pasted = own?.pasted != null && own.levers[own.pasted]!.set.join() === it.set.join();
  return pasted ? own!.paste : pool.desk.ask("pasteOf", [it.agent, it.set]);
}

async function lever(it: ScreenLever): Promise<HTMLElement> {
  const kept = it.evidence_kept === null ? null : el("span", { class: "kept" }, `keeps ${share(it.evidence_kept)}`);
  const said = el("span", { class: "hint", role: "status" });
  const paste = (await pastes(it)).map((one) => el("div", { class: "paste" },
    el("pre", { tabindex: 0, "aria-label": `What to put into ${one.at}` }, one.text),
    el("div", { class: "paste-at" }, el("button", { type: "button", class: "button small", "data-copy": "", "aria-label": `Copy: ${it.title}`, onclick: () => copy(one.text, said) }, "Copy"), el("span", { class: "hint" }, one.at))));
  return el("li", { class: `lever ${it.word}` },
    el("p", { class: "lever-head" }, el("span", { class: "word" }, WORDS[it.word]), el("strong", {}, it.title)),
    el("p", { class: "lever-says" }, saves(it), kept),
    it.why && state.screen!.screen.read.sessions > 1 && el("p", { class: "hint" }, `${it.why[0]!.toUpperCase()}${it.why.slice(1)}.`.replace(/\.\.$/, ".")), ...paste, said);
}

async function levers(all: ScreenLever[]): Promise<void> {
  const items = await Promise.all(all.map(lever));
  const first = all.filter((it) => it.word === "do").length;
  byId("do-says").textContent = all.length === 0
    ? "Nothing to change: no setting of a known agent does anything in these sessions."
    : first > 0 ? state.screen!.screen.certainty : state.screen!.screen.read.sessions === 1 ? "One session is too few to advise a change. These do something in it:" : "Nothing here is certain enough to just do. The largest savings first:";
  byId("levers").replaceChildren(...items.slice(0, SEEN));
  const more = byId<HTMLDetailsElement>("do-more");
  more.hidden = items.length <= SEEN;
  more.querySelector("summary")!.textContent = `${items.length - SEEN} more`;
  more.querySelector("ol")!.replaceChildren(...items.slice(SEEN));
}

function money({ month, by_project, by_day, bill }: Screen): void {
  const when = month.of === "all_sessions" ? "in all sessions" : month.of === "scaled" ? "a month" : "in the last 30 days";
  byId("where-says").replaceChildren(el("strong", {}, usd(month.usd)), ` ${when}, at list prices, by the logs`);
  const parts = month.parts.filter((it) => it.usd > 0);
  const cents = addingUp(parts.map((it) => it.usd));
  byId("where-bar").replaceChildren(...parts.map((it) => {
    const part = el("span", { class: `part-${it.part}` });
    part.style.flexGrow = String(it.usd);
    return part;
  }));
  const row = (it: (typeof parts)[number], nth: number) => el("tr", {}, el("th", { scope: "row" }, el("span", { class: `swatch part-${it.part}` }), it.about), el("td", {}, cents[nth]!.dollars), el("td", {}, cents[nth]!.share));
  byId("where-parts").replaceChildren(el("caption", { class: "hidden" }, "Parts of the bill, in US dollars"), el("tbody", {}, ...parts.map(row)));
  byId("where-misses").textContent = month.other_misses.length ? `Other cache misses: ${month.other_misses.filter((it) => it.usd >= 0.005).slice(0, 5).map((it) => `${it.about.replace("not told: ", "")}: ${usd(it.usd, month.usd)}`).join("; ")}.` : "";
  days(by_day);
  const named = by_project.filter((it) => it.project);
  byId("where-places").hidden = named.length === 0;
  const project = (it: (typeof named)[number]) => el("tr", {}, el("th", { scope: "row", title: it.project }, it.project.split(/[/\\]/).at(-1)!), el("td", {}, plural(it.sessions, "session")), el("td", {}, usd(it.usd)), el("td", {}, share(it.usd / bill.total_usd)));
  byId("where-projects").replaceChildren(el("caption", { class: "hidden" }, "The bill by project"), el("tbody", {}, ...named.slice(0, 12).map(project)));
}

/** Shows the bill day by day, where there is more than one. */
function days(all: Screen["by_day"]): void {
  const at = byId("where-days");
  at.replaceChildren();
  if (all.length < 2) return;
  const most = Math.max(...all.map((it) => it.usd));
  const [first, last] = [Date.parse(all[0]!.day), Date.parse(all.at(-1)!.day)];
  const n = Math.round((last - first) / 86_400_000) + 1;
  const bars = all.map((it) => {
    const bar = el("span", { title: `${it.day}: ${usd(it.usd)}` });
    bar.style.left = `${(100 * (Date.parse(it.day) - first)) / 86_400_000 / n}%`;
    bar.style.width = `max(2px, ${100 / n}% - 1px)`;
    bar.style.height = `${Math.max(2, (100 * it.usd) / most)}%`;
    return bar;
  });
  const dearest = all.reduce((one, other) => (other.usd > one.usd ? other : one));
  at.append(el("div", { class: "days", role: "img", "aria-label": `The bill of ${all.length} days` }, ...bars),
    el("p", { class: "hint ends" }, el("span", {}, all[0]!.day), el("span", {}, `most: ${usd(dearest.usd)} on ${dearest.day}`), el("span", {}, all.at(-1)!.day)));
}
