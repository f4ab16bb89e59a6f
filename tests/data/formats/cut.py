"""Makes the cut-downs in tests/data/recorded from the reference data: texts become x, system prompts and schemas go, figures stay.

    python3 cut.py FOLDER

FOLDER is the reference data's `formats`.
"""

import json
import pathlib
import shutil
import sys

COPIES = pathlib.Path(__file__).resolve().parent.parent / "recorded"

# Of a text, so many characters are kept, as x.
LENGTH = 60

# Members whose texts are words of people, models or tools, at any depth.
WORDS = ("content", "text", "thinking", "arguments", "output", "result")


def blank(text):
    """The same text without its words."""
    return "".join(it if it.isspace() else "x" for it in text[:LENGTH])


def cut(value, within=""):
    """A value without its words; arguments stay the JSON that they are."""
    if isinstance(value, dict):
        return {key: cut(it, key if key in WORDS or within not in WORDS else within) for key, it in value.items()}
    if isinstance(value, list):
        return [cut(it, within) for it in value]
    if isinstance(value, str) and within in WORDS:
        if within == "arguments" and value[:1] in "{[":
            return json.dumps(cut(json.loads(value), "text"))
        return blank(value)
    return value


def openhands(data):
    """Four requests of one conversation, one a line."""
    found = []
    for path in sorted(data.glob("request-logs/openhands_nonfncall-llm-logs*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        keep = {key: record[key] for key in ("raw_messages", "context_window", "cost", "timestamp", "latency_sec")}
        response = {key: record["response"][key] for key in ("id", "created", "model", "choices", "usage")}
        found.append(json.dumps(cut({**keep, "response": response})))
    (COPIES / "openhands-completions.jsonl").write_text("\n".join(found) + "\n", encoding="utf-8")


def main():
    data = pathlib.Path(sys.argv[1])
    openhands(data)
    for origin, copy in (
        ("openclaw/letta_tool-calls_input.jsonl", "openclaw-session.jsonl"),
        ("openclaw/letta_cleanup_input.jsonl", "openclaw-broken.jsonl"),
        ("omp/letta_tool-calls_input.jsonl", "omp-session.jsonl"),
    ):
        shutil.copyfile(data / origin, COPIES / copy)


if __name__ == "__main__":
    main()
