// Compiles only if the types say what the package does.
import { Bench, diagnose, names, type Options, type Problem, type View } from "ctxsim-wasm";
import { WorkerBench } from "ctxsim-wasm/worker-bench";

const view: View = (cx, history) =>
  history.map((it) => (it.kind === "tool_result" && cx.promptTokens > 40_000 ? { rewrite: it.id, text: "[cleared]", handle: true } : it));
const options: Options = { policies: ["identity", "mine", { ron: "(name: \"x\")" }], set: { "*.params.budget": "tokens(40k)" }, minEvidence: 0.9 };

const bench = new Bench();
const added: string[] = bench.add("mine", new Uint8Array());
bench.code("mine", (trace) => (trace.turns > 0 ? view : view));
const json: string = bench.compare(options, (done, all) => done < all);
const problems: Problem[] = diagnose(json, "ron");
const line: number | null = problems[0].line;
const known: string[] = names("policies");
const remote: Promise<string> = new WorkerBench().compare(options);

// @ts-expect-error: an option that there is not
const misspelt: Options = { polices: [] };
// @ts-expect-error: a kind that there is not
names("cakes");
export { added, known, line, misspelt, remote };
