"""What one rule is worth: whether what was fetched again meets later needs of the same result.

    ctxsim run --policy identity --policy duckagent/immediate_summary SESSIONS --alone \\
        --set 'scenario.refetch.exploration={calls_per_request={value=0.0,low=0.0,high=0.0}}' \\
        --set scenario.load.recorded.assume.compaction_margin=1.0 --rows needs --format csv > needs.csv
    (the same with --rows requests > requests.csv, and with --format json > report.json)
    python3 benches/fetched_once.py needs.csv requests.csv report.json profiles/anthropic/*.toml

The closed form of docs/reference/recovery.md over ctxsim's own rows, in plain Python: once as it is, then with terms taken out. Every
request carries what was fetched before it, until the history is removed (a prompt a fifth shorter than the one before).
"""

import csv
import json
import sys
import tomllib

POLICY, CALL, OWN_REQUEST, SHRUNK = "duckagent/immediate_summary", 119, 0.3, 0.8


def number(text):
    return float(text) if text else 0.0


def prices(paths):
    """Dollars a token by profile: input and output, reads, writes by lifetime."""
    by_name = {}
    for path in paths:
        with open(path, "rb") as file:
            profile = tomllib.load(file)
        first = profile["prices"][0]
        by_name[profile["name"]] = {
            "read": first["cache_read"] / 1e6,
            "output": first["output"] / 1e6,
            "5m": first["cache_write"]["5m"] / 1e6,
            "1h": first["cache_write"]["1h"] / 1e6,
        }
    return by_name


class Session:
    """The needs and the requests of one session under the policy."""

    def __init__(self, needs, own, recorded, rates):
        self.needs, self.own, self.recorded, self.rates = needs, own, recorded, rates

    def cost(self, once, whole_prompt):
        """Dollars and calls of recovery."""
        usd, calls, carried, before, left = 0.0, 0.0, 0.0, 0.0, {}
        for step in sorted(self.own):
            row, recorded = self.own[step], self.recorded.get(step, self.own[step])
            if number(recorded["prompt_tokens"]) < SHRUNK * before:
                carried, left = 0.0, {}
            before = number(recorded["prompt_tokens"])
            lasts = number(row["cache_write_by_ttl.1h"]) >= number(row["cache_write_by_ttl.5m"])
            write = self.rates["1h" if lasts else "5m"]
            usd += carried * (write if number(row["cache_read_tokens"]) == 0 else self.rates["read"])
            sent = number((recorded if whole_prompt else row)["prompt_tokens"]) + carried
            for need in self.needs.get(step, ()):
                chance = number(need["weight"]) * (1 - need["met_at_first"])
                expected = chance * left.get(need["item"], 1.0) if once else chance
                left[need["item"]] = left.get(need["item"], 1.0) * (1 - chance)
                new = number(need["fetched_tokens"]) + CALL
                usd += expected * (OWN_REQUEST * sent * self.rates["read"] + new * write + CALL * self.rates["output"])
                calls, carried = calls + expected, carried + expected * new
        return usd, calls


def sessions(needs_path, requests_path, rates):
    requests, needs, met = {}, {}, {}
    for row in csv.DictReader(open(requests_path)):
        if row["role"] == "main":
            requests.setdefault((row["policy"], row["scenario"]), {})[int(row["step"])] = row
    for row in csv.DictReader(open(needs_path)):
        if row["policy"] == POLICY:
            # What the prompt itself shows; later needs of the same result are met by what was fetched, too.
            row["met_at_first"] = met.setdefault((row["scenario"], row["item"]), number(row["met"]))
            needs.setdefault(row["scenario"], {}).setdefault(int(row["step"]), []).append(row)
    for name, of in needs.items():
        profile = next(iter(of.values()))[0]["profile"]
        recorded = requests.get(("identity", name), {})
        yield Session(of, requests[(POLICY, name)], recorded, rates[profile])


def main(needs_path, requests_path, report_path, *profiles):
    all_sessions = list(sessions(needs_path, requests_path, prices(profiles)))
    runs = json.load(open(report_path))["runs"]

    def total(policy, part):
        return sum(run["totals"]["cost_usd"][part] or 0.0 for run in runs if run["policy"] == policy)

    identity, own = total("identity", "total"), total(POLICY, "total")
    base = own - total(POLICY, "recovery") - total(POLICY, "reaction")
    print(f"ctxsim: {own / identity - 1:+.1%}, without recovery {base / identity - 1:+.1%}")
    rows = [("as it is", True, False), ("each need fetched anew", False, False), ("and the recorded prompt sent again", False, True)]
    for name, once, whole_prompt in rows:
        found = [it.cost(once, whole_prompt) for it in all_sessions]
        usd, calls = (sum(it[nth] for it in found) for nth in (0, 1))
        print(f"{name}: {calls:.0f} calls, {usd:.2f} USD, {(base + usd) / identity - 1:+.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
