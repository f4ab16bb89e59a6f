// What the tests share: the package as it is built, sessions of the repository, and the command line.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const SESSION = join(ROOT, "scenarios/recorded/claude-code-session.jsonl");
export const SESSIONS = [SESSION, join(ROOT, "tests/data/recorded/pi-session.jsonl"), join(ROOT, "tests/data/recorded/codex-rollout.jsonl")];
export const PROFILE = "anthropic/claude-sonnet-4.5";

export const ctxsim = await import("ctxsim-wasm");

/** The command line: CTXSIM, else what was built last. */
const built = ["release", "debug"].map((it) => join(ROOT, "target", it, "ctxsim")).filter(existsSync);
const age = (path) => statSync(path).mtimeMs;
export const COMMAND = process.env.CTXSIM ?? built.sort((one, other) => age(other) - age(one))[0];

/** What the command line prints. */
export function printed(...args) {
  return execFileSync(COMMAND, args, { encoding: "utf8", maxBuffer: 1 << 30 });
}

/** A bench with sessions from files, under the names that the command line gives them. */
export function benchOf(paths) {
  const bench = new ctxsim.Bench();
  for (const path of paths) {
    bench.add(basename(path, ".jsonl"), readFileSync(path));
  }
  return bench;
}

/** The files below a folder. */
export function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((it) => it.isFile()).map((it) => join(it.parentPath ?? it.path, it.name)).sort();
}
