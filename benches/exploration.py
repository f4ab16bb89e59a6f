#!/usr/bin/env python3
"""What agents fetch after a real compaction beyond what they fetched before it: python3 benches/exploration.py FOLDER > tests/data/recovery/exploration.csv

FOLDER holds compactions.csv and around_compactions.csv: a row for each of the twenty requests on either side of a compaction, with calls, tokens
of their results by characters, and reads of files that had been read before (rereads). A call explores if it searches, fetches a page, or reads a
file that no call had read. Everything is for all sessions and for those whose code ends in an even and in an odd digit (hexadecimal), with
intervals of 95% from resampling whole sessions.

size.*               tokens that an exploring call returns, before and after compactions alike. Only the sum of a request's calls is known: they share
                     it evenly, which keeps the mean and pulls in the tail. Reads in requests that read some file again are left out. decile_N is
                     the mean of the N-th tenth.
reread.tokens        tokens that the first read of a file after a compaction brings, of a file that had been read before it
reread.usd           what such a read adds to the bill, as below
reread.usd_expected  the same as `ctxsim import --report` predicts it: the declared tokens, behind the first prompt after the compaction
calls_per_request    exploring calls after less before, by request and missing share of the context (as `Explores` in the engine has it)
window.*             a compaction with both sides whole: the twenty requests after less the twenty before, as calls, tokens and dollars. In requests that
                     read both, tokens are split by calls. Dollars as the engine has them: its share of calls with a request of their own and its size of
                     a call, prices of Opus 4.5 by the session's lifetime, carried to the window's end.
"""

import csv
import pathlib
import random
import sys
import tomllib
from collections import defaultdict

ROOT = pathlib.Path(__file__).parents[1]
WINDOW, RESAMPLES = 20, 10_000
KINDS = ("rereads", "explored")


def table(path):
    with open(path, encoding="utf-8") as file:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def number(text):
    try:
        return float(text or 0)
    except ValueError:
        return text


def fetched(row):
    """Calls and tokens of results of a request: reads of files read before, and what explores."""
    calls, again = row["calls_read"], row["rereads"]
    of_again = row["tokens_read"] * again / calls if calls else 0
    new = calls - again + row["calls_search"] + row["calls_other_fetch"]
    tokens = row["tokens_read"] - of_again + row["tokens_search"] + row["tokens_other_fetch"]
    return {"rereads": (again, of_again), "explored": (new, tokens)}


def sizes(rows):
    """Sizes of exploring calls, the smallest first."""
    found = []
    for row in rows:
        kinds = ["search", "other_fetch"] + ["read"] * (row["rereads"] == 0)
        for calls, tokens in ((int(row[f"calls_{it}"]), row[f"tokens_{it}"]) for it in kinds):
            found += [tokens / max(calls, 1)] * calls
    return sorted(found)


def missing(compaction, after, usual, fades):
    """The missing share of the context, summed over the requests after a compaction."""
    removed = max(compaction["prompt_before"] - compaction["prompt_after"], 0)
    share = 0.0
    for row in after:
        faded = removed * max(1 - (row["offset"] - 1) / fades, 0)
        share += faded / (faded + max(row["prompt"] - (compaction["S"] or usual), 0))
    return share


def rates_of(rows, prices):
    """Dollars a token, by the lifetime of most writes."""
    is_long = sum(it["write_1h"] for it in rows) > sum(it["write_5m"] for it in rows)
    rates = {"read": prices["cache_read"], "output": prices["output"], "write": prices["cache_write"]["1h" if is_long else "5m"]}
    return {key: it / 1e6 for key, it in rates.items()}


def charged(calls, tokens, row, terms, rates):
    """Dollars of calls in reply to a request: some send their prompt again, and all are carried from the next one on."""
    call, output = terms["call_tokens"], rates["output"]
    resent = terms["own_request"]["value"] * row["prompt"] * rates["read"]
    reads = max(WINDOW - 1 - row["offset"], 0) * rates["read"]
    return calls * (resent + call * output) + (tokens + calls * call) * (rates["write"] + reads)


def excess(compaction, rows, usual, terms, prices):
    """What followed a compaction less what came before it."""
    before, after = ([it for it in rows if (it["offset"] > 0) == side] for side in (False, True))
    rates = rates_of(rows, prices)
    of = {"missing": missing(compaction, after, usual, terms["exploration"]["fades_in_requests"])}
    of["whole"] = len(before) == len(after) == WINDOW
    for kind in KINDS:
        usually = [sum(it) / max(len(before), 1) for it in zip(*(fetched(it)[kind] for it in before))] or [0, 0]
        sums = [0.0] * 3
        for row in after:
            calls, tokens = (it - usual for it, usual in zip(fetched(row)[kind], usually))
            sums = [sum(it) for it in zip(sums, (calls, tokens, charged(calls, tokens, row, terms, rates)))]
        of[kind] = sums
    return of


def again(compaction, rows, terms, expected, prices):
    """Tokens and dollars of the first read after a compaction of each file that had been read before, and the dollars that are expected."""
    rates, found = rates_of(rows, prices), []
    for row in (it for it in rows if it["offset"] > 0 and it["rereads_first"]):
        tokens = row["tokens_read"] / row["calls_read"]
        as_expected = {"offset": expected["mean_read_request"], "prompt": compaction["prompt_after"]}
        usd = charged(1, tokens, row, terms, rates), charged(1, expected["read_tokens"]["value"], as_expected, terms, rates)
        found += [(tokens, *usd)] * int(row["rereads_first"])
    return found


def interval(of_session, statistic):
    """The 95% interval of a statistic over resampled sessions; each statistic has the same draws."""
    draws, sessions = random.Random(1), list(of_session.values())
    resamples = (draws.choices(sessions, k=len(sessions)) for _ in range(RESAMPLES))
    found = sorted(statistic([row for it in resample for row in it]) for resample in resamples)
    return found[RESAMPLES // 40], found[-RESAMPLES // 40 - 1]


def main(folder):
    folder = pathlib.Path(folder)
    with open(ROOT / "assumptions/recovery.toml", "rb") as file:
        terms = tomllib.load(file)
    with open(ROOT / "assumptions/compactions.toml", "rb") as file:
        expected = tomllib.load(file)
    with open(ROOT / "profiles/anthropic/claude-opus-4.5.toml", "rb") as file:
        prices = tomllib.load(file)["prices"][0]
    rows = defaultdict(list)
    for row in table(folder / "around_compactions.csv"):
        rows[row["compaction"]].append(row)
    with open(folder / "compactions.csv", encoding="utf-8") as file:
        sessions = [it["session"] for it in csv.DictReader(file)]
    compactions = table(folder / "compactions.csv")
    stable = sorted(it["S"] for it in compactions if it["S"])
    usual = stable[len(stable) // 2]
    all_rows, all_excess, all_again = defaultdict(list), defaultdict(list), defaultdict(list)
    for session, it in zip(sessions, compactions):
        all_rows[session] += rows[it["compaction"]]
        all_again[session] += again(it, rows[it["compaction"]], terms, expected, prices)
        all_excess[session].append(excess(it, rows[it["compaction"]], usual, terms, prices))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["quantity", "half", "n", "sessions", "value", "low", "high"])
    halves = {"all": (0, 1), "even": (0,), "odd": (1,)}
    for half, ends in halves.items():
        of = lambda table: {key: it for key, it in table.items() if it and int(key[-1], 16) % 2 in ends}

        def write(name, table, statistic, n, digits, has_interval=True):
            all_of = [row for it in table.values() for row in it]
            ends = interval(table, statistic) if has_interval else ()
            out.writerow([name, half, n(all_of), len(table), *(f"{it:.{digits}f}" for it in (statistic(all_of), *ends)), *([""] * (2 - len(ends)))])

        calls = {key: sizes(it) for key, it in of(all_rows).items()}
        write("size.mean", of(calls), lambda it: sum(it) / len(it), len, 0)
        write("size.median", of(calls), lambda it: sorted(it)[len(it) // 2], len, 0)
        write("size.p90", of(calls), lambda it: sorted(it)[len(it) * 9 // 10], len, 0)
        for nth in range(10):
            tenth = lambda it: sorted(it)[len(it) * nth // 10 : len(it) * (nth + 1) // 10]
            write(f"size.decile_{nth + 1}", of(calls), lambda it: sum(tenth(it)) / len(tenth(it)), len, 0, False)
        reads = of(all_again)
        for nth, (name, digits) in enumerate((("tokens", 0), ("usd", 4), ("usd_expected", 4))):
            write(f"reread.{name}", reads, lambda it: sum(row[nth] for row in it) / len(it), len, digits)
        rate = lambda it: sum(row["explored"][0] for row in it) / sum(row["missing"] for row in it)
        write("calls_per_request", of(all_excess), rate, len, 3)
        whole = {key: [row for row in it if row["whole"]] for key, it in of(all_excess).items()}
        for kinds in (*([it] for it in KINDS), KINDS):
            for nth, (unit, digits) in enumerate((("calls", 2), ("tokens", 0), ("usd", 3))):
                mean = lambda it: sum(row[kind][nth] for row in it for kind in kinds) / len(it)
                name = kinds[0] if len(kinds) == 1 else "fetched"
                write(f"window.{name}.{unit}", of(whole), mean, len, digits)


if __name__ == "__main__":
    main(*sys.argv[1:])
