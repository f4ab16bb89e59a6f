"""A report's bytes are the command line's, and its tables are read by others without a copy."""

import decimal
import json
import subprocess

import duckdb
import polars as pl
import pytest

import ctxsim
from conftest import COMMAND, PROFILE, SESSION, SESSIONS


def printed(*args, cwd=None):
    """What the command line prints."""
    command = [*COMMAND, "run", *map(str, args)]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout


def test_bytes_and_paths_give_the_bytes_of_the_command_line():
    expected = printed("--format", "json", *SESSIONS)
    from_paths = ctxsim.compare(SESSIONS)
    from_bytes = ctxsim.compare([(path.stem, path.read_bytes()) for path in SESSIONS])
    by_name = ctxsim.compare({path.stem: path.read_bytes() for path in SESSIONS}, threads=1, rows=False)

    assert from_paths.json() == expected
    assert from_bytes.json() == expected
    assert by_name.json() == expected
    assert from_paths.html() == printed("--format", "html", *SESSIONS)
    assert str(from_bytes) == str(from_paths)


def test_the_shared_sessions_give_the_bytes_of_the_command_line(reference):
    paths = sorted(reference.glob("recorded/claude-code*/**/*.jsonl"))
    assert len(paths) >= 23
    expected = printed("--format", "json", *paths)
    report = ctxsim.compare(paths)

    assert report.json() == expected
    data = {path.stem: path.read_bytes() for path in paths}
    assert len(data) == len(paths), "each file has a name of its own"
    assert ctxsim.compare(data).json() == expected
    bench = ctxsim.Workbench(paths)
    assert bench.compare(rows=False).json() == expected


def test_a_suite_and_a_folder_are_those_of_the_command_line(folder):
    assert ctxsim.compare(suite="context-decay", rows=False).json() == printed("--suite", "context-decay", "--format", "json")
    found = ctxsim.compare(folder)
    assert found.json() == printed("--format", "json", folder)
    assert json.loads(found.json())["skipped"][0]["reason"] == "not a recorded session"
    newest = ctxsim.compare(folder, limit=1, min_evidence=0.5)
    assert newest.json() == printed("--format", "json", "--limit", 1, "--min-evidence", 0.5, folder)


def test_polars_and_duckdb_read_the_tables():
    report = ctxsim.compare(SESSIONS[:2], policies=["identity", "truncate_oldest"])
    document = json.loads(report.json())
    runs = pl.DataFrame(report.runs)
    assert runs.height == len(report.runs) == 4 and runs.columns == report.runs.columns
    for row, run in zip(runs.to_dicts(), document["runs"]):
        assert (row["policy"], row["scenario"], row["profile"]) == (run["policy"], run["scenario"], run["profile"])
        assert row["cost_usd.total"] == run["totals"]["cost_usd"]["total"]
        assert row["recovery.expected_calls"] == run["totals"]["recovery"]["expected_calls"]
        assert row["input_tokens"] == run["totals"]["input_tokens"] and row["failed"] is None

    requests = report.requests
    by_run = duckdb.sql("select policy, scenario, count(*) n, sum(cost_usd) usd, sum(total_usd) total from requests group by all order by all").fetchall()
    assert len(by_run) == 4 and all(isinstance(it[3], decimal.Decimal) for it in by_run)
    exact = {(policy, scenario): (usd, total) for policy, scenario, _, usd, total in by_run}
    for row in runs.to_dicts():
        agent = sum(row[f"cost_usd.{part}"] for part in ("base", "compaction", "keep_alive"))
        usd, total = exact[row["policy"], row["scenario"]]
        assert float(usd) == pytest.approx(agent, abs=1e-9)
        assert float(total) == row["cost_usd.total"], "rows add up to the total, to the picodollar"
    rows = pl.DataFrame(requests)
    assert rows.schema["cost_usd"] == rows.schema["total_usd"] == pl.Decimal(38, 12)
    assert rows.group_by("policy", "scenario", "pair").len()["len"].max() == 1, "no two requests of a run are the same"
    needs = pl.DataFrame(report.needs)
    # A row of several messages weighs as much as they do together.
    assert needs["met"].is_between(0, 1).all() and (needs["weight"] >= 0).all()

    totals = pl.DataFrame(report.totals).to_dicts()
    lines = [line for table in document["totals"] for line in table["policies"]]
    assert [it["change"] for it in totals] == [it["change"] for it in lines]
    assert [it["change_low"] for it in totals] == [((it["spread"] or {}).get("interval") or [None])[0] for it in lines]
    assert all(it["is_whole"] for it in totals) and "its own model" in totals[0]["profile"]
    sums = duckdb.sql("from s").fetchall() if (s := report.sums) else []
    assert len(sums) == pl.DataFrame(report.sums).height > 0


def test_rows_are_kept_unless_nobody_wants_them():
    lean = ctxsim.compare(SESSION, policies="identity", profiles=PROFILE, rows=False)
    with pytest.raises(ValueError, match="rows=True"):
        lean.requests
    with pytest.raises(ValueError, match="rows=True"):
        lean.needs
    assert "rows of the runs were not kept" in lean.html()
    whole = ctxsim.compare(SESSION, policies="identity", profiles=PROFILE)
    assert whole.json() == lean.json() and len(whole.requests) == 69


def test_a_verdict_is_words_and_values():
    report = ctxsim.compare(SESSION)
    [verdict] = report.verdicts
    said = json.loads(report.json())["verdicts"][0]
    assert report.verdict == verdict.words == said["words"] == str(verdict)
    assert verdict.cheapest == said["verdict"]["cheapest"]["policy"] and verdict.baseline == "identity"
    page = report._repr_html_()
    assert "<table>" in page and "data:image/svg+xml" in page and "<script" not in page and report.notes
    assert len(page) < 30_000 < len(report.html())
    drawn = subprocess.run([*COMMAND, "run", SESSION, "--format", "svg", "--chart", "cost"], check=True, capture_output=True, text=True).stdout
    assert report.chart("cost") == drawn
    with pytest.raises(ctxsim.Error, match="unknown chart"):
        report.chart("costs")


def test_every_problem_is_raised_at_once():
    with pytest.raises(ctxsim.Error) as raised:
        ctxsim.compare(SESSION, policies=["identitty", "truncate_oldest"], profiles="nope", set={"params.x": 1})
    codes = [it.code for it in raised.value.problems]
    assert codes.count("unknown-name") == 2 and "did you mean `identity`" in str(raised.value)
    with pytest.raises(ctxsim.Error) as raised:
        ctxsim.compare(("mine", b"nothing"))
    assert raised.value.problems[0].file == "mine"
    with pytest.raises(TypeError, match="bytes"):
        ctxsim.compare([("mine", 3)])
    with pytest.raises(ctxsim.Error, match="a share"):
        ctxsim.compare(SESSION, min_evidence=90)


def test_a_problem_of_a_text_keeps_its_place():
    with pytest.raises(ctxsim.Error, match="did you mean `show`") as raised:
        ctxsim.Policy.ron('(name: "x", about: "y",\n stages: [(name: "a", apply: shw(marker(12)))])')
    problem = raised.value.problems[0]
    assert (problem.line, problem.column) == (2, 30) and ":2:30: " in str(problem) and problem.help in str(raised.value)
    with pytest.raises(ctxsim.Error) as raised:
        ctxsim.Policy.toml('name = "x"\nabout = 3\n')
    assert raised.value.problems[0].line == 2


def test_tables_begin_with_the_policy_and_its_cost():
    report = ctxsim.compare(SESSIONS[:2], policies=["identity", "truncate_oldest"])
    for name, cost in {"runs": "cost_usd.total", "sums": "cost_usd.total", "totals": "cost_usd.total", "requests": "total_usd"}.items():
        table = getattr(report, name)
        assert table.columns[:2] == ["policy", cost], name
        assert len(table.columns) == len(set(table.columns))
        assert table.rows() == pl.DataFrame(table).to_dicts()
        assert table.rows(1) == table.rows()[:1]
    assert report.needs.columns[0] == "policy"


def test_overrides_and_names():
    plain = ctxsim.compare(SESSION, policies=["identity", "sliding_window"], profiles=PROFILE)
    given = [
        ctxsim.compare(SESSION, policies=["identity", "sliding_window"], profiles=PROFILE, set=it).json()
        for it in ({"params.recent.count": 4}, [("params.recent.count", 4)], "params.recent.count=4")
    ]
    assert given[0] == given[1] == given[2] != plain.json()
    assert "identity" in ctxsim.names() and PROFILE in ctxsim.names("profiles") and "default" in ctxsim.names("suites")
