"""Counts what Claude Code sessions fetch again of earlier sessions of their project, from the raw logs and without ctxsim.

    python3 benches/rediscovery.py FOLDER... > tests/data/histories/rediscovery.csv

One row for each project, kind of source and finding: calls, and tokens of calls and results. It shares no code with ctxsim, only the
definitions of docs/studies/shared-histories.md. `tests/suite/histories.rs` holds that ctxsim counts the same.

Sizes: a reply, its results and what else joins them share the growth from the billed prompt that asked for the reply to the next one, in
proportion to their characters; what the user typed is counted by ctok (`pip install ctok==1.3.0`, Python 3.12), or estimated at 4.4 characters a
token where it has other than ASCII characters; with 3 tokens more and what stands behind the last breakpoint it is taken off first.
"""

import csv
import hashlib
import json
import pathlib
import re
import sys
import tomllib
from collections import Counter, defaultdict

import ctok

ROOT = pathlib.Path(__file__).parent.parent
LOOKS = tomllib.loads((ROOT / "assumptions/histories/numbers.toml").read_text())["commands"]["looks"]
MARKERS = ("/.claude/worktrees/", "/.worktrees/", "/.git/worktrees/")
IMAGE = 6_000  # characters that stand for a picture


def records(path):
    """Yields the objects of a file; a line may hold two."""
    decoder = json.JSONDecoder()
    for line in path.read_text(errors="replace").splitlines():
        at = 0
        while at < len(line):
            try:
                record, at = decoder.raw_decode(line, at)
            except ValueError:
                break
            while at < len(line) and line[at].isspace():
                at += 1
            if isinstance(record, dict):
                yield record


def branch(nodes):
    """Returns the records from the root to the last message."""
    by_name = {}
    for node in nodes:
        by_name.setdefault(node.get("uuid"), node)
    path, taken = [], set()
    node = next(it for it in reversed(nodes) if is_message(it))
    place = {id(it): nth for nth, it in enumerate(nodes)}
    while node is not None:
        taken.add(id(node))
        path.append(node)
        parent = node.get("parentUuid") or node.get("logicalParentUuid")
        if parent is None and not has_cleared(node):
            break
        # What was cleared is followed back to: each of its requests was billed.
        before = lambda it: id(it) not in taken and is_message(it)
        if parent is None:
            node = next(filter(before, reversed(nodes[: place[id(node)]])), None)
            continue
        after = by_name.get(parent)
        if after is None or id(after) in taken:
            earlier = (it for it in reversed(nodes[: place[id(node)]]) if id(it) not in taken)
            after = next(earlier, None)
        node = after
    return path[::-1]


def has_cleared(record):
    """Returns whether a record is of the hook that runs when a history was cleared."""
    hook = record.get("data") or record.get("attachment") or {}
    return isinstance(hook, dict) and hook.get("hookName") == "SessionStart:clear"


def is_message(record):
    return record.get("type") in ("user", "assistant") and isinstance(record.get("message"), dict)


def is_reply(record):
    return is_message(record) and record["type"] == "assistant" and record["message"].get("model") != "<synthetic>"


def blocks(message):
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [it for it in content or [] if isinstance(it, dict)]


def characters(value):
    """Returns the characters of a value: of strings and numbers, and of the punctuation between them."""
    if isinstance(value, dict):
        return 2 + sum(len(key) + 3 + characters(it) + 1 for key, it in value.items())
    if isinstance(value, list):
        return 2 + sum(characters(it) + 1 for it in value)
    if isinstance(value, bool):
        return len(str(value))
    return 0 if value is None else len(str(value))


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(it.get("text", "") for it in content or [] if it.get("type") == "text")


def size_of(block):
    match block.get("type"):
        case "thinking" | "redacted_thinking":
            return len(block.get("thinking") or block.get("data") or "")
        case "tool_use":
            return len(block["name"]) + characters(block.get("input"))
        case "tool_result":
            content = block.get("content")
            if isinstance(content, str) or content is None:
                return len(content or "")
            return sum(size_of(it) for it in content)
        case "image" | "document":
            return IMAGE
    return len(block.get("text") or "")


def apportion(total, weights):
    """Splits a total in proportion; the largest remainders get what is left."""
    whole = sum(weights)
    if whole == 0:
        weights, whole = [1] * len(weights), len(weights)
    shares = [total * it // whole for it in weights]
    order = sorted(range(len(weights)), key=lambda it: (-(total * weights[it] % whole), it))
    for it in order[: total - sum(shares)]:
        shares[it] += 1
    return shares


class Request:
    def __init__(self, node):
        usage = node["message"].get("usage") or {}
        self.uncached = usage.get("input_tokens", 0)
        self.prompt = self.uncached + usage.get("cache_read_input_tokens", 0) + usage.get("cache_creation_input_tokens", 0)
        self.parts = []  # of the reply, then results and what else joins them: [characters, what]
        self.typed = []  # what the user's side said before it: [characters, text]
        self.compacted = False


def requests_of(path, nodes):
    """Gathers the requests of a branch."""
    names = {it["message"].get("id") for it in path if is_reply(it)}
    replies, seen = {}, set()
    for node in nodes:
        if is_reply(node) and node["message"].get("id") in names and node.get("uuid") not in seen:
            seen.add(node.get("uuid"))
            replies.setdefault(node["message"]["id"], []).extend(blocks(node["message"]))
    answers = {}
    for node in nodes:
        if is_message(node) and node["type"] == "user":
            for it in blocks(node["message"]):
                if it.get("type") == "tool_result":
                    answers.setdefault(it["tool_use_id"], it)
    on_path = {it["tool_use_id"] for node in path if is_message(node) and node["type"] == "user"
               for it in blocks(node["message"]) if it.get("type") == "tool_result"}
    all_requests, pending, compacted, begun = [], [], False, set()
    for node in path:
        if is_reply(node):
            name = node["message"]["id"]
            if name in begun:
                continue
            begun.add(name)
            request = Request(node)
            # Later lines repeat the usage; the last one counts.
            for other in nodes:
                if is_reply(other) and other["message"].get("id") == name:
                    last = Request(other)
                    request.prompt, request.uncached = last.prompt, last.uncached
            request.typed, request.compacted, pending, compacted = pending, compacted, [], False
            known = set()
            for it in replies[name]:
                if it.get("type") == "tool_use":
                    if it["id"] in known:
                        continue
                    known.add(it["id"])
                request.parts.append([size_of(it), it])
            all_requests.append(request)
            # Parallel calls leave their results on side branches.
            for it in known:
                if it not in on_path and it in answers:
                    request.parts.append([size_of(answers[it]), answers[it]])
        elif has_cleared(node):
            compacted = bool(all_requests or pending)
        elif is_message(node) and node["type"] == "user":
            if node.get("isCompactSummary"):
                compacted = True
            has_result = any(it.get("type") == "tool_result" for it in blocks(node["message"]))
            is_typed = not node.get("isMeta") and not has_result or bool(node.get("isCompactSummary"))
            for it in blocks(node["message"]):
                if it.get("type") == "tool_result" and all_requests:
                    all_requests[-1].parts.append([size_of(it), it])
                elif all_requests and not is_typed and not pending and any(
                    part.get("type") == "tool_use" for _, part in all_requests[-1].parts
                ):
                    all_requests[-1].parts.append([size_of(it), it])
                else:
                    pending.append([size_of(it), it.get("text")])
    return all_requests


def typed_tokens(typed):
    """Returns the tokens of what was typed, without those of the message, which are 7 where it stands alone."""
    if all(text is not None and text.isascii() for _, text in typed):
        return sum(ctok.token_count(text) - 7 for _, text in typed)
    return -(-sum(size for size, _ in typed) * 10 // 44)


def sizes(all_requests):
    """Returns the tokens of calls and of results by the id of the call; None where a prompt did not grow."""
    tokens = {}
    for one, after in zip(all_requests, all_requests[1:]):
        growth = after.prompt - one.prompt
        user = 0
        if after.typed:
            user = typed_tokens(after.typed) + 3 + after.uncached
        shares = [None] * len(one.parts)
        if growth >= 0 and not after.compacted:
            shares = apportion(growth - min(user, growth), [it[0] for it in one.parts])
        for share, (_, part) in zip(shares, one.parts):
            if part.get("type") in ("tool_use", "tool_result"):
                tokens[part["type"], part.get("id") or part.get("tool_use_id")] = share
    return tokens


def project_of(folder):
    cut = min([folder.find(it) for it in MARKERS if it in folder], default=len(folder))
    return folder[:cut].rstrip("/")


def plain_path(path, project):
    for marker in MARKERS:
        if marker in path:
            front, rest = path.split(marker, 1)
            path = front + ("/" + rest.split("/", 1)[1] if "/" in rest else "")
    if project and path.startswith(project + "/"):
        return path[len(project):].lstrip("/")
    return path.removeprefix("./")


def looks(line):
    """Returns whether a command line only looks."""
    line = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", "Q", line, flags=re.S)
    line = line.replace("2>&1", "").replace("2>/dev/null", "")
    parts = [it.strip() for it in re.split(r"[|;&\n]", line) if it.strip()]

    def begins(part):
        words = part.split()
        while words and (words[0] in ("sudo", "env", "command") or "=" in words[0]):
            words.pop(0)
        rest = " ".join(words)
        return ">" not in rest and any(rest == it or rest.startswith(it + " ") for it in LOOKS)

    return bool(parts) and all(it == "cd" or it.startswith("cd ") or begins(it) for it in parts)


def source_of(name, given, project):
    """Returns kind, source and place of a call, if it fetches anything."""
    match name:
        case "Read" if given.get("file_path"):
            place = plain_path(given["file_path"], project)
            return "file", (place, given.get("offset"), given.get("limit")), place
        case "Grep" | "Glob" | "LS":
            return "search", json.dumps(given, sort_keys=True), None
        case "Bash" if given.get("command"):
            kind = "lookup" if looks(given["command"]) else "action"
            return kind, (kind, " ".join(given["command"].split())), None
        case "WebSearch" if given.get("query"):
            return "page", given["query"].strip(), None
        case "WebFetch" if given.get("url"):
            return "page", given["url"].split("#")[0].rstrip("/"), None
    return None


def content_of(name, result):
    text = text_of(result.get("content"))
    if name == "Read" and "\n\n<system-reminder>" in text:
        text = text[: text.rindex("\n\n<system-reminder>")]
    return hashlib.sha256(text.encode()).hexdigest()


def session_of(path):
    nodes = [it for it in records(path) if not it.get("isSidechain")]
    nodes = [it for it in nodes if it.get("uuid") or is_message(it)]
    folder = next(it["cwd"] for it in nodes if it.get("cwd"))
    all_requests = requests_of(branch(nodes), nodes)
    began = next(it["timestamp"] for it in nodes if is_reply(it))
    return project_of(folder), began, path.name, all_requests


def main(folders):
    files = sorted(file for folder in folders for file in pathlib.Path(folder).glob("*.jsonl"))
    projects = defaultdict(list)
    for project, *session in map(session_of, files):
        projects[project].append(session)
    counts = Counter()
    for project, sessions in projects.items():
        known, places = {}, set()
        for _, _, all_requests in sorted(sessions, key=lambda it: it[:2]):
            tokens, here = sizes(all_requests), {}
            for request in all_requests:
                results = {it["tool_use_id"]: it for _, it in request.parts if it.get("type") == "tool_result"}
                for _, call in request.parts:
                    if call.get("type") != "tool_use" or call["id"] not in results:
                        continue
                    found = source_of(call["name"], call.get("input") or {}, project)
                    if not found:
                        continue
                    kind, source, place = found
                    content = content_of(call["name"], results[call["id"]])
                    if source in here:
                        finding = "again"
                    elif source in known:
                        finding = "unchanged" if known[source] == content else "changed"
                    else:
                        finding = "other_part" if place in places and place else "new"
                    here[source] = (content, place)
                    counts[project, kind, finding, "calls"] += 1
                    both = [tokens.get((it, call["id"])) for it in ("tool_use", "tool_result")]
                    if None in both:
                        counts[project, kind, finding, "unsized"] += 1
                    counts[project, kind, finding, "tokens"] += sum(it or 0 for it in both)
            known |= {source: content for source, (content, _) in here.items()}
            places |= {place for _, place in here.values()}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["project", "kind", "found", "calls", "tokens", "unsized"])
    for key in sorted({it[:3] for it in counts}):
        out.writerow([*key, *(counts[*key, it] for it in ("calls", "tokens", "unsized"))])


if __name__ == "__main__":
    main(sys.argv[1:])
