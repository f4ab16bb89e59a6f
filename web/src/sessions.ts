// The sessions: a table that can be filtered, what filled their prompts by their bills, and the files that were left out.
import type { Answer, SessionLine } from "./answers";
import { byId, el } from "./dom";
import { change, count, share, tone, usd } from "./numbers";
import { pickSession } from "./one";
import { had, pool, state } from "./state";
import { type Column, table } from "./table";

const billError = (it: SessionLine) => (it.bill && it.bill.billed_usd > 0 ? it.bill.predicted_usd / it.bill.billed_usd - 1 : null);

let shownSessions = "";
let waiting = 0;

/** Forgets which sessions were shown. */
export function forget(): void {
  shownSessions = "";
}

/** Shows the sessions; a part of them is no news of each, and a moving hand waits for no long table. */
export function sessionsSoon(): void {
  if (state.isPart && shownSessions) return;
  clearTimeout(waiting);
  if (shownSessions) waiting = setTimeout(() => state.pair && showSessions(state.pair), 200);
  else showSessions(state.pair!);
}

function would(one: SessionLine): number | null {
  const [before, after] = [had(one), one.runs.find((run) => run.policy === state.policy?.name)?.usd ?? null];
  return before === null || after === null || state.policy?.name === state.base ? null : after / before - 1;
}

const COLUMNS: Column<SessionLine>[] = [
  { head: "Session", isLeft: true, by: (one) => one.name, cell: (one) => el("button", { type: "button", title: one.name, onclick: () => pickSession(one.name) }, one.name) },
  { head: "Cost", by: had, cell: (one) => usd(had(one)) },
  { head: "Change", by: would, cell: (one) => change(would(one)), mark: (one) => tone(would(one)) },
  { head: "Requests", by: (one) => one.requests, cell: (one) => count(one.requests) },
  { head: "Model", isLeft: true, by: (one) => one.model, cell: (one) => (one.model ?? "unknown") + (one.isUnderOwnModel ? "" : ", at other prices") },
  { head: "Bill check", by: billError, cell: (one) => (one.bill ? `${change(billError(one))} · ${one.bill.exact} of ${one.bill.requests} exact` : "no bill") },
];

export function showSessions(it: Answer): void {
  byId("sessions-said").textContent = it.bill
    ? `Of ${count(it.bill.requests)} billed requests, ${count(it.bill.exact)} are predicted to the token; the sum is off by ${change(it.bill.predicted_usd / it.bill.billed_usd - 1)}.`
    : "These logs have no bill, so nothing tells how well these numbers are predicted.";
  if (!state.isPart) showFills(it);
  const words = byId<HTMLInputElement>("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (one: SessionLine) => words.every((word) => `${one.name} ${one.model ?? ""} ${one.format}`.toLowerCase().includes(word));
  const seen = it.sessions.filter(fits);
  const caption = `${words.length ? `${count(seen.length)} of ` : ""}${count(it.count)} ${it.count === 1 ? "session" : "sessions"}. Choose one to see its requests.`;
  table(byId<HTMLTableElement>("session-lines"), caption, COLUMNS, seen, { column: 1, isDown: true });
  const names = it.sessions.map((one) => one.name).join("\n");
  const select = byId<HTMLSelectElement>("session");
  if (names === shownSessions || state.isPart) return;
  const before = select.value;
  const byCost = [...it.sessions].sort((one, other) => (had(other) ?? 0) - (had(one) ?? 0));
  select.replaceChildren(...byCost.map((one) => el("option", { value: one.name }, `${one.name}, ${count(one.requests)} requests`)));
  if (it.sessions.some((one) => one.name === before)) select.value = before;
  shownSessions = names;
}

interface Fill { what: string; tokens: number; usd: number }
interface Missing { because: string; requests: number; tokens: number; usd: number; dearest: { session: string; request: number; usd: number } }

const FILLS: (input: number) => Column<Fill>[] = (input) => [
  { head: "What", isLeft: true, by: (one) => one.what, cell: (one) => one.what },
  { head: "Tokens", by: (one) => one.tokens, cell: (one) => count(one.tokens) },
  { head: "Cost", by: (one) => one.usd, cell: (one) => usd(one.usd) },
  { head: "Of input", by: (one) => one.usd, cell: (one) => share(one.usd / input) },
];
const MISSES: (input: number) => Column<Missing>[] = (input) => [
  { head: "What missed the cache", isLeft: true, by: (one) => one.because, cell: (one) => one.because },
  { head: "Requests", by: (one) => one.requests, cell: (one) => count(one.requests) },
  { head: "Tokens", by: (one) => one.tokens, cell: (one) => count(one.tokens) },
  { head: "Cost", by: (one) => one.usd, cell: (one) => usd(one.usd) },
  { head: "Of input", by: (one) => one.usd, cell: (one) => share(one.usd / input) },
  { head: "Most expensive", isLeft: true, by: (one) => one.dearest.usd, cell: (one) => `${one.dearest.session}, request ${one.dearest.request}` },
];

function showFills(it: Answer): void {
  const billed = it.sessions.filter((one) => one.filled);
  byId("fills").hidden = billed.length === 0;
  const fills = new Map<string, Fill>();
  const misses = new Map<string, Missing>();
  let front = 0;
  for (const { name, filled } of billed) {
    front += filled!.front_usd;
    for (const { what, tokens, entered_usd, carried_usd } of filled!.by_tool) {
      const sum = fills.get(what) ?? { what, tokens: 0, usd: 0 };
      fills.set(what, { what, tokens: sum.tokens + tokens, usd: sum.usd + entered_usd + carried_usd });
    }
    for (const { because, request, tokens, usd } of filled!.missed) {
      const own = { session: name, request, usd };
      const sum = misses.get(because) ?? { because, requests: 0, tokens: 0, usd: 0, dearest: own };
      const dearest = usd > sum.dearest.usd ? own : sum.dearest;
      misses.set(because, { because, requests: sum.requests + 1, tokens: sum.tokens + tokens, usd: sum.usd + usd, dearest });
    }
  }
  const input = [...fills.values()].reduce((sum, one) => sum + one.usd, 0);
  byId("fills-said").textContent = `Each 1,000 tokens at the front of the prompts, such as those of a memory file, cost ${usd(front)} in these sessions.`;
  table(byId<HTMLTableElement>("fill-lines"), "By tool, from the bills.", FILLS(input), [...fills.values()], { column: 2, isDown: true });
  table(byId<HTMLTableElement>("miss-lines"), "Sent before and not read from the cache, and what that cost beyond a read.", MISSES(input), [...misses.values()], { column: 3, isDown: true });
}

const line = (it: { path: string; reason: string; help: string }) => el("li", {}, el("code", {}, it.path), ` ${it.reason}`, it.help && el("span", { class: "help" }, ` ${it.help}`));

/** Lists the files that were left out; where nothing is left, under the button that chose them. */
export function showBroken(it?: Answer): void {
  const unplayed = (it?.skipped ?? []).map((one) => ({ path: one.file, reason: one.reason, help: "" }));
  const all = [...pool.broken, ...unplayed];
  byId("broken-fold").hidden = all.length === 0;
  byId("broken-fold").querySelector("summary")!.textContent = `${count(all.length)} left out, with the reasons`;
  byId("broken").replaceChildren(...all.map(line));
}

/** Says under the button why there is no session. */
export function showNothing(text: string): void {
  byId("start-said").textContent = text;
  byId("start-broken").replaceChildren(...(pool.broken.length ? [el("ul", { class: "problems" }, ...pool.broken.slice(0, 8).map(line))] : []));
}

export function clearNothing(): void {
  byId("start-said").textContent = "";
  byId("start-broken").replaceChildren();
}

