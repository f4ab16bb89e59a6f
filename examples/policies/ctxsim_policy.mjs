/**
 * Runs a context policy for ctxsim: protocol ctxsim.policy/1 over standard input and output.
 *
 * Copy this file beside your policy. It needs Node 18 and no packages. `docs/processes.md` describes every message.
 *
 *     import { run } from "./ctxsim_policy.mjs";
 *
 *     run((opened) => (request, history) => null);   // null: as the last view, and what has come since as it came
 */
import { createInterface } from "node:readline";

/**
 * @typedef {"system" | "tool_schema" | "user" | "assistant" | "reasoning" | "tool_call" | "tool_result" | "summary" | "memory"
 *   | "approval"} Kind
 * @typedef {{ id: number, kind: Kind, tool?: string, call?: number, tokens: number, text?: string,
 *   stable?: boolean }} Entry
 * @typedef {{ policy: string, scenario: string }} RunName
 * @typedef {{ run: RunName, seed: number, params: Record<string, number | null>, limits: { prompt?: number } }} Opened
 * @typedef {{ n: number, session: number, turn: number, now_ms: number, idle_ms: number, ttl_ms?: number,
 *   prompt_tokens: number, gone: number[], add: Entry[] }} Request
 * @typedef {string | { tokens: number, digest: number }} Text a size and a digest, where the words are not given
 * @typedef {{ input: number, output: number, shares_prefix?: boolean }} ModelCall tokens
 * @typedef {[number, number]} Range the first and the last id
 * @typedef {{ keep: Range }
 *   | { rewrite: { id: number, text: Text, handle?: boolean, exact?: boolean, model_call?: ModelCall } }
 *   | { insert: { kind: Kind, text: Text, replaces?: Range | Range[], model_call?: ModelCall } }} Part
 * @typedef {(request: Request, history: Entry[]) => Part[] | null} Answer
 */

/**
 * The whole history, with the parts in `changed` (by id) in the place of their entries; a null leaves the entry out.
 *
 * @param {Entry[]} history
 * @param {Map<number, Part | null>} changed
 * @returns {Part[]}
 */
export function view(history, changed) {
  /** @type {Part[]} */
  const parts = [];
  /** @type {Range | null} */
  let kept = null;
  for (const { id } of history) {
    const part = changed.get(id);
    if (part === undefined) {
      kept = [kept ? kept[0] : id, id];
      continue;
    }
    if (kept) parts.push({ keep: kept });
    kept = null;
    if (part) parts.push(part);
  }
  if (kept) parts.push({ keep: kept });
  return parts;
}

/**
 * Answers requests until ctxsim closes the input.
 *
 * @param {(opened: Opened) => Answer} make called once, before the first request
 * @param {{ lasts?: "history" | "request" }} [options]
 */
export async function run(make, { lasts = "history" } = {}) {
  // What your code logs goes to standard error: standard output carries answers alone.
  console.log = console.info = console.debug = console.error;
  /** @param {object} message */
  const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
  /** @type {Answer} */
  let answer = () => null;
  /** @type {Map<number, Entry>} entries by id, in the order in which they came */
  const history = new Map();
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const message = JSON.parse(line);
    if (message.type === "open") {
      answer = make(message);
      say({ type: "ready", protocol: "ctxsim.policy/1", wants: ["request"], lasts });
      continue;
    }
    for (const id of message.gone) history.delete(id);
    for (const entry of message.add) history.set(entry.id, entry);
    const parts = answer(message, [...history.values()]);
    say(parts ? { type: "view", n: message.n, parts } : { type: "same", n: message.n });
  }
}
