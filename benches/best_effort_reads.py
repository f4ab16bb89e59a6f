"""Measures what a best-effort cache reads, from trajectories of mini-swe-agent: the step of its reads, and how often less is read than was there.

    python3 benches/best_effort_reads.py FOLDER

A read is compared with the prompt of the request before, cut at whole steps. Halves are trajectories by the last digit of their number.
"""

import json
import pathlib
import statistics
import sys

STEPS = range(1_900, 2_101)
FALLEN_BELOW = 0.97


def requests(path):
    """Prompt and read of each request."""
    for message in json.loads(path.read_text(encoding="utf-8"))["messages"]:
        usage = message.get("extra", {}).get("response", {}).get("usage")
        if usage:
            yield usage["prompt_tokens"], (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0


def main():
    sessions = {it.name: list(requests(it)) for it in sorted(pathlib.Path(sys.argv[1]).glob("*.json"))}
    odd = {name: int(name.split(".")[0][-1]) % 2 for name in sessions}
    for half in ("all", 0, 1):
        own = [it for name, it in sessions.items() if half in ("all", odd[name])]
        pairs = [(before[0], now[1]) for it in own for before, now in zip(it, it[1:])]
        sizes = [read / round(read / 2_019) for _, read in pairs if read > 0]
        step = round(sorted(sizes)[len(sizes) // 10])  # nine of ten reads have steps of at least this size
        of = [(before // step * step, read) for before, read in pairs]
        known = [(there, read) for there, read in of if there > 0]
        fallen = [(there, read) for there, read in known if read < FALLEN_BELOW * there]
        kept = sum(it[1] for it in fallen) / sum(it[0] for it in fallen)
        below = sum(1 for before, read in pairs if read > 0 and before < 4_096)
        of_session = []
        for it in own:
            there = [(b[0] // step * step, n[1]) for b, n in zip(it, it[1:]) if b[0] >= step]
            less = [(a, r) for a, r in there if r < FALLEN_BELOW * a]
            of_session.append((len(less) / len(there), sum(r for _, r in less) / max(1, sum(a for a, _ in less)), sum(r for _, r in there) / sum(a for a, _ in there)))
        deviation = [statistics.stdev(column) for column in zip(*of_session)]
        print(half, f"n {len(pairs)} step {step} reads {len(sizes)} below 4,096: {below}")
        print("   fallen", len(fallen), "of", len(known), f"{len(fallen) / len(known):.4f} ± {1.96 * deviation[0]:.3f} by session, {1.96 * deviation[0] / len(own) ** 0.5:.4f} of the mean")
        print(f"   kept {kept:.3f} ± {1.96 * deviation[1]:.3f}; read of what was there {sum(it[1] for it in known) / sum(it[0] for it in known):.3f} ± {1.96 * deviation[2]:.3f}")


main()
