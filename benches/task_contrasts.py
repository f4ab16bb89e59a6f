"""Computes what published runs tell of the task under policies, from one row an arm and instance.

    python3 benches/task_contrasts.py complexity_trap.csv

Writes assumptions/quality.toml, assumptions/turns.toml, tests/data/quality/orders.csv (the costs of any two arms of a scaffold and model) and paid.csv
beside it (what Gemini's arms paid for a million prompt tokens). Each arm is compared with that of the same scaffold and model which keeps everything, on
the instances of both. Intervals are 95%, by bootstrap over instances (2,000 draws, seed 65). Halves: instances by the last digit of their number,
even and odd.
"""

import csv
import pathlib
import random
import re
import sys
from collections import defaultdict

ROOT = pathlib.Path(__file__).parent.parent
DRAWS, SEED = 2_000, 65
MODELS = [
    ("gemini_2.5_flash_thinking", "Gemini 2.5 Flash (thinking)"),
    ("gemini_2.5_flash", "Gemini 2.5 Flash"),
    ("gemini-2.5-flash", "Gemini 2.5 Flash"),
    ("Qwen3-32B_thinking", "Qwen3 32B (thinking)"),
    ("Qwen3-Coder_480B", "Qwen3 Coder 480B"),
    ("qwen3-32b", "Qwen3 32B"),
]
SCAFFOLDS = {"openhands": "OpenHands", "sweagent": "SWE-agent"}


def arm(row):
    """Names an arm: scaffold, model, whether it ran 50 instances, family and size of its window."""
    name = row["experiment"]
    model = next(title for part, title in MODELS if part in name)
    few = "verified_50" in name or "verified-50." in name or name.endswith("verified-50")
    window = re.search(r"_M_(\d+)", name) or re.search(r"-M_(\d+)", name)
    n = int(window.group(1)) if window else 10  # the scaffold's default, and what the paper states
    if row["strategy"] == "Raw Agent":
        return (SCAFFOLDS[row["scaffold"]], model, few, "raw", 0)
    if "combined" in name:
        every = re.search(r"summary_N_(\d+)", name).group(1)
        return (SCAFFOLDS[row["scaffold"]], model, few, f"mask and summary every {every}", n)
    return (SCAFFOLDS[row["scaffold"]], model, few, "summary" if row["strategy"] == "LLM-Summary" else "mask", n)


def figures(pairs):
    """Success in points, cost ratio and turns ratio of paired rows."""
    own = [sum(it[0][nth] for it in pairs) for nth in range(3)]
    base = [sum(it[1][nth] for it in pairs) for nth in range(3)]
    return [100 * (own[0] - base[0]) / len(pairs), own[1] / base[1], own[2] / base[2]]


def interval(of, units):
    """The 95% interval of each figure over units that are drawn together."""
    random.seed(SEED)
    drawn = [of([units[random.randrange(len(units))] for _ in units]) for _ in range(DRAWS)]
    ends = []
    for column in zip(*drawn):
        column = sorted(column)
        ends.append((column[int(0.025 * DRAWS)], column[int(0.975 * DRAWS) - 1]))
    return ends


def number(of, value, ends, digits):
    text = ", ".join(f"{key} = {it + 0.0:.{digits}f}" for key, it in zip(("value", "low", "high"), (value, *ends)))
    return f"{of} = {{ {text} }}\n"


def told(pairs_of, units):
    """The three figures with their intervals, as lines."""
    values, ends = pairs_of(units), interval(pairs_of, units)
    text = "".join(number(*it) for it in zip(("points", "cost", "turns"), values, ends, (1, 2, 2)))
    return values, ends, text


def orders(arms):
    """The cost of each arm by that of each other one of its scaffold, model and set of tasks: rows of orders.csv."""
    random.seed(SEED)
    keys = sorted(arms)
    for nth, first in enumerate(keys):
        for second in keys[nth + 1 :]:
            both = sorted(set(arms[first]) & set(arms[second])) if first[:3] == second[:3] else []
            if not both:
                continue
            pairs = [(arms[first][it][1], arms[second][it][1]) for it in both]

            def ratio(of):
                return sum(it[0] for it in of) / sum(it[1] for it in of)

            drawn = sorted(ratio([pairs[random.randrange(len(pairs))] for _ in pairs]) for _ in range(DRAWS))
            ends = (drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS) - 1])
            tasks = 50 if first[2] else 500
            named = [it for key in (first, second) for it in (key[3], key[4])]
            yield [first[0], first[1], tasks, *named, len(both), *(f"{it:.3f}" for it in (ratio(pairs), *ends))]


def is_even(instance):
    return int(re.search(r"(\d)$", instance).group(1)) % 2 == 0


def main():
    arms, paid = defaultdict(dict), defaultdict(list)
    for row in csv.DictReader(open(sys.argv[1], encoding="utf-8")):
        prompts = float(row["turn_count"]) * float(row["mean_prompt_tokens"] or 0)
        if "gemini" in row["experiment"] and prompts > 0:
            usd = float(row["cost"]) - float(row["summary_cost"] or 0)
            paid[(SCAFFOLDS[row["scaffold"]], row["strategy"])].append(usd / prompts * 1e6)
        values = (float(row["outcome"]), float(row["cost"]), float(row["turn_count"]))
        arms[arm(row)][row["instance_id"]] = values
    text, by_family = [], defaultdict(list)
    for key in sorted(arms, key=lambda it: (it[2], it[0], it[1], it[3], it[4])):
        scaffold, model, few, family, window = key
        base = arms.get((scaffold, model, few, "raw", 0)) or arms.get((scaffold, model, False, "raw", 0))
        if family == "raw" or base is None:
            continue
        both = sorted(set(arms[key]) & set(base))
        pairs = [(arms[key][it], base[it]) for it in both]
        turns = sum(it[1][2] for it in pairs) / len(pairs)
        values, ends, lines = told(figures, pairs)
        tasks = 50 if few else 500
        head = f'family = "{family.split()[0]}"\nsource = "complexity-trap"\npolicy = "{family}"\nscaffold = "{scaffold}"\nmodel = "{model}"\n'
        text.append(f"\n[[contrasts]]\n{head}window = {window}\ntasks = {tasks}\nn = {len(pairs)}\nraw_turns = {turns:.1f}\n{lines}")
        if not few:
            by_family[(family, scaffold)].append((key, base, values, ends))
    pooled, turns = [], []
    for (family, scaffold), all_of in sorted(by_family.items()):
        common = sorted(set.intersection(*(set(arms[key]) & set(base) for key, base, *_ in all_of)))

        def of(instances):
            each = [figures([(arms[key][it], base[it]) for it in instances]) for key, base, *_ in all_of]
            return [sum(column) / len(each) for column in zip(*each)]

        values, ends, lines = told(of, common)
        halves = [of([it for it in common if is_even(it) == half]) for half in (True, False)]
        head = f'family = "{family}"\nsource = "complexity-trap"\nscaffold = "{scaffold}"\ncontrasts = {len(all_of)}\nn = {len(common)}\n'
        pooled.append(f"\n[[pooled]]\n{head}{lines}halves = [{halves[0][0]:.1f}, {halves[1][0]:.1f}]\n")
        of_turns = [it[2][2] for it in all_of]
        line = number("turns", values[2], ends[2], 2) + f"range = [{min(of_turns):.2f}, {max(of_turns):.2f}]\n"
        turns.append(f"\n[[ratios]]\n{head}{line}halves = [{halves[0][2]:.2f}, {halves[1][2]:.2f}]\n")
    for name, parts in (("quality", text + pooled), ("turns", turns)):
        path = ROOT / f"assumptions/{name}.toml"
        kept = path.read_text(encoding="utf-8").split("# Computed below.\n")[0]
        path.write_text(kept + "# Computed below.\n" + "".join(parts), encoding="utf-8")
    with open(ROOT / "tests/data/quality/orders.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow("scaffold,model,tasks,first,first_window,second,second_window,n,cost,low,high".split(","))
        rows.writerows(orders(arms))
    with open(ROOT / "tests/data/quality/paid.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["scaffold", "strategy", "n", "p5", "median", "p95"])
        for key, values in sorted(paid.items()):
            values.sort()
            rows.writerow([*key, len(values), *(f"{values[int(len(values) * it)]:.3f}" for it in (0.05, 0.5, 0.95))])


main()
