"""Runs a context policy for ctxsim: protocol ctxsim.policy/1 over standard input and output.

Copy this file beside your policy. It needs Python 3.8 and no packages. `docs/reference/processes.md` describes every message.

    from ctxsim_policy import run, view

    def make(opened):                       # once for each run; opened["params"] are the parameters of the policy file
        def answer(request, history):       # before each request
            return None                     # None: as the last view, and what has come since as it came
        return answer

    run(make)
"""

import json
import sys


def keep(first, last=None):
    """Shows the entries from `first` to `last` as they came."""
    return {"keep": [first, first if last is None else last]}


def rewrite(entry_id, text, **more):
    """Shows an entry in other words. `text`: a string, or sized(…). `more`: handle=True, exact=True, model_call={…}."""
    return {"rewrite": {"id": entry_id, "text": text, **more}}


def insert(kind, text, **more):
    """Shows words of your own, such as a summary. `more`: replaces=[first, last], model_call={"input": …, "output": …}."""
    return {"insert": {"kind": kind, "text": text, **more}}


def sized(tokens, digest):
    """A text whose size is known and whose words are not given. Equal texts need equal digests."""
    return {"tokens": tokens, "digest": digest}


def view(history, changed):
    """The whole history, with the parts in `changed` (by id) in the place of their entries; a None leaves the entry out."""
    parts = []
    begun = None
    last = None
    for entry in history:
        if entry["id"] in changed:
            if begun is not None:
                parts.append(keep(begun, last))
                begun = None
            if changed[entry["id"]] is not None:
                parts.append(changed[entry["id"]])
        else:
            begun = entry["id"] if begun is None else begun
            last = entry["id"]
    if begun is not None:
        parts.append(keep(begun, last))
    return parts


def run(make, lasts="history"):
    """Answers requests until ctxsim closes the input."""
    output = sys.stdout
    # A print in your code goes to standard error: standard output carries answers alone.
    sys.stdout = sys.stderr

    def say(message):
        output.write(json.dumps(message) + "\n")
        output.flush()

    answer = None
    history = {}  # entries by id, in the order in which they came
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "open":
            answer = make(message)
            say({"type": "ready", "protocol": "ctxsim.policy/1", "wants": ["request"], "lasts": lasts})
            continue
        for entry_id in message["gone"]:
            del history[entry_id]
        for entry in message["add"]:
            history[entry["id"]] = entry
        parts = answer(message, list(history.values()))
        if parts is None:
            say({"type": "same", "n": message["n"]})
        else:
            say({"type": "view", "n": message["n"], "parts": parts})
