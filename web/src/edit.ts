// A policy as a text or as a function of the reader's own.
import { answer, compare, wish } from "./ask";
import { byId } from "./dom";
import { Editor } from "./editor";
import * as own from "./own";
import { on, pool, short, state, wrong } from "./state";
import { begin } from "./try";

let writing = 0;
const text = new Editor(byId("text"), byId("gutter"), () => {
  clearTimeout(writing);
  writing = setTimeout(written, 200);
});

/** What the policy's file would be: a bundled one, or one that is based on it with other numbers. */
export async function policyFile(): Promise<{ name: string; ron: string }> {
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
    wish.turn++;
    Object.assign(state, { isFirst: false, base: "identity" });
    begin({ kind: "code", name: own.NAME }, null);
    compare(found, false);
    said.textContent = "Simulated.";
    on.show();
    on.requests();
  } catch (error) {
    said.textContent = `Your function failed: ${wrong(error)}. Nothing else did.`;
    said.classList.add("wrong");
  } finally {
    [stop.hidden, start.disabled] = [true, false];
  }
}

/** Fills the text of the policy, where it is open. */
export function refill(): void {
  if (byId<HTMLDetailsElement>("edit").open && state.policy && state.policy.kind === "named") void fillEditor();
}

export function listen(): void {
  byId("edit").addEventListener("toggle", refill);
  byId("play").addEventListener("click", () => void play());
  byId("stop").addEventListener("click", () => pool.own.stop());
  const program = new Editor(byId("own"), byId("own-gutter"), () => {});
  program.value = own.EXAMPLE;
}
