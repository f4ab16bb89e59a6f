"""Clears old tool results: once the prompt is larger than `above`, all but the `keep` newest become a placeholder."""

from ctxsim_policy import rewrite, run, sized, view

PLACEHOLDER = sized(tokens=12, digest=1)


def make(opened):
    above, n_kept = opened["params"]["above"], opened["params"]["keep"]
    cleared = {}

    def answer(request, history):
        if request["prompt_tokens"] <= above:
            return None
        results = [it for it in history if it["kind"] == "tool_result"]
        for result in results[: max(0, len(results) - n_kept)]:
            if result["tokens"] > PLACEHOLDER["tokens"]:
                cleared[result["id"]] = rewrite(result["id"], PLACEHOLDER)
        return view(history, cleared)

    return answer


run(make)
