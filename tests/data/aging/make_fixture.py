"""Makes agingbench.json: AgingBench's own metric code on random curves and probe logs.

Run in a checkout of VITA-Group/AgingBench at e6740a1, in its folder `prototype`, with CPython 3: `python make_fixture.py > agingbench.json`.
Nothing of that project is copied; the file holds numbers alone.
"""

import json
import random

from agingbench.diagnostics.partitioner import partition_errors
from agingbench.metrics.aging import (
    AgingCurve,
    compute_decay_slope,
    compute_half_life,
    compute_hazard_proxy,
    summarize,
)
from agingbench.metrics.dependency_scorer import (
    chain_recall_by_session_span,
    chain_recall_by_version_depth,
    interference_resistance,
    per_hop_failure_analysis,
    score_accumulator,
    score_interference_binding,
    version_accuracy,
)
from agingbench.metrics.g4_metrics import compute_recovery

rng = random.Random(16)


def curve():
    n = rng.randint(1, 30)
    kind = rng.random()
    if kind < 0.2:
        scores = [rng.choice([0.0, 0.25, 0.5, 1.0]) for _ in range(n)]
    else:
        start, rate = rng.uniform(0.3, 1.0), rng.uniform(-0.02, 0.15)
        scores = [min(1.0, max(0.0, start * (1 - rate) ** t + rng.uniform(-0.1, 0.1))) for t in range(n)]
    made = AgingCurve(exposures=list(range(n)), scores=scores, scenario="s", sut_id="m")
    half_life = compute_half_life(made)
    return {
        "scores": scores,
        "half_life": None if half_life == float("inf") else half_life,
        "slope": compute_decay_slope(made),
        "hazard": compute_hazard_proxy(made),
        "is_aging": summarize(made)["aging_detected"],
        "recovery": (lambda r: None if r == float("inf") else r)(compute_recovery(scores, scores[0])),
    }


def totals():
    n = rng.randint(1, 8)
    rows, probes = [], []
    error = 0
    for t in range(n):
        gold = rng.randint(-200, 900)
        error = max(0, error + rng.randint(-15, 60))
        stated = None if rng.random() < 0.1 else gold + rng.choice([-1, 1]) * error
        rows.append({"session": t + 2, "gold": gold, "stated": stated})
        text = "I do not know." if stated is None else f"The balance is {stated}."
        probes.append({"session": t + 2, "gold_value": gold, "response_text": text})
    graph = {"accumulators": {"budget": {}}}
    got = score_accumulator([{"session": 0, "accumulator_probes": probes}], graph)
    return {
        "rows": rows,
        "mean_error": got["mean_error"],
        "relative": got["mean_relative_error"],
        "compounding": got["compounding_detected"],
        "slope": got["compounding_slope"],
    }


def chains():
    facts, tasks, results, rows = {}, {}, [], []
    n = rng.randint(1, 12)
    for t in range(n):
        relation = rng.choice(["compare", "trend", "synthesize"])
        hops = 2 if relation != "synthesize" else rng.randint(3, 5)
        session = 20 + t
        ids, stated, sessions, words = [], [], [], []
        if relation == "trend":
            root = f"t{t}"
            first, second = f"old{t}v{rng.randint(100, 999)}x", f"new{t}v{rng.randint(100, 999)}x"
            facts[root] = {"versions": [
                {"fact_id": f"{root}_1", "version": 1, "keywords": [first]},
                {"fact_id": f"{root}_2", "version": 2, "keywords": [second]},
            ]}
            ids, sessions = [f"{root}_1", f"{root}_2"], sorted(rng.sample(range(20), 2))
            stated = [rng.random() < 0.4, rng.random() < 0.7]
            words = [w for w, s in zip([first, second], stated) if s]
            required = {f"{root}_1": 2, f"{root}_2": 2}
            depth = 2
        else:
            for h in range(hops):
                root = f"f{t}_{h}"
                word = f"word{t}h{h}v{rng.randint(100, 999)}x"
                facts[root] = {"versions": [{"fact_id": root, "version": 1, "keywords": [word]}]}
                ids.append(root)
                sessions.append(rng.randint(0, 19))
                stated.append(rng.random() < 0.6)
                if stated[-1]:
                    words.append(word)
            required = {i: 1 for i in ids}
            depth = rng.randint(1, 4)
        tasks[f"task{t}"] = {
            "session": session, "depends_on_facts": ids, "depends_on_sessions": sessions,
            "dependency_type": relation, "chain_depth": depth, "fact_versions_required": required,
        }
        results.append({"session": session, "task_outputs_text": "I recall: " + " ".join(words) + " ."})
        stale = relation == "trend" and stated[0]
        rows.append({"relation": relation, "depth": depth, "span": max(sessions) - min(sessions),
                     "hops": stated, "stale": stale})
    lookup = {r["session"]: r for r in results}
    hops = per_hop_failure_analysis(lookup, tasks, facts)
    return {
        "rows": rows,
        "by_depth": {str(k): v for k, v in chain_recall_by_version_depth(lookup, tasks, facts).items()},
        "by_span": {str(k): v for k, v in chain_recall_by_session_span(lookup, tasks, facts).items()},
        "by_hop": {str(k): v for k, v in hops["hop_recall"].items()},
        "pattern": hops["common_failure_pattern"],
        "version_accuracy": version_accuracy(lookup, tasks, facts),
    }


def bindings():
    kinds = [rng.choice(["correct", "confused", "both", "miss"]) for _ in range(rng.randint(0, 12))]
    text = {"correct": "It is $417.", "confused": "It is $423.", "both": "$417 or $423.", "miss": "No idea."}
    probes = [{"session": 0, "gold_value": "$417", "distractor_value": "$423", "response_text": text[k]} for k in kinds]
    got = score_interference_binding([{"session": 0, "interference_probes": probes}])
    scores = [rng.choice([0.0, 0.4, 0.5, 0.6, 1.0]) for _ in range(rng.randint(0, 6))]
    tasks = {f"t{i}": {"session": i, "depends_on_facts": ["f"]} for i in range(len(scores))}
    lookup = {i: {"session": i, "task_score": s} for i, s in enumerate(scores)}
    return {
        "kinds": kinds, "binding": got["binding_accuracy"], "confused": got["confusion_rate"],
        "miss": got["miss_rate"], "both": got["both_rate"], "scores": scores,
        "resistance": interference_resistance(lookup, tasks, [{"fact_ids": ["f"]}]),
    }


def ladder():
    n = rng.randint(1, 10)
    sessions = []
    for t in range(n):
        p1, p2, p3 = sorted(rng.random() for _ in range(3))
        if rng.random() < 0.2:
            p1, p2 = p2, p1
        sessions.append({"session": t, "accuracy": [p1, p2, p3], "n": rng.randint(0, 9)})
    by = lambda i: {s["session"]: s["accuracy"][i] for s in sessions}
    got = partition_errors(by(0), by(1), by(2), {s["session"]: s["n"] for s in sessions})
    jumps = [d for d in got["maintenance_discontinuities"] if d["is_discontinuity"]]
    return {"sessions": sessions, "aggregate": got["aggregate"],
            "discontinuities": [[d["session"], d["delta_w"]] for d in jumps]}


print(json.dumps({
    "curves": [curve() for _ in range(60)],
    "totals": [totals() for _ in range(50)],
    "chains": [chains() for _ in range(50)],
    "bindings": [bindings() for _ in range(50)],
    "ladders": [ladder() for _ in range(50)],
}, indent=None))
