#!/usr/bin/env python3
"""Says which policies keep another share of the evidence in one JSON report than in another: evidence_moved.py BEFORE.json AFTER.json"""
import json
import sys


def kept(path):
    with open(path, encoding="utf-8") as file:
        totals = json.load(file)["totals"]
    whole = next(it for it in totals if not it["is_part"])
    return {it["policy"]: it["totals"]["evidence_kept"] for it in whole["policies"]}


before, after = map(kept, sys.argv[1:3])
pairs = [(name, before[name], after[name]) for name in before if before[name] is not None and name in after]
moved = sorted((it for it in pairs if f"{it[1]:.3f}" != f"{it[2]:.3f}"), key=lambda it: it[2] - it[1])
for name, one, other in moved:
    print(f"{name}: {one:.1%} → {other:.1%}")
print(f"{len(moved)} of {len(pairs)} policies move")
