// Clears old tool results: once the prompt is larger than `above`, all but the `keep` newest become a placeholder.
import { rewrite, run, sized, view } from "./ctxsim_policy.mjs";

const PLACEHOLDER = sized(12, 1);

run((opened) => {
  const above = opened.params.above ?? Infinity;
  const nKept = opened.params.keep ?? Infinity;
  /** @type {Record<number, import("./ctxsim_policy.mjs").Part>} */
  const cleared = {};
  return (request, history) => {
    if (request.prompt_tokens <= above) return null;
    const results = history.filter((it) => it.kind === "tool_result");
    for (const { id, tokens } of results.slice(0, Math.max(0, results.length - nKept))) {
      if (tokens > PLACEHOLDER.tokens) cleared[id] = rewrite(id, PLACEHOLDER);
    }
    return view(history, cleared);
  };
});
