"""Two policies as programs, each with a fault on purpose; the first argument says which."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "policies"))

from ctxsim_policy import insert, rewrite, run, view  # noqa: E402


def shows_and_hides(opened):
    def answer(request, history):
        results = [it["id"] for it in history if it["kind"] == "tool_result"]
        # By the history, so that the same request always has the same answer.
        if len(results) % 2 == 0:
            return view(history, {})
        return view(history, {results[0]: rewrite(results[0], "[hidden for now]")})

    return answer


def counts_its_calls(opened):
    asked = 0

    def answer(request, history):
        nonlocal asked
        asked += 1
        return view(history, {}) + [insert("user", f"This policy was asked {asked} times.")]

    return answer


run({"shows_and_hides": shows_and_hides, "counts_its_calls": counts_its_calls}[sys.argv[1]])
