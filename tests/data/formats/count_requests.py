"""Counts requests, turns and tokens of recorded sessions from their JSON alone, without ctxsim.

    python3 count_requests.py FOLDER > requests.json

FOLDER is the reference data's `formats`; the cut-downs in tests/data/recorded are counted as well. Each row: requests with a bill,
turns (what a user typed, up to the next thing a user typed, if a request follows), and the tokens of the bills: all input, which
part of it was read from and written to the cache, and all output with its reasoning. Requests that wrote summaries count apart.
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def lines(path):
    """The objects of a file of JSON lines; what is not JSON is left out."""
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


class Count:
    """What one file holds."""

    def __init__(self):
        self.requests = self.turns = self.input = self.read = self.written = self.output = 0
        self.summaries = self.summary_input = self.summary_output = 0
        self.has_typed = False

    def typed(self):
        self.has_typed = True

    def replied(self):
        """A request, billed or not."""
        self.turns += self.has_typed
        self.has_typed = False

    def billed(self, uncached, read, written, output):
        self.requests += 1
        self.input += uncached + read + written
        self.read += read
        self.written += written
        self.output += output

    def summarised(self, uncached, read, written, output):
        """A request that wrote a summary of the history, which is none of the agent's."""
        self.summaries += 1
        self.summary_input += uncached + read + written
        self.summary_output += output

    def row(self):
        keys = ("requests", "turns", "input", "read", "written", "output")
        summaries = ("summaries", "summary_input", "summary_output") if self.summaries else ()
        return {key: getattr(self, key) for key in keys + summaries}


def pi(path):
    """pi, OpenClaw, oh-my-pi: the branch that ends at the last entry."""
    entries = {}
    last = None
    for record in lines(path):
        if record.get("type") != "session" and record.get("id"):
            entries[record["id"]] = record
            last = record["id"]
    branch = []
    while last in entries:
        branch.append(entries[last])
        last = entries[last].get("parentId")
    count = Count()
    for record in reversed(branch):
        message = record.get("message") or {}
        usage = message.get("usage")
        if message.get("role") == "user":
            count.typed()
        if message.get("role") == "assistant" and message.get("provider") != "openclaw":
            count.replied()
            if usage and usage["input"] + usage.get("cacheRead", 0) + usage.get("cacheWrite", 0) > 0:
                count.billed(usage["input"], usage.get("cacheRead", 0), usage.get("cacheWrite", 0), usage["output"])
    return count


def request_logs(paths):
    """One request and its response a file or a line, all of one conversation."""
    count = Count()
    n_users = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        try:
            records = [json.loads(text)]
        except ValueError:
            records = lines(path)
        for record in records:
            users = sum(it["role"] == "user" for it in record.get("raw_messages") or record["messages"])
            count.turns += users - n_users
            n_users = users
            usage = record["response"]["usage"]
            read = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            count.billed(usage["prompt_tokens"] - read, read, 0, usage["completion_tokens"])
    return count


def trajectory(path):
    """A trajectory of mini-swe-agent: its one turn, and the bill beside each reply."""
    count = Count()
    for message in json.loads(path.read_text(encoding="utf-8"))["messages"]:
        usage = message.get("extra", {}).get("response", {}).get("usage")
        if usage:
            read = usage["prompt_tokens_details"]["cached_tokens"]
            count.billed(usage["prompt_tokens"] - read, read, 0, usage["completion_tokens"])
    count.turns = 1
    return count


def dsh(path):
    """DeepSeek Harness: by turn and step, the bill of the reply, or else of the stream."""
    count = Count()
    streamed = {}
    is_compacting = False
    for record in lines(path):
        data, kind = record.get("data") or {}, record["type"]
        key = (data.get("turn"), data.get("step"))
        is_compacting = kind == "compaction/start" or is_compacting and kind != "compaction/end"
        if kind == "user/message" and (is_compacting or data.get("source", {}).get("kind") == "user"):
            count.typed()
        usage = None
        if kind == "assistant/chunk" and data["chunk"].get("type") == "usage":
            streamed[key] = data["chunk"]["usage"]
        if kind == "assistant/message":
            usage = data.get("usage") or streamed.get(key)
            streamed.pop(key, None)
            count.replied()
            count.turns = max(count.turns, 1)
        if kind == "compaction/summary" and data.get("usage"):
            used = data["usage"]
            count.summarised(*(used.get(it, 0) for it in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")))
        if usage:
            count.billed(*(usage.get(it, 0) for it in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")))
    for usage in streamed.values():
        count.billed(*(usage.get(it, 0) for it in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")))
    return count


def kimi(path):
    """Kimi's older wire: status updates with a bill, sub-agents' included; turns in which the model said or called anything."""
    count = Count()
    typed, said = {}, {}
    for record in lines(path):
        message = record.get("message")
        agent = ""
        while message and message["type"] == "SubagentEvent":
            agent = message["payload"].get("agent_id") or message["payload"]["task_tool_call_id"]
            message = message["payload"]["event"]
        if not message:
            continue
        kind, payload = message["type"], message["payload"]
        if kind == "TurnBegin":
            typed[agent] = True
        if kind in ("ContentPart", "ToolCall") and typed.pop(agent, False):
            count.turns += 1
        usage = payload.get("token_usage") if kind == "StatusUpdate" else None
        if usage:
            read, written = usage["input_cache_read"], usage["input_cache_creation"]
            count.billed(usage["input_other"], read, written, usage["output"])
    return count


def copilot(path):
    """Copilot CLI: input and cached tokens are totals by model since the last ones; a compaction has its own bill."""
    count = Count()
    lanes, open_, before = {}, [], {}
    for record in lines(path):
        data, kind = record.get("data") or {}, record["type"]
        lane = lanes.setdefault(record.get("agentId") or data.get("parentToolCallId") or "", {"typed": False, "calls": False, "model": ""})
        if kind in ("session.start", "session.resume", "session.model_change"):
            lane["model"] = data.get("newModel") or data.get("selectedModel") or lane["model"]
        if kind == "user.message" or kind == "system.notification" and not lane["calls"]:
            lane["typed"] = True
        if kind == "assistant.message":
            lane["model"] = data.get("model") or lane["model"]
            count.turns += lane["typed"] or "began" not in lane
            lane |= {"typed": False, "calls": bool(data.get("toolRequests")), "began": True}
            open_.append((lane["model"], data.get("outputTokens")))
        if kind == "session.compaction_complete" and data.get("summaryContent"):
            used = data["compactionTokensUsed"]
            details = {it["tokenType"]: it["tokenCount"] for it in used.get("copilotUsage", {}).get("tokenDetails", [])}
            read = details.get("cache_read", used["cacheReadTokens"])
            written = details.get("cache_write", used["cacheWriteTokens"])
            count.summarised(used["inputTokens"] - read - written, read, written, used["outputTokens"])
            lane |= {"typed": True, "calls": False}
        if kind == "session.shutdown":
            metrics = data.get("modelMetrics", {})
            for model, it in metrics.items():
                usage, n = it["usage"], sum(len(metrics) == 1 or one[0] == model for one in open_)
                now = [usage[key] for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")]
                last = before.get(model, [0] * 4)
                last = last if all(a >= b for a, b in zip(now, last)) else [0] * 4
                before[model] = now
                whole, read, written, output = (a - b for a, b in zip(now, last))
                if whole and n:
                    count.billed(whole - read - written, read, written, output)
                    count.requests += n - 1
            open_ = []
    return count


def attributes(written):
    """The attributes of a span or a log record, whichever way they are written."""
    if isinstance(written, dict):
        return dict(written)
    found = {}
    for pair in written or []:
        value = next(iter(pair["value"].values()))
        found[pair["key"]] = int(value) if "intValue" in pair["value"] else value
    return found


def values(text):
    """The JSON values of a text, one after the other."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text.rstrip()):
        value, end = decoder.raw_decode(text, at)
        yield value
        at = end
        while at < len(text) and text[at].isspace():
            at += 1


def otel(path):
    """Chat spans, or else an emitter's own log records; turns by the user's messages that the requests are about."""
    spans, logs = {}, []
    for value in values(path.read_text(encoding="utf-8")):
        groups = [it for group in value.get("resourceSpans", []) for scope in group["scopeSpans"] for it in scope["spans"]]
        if value.get("type") == "span":
            groups.append(value)
        for span in groups:
            spans[span["traceId"], span["spanId"]] = (span["name"], attributes(span["attributes"]), span)
        for group in value.get("resourceLogs", []):
            logs += [attributes(it["attributes"]) for scope in group["scopeLogs"] for it in scope["logRecords"]]
        if "hrTime" in value:
            logs.append(attributes(value["attributes"]))

    def get(it, *keys):
        return next((int(it[key]) for key in keys if key in it), 0)

    count = Count()
    of_turn = set()
    chats = [it for it in spans.values() if it[0].startswith(("chat ", "claude_code.llm_request", "ai.streamText.doStream"))]
    for name, it, span in chats:
        read = get(it, "gen_ai.usage.cache_read.input_tokens", "cache_read_tokens", "ai.usage.cachedInputTokens")
        written = get(it, "gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens", "cache_creation_tokens")
        whole = get(it, "gen_ai.usage.input_tokens", "input_tokens", "ai.usage.inputTokens")
        output = get(it, "gen_ai.usage.output_tokens", "output_tokens", "ai.usage.outputTokens")
        count.billed(whole if name.startswith("claude_code") else whole - read - written, read, written, output)
        # The outermost span is the turn; what a sub-agent or a title does is a session of its own, with one turn.
        top = span
        agents = 0
        while (top["traceId"], top.get("parentSpanId")) in spans:
            top = spans[top["traceId"], top["parentSpanId"]][2]
            agents += top["name"].startswith("invoke_agent")
        of_turn.add((top["spanId"], agents > 1))
    if not chats:
        for it in logs:
            if it.get("event.name") == "gemini_cli.api_response":
                read = it["cached_content_token_count"]
                count.billed(it["input_token_count"] - read, read, 0, it["output_token_count"] + it["thoughts_token_count"])
                of_turn.add(it["prompt_id"])
    count.turns = len(of_turn)
    return count


def main():
    data = pathlib.Path(sys.argv[1])
    copies = HERE.parent / "recorded"
    rows = {}

    def add(name, format_, count):
        rows[name] = {"format": format_, **count.row()}

    for folder in ("openclaw", "omp"):
        for path in sorted(data.glob(f"{folder}/*.jsonl")):
            add(f"formats/{folder}/{path.name}", "pi", pi(path))
    for path in sorted(data.glob("request-logs/openhands_gateway*.json")):
        add(f"formats/request-logs/{path.name}", "messages", request_logs([path]))
    for path in sorted(data.glob("request-logs/openhands_nonfncall-llm-logs*.json")):
        add(f"formats/request-logs/{path.name}", "messages", request_logs([path]))
    for path in sorted(copies.glob("openclaw*.jsonl")) + sorted(copies.glob("omp*.jsonl")):
        add(path.name, "pi", pi(path))
    for path in sorted(copies.glob("openhands*.jsonl")):
        add(path.name, "messages", request_logs([path]))
    for path in sorted(copies.glob("mini-swe-agent*.json")):
        add(path.name, "messages", trajectory(path))
    for path in sorted(data.glob("copilot-cli/*.jsonl")):
        add(f"formats/copilot-cli/{path.name}", "copilot-cli", copilot(path))
    for path in sorted(copies.glob("copilot-cli-*.jsonl")):
        add(path.name, "copilot-cli", copilot(path))
    for path in sorted(data.glob("dsh/*.jsonl")):
        add(f"formats/dsh/{path.name}", "dsh", dsh(path))
    for path in sorted(data.glob("kimi/*_wire.jsonl")):
        add(f"formats/kimi/{path.name}", "kimi", kimi(path))
    for path in sorted(copies.glob("dsh-*.jsonl")):
        add(path.name, "dsh", dsh(path))
    for path in sorted(copies.glob("kimi-*.jsonl")):
        add(path.name, "kimi", kimi(path))
    for path in sorted(copies.glob("otel-*")):
        add(path.name, "otel", otel(path))
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
