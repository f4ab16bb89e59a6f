"""Policies as Python functions come to the same as their twins in files, and failures are never just absent."""

import pathlib

import polars as pl
import pytest

import ctxsim
from conftest import PROFILE, SESSION, SESSIONS

TWIN = """(
    name: "twin",
    about: "Results older than the newest ten become placeholders.",
    stages: [(
        name: "code",
        at: [request],
        scope: (kinds: [tool_result], keep_recent: tool_uses(10)),
        apply: show(marker(10)),
    )],
)"""


def own(trace):
    """Results older than the newest ten become placeholders of ten tokens, and stay that when newer ones go."""
    old = -1

    def view(cx, history):
        nonlocal old
        results = [it for it in history if it.call is not None]
        old = max(old, results[-11].id if len(results) > 10 else -1)
        return [
            ctxsim.rewrite(it, ctxsim.sized(min(it.tokens, 10), it.id + 1))
            if it.call is not None and it.tokens > 10 and it.id <= old
            else it
            for it in history
        ]

    return view


def keeps(trace):
    return lambda cx, history: history


def without_names(table):
    return pl.DataFrame(table).drop("policy")


@pytest.mark.parametrize("sessions", [SESSION, [str(it) for it in SESSIONS]])
def test_a_function_equals_its_twin_in_every_row(sessions):
    report = ctxsim.compare(sessions, policies=["identity", ctxsim.Policy.ron(TWIN), own, keeps], profiles=PROFILE)
    assert report.failures == []
    for table in (report.requests, report.needs):
        rows = {name[0]: it.drop("policy") for name, it in pl.DataFrame(table).partition_by("policy", as_dict=True).items()}
        assert rows["own"].equals(rows["twin"]), "a placeholder by code is one by a stage"
        assert rows["keeps"].equals(rows["identity"])
    costs = dict(pl.DataFrame(report.sums).select("policy", "cost_usd.base").iter_rows())
    assert costs["own"] == costs["twin"] != costs["identity"] == costs["keeps"]


def test_a_view_is_shown_the_history_as_it_is_without_what_has_gone(reference):
    paths = sorted(reference.glob("recorded/claude-code*/**/*.jsonl"))
    gone = []

    def checks(trace):
        known = set()

        def view(cx, history):
            ids = [it.id for it in history]
            assert ids == sorted(set(ids)) and isinstance(history, tuple)
            assert not set(cx.gone) & set(ids), "what has gone is not shown"
            assert set(ids) >= known - set(cx.gone), "what has not gone is"
            known.clear()
            known.update(ids)
            gone.extend(cx.gone)
            return history

        return view

    report = ctxsim.compare(paths, policies=["identity", checks, ctxsim.Policy.ron(TWIN), own], profiles=PROFILE)
    report.all_passed()
    assert gone, "some sessions have compactions"
    costs = dict(pl.DataFrame(report.sums).select("policy", "cost_usd.base").iter_rows())
    assert costs["checks"] == costs["identity"] and costs["own"] == costs["twin"]


def test_what_a_run_tells_its_code():
    seen = []

    def looks(trace):
        seen.append((trace.name, trace.turns, trace.requests, trace.seed, trace.prompt_limit))

        def view(cx, history):
            seen.append((cx.request, cx.turn, cx.prompt_tokens, cx.is_cold, [(it.kind, it.tool, it.tokens) for it in history[:2]]))
            assert cx.new_from <= len(history) and cx.prompt_limit is None or cx.prompt_limit > 0
            return [it.id for it in history]

        return view

    ctxsim.compare(SESSION, policies=ctxsim.Policy.code(looks, "mine", about="Looks around."), profiles=PROFILE).all_passed()
    assert seen[0][0] == SESSION and seen[0][2] == 69 and seen[1][0] == 0 and seen[1][4]


def test_summaries_are_billed_and_count_as_such():
    def summarises(trace):
        def view(cx, history):
            body = [it for it in history if not it.is_stable]
            if len(body) < 40:
                return history
            old = [it for it in body[:20]]
            while body[len(old)].kind != "user" and len(old) < len(body) - 1:
                old.append(body[len(old)])
            call = ctxsim.ModelCall(sum(it.tokens for it in old), 300)
            note = ctxsim.insert("What has happened so far.", replaces=old, written_by=call)
            return [*(it for it in history if it.is_stable), note, *body[len(old):]]

        return view

    report = ctxsim.compare(SESSION, policies=["identity", summarises], profiles=PROFILE)
    report.all_passed()
    run = pl.DataFrame(report.runs).filter(pl.col("policy") == "summarises").row(0, named=True)
    assert run["compaction.requests"] >= 1 and run["cost_usd.compaction"] > 0


def test_a_failure_stands_where_the_numbers_would():
    def breaks(trace):
        def view(cx, history):
            if "pi" in trace.name and cx.request == 2:
                {}["boom"]
            return history

        return view

    report = ctxsim.compare([str(it) for it in SESSIONS[:2]], policies=["identity", breaks], profiles=PROFILE)
    [failure] = report.failures
    assert failure.request == 3 and "KeyError: 'boom' (test_policies.py, line " in failure.reason
    for table, n in ((report.runs, 4), (report.sums, 2)):
        rows = pl.DataFrame(table)
        [failed] = rows.filter(pl.col("failed").is_not_null()).to_dicts()
        assert rows.height == n and failed["policy"] == "breaks" and failed["cost_usd.total"] is None
    with pytest.raises(ctxsim.Error, match="boom"):
        report.all_passed()
    assert "1 FAILED" in repr(report)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda it: None, "TypeError"),
        (lambda it: ["x"], "a view is made of entries"),
        (lambda it: it[::-1], ""),
        (lambda it: [*it, 9_999], "9999"),
        (lambda it: [ctxsim.rewrite(it[0], "new")], ""),
    ],
)
def test_a_wrong_answer_ends_its_run_with_a_reason(answer, said):
    def wrong(trace):
        return lambda cx, history: answer(history)

    [failure] = ctxsim.compare(SESSION, policies=["identity", wrong], profiles=PROFILE).failures
    assert said in failure.reason and failure.policy == "wrong"


def test_what_cannot_make_a_view_fails_by_name():
    def unmade(trace):
        raise RuntimeError("no config")

    report = ctxsim.compare(SESSION, policies=["identity", unmade, ctxsim.Policy.code(lambda trace: 3, "three")], profiles=PROFILE)
    assert "no config" in report.failures[0].reason and "not callable" in report.failures[1].reason
    with pytest.raises(ValueError, match="lasts"):
        ctxsim.Policy.code(unmade, lasts="forever")
    with pytest.raises(ValueError, match="unknown kind"):
        ctxsim.insert("x", kind="nothing")


def test_a_path_is_a_policy(tmp_path):
    path = pathlib.Path(tmp_path) / "twin.ron"
    path.write_text(TWIN)
    named = ctxsim.compare(SESSION, policies=["identity", path], profiles=PROFILE)
    folder = tmp_path / "mine" / "policies"
    folder.mkdir(parents=True)
    path.rename(folder / "twin.ron")
    found = ctxsim.compare(SESSION, policies=["identity", "twin"], profiles=PROFILE, folders=tmp_path / "mine")
    assert pl.DataFrame(named.runs).equals(pl.DataFrame(found.runs))
