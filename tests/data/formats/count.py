#!/usr/bin/env python3
"""Counts requests, turns and tokens of sessions of other agents, independently of ctxsim's own readers.

    python3 count.py FOLDER > counts.json        # FOLDER has opencode/, gemini-cli/, atif/, inspect-ai/
    python3 count.py opencode=FILE gemini-cli=FILE ... > parts.json

`tests/suite/import/counted.rs` compares the table with what ctxsim reads. `requests` are the agent's own, `summaries` those that
wrote a summary of the history. Token kinds: uncached, read, written, output (reasoning included).
"""
import json, os, sys, zipfile

KINDS = ("uncached", "read", "written", "output")


class Count:
    def __init__(self):
        self.sessions = self.requests = self.billed = self.turns = self.summaries = 0
        self.tokens = dict.fromkeys(KINDS, 0)

    def bill(self, uncached, read, written, output):
        self.billed += 1
        for kind, n in zip(KINDS, (uncached, read, written, output)):
            self.tokens[kind] += n

    def table(self):
        return {"sessions": self.sessions, "turns": self.turns, "requests": self.requests, "billed": self.billed,
                "summaries": self.summaries, **self.tokens}


def opencode(path):
    c = Count()
    doc = json.load(open(path))
    c.sessions = 1
    said = True        # the first request begins a turn in any case
    calls = False      # whether the last reply called tools
    for m in doc["messages"]:
        info, parts = m["info"], m["parts"]
        if info["role"] == "user":
            if any(p["type"] == "compaction" for p in parts):
                continue
            typed = any(not p.get("synthetic") for p in parts)
            shown = any(p["type"] == "text" or p["type"] == "file" and not p["mime"].startswith("text/") for p in parts)
            if shown and (typed or not calls):
                said = True
            continue
        uncached, read, written, output = numbers(m)
        has_tokens = "tokens" in info
        if info.get("summary") is True:
            if any(p["type"] == "text" for p in parts):
                c.summaries += uncached + read + written > 0
                said = True
            continue
        is_whole = info.get("finish") in ("tool-calls", "stop", "length") and "error" not in info
        if has_tokens and uncached + read + written == 0 and not is_whole:
            # Aborted: what it says is context of the next turn, unless calls are open.
            if any(p["type"] in ("text", "tool") for p in parts) and not calls:
                said = True
            continue
        c.requests += 1
        c.turns += said
        said = False
        calls = any(p["type"] == "tool" for p in parts)
        if uncached + read + written > 0:
            c.bill(uncached, read, written, output)
    return c


def numbers(message):
    t = message["info"].get("tokens") or {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    i, o, r, cr, cw = t["input"], t["output"], t.get("reasoning", 0), t["cache"]["read"], t["cache"]["write"]
    beside = not ("total" in t and t["total"] == i + o + cr + cw)
    return i, cr, cw, o + (r if beside else 0)


def gemini(path):
    c = Count()
    text = open(path).read()
    try:
        messages = json.loads(text)["messages"]
    except json.JSONDecodeError:
        by_id = {}
        for line in text.splitlines():
            record = json.loads(line)
            if "id" in record and "type" in record:
                by_id[record["id"]] = record        # keeps the place of the first, the content of the last
        messages = list(by_id.values())
    c.sessions = 1
    said = True
    for m in messages:
        if m["type"] == "user":
            said = True
        if m["type"] != "gemini":
            continue
        t = m.get("tokens")
        if t is not None and t.get("input", 0) == 0 and not m.get("toolCalls"):
            said = said or bool(m.get("content"))
            continue
        c.requests += 1
        c.turns += said
        said = False
        if t is not None and t.get("input", 0) > 0:
            cached = t.get("cached", 0)
            c.bill(t["input"] - cached + t.get("tool", 0), cached, 0, t["output"] + t.get("thoughts", 0))
    return c


def atif(path):
    c = Count()
    open_trajectories = [json.load(open(path))]
    while open_trajectories:
        trajectory = open_trajectories.pop()
        open_trajectories += trajectory.get("subagent_trajectories") or []
        c.sessions += 1
        said = True
        for s in trajectory["steps"]:
            if s["source"] == "user" or s.get("is_copied_context"):
                said = True
            elif s["source"] == "agent":
                c.requests += 1
                c.turns += said
                said = False
                m = s.get("metrics")
                if m and m.get("prompt_tokens"):
                    cached = m.get("cached_tokens") or 0
                    c.bill(m["prompt_tokens"] - cached, cached, 0, m["completion_tokens"])
    return c


def inspect(path):
    c = Count()
    if path.endswith(".eval"):
        z = zipfile.ZipFile(path)
        samples = [json.loads(z.read(n)) for n in z.namelist() if n.startswith("samples/")]
    else:
        samples = json.load(open(path)).get("samples") or []
    for sample in samples:
        lanes = set()
        for e in sample.get("events") or []:
            if e["event"] != "model" or e.get("pending"):
                continue
            messages = e["input"] or [m for a, b in e.get("input_refs") or [] for m in sample["message_pool"][a:b]]
            # No sample branches: a lane is what begins with the same message of a user for the same model.
            first = next((json.dumps(m["content"]) for m in messages if m["role"] != "system"), "")
            lane = (e["model"], first)
            c.sessions += lane not in lanes
            c.turns += lane not in lanes
            lanes.add(lane)
            c.requests += 1
            u = (e.get("output") or {}).get("usage")
            if u and u["input_tokens"]:
                read, written = u.get("input_tokens_cache_read") or 0, u.get("input_tokens_cache_write") or 0
                apart = read + written > 0 and u["total_tokens"] == u["input_tokens"] + read + written + u["output_tokens"]
                c.bill(u["input_tokens"] - (0 if apart else read + written), read, written, u["output_tokens"])
    return c


READERS = {"opencode": opencode, "gemini-cli": gemini, "atif": atif, "inspect-ai": inspect}

def files(arguments):
    """The files to count, each with its format and the name that it has in the table."""
    for argument in arguments:
        form, is_file, path = argument.partition("=")
        if is_file:
            yield form, path, "/".join(path.split("/")[-2:])
            continue
        for form in READERS:
            for name in sorted(os.listdir(os.path.join(argument, form))):
                made_by_others = name.endswith((".md", ".db", "_expected.json", ".expected.json")) or name.startswith("tokscale_")
                if not made_by_others:
                    yield form, os.path.join(argument, form, name), f"{form}/{name}"


if __name__ == "__main__":
    rows = [{"file": name, **READERS[form](path).table()} for form, path, name in files(sys.argv[1:])]
    print("[\n" + ",\n".join("  " + json.dumps(row) for row in rows if row["requests"]) + "\n]")
