// One session: what each request costs under both settings and why, what changes in its bill, and what fills its prompts.
import type { RunRows } from "./answers";
import { type Broke, type Drawing, PARTS, PART_WORDS, type Side, bands, breaks, readout } from "./bands";
import { byId, el } from "./dom";
import { held, namesOf } from "./held";
import { change, count, usd } from "./numbers";
import { type Pair, pairs, requests, summary, whyBroke } from "./requests";
import { type Key, type Titled, savePng, saveSvg, standalone } from "./save";
import { BASE, type Policy, baseTitle, lineOf, on, options, optionsOf, pool, short, state, titleOf, wrong } from "./state";
import { wish } from "./ask";
import { changes, waterfall } from "./waterfall";

/** The charts that stand on the page, each with how it is saved. */
export const drawn = new Map<string, { node: SVGElement; titled: Titled; key: Key[] }>();

const LINE_KEY: Key[] = [{ words: "prompt today", kind: "had" }, { words: "prompt then", kind: "would" }];
const PART_KEY: Key[] = PART_WORDS.map((words, nth) => ({ words, kind: PARTS[nth]! }));
const BREAK_KEY: Key[] = [{ words: "prefix broken by an edit", kind: "mark edit" }, { words: "by a pause", kind: "mark pause" }, { words: "by something else", kind: "mark other" }];

export function pickSession(name: string): void {
  byId<HTMLSelectElement>("session").value = name;
  byId("bands").scrollIntoView();
  void showRequests();
}

let soon = 0;

export function showRequestsSoon(): void {
  clearTimeout(soon);
  soon = setTimeout(showRequests, 400);
}

let asking = 0;

export async function showRequests(): Promise<void> {
  // Whoever still moves a slider waits for its numbers, not for these.
  if (wish.isAnswering) return showRequestsSoon();
  const session = byId<HTMLSelectElement>("session").value;
  if (!session || !state.policy) return;
  const mine = ++asking;
  try {
    const seat = await pool.forOne(state.policy.kind === "code");
    const asked = options();
    const [had, would] = await seat.ask("requests", [session, asked]);
    if (mine !== asking || !had) return;
    draw(session, had, would ?? had);
    const fills = state.policy.kind === "code" ? [] : await seat.ask("holds", [session, asked]);
    if (mine === asking) drawHeld(fills.map((it) => it.held));
  } catch (error) {
    if (mine === asking) byId("one-said").textContent = wrong(error);
  }
}

/** The name of what is compared, with its numbers. */
export function thenTitle(): string {
  const { policy, set } = state;
  if (!policy) return "";
  const name = policy.kind === "named" ? titleOf(policy.name) : policy.kind === "code" ? "Your function" : short(policy.name);
  const values = [...set].map(([path, value]) => `${path.split(".")[1]!.replaceAll("_", " ")} ${count(value)}`);
  return values.length ? `${name} (${values.join(", ")})` : name;
}

function sides(session: string, all: Pair[]): [Side, Side] {
  const missed = new Map((state.pair?.sessions.find((it) => it.name === session)?.filled?.missed ?? []).map((it) => [it.request, it]));
  const isToday = state.base === BASE;
  const [first, second]: [(Broke | null)[], (Broke | null)[]] = whyBroke(all, isToday ? missed : new Map(), isToday);
  return [{ name: baseTitle(), rows: all.map((it) => it.had), broke: first }, { name: thenTitle(), rows: all.map((it) => it.would), broke: second }];
}

let now: { session: string; all: Pair[]; today: Side; then: Side; drawing: Drawing } | null = null;

function draw(session: string, had: RunRows, would: RunRows): void {
  const all = pairs(had.rows, would.rows);
  const [today, then] = sides(session, all);
  byId("explained").hidden = true;
  const explain = (side: 0 | 1, request: number) => void explained(session, side, request);
  requests(byId<HTMLTableElement>("requests"), [today.name, then.name], all, explain);
  byId("one-said").textContent = `${summary([today.name, then.name], had.rows, would.rows)} Prefix broken: ${today.name.toLowerCase()} ${breaks(today)}; ${then.name} ${breaks(then)}.`;
  const at = byId("bands-at");
  const drawing = bands(all, today, then, Math.max(320, at.clientWidth));
  now = { session, all, today, then, drawing };
  at.setAttribute("aria-label", `Dollars of each request: ${byId("one-said").textContent}`);
  at.dataset.breaks = String(then.broke.filter(Boolean).length);
  at.dataset.requests = String(all.length);
  at.replaceChildren(drawing.node);
  const keys = [...LINE_KEY, ...PART_KEY, ...BREAK_KEY.filter((it) => [today, then].some((side) => side.broke.some((one) => one && it.kind.endsWith(one.kind))))];
  key("bands-key", keys);
  byId("bands-readout").textContent = "Point at a request, or choose one to have it explained.";
  keep("bands", drawing.node, { name: "cost-of-each-request", title: `${then.name} against ${today.name.toLowerCase()}: cost of each request`, caption: byId("one-said").textContent! }, keys);
  drawWater();
}

function key(id: string, all: Key[]): void {
  byId(id).replaceChildren(...all.map((it) => el("span", { class: "key-one" }, el("span", { class: `swatch ${it.kind}` }), it.words)));
}

function keep(id: string, node: SVGElement, titled: Titled, keys: Key[]): void {
  drawn.set(id, { node, titled: { ...titled, caption: `${titled.caption} Simulated by ctxsim at list prices.` }, key: keys });
}

export function drawWater(): void {
  const { pair } = state;
  if (!pair || !state.policy) return;
  const [base, line] = [pair.lines[0]!, lineOf(pair)];
  const at = byId("water-at");
  const node = line === base ? null : waterfall(base, line, [baseTitle(), "Then"], Math.max(300, at.clientWidth));
  byId("water").hidden = !node;
  if (!node) return;
  const of = pair.count === 1 ? "this session" : `all ${count(pair.count)} sessions`;
  const all = changes(base, line)!;
  const most = all.indexOf(all.reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one)));
  const caption = `${thenTitle()}, ${of}: ${usd(base.usd)} becomes ${usd(line.usd)} (${change(line.change)}). The largest part is ${["cache reads", "cache writes", "uncached input", "output", "what is expected beside requests, such as fetching again"][most]}.`;
  at.replaceChildren(node);
  at.setAttribute("aria-label", caption);
  byId("water-said").textContent = caption;
  keep("water", node, { name: "what-changes-in-the-bill", title: "What changes in the bill", caption }, []);
}

function drawHeld(all: Record<string, number>[][]): void {
  byId("held").hidden = all.length === 0;
  if (all.length === 0) return;
  const names = namesOf(all);
  const titles = [baseTitle(), thenTitle()];
  const at = byId("held-at");
  const node = held(all.slice(0, 2).map((it, nth) => ({ name: titles[nth]!, held: it })), names, Math.max(300, at.clientWidth));
  const last = all[0]!.at(-1) ?? {};
  const [most] = Object.entries(last).sort((one, other) => other[1] - one[1]);
  const caption = most ? `Largest part of the last prompt today: ${most[0]}, ${count(most[1])} of ${count(Object.values(last).reduce((sum, it) => sum + it, 0))} tokens.` : "";
  at.replaceChildren(node);
  at.setAttribute("aria-label", caption || "What the prompts hold");
  byId("held-said").textContent = caption;
  const keys = names.map((words, nth) => ({ words, kind: `h${nth}` }));
  key("held-key", keys);
  keep("held", node, { name: "what-fills-the-prompt", title: "What fills the prompt", caption }, keys);
}

async function explained(session: string, side: 0 | 1, request: number): Promise<void> {
  const policy: Policy = side === 0 ? { kind: "named", name: state.base } : state.policy!;
  const seat = await pool.forOne(policy.kind === "code");
  const { policies, set } = optionsOf(policy, side === 0 ? new Map() : state.set);
  const at = byId("explained");
  try {
    const told = await seat.ask("explain", [session, request, { policies: [policies!.at(-1)!], set }]);
    byId("explained-text").textContent = told.text;
  } catch (error) {
    byId("explained-text").textContent = wrong(error);
  }
  byId("explained-head").textContent = `Request ${request}, ${side === 0 ? baseTitle().toLowerCase() : thenTitle()}`;
  at.hidden = false;
  at.focus({ preventScroll: true });
  at.scrollIntoView({ block: "nearest" });
}

/** Listens on the charts: what is pointed at is read out, what is chosen is explained, and each can be saved. */
export function listen(): void {
  const at = byId("bands-at");
  const nth = (event: MouseEvent) => {
    const { left, width } = at.getBoundingClientRect();
    const wide = Number(now!.drawing.node.getAttribute("width"));
    return now!.drawing.nth(((event.clientX - left) / width) * wide);
  };
  at.addEventListener("pointermove", (event) => now && (byId("bands-readout").textContent = readout(nth(event), now.today, now.then)));
  at.addEventListener("click", (event) => {
    const it = now?.all[nth(event)];
    if (it?.would) void explained(now!.session, 1, it.numbers[1]);
    else if (it) void explained(now!.session, 0, it.numbers[0]);
  });
  for (const id of ["bands", "water", "held"]) {
    const button = (name: string, how: (it: SVGElement, name: string) => unknown) =>
      el("button", { type: "button", class: "button small", "aria-label": `Save “${byId(`${id}-title`).textContent}” as ${name}`, onclick: () => {
        const it = drawn.get(id);
        if (it) void how(standalone(it.node, it.titled, it.key, byId(id)), it.titled.name);
      } }, name);
    byId(id).querySelector(".save")!.append(button("SVG", saveSvg), button("PNG", savePng));
  }
  const redraw = () => {
    if (!now) return;
    now.drawing = bands(now.all, now.today, now.then, Math.max(320, at.clientWidth));
    at.replaceChildren(now.drawing.node);
    drawWater();
    on.requests();
  };
  let later = 0;
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(later);
    later = setTimeout(redraw, 150);
  });
}
