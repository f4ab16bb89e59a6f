"""Counts the bill of recorded sessions as logged, from the raw logs and without ctxsim.

    python3 benches/bill_as_logged.py FILE|FOLDER...        # a row for each file, a sum for each format
    python3 benches/bill_as_logged.py --files tests/data/recorded scenarios/recorded ../shared/data/recorded ../shared/data/formats > tests/data/formats/bills.csv

Every request counts once: input that was neither read nor written, what was read, what was written by lifetime, and output as logged, at the
list prices of `profiles/` at the time of the request. `tests/suite/import/bills.rs` holds that ctxsim reads the same. By format:

claude-code   by message id, the last line of each, its output the largest; sub-agents' lines and what `progress` records hold of them
              included, with the last request of such a sub-agent, which only `toolUseResult` holds; `<synthetic>` replies and zeros are none.
codex         `token_count` events whose total differs from the one before; of a fork, none whose turn is older than the session.
pi            assistant messages and summaries (pi, OpenClaw, oh-my-pi) on all branches, those of OpenClaw itself and zeros left out.
opencode      assistant messages; reasoning is beside the output unless the total says otherwise.
kimi          status updates of the older wire, usage records of the newer one.
dsh           DeepSeek Harness: the bill of each reply or else of its stream, and of each summary.
gemini-cli    the last record of each id.
"""

import datetime
import json
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
REVISION = r"(-\d{8}|-\d{4}-\d\d-\d\d|-\d{4}|@\w+|-v\d+:\d+|-latest)?"
PARTS = ("uncached", "read", "written_short", "written_long", "output")


class Request:
    """What one request was billed."""

    def __init__(self, model, uncached, read, short, long, output, at=None, lane=""):
        self.model, self.at, self.lane = model, at, lane
        self.tokens = [uncached, read, short, long, output]

    def prompt(self):
        return sum(self.tokens[:4])


def records(path):
    """The objects of a file of JSON lines; a line may hold two, and what is no JSON is left out."""
    decoder = json.JSONDecoder()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        at = 0
        while at < len(line):
            try:
                record, end = decoder.raw_decode(line, at)
            except ValueError:
                break
            if isinstance(record, dict):
                yield record
            at = end
            while at < len(line) and line[at].isspace():
                at += 1


def claude_usage(usage):
    """What is in plain input, reads, writes by lifetime, and output."""
    written = usage.get("cache_creation_input_tokens") or 0
    long = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0
    plain, read, output = (usage.get(it) or 0 for it in ("input_tokens", "cache_read_input_tokens", "output_tokens"))
    return [plain, read, written - long, long, output]


def claude_code(path):
    replies, told = {}, set()
    for record in records(path):
        ended = record.get("toolUseResult")
        if isinstance(ended, dict) and ended.get("agentId") in told and isinstance(ended.get("usage"), dict):
            lane, tokens = ended["agentId"], claude_usage(ended["usage"])
            own = [it for it in replies.values() if it.lane == lane]
            if sum(tokens[:4]) > 0 and all(it.tokens[:4] != tokens[:4] for it in own):
                replies[lane, "last"] = Request(own[-1].model, *tokens, record.get("timestamp"), lane)
        lane = record.get("agentId", "agent") if record.get("isSidechain") else ""
        data = record.get("data")
        if record.get("type") == "progress" and isinstance(data, dict) and data.get("type") == "agent_progress":
            lane, record = data.get("agentId", "agent"), {**record, **(data.get("message") or {})}
            told.add(lane)
        message = record.get("message")
        if record.get("type") != "assistant" or not isinstance(message, dict):
            continue
        usage = message.get("usage")
        if message.get("model") == "<synthetic>" or not isinstance(usage, dict):
            continue
        tokens = claude_usage(usage)
        if sum(tokens[:4]) == 0:
            continue
        key = (lane, message.get("id") or record.get("requestId") or record.get("uuid"))
        before = replies.get(key)
        tokens[4] = max(tokens[4], before.tokens[4] if before else 0)
        replies[key] = Request(message.get("model", ""), *tokens, before.at if before else record.get("timestamp"), lane)
    return replies.values()


def uuid_ms(name):
    """The time in a UUID of version 7."""
    digits = (name or "").replace("-", "")
    return int(digits[:12], 16) if len(digits) == 32 and digits[12] == "7" else None


def codex(path):
    model, total, fork, is_replay = "", None, None, False
    for record in records(path):
        payload = record.get("payload")
        if not isinstance(payload, dict):
            continue
        if record.get("type") == "session_meta" and payload.get("forked_from_id") and fork is None:
            fork = uuid_ms(payload["id"])
        turn = uuid_ms(payload.get("turn_id"))
        if fork is not None and turn is not None:
            is_replay = turn < fork
        if record.get("type") == "turn_context":
            model = payload.get("model", "")
        info = payload.get("info")
        if payload.get("type") != "token_count" or not isinstance(info, dict):
            continue
        before, total = total, info["total_token_usage"]
        if before == total or is_replay:
            continue
        usage = info["last_token_usage"]
        read, written = usage.get("cached_input_tokens", 0), usage.get("cache_write_input_tokens", 0)
        if usage["input_tokens"] > 0:
            yield Request(model, usage["input_tokens"] - read - written, read, written, 0, usage["output_tokens"],
                          record.get("timestamp"))


def pi(path):
    for record in records(path):
        message = record.get("message")
        if not isinstance(message, dict) or message.get("role") != "assistant" or message.get("provider") == "openclaw":
            continue
        usage = message.get("usage") or {}
        tokens = [usage.get(it, 0) for it in ("input", "cacheRead", "cacheWrite")]
        if sum(tokens) > 0:
            yield Request(message.get("model", ""), *tokens, 0, usage.get("output", 0), record.get("timestamp"))


def opencode(path):
    session = json.loads(path.read_text())
    lane = session.get("info", {}).get("parentID") or ""
    for message in session["messages"]:
        info = message["info"]
        tokens = info.get("tokens")
        if info["role"] != "assistant" or not tokens:
            continue
        cache = tokens["cache"]
        uncached, read, written, output = tokens["input"], cache["read"], cache["write"], tokens["output"]
        is_inside = tokens.get("total") == uncached + read + written + output
        if uncached + read + written > 0:
            output += 0 if is_inside else tokens.get("reasoning", 0)
            yield Request(info["modelID"], uncached, read, written, 0, output, info["time"]["created"], lane)


def kimi(path):
    for record in records(path):
        message = record.get("message")
        lane = ""
        while isinstance(message, dict) and message.get("type") == "SubagentEvent":
            lane, message = "agent", message["payload"]["event"]
        usage = None
        if isinstance(message, dict) and message.get("type") == "StatusUpdate":
            usage = (message["payload"] or {}).get("token_usage")
            names = ("input_other", "input_cache_read", "input_cache_creation", "output")
        elif record.get("type") == "usage.record" and record.get("usageScope") != "session":
            usage, names = record.get("usage"), ("inputOther", "inputCacheRead", "inputCacheCreation", "output")
        if usage:
            uncached, read, written, output = (usage.get(it) or 0 for it in names)
            if uncached + read + written > 0:
                yield Request("", uncached, read, written, 0, output, record.get("timestamp"), lane)


def dsh(path):
    names = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
    bills, model, lane = {}, "", ""
    for record in records(path):
        data, kind = record.get("data") or {}, record["type"]
        lane = lane or record.get("parentSession") or ""
        model = data.get("model") or (data.get("header") or {}).get("config", {}).get("model") or model
        usage = data.get("usage")
        if kind == "assistant/chunk" and data["chunk"].get("type") == "usage":
            usage = data["chunk"]["usage"]
        if kind in ("assistant/chunk", "assistant/message") and usage:
            said = ((data.get("message") or {}).get("source") or {}).get("model") or model
            bills[data.get("turn"), data.get("step")] = [said, usage, record.get("time")]
        elif kind == "compaction/summary" and usage:
            bills["summary", len(bills)] = [model, usage, record.get("time")]
    for said, usage, at in bills.values():
        uncached, read, written, output = (usage.get(it) or 0 for it in names)
        if uncached + read + written > 0:
            yield Request(said, uncached, read, written, 0, output, at, lane)


def gemini(path):
    text = path.read_text()
    try:
        messages = json.loads(text)["messages"]
    except ValueError:
        messages = [it for it in records(path) if "id" in it]
    last = {it.get("id"): it for it in messages if it.get("type") == "gemini"}
    for message in last.values():
        tokens = message.get("tokens") or {}
        if tokens.get("input", 0) > 0:
            read = tokens.get("cached", 0)
            yield Request(message.get("model", ""), tokens["input"] - read + tokens.get("tool", 0), read, 0, 0,
                          tokens["output"] + tokens.get("thoughts", 0), message.get("timestamp"))


READERS = {"claude-code": claude_code, "codex": codex, "pi": pi, "opencode": opencode, "kimi": kimi,
           "dsh": dsh, "gemini-cli": gemini}
# Whose records are another harness's.
FOLDERS = {"omp": "pi", "openclaw": "pi", "gemini": "gemini-cli"}


def format_of(path):
    """The format of a file, by its place, its name or its front; `None` for what is none of these."""
    # Small copies of files of other harnesses begin with its name.
    names = [path.parent.name, path.stem.split("-")[0]]
    named = next((it for it in (FOLDERS.get(name, name) for name in names) if it in READERS), None)
    if path.suffix == ".json":
        is_whole = '"messages"' in path.read_text(encoding="utf-8", errors="replace")[:200_000]
        return named if named in ("opencode", "gemini-cli") and is_whole else None
    if named:
        return named
    heads = [it for it in records(path)][:50]
    if any(it.get("type") in ("session_meta", "turn_context") for it in heads):
        return "codex"
    if any(it.get("type") == "session" for it in heads):
        return "pi"
    return "claude-code" if any("uuid" in it or "sessionId" in it for it in heads) else None


class Prices:
    """The list prices of the profiles, by model."""

    def __init__(self):
        profiles = (tomllib.loads(path.read_text()) for path in sorted((ROOT / "profiles").rglob("*.toml")))
        self.profiles, self.known = [it for it in profiles if it.get("models")], {}

    def of(self, model):
        """The profile of a model; one without a profile is priced as nothing, and named."""
        if model not in self.known:
            # A name itself comes before a pattern, and the longer pattern before the shorter.
            found = [(it == model, len(it), profile["name"], profile) for profile in self.profiles
                     for it in profile["models"] if re.fullmatch(pattern(it), model)]
            self.known[model] = max(found, key=lambda it: it[:2])[3] if found else None
        return self.known[model]

    def dollars(self, request):
        profile = self.of(request.model)
        if profile is None:
            return None
        at = moment(request.at)
        period = profile["prices"][0]
        for later in profile["prices"]:
            if "from" in later and at is not None and at.date().isoformat() >= later["from"]:
                period = later
        rates = period
        for tier in period.get("tiers", []):
            if request.prompt() > tier["above_prompt_tokens"]:
                rates = tier
        written = rates.get("cache_write")
        lifetimes = sorted(written.values()) if isinstance(written, dict) else [rates["input"] if written is None else written]
        each = [rates["input"], rates.get("cache_read", rates["input"]), lifetimes[0], lifetimes[-1], rates["output"]]
        factor = max([it["factor"] for it in period.get("windows", []) if at is not None and is_within(at, it)], default=1.0)
        return factor * sum(n * rate for n, rate in zip(request.tokens, each)) / 1e6


# The regular expression of a pattern of models: `{revision}` stands for nothing or for a date or a build.
def pattern(models):
    return re.escape(models).replace(r"\*", ".*").replace(r"\{revision\}", REVISION)


def moment(at):
    """A time as logged: ISO 8601, seconds or milliseconds since 1970."""
    if isinstance(at, str) and at:
        return datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone(datetime.timezone.utc)
    if isinstance(at, (int, float)):
        return datetime.datetime.fromtimestamp(at / 1e3 if at > 1e11 else at, datetime.timezone.utc)
    return None


def is_within(at, window):
    if at.strftime("%a").lower() not in window.get("weekdays", [at.strftime("%a").lower()]):
        return False
    return any(it.split("-")[0] <= at.strftime("%H:%M") < it.split("-")[1] for it in window["hours"])


COLUMNS = ("file", "format", "requests", *PARTS, "dollars", "of_agents", "dollars_of_agents", "without_price")


def row(path, name, prices):
    """What a file holds; `None` for what is no recording with usage."""
    form = format_of(path)
    requests = list(READERS[form](path)) if form else []
    if not requests:
        return None
    sums = [sum(it.tokens[nth] for it in requests) for nth in range(len(PARTS))]
    dollars = [prices.dollars(it) for it in requests]
    known = [(it, cost) for it, cost in zip(requests, dollars) if cost is not None]
    of_agents = sum(1 for it in requests if it.lane)
    return [name, form, len(requests), *sums, sum(cost for _, cost in known), of_agents,
            sum(cost for it, cost in known if it.lane), len(requests) - len(known)]


def files(argument):
    """The files of an argument, named from the folder that holds it, or from that of the project."""
    top = pathlib.Path(argument).resolve()
    base = ROOT if top.is_relative_to(ROOT) else top.parent
    found = sorted(it for it in top.rglob("*") if it.suffix in (".jsonl", ".json")) if top.is_dir() else [top]
    return [(it, it.relative_to(base).as_posix()) for it in found]


def line(cells):
    return ",".join(f"{it:.6f}" if isinstance(it, float) else str(it) for it in cells)


def main(arguments):
    prices, rows = Prices(), []
    for argument in arguments:
        if argument != "--files":
            rows += filter(None, (row(path, name, prices) for path, name in files(argument)))
    print(line(COLUMNS))
    for it in rows:
        print(line(it))
    for form in dict.fromkeys(it[1] for it in rows) if "--files" not in arguments else ():
        own = [it for it in rows if it[1] == form]
        print(line([f"{len(own)} files", form, *(sum(it[nth] for it in own) for nth in range(2, len(COLUMNS)))]))


if __name__ == "__main__":
    main(sys.argv[1:])
