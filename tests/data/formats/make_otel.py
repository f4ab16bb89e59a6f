"""Writes the OpenTelemetry fixtures in tests/data/recorded. They are made up: no published file of this kind has usage. Names and
shapes are those of the semantic conventions and of the emitters' documentation; the figures are the project's own.

    python3 make_otel.py
"""

import json
import pathlib

COPIES = pathlib.Path(__file__).resolve().parent.parent / "recorded"
START_MS = 1_790_000_000_000


def value(it):
    if isinstance(it, bool):
        return {"boolValue": it}
    if isinstance(it, int):
        return {"intValue": str(it)}
    if isinstance(it, float):
        return {"doubleValue": it}
    if isinstance(it, list):
        return {"arrayValue": {"values": [value(one) for one in it]}}
    if isinstance(it, dict):
        return {"kvlistValue": {"values": pairs(it)}}
    return {"stringValue": it}


def pairs(attributes):
    return [{"key": key, "value": value(it)} for key, it in attributes.items()]


def nanoseconds(seconds):
    return str((START_MS + round(seconds * 1_000)) * 1_000_000)


def span(trace, name, id_, parent, start, end, attributes, events=()):
    return {
        "traceId": trace, "spanId": id_, "parentSpanId": parent, "name": name, "kind": 3,
        "startTimeUnixNano": nanoseconds(start), "endTimeUnixNano": nanoseconds(end), "attributes": pairs(attributes),
        "events": [{"timeUnixNano": nanoseconds(start), "name": it[0], "attributes": pairs(it[1])} for it in events],
        "status": {"code": 1},
    }


def group(scope, spans):
    return json.dumps({"resourceSpans": [{
        "resource": {"attributes": pairs({"service.name": "fixture"})},
        "scopeSpans": [{"scope": {"name": scope, "version": "1"}, "spans": spans}],
    }]})


def chat(model, conversation, input_, output, read=0, written=0, **more):
    attributes = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "github", "gen_ai.request.model": model,
        "gen_ai.response.model": model, "gen_ai.conversation.id": conversation,
        "gen_ai.usage.input_tokens": input_, "gen_ai.usage.output_tokens": output,
    }
    # What is zero is not written.
    if read:
        attributes["gen_ai.usage.cache_read.input_tokens"] = read
    if written:
        attributes["gen_ai.usage.cache_write.input_tokens"] = written
    return attributes | more


def copilot_cli():
    """Two turns with tools and a sub-agent, children before parents, one line written twice; no contents."""
    t, c = "0af7651916cd43dd8448eb211c80319c", "conversation-1"
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": c, "gen_ai.agent.name": "copilot"}
    sub = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": c, "gen_ai.agent.name": "explore"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.conversation.id": c}
    turn = {"github.copilot.interaction_id": "i1"}
    usage = ("github.copilot.session.usage_info", {"token_limit": 128000, "current_tokens": 13066, "messages_length": 3})
    lines = [
        group("github.copilot", [
            span(t, "chat claude-sonnet-5", "a2", "a1", 1, 4, chat("claude-sonnet-5", c, 13066, 120, 0, 12000, **turn), [usage]),
            span(t, "execute_tool view", "a3", "a1", 4, 5, tool | {"gen_ai.tool.name": "view", "gen_ai.tool.call.id": "c1"}),
        ]),
        group("github.copilot", [
            span(t, "chat claude-haiku-5", "b3", "b2", 7, 8, chat("claude-haiku-5", c, 5000, 40)),
            span(t, "chat claude-haiku-5", "b4", "b2", 9, 10, chat("claude-haiku-5", c, 5400, 60, 4096)),
            span(t, "execute_tool grep", "b5", "b2", 8, 9, tool | {"gen_ai.tool.name": "grep", "gen_ai.tool.call.id": "d1"}),
            span(t, "invoke_agent explore", "b2", "b1", 6.5, 10.5, sub | {
                "gen_ai.usage.input_tokens": 10400, "gen_ai.usage.output_tokens": 100}),
        ]),
        group("github.copilot", [
            span(t, "chat claude-sonnet-5", "a4", "a1", 5, 6, chat("claude-sonnet-5", c, 14153, 80, 13000, 1100, **turn)),
            span(t, "execute_tool runSubagent", "b1", "a1", 6, 11, tool | {
                "gen_ai.tool.name": "runSubagent", "gen_ai.tool.call.id": "c2"}),
            span(t, "chat claude-sonnet-5", "a5", "a1", 11, 12, chat("claude-sonnet-5", c, 14600, 90, 14100, 450, **turn)),
            span(t, "invoke_agent copilot", "a1", "", 0, 12, agent | {
                "gen_ai.usage.input_tokens": 41819, "gen_ai.usage.output_tokens": 290}),
        ]),
    ]
    lines.append(lines[1])
    u = "1bf7651916cd43dd8448eb211c80319d"
    lines.append(group("github.copilot", [
        span(u, "chat gpt-5.4", "e2", "e1", 30, 33, chat("gpt-5.4", c, 14900, 70, **{"github.copilot.interaction_id": "i2"})),
        span(u, "invoke_agent copilot", "e1", "", 29, 33, agent),
    ]))
    return "\n".join(lines) + "\n"


def vscode():
    """An SDK's own objects with contents, the old names, a title beside the agents, and a compaction that the emitter marks."""
    t, c = "2cf7651916cd43dd8448eb211c80319e", "chat-1"
    ask = [{"role": "user", "parts": [{"type": "text", "content": "What does main do, and why does the build fail?"}]}]
    reply = {"role": "assistant", "parts": [
        {"type": "reasoning", "content": "I should read it."},
        {"type": "tool_call", "id": "t1", "name": "read_file", "arguments": {"filePath": "main.rs"}}]}
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "t1", "response": "fn main() {}\n" * 40}]}
    answer = {"role": "assistant", "parts": [{"type": "text", "content": "Nothing; the build fails for want of a newline."}]}
    more = {"role": "user", "parts": [{"type": "text", "content": "Then fix it, please."}]}
    summary = {"role": "user", "parts": [{"type": "text", "content": "Summary: main does nothing. " * 8}]}
    done = {"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}

    def one(id_, parent, start, end, name, attributes):
        return json.dumps({
            "type": "span", "traceId": t, "spanId": id_, "parentSpanId": parent, "name": name, "kind": 2,
            "startTime": [START_MS // 1_000 + start, 0], "endTime": [START_MS // 1_000 + end, 500_000_000],
            "attributes": attributes, "instrumentationScope": {"name": "copilot-chat"}})

    def request(input_, output, read, written, sent, said, **extra):
        return {
            "gen_ai.operation.name": "chat", "gen_ai.system": "github", "gen_ai.request.model": "claude-sonnet-4.6",
            "copilot_chat.chat_session_id": c, "gen_ai.usage.input_tokens": input_, "gen_ai.usage.output_tokens": output,
            "gen_ai.usage.cache_read.input_tokens": read, "gen_ai.usage.cache_creation.input_tokens": written,
            "gen_ai.usage.reasoning_tokens": 8, "gen_ai.usage.reasoning.output_tokens": 8,
            "gen_ai.input.messages": json.dumps(sent),
            "gen_ai.output.messages": json.dumps([said | {"finish_reason": "stop"}]),
            "copilot_chat.time_to_first_token": 400} | extra

    front = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": "You are a fixture."}]),
             "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "read_file", "parameters": {}}])}
    lines = [
        one("s1", "s0", 0, 2, "chat claude-sonnet-4.6", request(9000, 50, 0, 8990, ask, reply) | front),
        one("s2", "s0", 2, 3, "execute_tool read_file", {
            "gen_ai.operation.name": "execute_tool", "copilot_chat.chat_session_id": c, "gen_ai.tool.name": "read_file",
            "gen_ai.tool.call.id": "t1", "gen_ai.tool.call.result": "fn main() {}\n" * 40}),
        one("s4", "", 3, 4, "chat gpt-5.4-mini", request(300, 9, 0, 0, ask, answer) | {
            "gen_ai.request.model": "gpt-5.4-mini", "copilot_chat.debug_name": "title"}),
        one("s3", "s0", 3, 5, "chat claude-sonnet-4.6", request(9250, 30, 8990, 250, [*ask, reply, result], answer)),
        one("s0", "", 0, 5, "invoke_agent copilot", {
            "gen_ai.operation.name": "invoke_agent", "copilot_chat.chat_session_id": c,
            "gen_ai.usage.input_tokens": 18250, "gen_ai.usage.output_tokens": 80}),
        one("s6", "s5", 60, 62, "chat claude-sonnet-4.6", request(
            9100, 12, 8000, 1095, [summary, more], done, **{"gen_ai.conversation.compacted": True})),
        one("s5", "", 59, 62, "invoke_agent copilot", {
            "gen_ai.operation.name": "invoke_agent", "copilot_chat.chat_session_id": c}),
    ]
    return "\n".join(lines) + "\n"


def claude_code():
    """Claude Code's own names: a span and a log record of each of two requests, a third that only the log has, tools, two turns."""
    t, s = "3df7651916cd43dd8448eb211c80319f", "session-1"

    def request(input_, read, written, output, **extra):
        return {"session.id": s, "model": "claude-sonnet-5", "input_tokens": input_, "cache_read_tokens": read,
                "cache_creation_tokens": written, "output_tokens": output, "gen_ai.system": "anthropic"} | extra

    def log(second, name, attributes):
        return {"timeUnixNano": nanoseconds(second), "body": {"stringValue": f"claude_code.{name}"},
                "attributes": pairs(attributes | {"event.name": name, "session.id": s})}

    spans = [
        span(t, "claude_code.llm_request", "k2", "k1", 1, 3, request(4, 0, 20000, 60, attempt=1, ttft_ms=700)),
        span(t, "claude_code.tool", "k3", "k1", 3, 4, {"session.id": s, "tool_name": "Read"}),
        span(t, "claude_code.tool.execution", "k4", "k3", 3, 4, {"session.id": s}),
        span(t, "claude_code.llm_request", "k5", "k1", 4, 6, request(4, 20000, 900, 80)),
        span(t, "claude_code.interaction", "k1", "", 0, 6, {"session.id": s}),
        span("4ef7651916cd43dd8448eb211c8031a0", "claude_code.llm_request", "m2", "m1", 40, 41, request(216, 20900, 30, 12)),
        span("4ef7651916cd43dd8448eb211c8031a0", "claude_code.interaction", "m1", "", 39, 41, {"session.id": s}),
    ]
    logs = [
        log(3, "api_request", request(4, 0, 20000, 60, cost_usd=0.1209, duration_ms=2000)),
        log(6, "api_request", request(4, 20000, 900, 80, cost_usd=0.0126, duration_ms=2000)),
    ]
    return group("com.anthropic.claude_code", spans) + "\n" + json.dumps({"resourceLogs": [{"resource": {"attributes": []}, "scopeLogs": [
        {"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": logs}]}]}) + "\n"


def gemini():
    """Gemini CLI's file: objects over several lines, two records of each request."""
    s = "gemini-1"

    def record(second, name, **attributes):
        return json.dumps({
            "hrTime": [START_MS // 1_000 + second, 0], "_body": name, "severityText": "INFO",
            "resource": {"_rawAttributes": [["service.name", "gemini-cli"], ["session.id", s]]},
            "instrumentationScope": {"name": "gemini-cli"}, "attributes": {"event.name": name, **attributes}}, indent=2)

    def response(second, prompt, input_, cached, output, thoughts):
        return record(second, "gemini_cli.api_response", model="gemini-3.5-flash", duration_ms=1500, prompt_id=prompt,
                      input_token_count=input_, cached_content_token_count=cached, output_token_count=output,
                      thoughts_token_count=thoughts, tool_token_count=0, total_token_count=input_ + output + thoughts)

    def details(second, input_, output):
        return record(second, "gen_ai.client.inference.operation.details", **{
            "gen_ai.request.model": "gemini-3.5-flash", "gen_ai.usage.input_tokens": input_, "gen_ai.usage.output_tokens": output})

    return "\n".join([
        record(0, "gemini_cli.config", model="gemini-3.5-flash"),
        record(1, "gemini_cli.user_prompt", prompt_length=11, prompt_id="p1", prompt="read a file"),
        response(4, "p1", 12000, 0, 40, 100), details(4, 12000, 40),
        record(5, "gemini_cli.tool_call", function_name="read_file", function_args="{\"path\": \"a\"}", duration_ms=5, success=True),
        response(8, "p1", 12800, 8100, 60, 0), details(8, 12800, 60),
        record(50, "gemini_cli.user_prompt", prompt_length=7, prompt_id="p2", prompt="and now"),
        response(53, "p2", 13000, 12200, 20, 10), details(53, 13000, 20),
    ]) + "\n"


def opencode():
    """opencode's spans are those of the AI SDK: a wrapper with the sums around each request."""
    t = "5ff7651916cd43dd8448eb211c8031a1"

    def request(input_, cached, output, sent):
        return {"ai.model.id": "gpt-5.4", "ai.model.provider": "openai.responses", "ai.usage.inputTokens": input_,
                "ai.usage.cachedInputTokens": cached, "ai.usage.outputTokens": output, "ai.usage.reasoningTokens": 0,
                "ai.prompt.messages": json.dumps(sent), "ai.response.text": "ok", "ai.telemetry.metadata.sessionId": "ses_1"}

    first = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    second = [*first, {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}, {"role": "user", "content": "again"}]
    return group("ai", [
        span(t, "ai.streamText.doStream", "o2", "o1", 1, 2, request(8000, 0, 30, first)),
        span(t, "ai.streamText", "o1", "", 1, 2, request(8000, 0, 30, first)),
        span(t, "ai.streamText.doStream", "o4", "o3", 5, 6, request(8060, 7936, 20, second)),
        span(t, "ai.streamText", "o3", "", 5, 6, request(8060, 7936, 20, second)),
    ]) + "\n"


def main():
    for name, make in (("otel-copilot-cli.jsonl", copilot_cli), ("otel-vscode.jsonl", vscode), ("otel-claude-code.jsonl", claude_code),
                       ("otel-gemini-cli.json", gemini), ("otel-opencode.jsonl", opencode)):
        (COPIES / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
