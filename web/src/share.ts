// Sharing: the setting in the address, the command that gives the same numbers, and a report that has no text of any session in it.
import type { Answer, Options, Screen } from "./answers";
import { byId, copy, download } from "./dom";
import { policyFile } from "./edit";
import { root } from "./folder";
import { addingUp, change, count, interval, plural, rough, share, usd, verdict } from "./numbers";
import { drawn } from "./one";
import { standalone } from "./save";
import { BASE, EXAMPLE, baseTitle, isUsual, lineOf, options, pool, short, state, titleOf, wrong } from "./state";

// The address: names of bundled policies, and numbers ---------------------------------------------------------------------------------

export interface Address {
  policy: string;
  base: string;
  set: [string, number][];
}

/** Reads what an address says; null if it says nothing that is known. */
export function readAddress(hash: string): Address | null {
  const of = new URLSearchParams(hash.replace(/^#/, ""));
  const [policy, base] = [of.get("policy"), of.get("base") ?? BASE];
  if (!policy || !state.titles.has(policy) || !state.titles.has(base)) return null;
  const set = [...of].filter(([key]) => key.startsWith("params.")).map(([key, value]): [string, number] => [key, Number(value)]);
  return { policy, base, set: set.filter((it) => Number.isFinite(it[1])) };
}

/** Puts the setting into the address; a policy that the reader wrote has no name there. */
export function writeAddress(): void {
  const { policy, base, set, isFirst } = state;
  if (isFirst) return;
  const of = new URLSearchParams();
  if (policy?.kind === "named") {
    of.set("policy", policy.name);
    if (base !== BASE) of.set("base", base);
    for (const [path, value] of set) of.set(path, String(value));
  }
  history.replaceState(null, "", `${location.pathname}${location.search}${of.size ? `#${of}` : ""}`);
}

const quoted = (it: string) => (it === "" || /^[\w./:@%+=,-]+$/.test(it) ? it : `'${it.replaceAll("'", `'\\''`)}'`);

export function showCommand(): void {
  const { policy, set, base } = state;
  const where = state.isExample ? EXAMPLE : quoted(root(state.paths)) || state.paths.map(quoted).join(" ");
  const words = ["ctxsim run", ...(isUsual() || !policy ? ["--suite default"] : [])];
  if (policy?.kind === "code") {
    byId("command").textContent = "A function in JavaScript has no command: the package ctxsim-wasm runs it in Node, too.";
    return;
  }
  if (policy && !isUsual()) {
    words.push(`--policy ${quoted(base)} --policy ${quoted(policy.kind === "written" ? `${short(policy.name)}.ron` : policy.name)}`);
    for (const [path, value] of set) words.push(`--set ${path}=${value}`);
  }
  words.push(where);
  byId("command").textContent = words.join(" ");
}

/** The report that the command gives: of the usual policies, or of what is compared. */
const reported = (): Options => (isUsual() || !state.policy ? { suite: "default" } : options());

// A report without any text of a session: only numbers, words of this page, and names of what is bundled ----------------------------------

const escaped = (it: string) => it.replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]!);
const cell = (it: string, tag = "td") => `<${tag}>${escaped(it)}</${tag}>`;
const tableOf = (head: string[], rows: string[][]) =>
  `<table><tr>${head.map((it) => cell(it, "th")).join("")}</tr>${rows.map((row) => `<tr>${row.map((it) => cell(it)).join("")}</tr>`).join("")}</table>`;

/** What a setting may be called where nothing of the reader's own may stand. */
function publicName(name: string): string {
  return name.endsWith(", moved") ? `${publicName(name.slice(0, -7))}, with other numbers` : state.titles.has(name) ? titleOf(name) : "a policy of one’s own";
}

function compared(answer: Answer): string {
  const rows = answer.lines.map((it, nth) => [nth === 0 ? (it.policy === BASE ? "Today: keep everything" : publicName(it.policy)) : publicName(it.policy), usd(it.usd), change(it.change), interval(it.interval), share(it.evidence), count(it.promptMax), share(it.hitRate)]);
  return tableOf(["Setting", "Cost", "Change", "95% interval", "Kept", "Longest prompt", "Hit rate"], rows);
}

const LEVER_WORDS = { do: "do", your_call: "your call", try: "try", dont: "don’t", cannot_tell: "cannot tell" };

function told({ read, month, levers }: Screen): string {
  const cents = addingUp(month.parts.map((it) => it.usd));
  const parts = month.parts.map((it, nth) => [it.about, cents[nth]!.dollars, cents[nth]!.share]).filter((_, nth) => month.parts[nth]!.usd > 0);
  // What bills tell names tools, skills and models: only settings of known agents may be named.
  const named = levers.filter((it) => it.name === "settings").map((it) => [it.title, LEVER_WORDS[it.word], it.saved_month === null ? "–" : `${rough(-it.saved_month)} a month`, it.evidence_kept === null ? "–" : share(it.evidence_kept)]);
  const when = { last_30_days: "of the last 30 days", scaled: "a month", all_sessions: "of these sessions" }[month.of];
  return `<p>${plural(read.sessions, "session")}, ${plural(read.requests, "request")}, ${plural(read.days, "day")}.</p><h2>Where the ${usd(month.usd)} ${when} goes</h2>${tableOf(["Part", "US dollars", "Share"], parts)}${named.length ? `<h2>Settings tried</h2>${tableOf(["Setting", "Word", "Changes the bill by", "Keeps"], named)}` : ""}`;
}

const STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c1c1a;background:#fdfdfb}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}th,td{padding:.3rem .8rem .3rem 0;border-bottom:1px solid #dcdad2;text-align:right}th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto;margin:1rem 0}.saves{color:#1b6a36}.costs{color:#a3261b}p.q{color:#5d5d57;font-size:.9rem}";

/** Returns a page that can be sent to anybody. */
export function publicReport(): string {
  const pair = state.pair!;
  const [base, line] = [pair.lines[0]!, lineOf(pair)];
  const name = publicName(line.policy);
  const numbers = [...state.set].map(([path, value]) => `${path.split(".")[1]!.replaceAll("_", " ")} ${count(value)}`).join(", ");
  const title = line.change === null ? `${usd(line.usd)} as recorded` : `${verdict(line.change)}: ${usd(line.usd)} instead of ${usd(base.usd)}`;
  const charts = ["bands", "water"].flatMap((id) => {
    const it = drawn.get(id);
    if (!it) return [];
    const isOwn = state.policy?.kind !== "named";
    const caption = isOwn ? "" : it.titled.caption;
    return [new XMLSerializer().serializeToString(isOwn ? blank(standalone(it.node, { ...it.titled, title: id === "bands" ? "Cost of each request" : it.titled.title, caption }, it.key, byId(id))) : standalone(it.node, it.titled, it.key, byId(id)))];
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"><title>${escaped(title)}</title><style>${STYLE}</style><h1 class="${(line.change ?? 0) < 0 ? "saves" : "costs"}">${escaped(title)}</h1><p><strong>${escaped(name)}</strong>${escaped(numbers ? ` (${numbers})` : "")} against ${escaped(baseTitle().toLowerCase())}, over ${plural(pair.count, "session")}${line.interval ? `; 95% interval ${interval(line.interval)}` : ""}. Kept of what later steps reuse: ${share(line.evidence)}.</p>${compared(pair)}${charts.join("")}${state.screen ? told(state.screen.screen) : ""}<p class="q">Made by ctxsim in a browser. It has numbers, and no name, path or text of any session.</p></html>`;
}

/** Takes the words of a reader's own policy off a drawing. */
function blank(node: SVGElement): SVGElement {
  for (const it of node.querySelectorAll("title")) it.remove();
  for (const it of node.querySelectorAll(".name")) it.textContent = it.textContent!.replace(/^[^:]*:/, (all) => (all === "Today:" ? all : "Own policy:"));
  return node;
}

async function save(how: "json" | "page"): Promise<void> {
  const said = byId("take-said");
  said.textContent = "Writing the report";
  try {
    if (how === "page" && byId<HTMLInputElement>("no-text").checked) download("ctxsim-shared.html", publicReport(), "text/html");
    else {
      const seat = state.policy?.kind === "code" ? pool.own : pool.whole;
      if (seat === pool.whole) await pool.fill(seat);
      const text = await seat.ask(how, [reported()]);
      if (how === "json") download("ctxsim.json", text, "application/json");
      else download("ctxsim.html", text, "text/html");
    }
    said.textContent = "";
  } catch (error) {
    said.textContent = wrong(error);
  }
}

export function listen(): void {
  byId("save-json").addEventListener("click", () => void save("json"));
  byId("save-page").addEventListener("click", () => void save("page"));
  byId("save-policy").addEventListener("click", async () => {
    const { name, ron } = await policyFile();
    download(state.policy?.kind === "code" ? name : `${short(name)}.ron`, ron, "text/plain");
  });
  byId("copy").addEventListener("click", () => void copy(byId("command").textContent ?? "", byId("take-said")));
  byId("copy-link").addEventListener("click", () => {
    state.isFirst = false;
    writeAddress();
    void copy(location.href, byId("take-said"));
  });
}
