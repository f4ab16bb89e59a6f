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

# Members within them that are names.
NAMES = ("type", "id", "name", "toolCallId", "kind", "role")


def blank(text, length=LENGTH):
    """The same text without its words."""
    return "".join(it if it.isspace() else "x" for it in text[:length])


def cut(value, within=""):
    """A value without its words; arguments stay the JSON that they are."""
    if isinstance(value, dict):
        return {key: cut(it, "" if key in NAMES else key if key in WORDS or within not in WORDS else within) for key, it in value.items()}
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


# Of Copilot CLI's events, the types and the members that say what was asked, answered and billed.
COPILOT = {
    "session.start": ("sessionId", "copilotVersion", "selectedModel"),
    "session.resume": ("selectedModel",),
    "session.model_change": ("newModel", "previousModel"),
    "system.message": (),
    "user.message": ("content",),
    "system.notification": ("content",),
    "assistant.turn_start": ("turnId",),
    "assistant.message": ("messageId", "model", "content", "toolRequests", "reasoningText", "outputTokens", "parentToolCallId"),
    "tool.execution_complete": ("toolCallId", "success", "result", "error", "parentToolCallId"),
    "subagent.started": ("toolCallId", "agentName", "model"),
    "subagent.completed": ("toolCallId", "agentName", "model", "totalTokens", "totalToolCalls"),
    "session.usage_checkpoint": ("modelCacheState",),
    "session.compaction_start": ("systemTokens", "conversationTokens", "toolDefinitionsTokens"),
    "session.compaction_complete": ("success", "preCompactionTokens", "summaryContent", "compactionTokensUsed"),
    "session.shutdown": ("modelMetrics", "currentModel", "currentTokens", "systemTokens", "conversationTokens", "toolDefinitionsTokens"),
    "hook.start": (),
}


def copilot(path, name, length):
    """A session without words, names of people and ids of requests; hooks are kept as the type alone."""
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        members = COPILOT.get(record["type"])
        if members is None or record["type"] == "hook.start" and len(kept) > 9:
            continue
        data = {key: it for key, it in record["data"].items() if key in members}
        for call in data.get("toolRequests", []):
            call["arguments"] = {key: blank(str(it), length) for key, it in call.get("arguments", {}).items()}
            for key in [it for it in call if it not in ("toolCallId", "name", "arguments")]:
                del call[key]
        if record["type"] == "session.compaction_complete":
            data["summaryContent"] = blank(data["summaryContent"], 400)
        for key in ("content", "reasoningText"):
            if isinstance(data.get(key), str):
                data[key] = blank(data[key], length)
        if "result" in data:
            data["result"] = {"content": blank(data["result"]["content"], length)}
        if "error" in data:
            data["error"] = {"message": blank(data["error"]["message"], length)}
        kept.append(json.dumps({key: record[key] for key in ("type", "timestamp", "agentId") if key in record} | {"data": data}))
    (COPIES / name).write_text("\n".join(kept) + "\n", encoding="utf-8")


def dsh(path, name):
    """A session without words, prompts and the parts of streams; figures of streams stay."""
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"].endswith("-chunks") or record["type"].startswith(("agent/", "session/")):
            continue
        data = record.get("data", {})
        if record["type"] == "assistant/chunk" and data["chunk"]["type"] not in ("usage", "finish"):
            continue
        if "header" in data:
            data["header"] |= {"system": blank(data["header"].get("system", "")), "tools": []}
        for key in ("summary", "rawOutput"):
            if key in data:
                data[key] = cut(data[key], "content")
        data.pop("meta", None)
        kept.append(json.dumps(record | {"data": cut(data)} if data else record))
    (COPIES / name).write_text("\n".join(kept) + "\n", encoding="utf-8")


def main():
    data = pathlib.Path(sys.argv[1])
    openhands(data)
    copilot(data / "copilot-cli/vibe_copilot.jsonl", "copilot-cli-session.jsonl", 60)
    copilot(data / "copilot-cli/starcar_fable-5_184_compaction-subagents.jsonl", "copilot-cli-agents.jsonl", 8)
    dsh(data / "dsh/codeburn_bash-tool-turn.jsonl", "dsh-session.jsonl")
    dsh(data / "dsh/harness_compaction-recovery.jsonl", "dsh-compaction.jsonl")
    for origin, copy in (
        ("kimi/kimi-code_with-tool-calls_wire.jsonl", "kimi-session.jsonl"),
        ("kimi/kimi-code_archived_wire.jsonl", "kimi-archived.jsonl"),
        ("kimi/kimi-code_with-subagent-collapsed_wire.jsonl", "kimi-agents.jsonl"),
        ("openclaw/letta_tool-calls_input.jsonl", "openclaw-session.jsonl"),
        ("openclaw/letta_cleanup_input.jsonl", "openclaw-broken.jsonl"),
        ("omp/letta_tool-calls_input.jsonl", "omp-session.jsonl"),
    ):
        shutil.copyfile(data / origin, COPIES / copy)


if __name__ == "__main__":
    main()
