// The page: what happens when sessions are given, from the first number to the last chart.
import type { Answer } from "./answers";
import { compare } from "./ask";
import * as best from "./best";
import * as cards from "./cards";
import * as demo from "./demo";
import { byId, say } from "./dom";
import * as edit from "./edit";
import { type Given, chosen as chosenFiles, dropped } from "./folder";
import * as keep from "./keep";
import { count } from "./numbers";
import * as one from "./one";
import * as own from "./own";
import * as sessions from "./sessions";
import * as share from "./share";
import { BASE, EXAMPLE, on, pool, state, wrong } from "./state";
import * as hand from "./try";

let drops = 0;
/** What an address asks for, once there are sessions. */
let wanted: share.Address | null = null;
/** What is chosen in the demo. */
let shown: share.Address | null = null;
/** Resolves once the demo has run, or failed. */
let demonstrated: Promise<void> = Promise.resolve();

let answers = 0;

on.show = () => {
  const { pair } = state;
  if (!pair || pair.lines.length === 0) return;
  byId("results").hidden = false;
  if (!state.screen) cards.line();
  hand.showVerdict(pair);
  hand.showLines();
  sessions.sessionsSoon();
  if (!state.isPart) {
    sessions.showBroken(pair);
    one.drawWater();
  }
  share.showCommand();
  share.writeAddress();
  // What reads the page can wait for the next answer.
  document.body.dataset.answers = String(++answers);
};
on.requests = () => {
  one.showRequestsSoon();
  best.restSoon();
};

/** Says why there is nothing to show, under the button, and opens nothing. */
function nothing(text: string): void {
  say("");
  byId("reading").hidden = true;
  byId("results").hidden = true;
  document.body.classList.remove("has-sessions");
  sessions.showNothing(text);
}

/** Takes files, or, without any, the bundled session of the README. */
async function take(given: Given[] | null): Promise<void> {
  const mine = ++drops;
  const paths = given?.map((it) => it.path) ?? [EXAMPLE];
  sessions.clearNothing();
  // What the reader chose stays chosen.
  if (!state.isFirst && state.policy?.kind === "named") wanted ??= { policy: state.policy.name, base: state.base, set: [...state.set] };
  if (paths.length === 0) return nothing("There is no recording in it: recordings end in .jsonl, .json, .csv, .eval, .db or .sqlite.");
  Object.assign(state, { paths, isExample: given === null, policy: null, said: null, usual: null, pair: null, isPart: false, trail: [], active: null, base: wanted?.base ?? BASE });
  state.set.clear();
  sessions.forget();
  cards.forget();
  best.forget();
  const bar = byId<HTMLProgressElement>("reading");
  bar.hidden = false;
  say(`Reading ${count(paths.length)} ${paths.length === 1 ? "file" : "files"}`);
  const goes = () => mine === drops;
  try {
    const progress = (it: { read: number; all: number }) => {
      if (!goes()) return;
      bar.value = it.read / it.all;
      bar.hidden = it.read === it.all;
    };
    await (given ? pool.take(given, progress) : pool.example(EXAMPLE, progress));
    if (!goes()) return;
    if (pool.broken.length >= paths.length) return nothing(paths.length === 1 ? "This file cannot be read as a recorded session:" : "None of these files can be read as a recorded session:");
    document.body.classList.add("has-sessions");
    sessions.showBroken();
    await pool.steps({ policies: [BASE] }, () => goes() && !state.usual, (it, isAll) => {
      compare(it, !isAll);
      on.show();
      if (answers && byId("line").dataset.of !== String(mine)) arrive(mine);
    });
    say("Comparing the usual settings");
    await pool.steps({ suite: "default" }, goes, (it, isAll) => overview(it, !isAll));
  } catch (error) {
    if (goes()) nothing(wrong(error));
  }
}

/** Brings the reader to the results, once. */
function arrive(mine: number): void {
  const line = byId("line");
  line.dataset.of = String(mine);
  line.focus({ preventScroll: true });
  line.scrollIntoView({ block: "start" });
}

/** Shows the usual policies; the first time, what was asked for or the one that costs least and keeps enough is compared. */
function overview(it: Answer, isPart: boolean): void {
  const isFirst = state.usual === null;
  state.usual = it;
  say("");
  hand.showBases(it);
  if (state.base === BASE && (isFirst || (state.set.size === 0 && it.lines.some((line) => line.policy === state.policy?.name)))) compare(it, isPart);
  const asked = wanted;
  wanted = null;
  // What some sessions say is looked at again once all have been: as long as nobody has chosen.
  if (asked) void hand.choose(asked.policy, false, asked.set);
  else if (isFirst || (state.isFirst && !isPart && state.policy?.name !== hand.firstChoice(it))) void hand.choose(hand.firstChoice(it), true);
  on.show();
  if (isPart) return;
  on.requests();
  if (!document.body.dataset.screen) void cards.screen();
}

function listen(): void {
  for (const id of ["folder", "some"]) {
    const input = byId<HTMLInputElement>(id);
    input.addEventListener("change", () => {
      void take(chosenFiles(input));
      input.value = "";
    });
  }
  if (keep.canKeep) byId("folder").addEventListener("click", (event) => {
    if (!event.isTrusted) return;
    event.preventDefault();
    keep.choose().then(take).catch((error) => error.name !== "AbortError" && nothing(wrong(error)));
  });
  byId("again").addEventListener("click", () => void keep.again().then(take).catch((error) => nothing(wrong(error))));
  byId("try").addEventListener("click", async () => {
    const mine = ++drops;
    await demonstrated;
    if (mine !== drops) return;
    wanted = shown;
    void take(null);
  });
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
  byId<HTMLSelectElement>("base").addEventListener("change", (event) => hand.rebase((event.target as HTMLSelectElement).value));
  byId("session").addEventListener("change", () => void one.showRequests());
  byId("filter").addEventListener("input", () => state.pair && sessions.showSessions(state.pair));
  byId<HTMLInputElement>("settings").addEventListener("change", async (event) => {
    const file = (event.target as HTMLInputElement).files?.[0];
    if (!file) return;
    byId("settings-said").textContent = `with ${file.name}`;
    await cards.screen([file.name, await file.text()]);
  });
  addEventListener("beforeprint", () => state.pair && hand.showLines());
  for (const it of [edit, one, share]) it.listen();
}

/** Shows what an address asks for, on the bundled session, until there are others. */
function addressed(): void {
  const address = share.readAddress(location.hash);
  if (!address) return;
  wanted = address;
  void take(null);
}

/** Runs the demo; what is chosen in it is what is explored. */
async function live(): Promise<void> {
  const all = await demo.simulate();
  demo.draw(all, (it) => {
    shown = { policy: it.policy, base: BASE, set: it.set };
  });
  document.body.dataset.demo = "";
}

async function begun(): Promise<void> {
  listen();
  pool.prepare();
  void keep.keptName().then((name) => {
    byId("again").hidden = !name;
    byId("again").textContent = name ? `Read “${name}” again` : "";
  });
  // A worker that is started once the page is served by its own service worker can load what the reader writes.
  const served = own.served.then(() => pool.own.prepare()).catch((error) => void (byId("own-said").textContent = wrong(error)));
  await Promise.all([pool.whole.ask("clear", []), pool.desk.ask("policies", []).then((all) => {
    for (const it of all) state.titles.set(it.name, it.title ?? it.name);
    hand.picker.all = all;
  })]);
  addressed();
  demonstrated = live().catch((error) => void (byId("demo-rows").textContent = wrong(error)));
  await served;
  document.body.dataset.ready = "";
}

begun().catch((error) => say(`The engine cannot be loaded: ${wrong(error)}`, true));
