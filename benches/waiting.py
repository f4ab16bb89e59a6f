#!/usr/bin/env python3
"""How long a request takes, by model: python3 benches/waiting.py waits.csv > assumptions/waiting.toml

The file has a row for each timed request: session, model, streaming, input_tokens, cached_tokens, output_tokens, api_seconds. The model is linear:

    seconds = a + b × new + c × cached + d × output

The split was declared before any fit: sessions whose SHA-256 ends in an even hexadecimal digit are fitted, the others judge. A model is kept if
each half has ten sessions; streaming and other requests are fitted together, because both end with the last token.

fit         quasi-likelihood, the variance proportional to the mean; a wait is cut at three times its prediction, because one stalled request
            tells nothing of the others. All four numbers are then scaled so that the median session of the fitted half is exact. Among ten ways
            to weigh requests, this one had the narrowest session totals in five folds of the fitted half.
intervals   of the four numbers: 95%, by resampling the sessions of the fitted half.
quantiles   waited over predicted: of a request, at 5% and 95%, and of a session's total, the ranks that cover 90% of a further session. Both are
            from five folds of the fitted half by session, so that no session is predicted by itself.

`--judge` reads a file of the same columns and the numbers in assumptions/waiting.toml, and writes how well they hold on all of its sessions.
"""

import csv
import hashlib
import math
import pathlib
import random
import sys
import tomllib
from collections import defaultdict
from statistics import median

ROOT = pathlib.Path(__file__).parents[1]
SESSIONS_MIN, FOLDS, RESAMPLES, SEED = 10, 5, 200, 65
CUT, LEAST_SECONDS, ROUNDS, WARM_ROUNDS = 3.0, 0.3, 40, 6
# Units of the file: seconds for each request, for 10,000 new tokens, for 100,000 cached tokens, for 1,000 tokens of output.
UNITS = (1.0, 1e4, 1e5, 1e3)
NAMES = ("per_request", "per_10k_new", "per_100k_cached", "per_1k_output")
MODELS = {
    "claude-opus-4-5-20251101": ("claude-opus-4.5", ["claude-opus-4-5", "claude-opus-4-5-2*", "claude-opus-4.5"], ["anthropic/claude-opus-4.5"]),
    "claude-opus-4-6": ("claude-opus-4.6", ["claude-opus-4-6", "claude-opus-4-6-2*", "claude-opus-4.6"], ["anthropic/claude-opus-4.6"]),
    "claude-sonnet-4-20250514": ("claude-sonnet-4", ["claude-sonnet-4", "claude-sonnet-4-0", "claude-sonnet-4-2*"], []),
    "claude-sonnet-4-5-20250929": ("claude-sonnet-4.5", ["claude-sonnet-4-5", "claude-sonnet-4-5-2*", "claude-sonnet-4.5"], ["anthropic/claude-sonnet-4.5"]),
}


def digest(text):
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def is_fitted(session):
    return digest(session) % 2 == 0


def table(path):
    """Requests by model: the session, the four quantities, and the seconds."""
    by_model = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            prompt, cached, output = (int(row[key]) for key in ("input_tokens", "cached_tokens", "output_tokens"))
            seconds = float(row["api_seconds"] or 0)
            if seconds > 0:
                x = tuple(value / unit for value, unit in zip((1, prompt - cached, cached, output), UNITS))
                by_model[row["model"]].append((row["session"], x, seconds))
    return by_model


def solved(matrix, right):
    """Solves a small system of linear equations."""
    n, rows = len(right), [row[:] + [value] for row, value in zip(matrix, right)]
    for at in range(n):
        pivot = max(range(at, n), key=lambda it: abs(rows[it][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for below in range(at + 1, n):
            factor = rows[below][at] / rows[at][at]
            for column in range(at, n + 1):
                rows[below][column] -= factor * rows[at][column]
    found = [0.0] * n
    for at in reversed(range(n)):
        found[at] = (rows[at][n] - sum(rows[at][it] * found[it] for it in range(at + 1, n))) / rows[at][at]
    return found


def predicted(numbers, x):
    return max(sum(number * value for number, value in zip(numbers, x)), LEAST_SECONDS)


def refined(requests, numbers, rounds):
    """Fits from a first guess; the guess None starts from plain relative weights."""
    for _ in range(rounds):
        matrix, right = [[0.0] * 4 for _ in range(4)], [0.0] * 4
        for _, x, seconds in requests:
            guess = predicted(numbers, x) if numbers else seconds
            target, weight = min(seconds, CUT * guess), 1 / guess
            for i in range(4):
                right[i] += weight * x[i] * target
                for j in range(i, 4):
                    matrix[i][j] += weight * x[i] * x[j]
        for i in range(4):
            for j in range(i):
                matrix[i][j] = matrix[j][i]
        numbers = [max(it, 0.0) for it in solved(matrix, right)]
    return numbers


def totals(requests, numbers):
    """Waited over predicted, session by session."""
    sums = defaultdict(lambda: [0.0, 0.0])
    for session, x, seconds in requests:
        sums[session][0] += seconds
        sums[session][1] += predicted(numbers, x)
    return {session: waited / said for session, (waited, said) in sums.items()}


def scaled(requests, numbers):
    factor = median(totals(requests, numbers).values())
    return [it * factor for it in numbers]


def fitted(requests, guess=None, rounds=ROUNDS):
    raw = refined(requests, guess, rounds)
    return scaled(requests, raw), raw


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def covering(values, share):
    """The values between which a further one lies with this chance."""
    values, n = sorted(values), len(values)
    low = math.floor((1 - share) / 2 * (n + 1))
    return [values[max(low, 1) - 1], values[min(n + 1 - low, n) - 1]]


def out_of_fold(requests):
    """Requests with what the sessions of the other folds predict."""
    found = []
    fold = {session: digest("fold" + session) % FOLDS for session, _, _ in requests}
    for nth in range(FOLDS):
        numbers, _ = fitted([it for it in requests if fold[it[0]] != nth])
        found += [(session, predicted(numbers, x), seconds) for session, x, seconds in requests if fold[session] == nth]
    return found


def resampled(requests, raw):
    by_session = defaultdict(list)
    for it in requests:
        by_session[it[0]].append(it)
    sessions, source, found = sorted(by_session), random.Random(SEED), []
    for _ in range(RESAMPLES):
        sample = []
        for nth in range(len(sessions)):
            # A session that is drawn twice counts as two.
            sample += [(str(nth), x, seconds) for _, x, seconds in by_session[source.choice(sessions)]]
        found.append(fitted(sample, raw, WARM_ROUNDS)[0])
    return [[quantile([it[nth] for it in found], share) for share in (0.025, 0.975)] for nth in range(4)]


def lists(value):
    return "{ " + ", ".join(f"{key} = {it}" for key, it in value.items()) + " }"


def declared(model, requests):
    name, ids, profiles = MODELS[model]
    halves = [[it for it in requests if is_fitted(it[0]) == half] for half in (True, False)]
    own, other = halves
    numbers, raw = fitted(own)
    intervals = resampled(own, raw)
    folds = out_of_fold(own)
    of_request = [quantile([seconds / said for _, said, seconds in folds], share) for share in (0.05, 0.95)]
    sums = defaultdict(lambda: [0.0, 0.0])
    for session, said, seconds in folds:
        sums[session][0] += seconds
        sums[session][1] += said
    of_session = covering([waited / said for waited, said in sums.values()], 0.9)
    numbers = [round(it, 3) for it in numbers]
    of_request, of_session = ([round(it, 3) for it in ends] for ends in (of_request, of_session))
    lines = [
        "[[models]]",
        f'name = "{name}"',
        f"models = {ids}".replace("'", '"'),
        f"profiles = {profiles}".replace("'", '"'),
    ]
    for key, value, (low, high) in zip(NAMES, numbers, intervals):
        lines.append(f"{key} = {{ value = {value}, low = {round(low, 3)}, high = {round(high, 3)} }}")
    lines += [f"request_ratio = {of_request}", f"session_ratio = {of_session}"]
    for key, half in (("fitted", own), ("judged", other)):
        lines.append(f"{key} = {lists(judged([(half, numbers, of_request, of_session)]))}")
    return "\n".join(lines), (other, numbers, of_request, of_session)


def judged(told):
    """How well the numbers of models hold on requests, all of them together."""
    errors, sessions, inside = [], [], [0, 0]
    for requests, numbers, of_request, of_session in told:
        ratios = [seconds / predicted(numbers, x) for _, x, seconds in requests]
        errors += [abs(1 / it - 1) for it in ratios]
        inside[0] += sum(of_request[0] <= it <= of_request[1] for it in ratios)
        own = list(totals(requests, numbers).values())
        inside[1] += sum(of_session[0] <= it <= of_session[1] for it in own)
        sessions += [1 / it - 1 for it in own]
    return {
        "requests": len(errors),
        "sessions": len(sessions),
        "median_error": round(median(errors), 3),
        "session_error": [round(quantile(sessions, share), 3) for share in (0.1, 0.5, 0.9)],
        "covered_requests": round(inside[0] / len(errors), 3),
        "covered_sessions": round(inside[1] / len(sessions), 3),
    }


HEAD = """\
# How long a request takes until its last token, by model: per_request + per_10k_new × new tokens + per_100k_cached × cached tokens + per_1k_output ×
# tokens of output, in seconds; new tokens are those that were not read from the cache. Each number has the 95% interval of resampled sessions.
# `request_ratio` and `session_ratio` are where 90% of the requests and of the sessions' totals lie, as shares of what is predicted. A total of
# several sessions has the interval of one session: the sessions of one person may all be off in the same direction. `fitted` and `judged` are the
# two halves of the sessions: how far the median request is off, how far sessions' totals are off at 10, 50 and 90%, and what the intervals cover.
# A model that is not here has no data and borrows none. The profile `anthropic/claude-sonnet-4` covers Sonnet 3.7, too, so it has none either.
# Written by benches/waiting.py; the split by sessions and all choices of the fit are there.

as_of = "2026-11-26"
sources = ["callanjfox/kv-cache-tester @ 94f6046d (Apache-2.0): requests with `api_time`, the sessions of even number"]
status = "measured, at one provider"
"""


def main(arguments):
    if arguments[:1] == ["--judge"]:
        with open(ROOT / "assumptions/waiting.toml", "rb") as file:
            all_models, told = {it["name"]: it for it in tomllib.load(file)["models"]}, []
        for model, requests in sorted(table(arguments[1]).items()):
            it = all_models.get(MODELS.get(model, ("",))[0])
            if it:
                numbers = [it[key]["value"] for key in NAMES]
                told.append((requests, numbers, it["request_ratio"], it["session_ratio"]))
                print(it["name"], judged(told[-1:]))
        print("all", judged(told))
        return
    by_model = table(arguments[0])
    kept, told = [], []
    for model in sorted(by_model):
        sessions = {it[0] for it in by_model[model]}
        if min(sum(is_fitted(it) == half for it in sessions) for half in (True, False)) >= SESSIONS_MIN:
            text, own = declared(model, by_model[model])
            kept.append(text)
            told.append(own)
    print(HEAD + "\n# All models together, on the half that was not fitted.")
    print(f"judged = {lists(judged(told))}\n")
    print("\n\n".join(kept))


if __name__ == "__main__":
    main(sys.argv[1:])
