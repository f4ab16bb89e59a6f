"""Every verb has the numbers of the command line: its document is the one that is printed, and its fields and tables lose none of it."""

import dataclasses
import json
import re
import subprocess

import pytest

import ctxsim
from conftest import COMMAND, PROFILE, SESSION, SESSIONS
from ctxsim.columns import Tabled

POLICY = "clear_tool_results_at_40k_min_5k"
PROFILES = [PROFILE, "openai/gpt-6.1-terra", "google/gemini-3.1-pro-preview"]
VARY = {"params.trigger": [20_000, 40_000, 60_000]}
VARIED = "params.trigger=20000,40000,60000"


def printed(*args, cwd=None, code=0):
    """What the command line prints."""
    done = subprocess.run([*COMMAND, *map(str, args)], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == code, done.stderr
    return done.stdout


def numbers(value, path=""):
    """Every number below a value, with its path; places in lists are `*`."""
    if isinstance(value, dict):
        for key, it in value.items():
            yield from numbers(it, f"{path}.{key}" if path else key)
    elif isinstance(value, (list, tuple)):
        for it in value:
            yield from numbers(it, f"{path}.*")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, float(value)


def shown(answer):
    """Every number of an answer's fields and tables."""
    fields = {it.name: getattr(answer, it.name) for it in dataclasses.fields(answer) if it.name != "document"}
    own = {name: getattr(answer, name) for name, it in vars(type(answer)).items() if type(it) is property}
    own = {name: dataclasses.asdict(it) if dataclasses.is_dataclass(it) else it for name, it in own.items()}
    tables = {name: getattr(answer, name).rows() for name, it in vars(type(answer)).items() if isinstance(it, Tabled)}
    return {it for _, it in numbers([fields, own, tables])}


def has_the_numbers_of(answer, text, left_out=()):
    """Whether an answer is the printed document, and shows all of it but what is left out on purpose."""
    assert answer.json().rstrip() == text.rstrip()
    assert answer.document == json.loads(text)
    found = shown(answer)
    lost = {path for path, it in numbers(answer.document) if it not in found}
    assert {it for it in lost if not any(re.match(of, it) for of in left_out)} == set()
    page = answer._repr_html_()
    assert "<table>" in page and len(page) < 30_000
    assert type(answer).__name__ in repr(answer) and str(answer)


def sessions(folder, n):
    """Writes sessions of different days, each as one that another person might have had; returns their paths."""
    text = SESSIONS[0].read_text(encoding="utf-8")
    paths = []
    for nth in range(n):
        own = text.replace("2026-01-15", f"2026-01-{nth + 10}").replace('"msg_', f'"msg_{nth}_').replace('"req_', f'"req_{nth}_')
        own = re.sub(r'"sessionId":\s*"[^"]*"', f'"sessionId":"s{nth}"', own)
        path = folder / f"s{nth}.jsonl"
        # Each is a few requests longer than the one before, so that no two are the same.
        lines = own.splitlines(keepends=True)
        path.write_text("".join(lines[: len(lines) - 8 * (n - 1 - nth)]), encoding="utf-8")
        paths.append(path)
    return paths


def test_sensitivity():
    given = {"policies": ["identity", "clear_tool_results", "sliding_window"], "profiles": PROFILES}
    text = printed("sensitivity", SESSION, "--policy", *given["policies"], "--profiles", *PROFILES, "--format", "json")
    found = ctxsim.sensitivity(SESSION, **given)
    has_the_numbers_of(found, text)
    cells = [(cell["policy"], cell["cost_usd"], cell["profile"]) for load in found.document["loads"] for cell in load["cells"]]
    assert [(it["policy"], it["cost_usd"], it["profile"]) for it in found.cells.rows()] == cells
    assert found.cells.columns[:2] == found.cheapest.columns[:2] == ["policy", "cost_usd"]
    assert ctxsim.sensitivity(ctxsim.Workbench(SESSION), **given).cells.rows() == found.cells.rows()
    assert ctxsim.sensitivity(profiles=PROFILES).json() == printed(
        "sensitivity", "--profiles", *PROFILES, "--format", "json"
    )


@pytest.mark.parametrize(("policy", "request_"), [("clear_tool_results", 1), ("sliding_window", 40), ("clear_tool_results", 69)])
def test_explain(policy, request_):
    text = printed("explain", SESSION, "--policy", policy, "--request", request_, "--profile", PROFILE, "--format", "json")
    found = ctxsim.explain(SESSION, policy=policy, request=request_, profile=PROFILE)
    has_the_numbers_of(found, text, [r"cost_picodollars\.", r"cache\.entries\.\*\.fate"])
    assert float(found.cost.total_usd) == found.row["cost_usd"]
    assert sum(it["shown_tokens"] for it in found.items.rows()) + found.tokens_beside_items == found.row["prompt_tokens"]
    rendered = printed("explain", SESSION, "--policy", policy, "--request", request_, "--profile", PROFILE, "--render")
    # A terminal is shown no control characters.
    assert found.prompt.replace("\t", "␉").strip() == rendered.strip()


def test_explain_chooses_a_session(folder):
    with pytest.raises(ctxsim.Error, match="there are 2 sessions") as raised:
        ctxsim.explain(folder, policy="identity", request=1)
    assert "pi-session" in str(raised.value)
    with pytest.raises(ctxsim.Error, match="did you mean `pi-session`"):
        ctxsim.explain(folder, policy="identity", request=1, session="pi-sesion")
    found = ctxsim.explain(folder, policy="identity", request=2, session="pi-session")
    text = printed("explain", *SESSIONS[:2], "--policy", "identity", "--request", 2, "--session", "pi-session", "--format", "json")
    assert found.json() == text and found.scenario == "pi-session"
    with pytest.raises(ctxsim.Error, match="there is no request 900"):
        ctxsim.explain(folder, policy="identity", request=900, session="pi-session")


def test_sweep():
    text = printed("sweep", "--policy", POLICY, "--vary", VARIED, "--profile", PROFILE, "--scenario", SESSION, "--format", "json")
    found = ctxsim.sweep(SESSION, policy=POLICY, vary=VARY, profiles=PROFILE)
    has_the_numbers_of(found, text, [r"sweep\.points"])
    assert found.vary == {"params.trigger": ["20000", "40000", "60000"]} and found.points.columns[:2] == ["policy", "cost_usd.total"]
    assert [it["cost_usd.total"] for it in found.points.rows()] == [it["numbers"]["cost_usd.total"] for it in found.document["points"]]
    assert [it["index"] for it in found.points.rows() if it["is_on_front"]] == sorted(found.front)
    assert ctxsim.sweep(SESSION, policy=POLICY, vary=VARIED, profiles=PROFILE).json() == text


def test_tune(tmp_path):
    paths = sessions(tmp_path, 12)
    text = printed("tune", *paths, "--policy", POLICY, "--vary", VARIED, "--seed", 3, "--json")
    found = ctxsim.tune(paths, policy=POLICY, vary=VARY, seed=3)
    has_the_numbers_of(found, text, [r".*spread\."])
    assert {it["part"] for it in found.parts.rows()} == {"chosen on", "held out"} and found.variants == 3
    assert [it["cost_usd"] for it in found.parts.rows()] == [it["cost"] for it in found.document["parts"]]


def test_check(tmp_path):
    assert ctxsim.check("context-decay").json() == printed("check", "--suite", "context-decay", "--format", "json")
    printed("init", cwd=tmp_path)
    # What this file pins is the command line's; a caller names what to check.
    (tmp_path / "ctxsim.toml").write_text('folders = ["ctx"]\n', encoding="utf-8")
    printed("check", "--bless", cwd=tmp_path)
    snapshots = tmp_path / "snapshots"
    [path] = snapshots.rglob("*.snap")
    path.write_text(path.read_text(encoding="utf-8").replace("176,290", "176,291"), encoding="utf-8")
    text = printed("check", "--format", "json", cwd=tmp_path, code=1)
    for it in snapshots.rglob("*.new"):
        it.unlink()
    found = ctxsim.check(folders=tmp_path / "ctx", snapshots=snapshots)
    assert not found.holds and len(found.moved) > 0 and not list(snapshots.rglob("*.new")), "nothing is written"
    # Paths are as they are given.
    assert found.json().replace(f"{tmp_path}/", "") == text
    assert {it["old"] for it in found.moved.rows()} == {"176,291"}


def test_advice_and_what_it_came_to(tmp_path):
    (tmp_path / "later").mkdir()
    paths = sessions(tmp_path, 8)
    saved = tmp_path / "saved.json"
    pair = "promptCacheTtl=1h"
    text = printed("advise", *paths[:6], "--try", pair, "--save", saved, "--format", "json")
    found = ctxsim.advise(paths[:6], tries=pair)
    has_the_numbers_of(found, text, [r"agents\.\*\.(levers\.\*\.(people|projects|adds)|wishes|asked|as_logged\.limits)"])
    assert found.forecast.strip() == saved.read_text(encoding="utf-8").strip()
    assert {it["word"] for it in found.levers.rows()} <= {"do", "your_call", "try", "dont", "cannot_tell"}
    assert found.agents.rows()[0]["sessions"] == 6 and found.current.rows()

    later = [*paths, "--changed", "2026-01-16"]
    text = printed("realised", saved, *later, "--format", "json")
    for forecast in (found.forecast, saved):
        realised = ctxsim.realised(forecast, ctxsim.Workbench(paths), changed="2026-01-16")
        has_the_numbers_of(realised, text, [r"kinds\.", r"left_out", r"outcomes"])
    with pytest.raises(ValueError, match="no forecast"):
        ctxsim.realised(None, paths)
    with pytest.raises(ctxsim.Error, match="no settings of an agent"):
        ctxsim.advise(paths, agent="nobody")


def test_bill(folder):
    printed_ = json.loads(printed("screen", folder, "--format", "json"))
    # What the command line suggests to type next is its own.
    del printed_["next"]
    found = ctxsim.bill(folder)
    document = {key: it for key, it in found.document.items() if key != "next"}
    assert document == printed_
    lost = {path for path, it in numbers(document) if it not in shown(found)}
    known = r"(predicted|bill\.(main|sub_agents|estimated|limits)|waiting|read)\."
    assert {it for it in lost if not re.match(known, it)} == set()
    assert found.total_usd == pytest.approx(sum(it["usd"] for it in found.by_day.rows())) and found.sessions == 2


def test_the_shared_sessions(reference):
    paths = sorted(reference.glob("recorded/claude-code*/**/*.jsonl"))
    bench = ctxsim.Workbench(paths)
    given = {"policies": ["identity", POLICY], "profiles": PROFILES[:2]}
    text = printed("sensitivity", *paths, "--policy", *given["policies"], "--profiles", *given["profiles"], "--format", "json")
    has_the_numbers_of(ctxsim.sensitivity(bench, **given), text)
    has_the_numbers_of(ctxsim.advise(paths), printed("advise", *paths, "--format", "json"), [r"agents\.\*\.(levers\.\*\.(people|projects|adds)|wishes|as_logged\.limits)"])


def test_what_does_not_exist_is_refused_with_the_nearest():
    with pytest.raises(ctxsim.Error, match="did you mean `evidence`"):
        ctxsim.sweep(SESSION, policy=POLICY, vary=VARY, objectives=["cost", "evidense"])
    with pytest.raises(ctxsim.Error, match="trigger"):
        ctxsim.sweep(SESSION, policy=POLICY, vary={"params.triger": [20_000]})
    report = ctxsim.compare(SESSION, policies=["identity", POLICY], profiles=PROFILE)
    run = json.loads(report.json())["runs"][1]
    assert report.metric(POLICY, "cost_usd.total") == report.metric(POLICY, "cost_usd.total", scenario=SESSION) == run["totals"]["cost_usd"]["total"]
    assert report.metric(POLICY, "failure_turn") is None, "unknown is None"
    with pytest.raises(ctxsim.Error, match=r"did you mean `cost_usd.cache_write`"):
        report.metric(POLICY, "cost_usd.cache_wrte")
    with pytest.raises(ctxsim.Error, match="0 runs"):
        report.metric("nobody", "cost_usd.total")
