#!/usr/bin/env python3
"""Cuts small parts out of sessions of other agents, for the tests: structure, times, names of tools, models and token counts stay,
every letter and digit of a text becomes x, and texts are cut to 80 characters.

    python3 cut_documents.py FOLDER OUT       # FOLDER as for count.py; writes OUT/opencode/part.json, ...
"""
import json, os, re, sys

# Members whose texts are names, not words.
NAMES = {"id", "type", "role", "sessionID", "messageID", "parentID", "providerID", "modelID", "agent", "mode", "finish", "reason", "tool",
         "callID", "status", "version", "mime", "name", "model", "timestamp", "startTime", "lastUpdated", "sessionId", "kind", "uuid",
         "parentUuid", "source", "schema_version", "session_id", "step_id", "model_name", "tool_call_id", "function_name",
         "source_call_id", "continued_trajectory_ref", "event", "span_id", "parent_id", "function", "completed", "created", "role",
         "stop_reason", "tool_choice", "subtype", "$rewindTo"}


def blank(value, key=""):
    if isinstance(value, dict):
        return {k: blank(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [blank(v, key) for v in value]
    if isinstance(value, str) and key not in NAMES:
        return re.sub(r"\w", "x", value[:80])
    return value


def without(value, keys):
    if isinstance(value, dict):
        return {k: without(v, keys) for k, v in value.items() if k not in keys}
    if isinstance(value, list):
        return [without(v, keys) for v in value]
    return value


def opencode(folder, out):
    doc = json.load(open(f"{folder}/opencode/session-bridge_sonnet-4.6_69_compaction.json"))
    doc["messages"] = doc["messages"][36:53]
    write(out, "opencode-part.json", without(doc, {"summary_diffs", "diffs", "metadata", "snapshot", "hash", "files", "path", "source"}))


def gemini(folder, out):
    lines = [json.loads(line) for line in open(f"{folder}/gemini-cli/vibe_gemini.jsonl")]
    drop = {"resultDisplay", "description", "displayName", "renderOutputAsMarkdown", "displayContent", "projectHash"}
    with open(f"{out}/gemini-part.jsonl", "w") as f:
        for line in lines:
            f.write(json.dumps(blank(without(line, drop))) + "\n")


def inspect(folder, out):
    doc = json.load(open(f"{folder}/inspect-ai/browser.json"))
    for sample in doc["samples"]:
        sample["events"] = [e for e in sample["events"] if e["event"] in ("model", "span_begin", "span_end")]
    write(out, "inspect-part.json", without(doc, {"call", "packages", "revision", "results", "plan", "reductions", "store", "scores"}))


def mini_swe_agent(path, out):
    """A trajectory without its configuration and without what the replies say twice; results are cut to 200 characters."""
    doc = json.load(open(path))
    doc["info"].pop("config", None)
    for nth, message in enumerate(doc["messages"]):
        if "extra" in message:
            message["extra"]["response"].pop("choices", None)
        elif nth > 1:
            message["content"] = message["content"][:200]
    with open(f"{out}/mini-swe-agent.traj.json", "w") as f:
        json.dump(doc, f, indent=1)
        f.write("\n")


def write(out, name, doc):
    with open(f"{out}/{name}", "w") as f:
        json.dump(blank(doc), f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    for cut in (opencode, gemini, inspect):
        cut(sys.argv[1], sys.argv[2])
