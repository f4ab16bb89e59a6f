// The page: what is shown, and what happens when something is chosen, dropped or moved.
import type { Answer, Line, Options, PolicySaid, RunRows, SessionLine } from "./answers";
import { byId, download, el, say } from "./dom";
import { Editor } from "./editor";
import { type Given, chosen as chosenFiles, dropped, root } from "./folder";
import { change, count, interval, share, usd } from "./numbers";
import * as own from "./own";
import { type Trail, picture } from "./picture";
import { type CurvePoint, clear, curve, prompts } from "./plot";
import { Pool } from "./pool";
import { broke, pairs, requests, summary } from "./requests";
import { Failed } from "./seat";
import { type Numbered, rangeOf, sliders } from "./sliders";
import { type Column, table } from "./table";

const BASE = "identity";

/** What is compared with what the sessions had. */
type Policy = { kind: "named"; name: string } | { kind: "written"; name: string; ron: string } | { kind: "code"; name: string };

const pool = new Pool();
const state = {
  paths: [] as string[],
  isExample: false,
  policy: null as Policy | null,
  said: null as PolicySaid | null,
  set: new Map<string, number>(),
  /** The usual policies. */
  usual: null as Answer | null,
  /** What is compared, with what the sessions had. */
  pair: null as Answer | null,
  /** The numbers that the pair was asked with. */
  asked: {} as Options["set"],
  isPart: false,
  /** Whether nobody has chosen yet, so that the verdict is that on the usual policies. */
  isFirst: true,
  trail: [] as Trail[],
  active: null as Numbered | null,
  points: new Map<number, CurvePoint>(),
  rows: null as { had: RunRows; would: RunRows } | null,
};

const short = (name: string) => name.split("/").at(-1)!;
const isUsual = () => state.set.size === 0 && state.policy?.kind === "named" && state.usual?.lines.some((it) => it.policy === state.policy!.name);

// What is asked of workers --------------------------------------------------------------------------------------------------------------

function optionsOf(policy: Policy, set: Map<string, number>): Options {
  const other = policy.kind === "written" ? { ron: policy.ron } : policy.name;
  return { policies: policy.name === BASE ? [BASE] : [BASE, other], set: Object.fromEntries(set) };
}

const options = () => optionsOf(state.policy!, state.set);

/** What went wrong, in a sentence. */
function wrong(error: unknown): string {
  const { message, problems = [] } = error as Failed;
  const [first] = problems;
  return first ? [first.message, first.help].filter(Boolean).join(": ") : message;
}

let turn = 0;
let isAnswering = false;

/** Answers what is wanted now: at most one question is under way, and what was wanted meanwhile and is no more is never asked. */
async function answer(): Promise<void> {
  turn++;
  if (isAnswering) return;
  isAnswering = true;
  for (let done = 0; done !== turn; ) {
    const mine = turn;
    const asked = options();
    await pool
      .steps(asked, () => mine === turn, (it, isAll) => heard(it, asked, !isAll))
      .catch((error) => mine === turn && say(wrong(error), true));
    done = mine;
  }
  isAnswering = false;
}

/** What the big number is of from now on. */
function compare(pair: Answer, isPart: boolean, asked: Options["set"] = {}): void {
  Object.assign(state, { pair, isPart, asked });
}

function heard(it: Answer, { set }: Options, isPart: boolean): void {
  if (!isPart) showBroken(it);
  compare(it, isPart, set);
  const line = lineOf(it);
  if (state.active && line.usd !== null && !isPart) {
    const value = state.set.get(state.active.path)!;
    state.points.set(value, { value, usd: line.usd, evidence: line.evidence });
  }
  if (line.change !== null && line.evidence !== null) state.trail.push({ change: line.change, evidence: line.evidence });
  say(it.failures.length ? it.failures.map((one) => `${one.policy}: ${one.reason}`).join(" ") : "", it.failures.length > 0);
  show();
  if (!isPart) {
    showRequestsSoon();
    sweepSoon();
  }
}

// Sessions ------------------------------------------------------------------------------------------------------------------------------

let drops = 0;
/** The session that the README shows, with what its scenario assumes, so that both have the same numbers. */
const EXAMPLE = "recorded/claude-code";

/** Takes files, or, without any, the bundled session of the README. */
async function take(given: Given[] | null): Promise<void> {
  const mine = ++drops;
  const paths = given?.map((it) => it.path) ?? [EXAMPLE];
  if (paths.length === 0) {
    say("There is no recording in it: recordings end in .jsonl, .json, .csv or .eval.", true);
    return;
  }
  Object.assign(state, { paths, isExample: given === null, policy: null, said: null, usual: null, pair: null, isPart: false, trail: [], active: null, rows: null });
  state.set.clear();
  shownSessions = "";
  const bar = byId<HTMLProgressElement>("reading");
  bar.hidden = false;
  byId("start").classList.add("small");
  say(`Reading ${count(paths.length)} ${paths.length === 1 ? "file" : "files"}`);
  try {
    const progress = (it: { read: number; all: number }) => {
      if (mine !== drops) return;
      bar.value = it.read / it.all;
      bar.hidden = it.read === it.all;
    };
    await (given ? pool.take(given, progress) : pool.example(EXAMPLE, progress));
    if (mine !== drops) return;
    showBroken();
    if (pool.broken.length >= paths.length) {
      say("No session is left: the reasons stand below.", true);
      byId("results").hidden = false;
      document.body.dataset.empty = "";
      return;
    }
    delete document.body.dataset.empty;
    await pool.steps({ policies: [BASE] }, () => mine === drops && !state.usual, (it, isAll) => {
      compare(it, !isAll);
      show();
    });
    say("Playing the usual policies");
    await pool.steps({}, () => mine === drops, (it, isAll) => overview(it, !isAll));
  } catch (error) {
    if (mine === drops) say(wrong(error), true);
    bar.hidden = true;
  }
}

/** Shows the usual policies; the first time, the one that costs least and keeps enough is compared. */
function overview(it: Answer, isPart: boolean): void {
  const isFirst = state.usual === null;
  state.usual = it;
  say("");
  const untouched = isFirst || (state.set.size === 0 && isUsual());
  if (untouched) compare(it, isPart);
  if (!isPart) showBroken(it);
  if (isFirst) {
    state.isFirst = true;
    void choose(firstChoice(it), true);
  }
  show();
  if (!isPart) showRequestsSoon();
}

/** The cheapest policy that keeps enough; if nothing that does is cheaper than what there is, the cheapest of the others. */
function firstChoice({ cheapest, lines }: Answer): string {
  if (cheapest && cheapest !== BASE) return cheapest;
  const others = lines.filter((it) => it.policy !== BASE).sort((one, other) => (one.usd ?? Infinity) - (other.usd ?? Infinity));
  return others[0]?.policy ?? BASE;
}


// The policy ----------------------------------------------------------------------------------------------------------------------------

async function choose(name: string, isKnown = false): Promise<void> {
  if (name === own.NAME) return;
  state.isFirst = isKnown;
  try {
    const said = await pool.desk.ask("policy", [name]);
    begin({ kind: "named", name }, said);
    if (byId<HTMLDetailsElement>("edit").open) await fillEditor();
    if (isUsual()) {
      turn++;
      compare(state.usual!, state.isPart);
      show();
      if (!isKnown) showRequestsSoon();
      return;
    }
    await answer();
  } catch (error) {
    say(wrong(error), true);
  }
}

/** Compares with another policy, as it is written. */
function begin(policy: Policy, said: PolicySaid | null): void {
  Object.assign(state, { policy, said, trail: [], active: null });
  state.set.clear();
  state.points.clear();
  clear(byId("curve"));
  byId("curve").hidden = true;
  byId<HTMLInputElement>("policy").value = policy.name;
  byId("about").textContent = [said?.title, said?.about ?? "Your function."].filter(Boolean).join(". ");
  showSliders();
}

function showSliders(): void {
  const promptMax = state.usual?.lines[0]?.promptMax ?? state.pair?.lines[0]?.promptMax ?? 200_000;
  if (state.said && state.policy?.kind !== "code") sliders(byId("sliders"), state.said, promptMax, state.set, moved);
  else byId("sliders").replaceChildren();
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

let sweeping = 0;

/** Fills up the curve of a slider while the hand rests. */
function sweepSoon(): void {
  clearTimeout(sweeping);
  showCurve();
  if (state.active && !pool.isLarge) sweeping = setTimeout(sweep, 700);
}

async function sweep(): Promise<void> {
  const [mine, active, policy] = [turn, state.active, state.policy];
  if (!active || !policy || isAnswering || state.points.size > 10) return;
  const { min, max, step } = rangeOf(active, state.usual?.lines[0]?.promptMax ?? 200_000);
  for (let nth = 1; nth <= 8; nth++) {
    const value = Number((Math.round((min + ((max - min) * nth) / 8) / step) * step).toFixed(6));
    if ([...state.points.keys()].some((it) => Math.abs(it - value) < (max - min) / 24)) continue;
    const set = new Map(state.set).set(active.path, value);
    const found = await pool.whole.ask("answer", [optionsOf(policy, set)]).catch(() => null);
    if (mine !== turn) return;
    const line = found?.lines.find((it) => it.policy !== BASE);
    if (line && line.usd !== null) state.points.set(value, { value, usd: line.usd, evidence: line.evidence });
  }
  showCurve();
}

function showCurve(): void {
  const points = [...state.points.values()].sort((one, other) => one.value - other.value);
  const at = byId("curve");
  at.hidden = points.length < 3 || !state.active;
  if (!at.hidden) curve(at, state.active!.name.replaceAll("_", " "), points, state.set.get(state.active!.path)!);
}

const text = new Editor(byId("text"), byId("gutter"), () => {
  clearTimeout(writing);
  writing = setTimeout(written, 200);
});
let writing = 0;

/** What the policy's file would be: a bundled one, or one that is based on it with other numbers. */
async function policyFile(): Promise<{ name: string; ron: string }> {
  const { policy, set } = state;
  if (policy!.kind === "written") return policy!;
  if (policy!.kind === "code") return { name: own.NAME, ron: byId<HTMLTextAreaElement>("own").value };
  const { name } = policy!;
  if (set.size === 0) return { name, ron: await pool.desk.ask("policyText", [name]) };
  const params = [...set].map(([path, value]) => {
    const [, param, unit] = path.split(".");
    return `"${param}": ${unit}(${value})`;
  });
  const mine = `${short(name)}_mine`;
  const ron = `(\n    name: "${mine}",\n    about: "${short(name)} with other numbers.",\n    base: "${name}",\n    params: { ${params.join(", ")} },\n)\n`;
  return { name: mine, ron };
}

async function fillEditor(): Promise<void> {
  text.value = (await policyFile()).ron;
  text.show(await pool.desk.ask("diagnose", [text.value]), byId("problems"));
}

async function written(): Promise<void> {
  const ron = text.value;
  const problems = await pool.desk.ask("diagnose", [ron]);
  if (ron !== text.value) return;
  text.show(problems, byId("problems"));
  if (problems.some((it) => !it.isWarning) || !state.usual) return;
  const said = await pool.desk.ask("policy", ["", ron]);
  state.isFirst = false;
  begin({ kind: "written", name: said.name, ron }, said);
  await answer();
}

async function play(): Promise<void> {
  const [said, stop, start] = [byId("own-said"), byId("stop"), byId<HTMLButtonElement>("play")];
  said.classList.remove("wrong");
  [stop.hidden, start.disabled] = [false, true];
  try {
    const found = await own.play(pool, byId<HTMLTextAreaElement>("own").value, (words) => (said.textContent = words));
    const [failed] = found.failures;
    if (failed) throw new Error(failed.reason);
    turn++;
    state.isFirst = false;
    begin({ kind: "code", name: own.NAME }, null);
    compare(found, false);
    said.textContent = "Played.";
    show();
  } catch (error) {
    said.textContent = `Your function failed: ${wrong(error)}. Nothing else did.`;
    said.classList.add("wrong");
  } finally {
    [stop.hidden, start.disabled] = [true, false];
  }
}

// What is shown -------------------------------------------------------------------------------------------------------------------------

function lineOf(it: Answer): Line {
  return it.lines.find((one) => one.policy === state.policy?.name) ?? it.lines.find((one) => one.policy !== BASE) ?? it.lines[0]!;
}

let answers = 0;

function show(): void {
  const { pair } = state;
  if (!pair || pair.lines.length === 0) return;
  byId("results").hidden = false;
  const base = pair.lines[0]!;
  const line = state.policy ? lineOf(pair) : base;
  showVerdict(pair, base, line);
  showFigures(base, line);
  showLines();
  // A part of the sessions is no news of each, and a moving hand waits for no long table.
  if (!state.isPart || !shownSessions) sessionsSoon();
  showCommand();
  // What reads the page can wait for the next answer.
  document.body.dataset.answers = String(++answers);
}

function showVerdict(pair: Answer, base: Line, line: Line): void {
  const all = pool.files.length - pool.broken.length;
  const sessions = `${count(pair.count)} ${pair.count === 1 ? "session" : "sessions"}`;
  const isBase = line === base;
  const isKeep = !isBase && state.isFirst && isUsual() && (state.usual!.cheapest ?? BASE) === BASE;
  byId("hero").textContent = isKeep ? "Keep what you have" : isBase ? usd(base.usd) : change(line.change) || "unknown";
  byId("hero").classList.toggle("said", isKeep);
  byId("hero").dataset.usd = String(line.usd);
  byId("hero").dataset.part = String(state.isPart);
  byId("hero").dataset.of = [line.policy, ...Object.entries(state.asked ?? {}).map(([path, value]) => `${path}=${value}`)].join(" ");
  byId("hero-of").textContent = isKeep ? `${usd(base.usd)}, ${sessions}` : isBase ? `is what ${pair.count === 1 ? "this session costs" : "these sessions cost"} as they are` : line.interval ? `95% interval ${interval(line.interval)}` : "one session, so no interval";
  const enough = line.evidence === null || line.evidence >= pair.minEvidence;
  byId("hero-more").replaceChildren(
    ...(isBase
      ? [sessions]
      : [isKeep && "The cheapest of the others, ", el("strong", {}, line.policy), `${isKeep ? "," : ""} would cost ${usd(line.usd)}${isKeep ? ` (${change(line.change)}${line.interval ? `, 95% interval ${interval(line.interval)}` : ""})` : ""}, what you have costs ${usd(base.usd)}; prompts would hold `,
         el("span", { class: enough ? "" : "low" }, `${share(line.evidence)} of the needed evidence`), `, over ${sessions}.`].filter((it): it is string | HTMLElement => it !== false)),
  );
  byId("words").textContent = isBase ? "" : (isUsual() ? state.usual! : pair).words.join(" ");
  const part = byId("part");
  part.hidden = !state.isPart;
  part.textContent = `So far on ${count(pair.count)} of ${count(all)} sessions, of every size; the rest follows.`;
}

function showFigures(base: Line, line: Line): void {
  const figure = (name: string, now: string, before: string, more = "") =>
    el("div", {}, el("dt", {}, name), el("dd", { class: "now" }, now), el("dd", { class: "before" }, line === base ? "" : `now ${before}`), more && el("dd", { class: "before" }, more));
  const ends = line.usdEnds && usd(line.usdEnds[0]) !== usd(line.usdEnds[1]) ? `${usd(line.usdEnds[0])} to ${usd(line.usdEnds[1])}, were all that is assumed wrong in one direction` : "";
  byId("figures-list").replaceChildren(
    figure("Cost", usd(line.usd), usd(base.usd), ends),
    figure("Evidence kept", share(line.evidence), share(base.evidence)),
    figure("Longest prompt", count(line.promptMax), count(base.promptMax)),
    figure("Cache hit rate", share(line.hitRate), share(base.hitRate)),
  );
}

/** The lines of the table and of the picture: the usual policies, and what is compared now. */
function lines(): Line[] {
  const usual = state.usual?.lines ?? state.pair!.lines;
  if (isUsual() || !state.policy || state.policy.name === BASE) return usual;
  const now = lineOf(state.pair!);
  // A usual policy with other numbers stands beside itself.
  const named = state.set.size > 0 && usual.some((it) => it.policy === now.policy) ? { ...now, policy: nowName() } : now;
  return [...usual.filter((it) => it.policy !== named.policy), named];
}

const nowName = () => (state.set.size > 0 && state.policy ? `${state.policy.name}, moved` : (state.policy?.name ?? ""));

function columns(minEvidence: number): Column<Line>[] {
  const by = <K extends keyof Line>(key: K) => (it: Line) => it[key] as number | null;
  const name = (it: Line) => (it.policy === BASE ? "what you have" : it.policy);
  return [
    { head: "Policy", isLeft: true, by: name, cell: (it) => el("button", { type: "button", title: it.policy, onclick: () => choose(it.policy) }, name(it)) },
    { head: "Cost", by: by("usd"), cell: (it) => usd(it.usd) },
    { head: "Change", by: by("change"), cell: (it) => change(it.change) },
    { head: "95% interval", by: (it) => it.interval?.[0] ?? null, cell: (it) => interval(it.interval) },
    { head: "Evidence kept", by: by("evidence"), cell: (it) => share(it.evidence), mark: (it) => (it.evidence !== null && it.evidence < minEvidence ? "low" : "") },
    { head: "Longest prompt", by: by("promptMax"), cell: (it) => count(it.promptMax) },
    { head: "Hit rate", by: by("hitRate"), cell: (it) => share(it.hitRate) },
    { head: "Fetched again", by: by("recoveryCalls"), cell: (it) => (it.recoveryCalls === null ? "" : it.recoveryCalls.toFixed(1)) },
  ];
}

let drawing = 0;

function showLines(): void {
  const all = lines();
  const named = nowName();
  const now = all.some((it) => it.policy === named) ? named : (state.policy?.name ?? "");
  const caption = `${state.usual ? "The usual policies" : "What you have"}${all.length > (state.usual?.lines.length ?? 99) ? ", and the one that is compared" : ""}. Choose one to compare with it.`;
  table(byId<HTMLTableElement>("lines"), caption, columns(state.pair!.minEvidence), all, { column: 1, isDown: false }, (it) => (it.policy === now ? "chosen" : ""));
  cancelAnimationFrame(drawing);
  drawing = requestAnimationFrame(() => drawPicture(all, now));
  const notes = (isUsual() ? state.usual! : state.pair!).notes;
  byId("notes").replaceChildren(...notes.map((it) => el("li", {}, it)));
  byId("notes-fold").hidden = notes.length === 0;
}

function drawPicture(all: Line[], now: string): void {
  const at = byId("chart");
  const hadFocus = at.contains(document.activeElement);
  const focused = hadFocus ? [...at.querySelectorAll("a")].indexOf(document.activeElement as unknown as HTMLAnchorElement) : -1;
  byId("picture").hidden = all.every((it) => it.evidence === null) || all.length < 2;
  if (byId("picture").hidden) return;
  at.replaceChildren(picture(all, now, state.trail, Math.max(300, at.clientWidth), (it) => choose(it.replace(/, moved$/, ""))));
  if (focused >= 0) at.querySelectorAll("a")[focused]?.focus();
}

const billError = (it: SessionLine) => (it.bill && it.bill.billed_usd > 0 ? it.bill.predicted_usd / it.bill.billed_usd - 1 : null);

let shownSessions = "";
let waiting = 0;

function sessionsSoon(): void {
  clearTimeout(waiting);
  if (shownSessions) waiting = setTimeout(() => state.pair && showSessions(state.pair), 200);
  else showSessions(state.pair!);
}

function showSessions(it: Answer): void {
  const now = state.policy?.name;
  const runOf = (one: SessionLine, policy: string | undefined) => one.runs.find((run) => run.policy === policy);
  const had = (one: SessionLine) => runOf(one, BASE)?.usd ?? null;
  const would = (one: SessionLine) => {
    const [before, after] = [had(one), runOf(one, now)?.usd ?? null];
    return before === null || after === null || now === BASE ? null : after / before - 1;
  };
  const words = it.bill
    ? `The bills show what was read and written: of ${count(it.bill.requests)} requests, ${count(it.bill.exact)} are predicted to the token, and the sum is off by ${change(it.bill.predicted_usd / it.bill.billed_usd - 1)}.`
    : "No bill is known, so nothing says how well these are predicted.";
  byId("sessions-said").textContent = words;
  if (!state.isPart) showFills(it);
  const all: Column<SessionLine>[] = [
    { head: "Session", isLeft: true, by: (one) => one.name, cell: (one) => el("button", { type: "button", title: one.name, onclick: () => pickSession(one.name) }, one.name) },
    { head: "Model", isLeft: true, by: (one) => one.model, cell: (one) => (one.model ?? "unknown") + (one.isUnderOwnModel ? "" : ", at other prices") },
    { head: "Requests", by: (one) => one.requests, cell: (one) => count(one.requests) },
    { head: "Bill check", by: billError, cell: (one) => (one.bill ? `${change(billError(one))} · ${one.bill.exact} of ${one.bill.requests} exact` : "no bill") },
    { head: "Cost", by: had, cell: (one) => usd(had(one)) },
    { head: "Change", by: would, cell: (one) => change(would(one)) },
  ];
  table(byId<HTMLTableElement>("session-lines"), `${count(it.count)} ${it.count === 1 ? "session" : "sessions"}. Choose one to see its requests.`, all, it.sessions, { column: 4, isDown: true });
  const names = it.sessions.map((one) => one.name).join("\n");
  const select = byId<HTMLSelectElement>("session");
  if (names !== shownSessions && !state.isPart) {
    const before = select.value;
    const byCost = [...it.sessions].sort((one, other) => (had(other) ?? 0) - (had(one) ?? 0));
    select.replaceChildren(...byCost.map((one) => el("option", { value: one.name }, `${one.name}, ${count(one.requests)} requests`)));
    if (it.sessions.some((one) => one.name === before)) select.value = before;
    shownSessions = names;
  }
}

interface Fill { what: string; tokens: number; usd: number }
interface Missing { because: string; requests: number; tokens: number; usd: number; dearest: { session: string; request: number; usd: number } }

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
  const of: Column<Fill>[] = [
    { head: "What", isLeft: true, by: (one) => one.what, cell: (one) => one.what },
    { head: "Tokens", by: (one) => one.tokens, cell: (one) => count(one.tokens) },
    { head: "Cost", by: (one) => one.usd, cell: (one) => usd(one.usd) },
    { head: "Of input", by: (one) => one.usd, cell: (one) => share(one.usd / input) },
  ];
  table(byId<HTMLTableElement>("fill-lines"), "What sending it again and again costs, by the bills.", of, [...fills.values()], { column: 2, isDown: true });
  const missing: Column<Missing>[] = [
    { head: "What missed the cache", isLeft: true, by: (one) => one.because, cell: (one) => one.because },
    { head: "Requests", by: (one) => one.requests, cell: (one) => count(one.requests) },
    { head: "Tokens", by: (one) => one.tokens, cell: (one) => count(one.tokens) },
    { head: "Cost", by: (one) => one.usd, cell: (one) => usd(one.usd) },
    { head: "Of input", by: (one) => one.usd, cell: (one) => share(one.usd / input) },
    { head: "Dearest", isLeft: true, by: (one) => one.dearest.usd, cell: (one) => `${one.dearest.session}, request ${one.dearest.request}` },
  ];
  table(byId<HTMLTableElement>("miss-lines"), "What was sent before and not read from the cache, and what that cost beyond a read.", missing, [...misses.values()], { column: 3, isDown: true });
}

function showBroken(it?: Answer): void {
  const unplayed = (it?.skipped ?? []).map((one) => ({ path: one.file, reason: one.reason, help: "" }));
  const all = [...pool.broken, ...unplayed];
  byId("broken-fold").hidden = all.length === 0;
  byId("broken").replaceChildren(...all.map((it) => el("li", {}, el("code", {}, it.path), ` ${it.reason}`, it.help && el("span", { class: "help" }, ` ${it.help}`))));
}

// One session ---------------------------------------------------------------------------------------------------------------------------

function pickSession(name: string): void {
  byId<HTMLSelectElement>("session").value = name;
  byId("one").scrollIntoView();
  void showRequests();
}

let soon = 0;

function showRequestsSoon(): void {
  clearTimeout(soon);
  soon = setTimeout(showRequests, 500);
}

let asking = 0;

async function showRequests(): Promise<void> {
  // Whoever still moves a slider waits for its numbers, not for these.
  if (isAnswering) return showRequestsSoon();
  const session = byId<HTMLSelectElement>("session").value;
  if (!session || !state.policy) return;
  const mine = ++asking;
  const said = byId("one-said");
  try {
    const seat = await pool.forOne(state.policy.kind === "code");
    const [had, would] = await seat.ask("requests", [session, options()]);
    if (mine !== asking || !had) return;
    drawRequests(session, had, would ?? had);
  } catch (error) {
    if (mine === asking) said.textContent = wrong(error);
  }
}

function drawRequests(session: string, had: RunRows, would: RunRows): void {
  const policy = short(would.policy);
  const all = pairs(had.rows, would.rows);
  state.rows = { had, would };
  byId("explained").hidden = true;
  byId("one-said").textContent = summary(policy, had.rows, would.rows);
  const explain = (side: 0 | 1, request: number) => explained(session, side, request);
  requests(byId<HTMLTableElement>("requests"), policy, all, explain);
  // Requests that write summaries have no place on a line of prompts.
  const main = all.filter((it) => (it.had ?? it.would)?.role === "main");
  prompts(byId("trace"), policy, main.map((it) => it.had?.prompt ?? null), main.map((it) => it.would?.prompt ?? null), (index) => {
    const it = main[index];
    if (it?.would) explain(1, it.numbers[1]);
    else if (it) explain(0, it.numbers[0]);
  });
  byId("trace").dataset.breaks = String(all.filter((it, nth) => broke(it.would, nth)).length);
}

async function explained(session: string, side: 0 | 1, request: number): Promise<void> {
  const policy: Policy = side === 0 ? { kind: "named", name: BASE } : state.policy!;
  const seat = await pool.forOne(policy.kind === "code");
  const { policies, set } = optionsOf(policy, side === 0 ? new Map() : state.set);
  const at = byId("explained");
  try {
    const told = await seat.ask("explain", [session, request, { policies: [policies!.at(-1)!], set }]);
    byId("explained-text").textContent = told.text;
  } catch (error) {
    byId("explained-text").textContent = wrong(error);
  }
  byId("explained-head").textContent = `Request ${request} ${side === 0 ? "as it is" : `under ${short(policy.name)}`}`;
  at.hidden = false;
  at.focus({ preventScroll: true });
  at.scrollIntoView({ block: "nearest" });
}

// Advice --------------------------------------------------------------------------------------------------------------------------------

async function advise(): Promise<void> {
  const [button, said, at] = [byId<HTMLButtonElement>("advise"), byId("advice-said"), byId("advice-text")];
  const agent = byId<HTMLInputElement>("agent").value.trim();
  const file = byId<HTMLInputElement>("settings").files?.[0];
  button.disabled = true;
  said.classList.remove("wrong");
  said.textContent = "Playing every setting that the agent has";
  at.replaceChildren();
  try {
    const asked = { ...(agent && { agent }), ...(file && { settings: [file.name, await file.text()] as [string, string] }) };
    await pool.fill(pool.whole);
    const told = await pool.whole.ask("advise", [asked]);
    const advice = JSON.parse(told.json);
    const heads = advice.agents.map((it: any) => {
      const best = it.pasted === null ? undefined : it.levers[it.pasted];
      const save = best?.saved_month;
      return best ? `Do this: ${best.title}${save ? `. It should save ${usd(save)} a month` : ""}.` : "Nothing to paste: no setting is certain enough.";
    });
    said.textContent = "";
    at.replaceChildren(...heads.map((it: string) => el("p", { class: "advice-head" }, it)), el("pre", { tabindex: 0, "aria-label": "The advice" }, told.text));
  } catch (error) {
    said.textContent = wrong(error);
    said.classList.add("wrong");
  }
  button.disabled = false;
}

// Take it away --------------------------------------------------------------------------------------------------------------------------

const quoted = (it: string) => (it === "" || /^[\w./:@%+=,-]+$/.test(it) ? it : `'${it.replaceAll("'", `'\\''`)}'`);

function showCommand(): void {
  const { policy, set } = state;
  const where = state.isExample ? EXAMPLE : quoted(root(state.paths)) || state.paths.map(quoted).join(" ");
  const words = ["ctxsim run"];
  if (policy?.kind === "code") {
    byId("command").textContent = "A function in JavaScript has no command: the package ctxsim-wasm runs it in Node, too.";
    return;
  }
  if (policy && !isUsual()) {
    words.push(`--policy ${BASE} --policy ${quoted(policy.kind === "written" ? `${short(policy.name)}.ron` : policy.name)}`);
    for (const [path, value] of set) words.push(`--set ${path}=${value}`);
  }
  words.push(where);
  byId("command").textContent = words.join(" ");
}

/** The report that the command gives: of the usual policies, or of what is compared. */
const reported = (): Options => (isUsual() || !state.policy ? {} : options());

async function save(how: "json" | "page"): Promise<void> {
  const said = byId("take-said");
  said.textContent = "Writing the report";
  try {
    const seat = state.policy?.kind === "code" ? pool.own : pool.whole;
    if (seat === pool.whole) await pool.fill(seat);
    const text = await seat.ask(how, [reported()]);
    if (how === "json") download("ctxsim.json", text, "application/json");
    else download("ctxsim.html", text, "text/html");
    said.textContent = "";
  } catch (error) {
    said.textContent = wrong(error);
  }
}

// What happens --------------------------------------------------------------------------------------------------------------------------

function listen(): void {
  for (const id of ["folder", "some"]) {
    const input = byId<HTMLInputElement>(id);
    input.addEventListener("change", () => {
      void take(chosenFiles(input));
      input.value = "";
    });
  }
  byId("try").addEventListener("click", () => void take(null));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => !event.relatedTarget && document.body.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    if (event.dataTransfer) void dropped(event.dataTransfer).then((it) => take(it));
  });
  byId<HTMLInputElement>("policy").addEventListener("change", (event) => void choose((event.target as HTMLInputElement).value.trim()));
  byId("edit").addEventListener("toggle", () => byId<HTMLDetailsElement>("edit").open && state.policy?.kind !== "code" && state.policy && void fillEditor());
  byId("session").addEventListener("change", () => void showRequests());
  byId("play").addEventListener("click", () => void play());
  byId("stop").addEventListener("click", () => pool.own.stop());
  byId("advise").addEventListener("click", () => void advise());
  byId("save-json").addEventListener("click", () => void save("json"));
  byId("save-page").addEventListener("click", () => void save("page"));
  byId("save-policy").addEventListener("click", async () => {
    const { name, ron } = await policyFile();
    download(state.policy?.kind === "code" ? name : `${short(name)}.ron`, ron, "text/plain");
  });
  byId("copy").addEventListener("click", async () => {
    const copied = navigator.clipboard?.writeText(byId("command").textContent ?? "");
    byId("take-said").textContent = await (copied ?? Promise.reject()).then(() => "Copied.", () => "This browser does not let a page copy: mark the command and copy it.");
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width || !state.pair) return;
    width = innerWidth;
    showLines();
  });
  addEventListener("beforeprint", () => state.pair && showLines());
}

async function begun(): Promise<void> {
  const program = new Editor(byId("own"), byId("own-gutter"), () => {});
  program.value = own.EXAMPLE;
  listen();
  pool.prepare();
  // A worker that is started once the page is served by its own service worker can load what the reader writes.
  const served = own.served.then(() => pool.own.prepare()).catch((error) => void (byId("own-said").textContent = wrong(error)));
  await Promise.all([pool.whole.ask("clear", []), pool.desk.ask("policies", []).then((all) => {
    byId("policies").replaceChildren(...all.map((it) => el("option", { value: it.name }, it.title ?? it.about)));
  })]);
  await served;
  document.body.dataset.ready = "";
}

begun().catch((error) => say(`The engine cannot be loaded: ${wrong(error)}`, true));
