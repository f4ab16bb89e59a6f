"""Parts fold to the bytes of one process, whoever made them."""

import subprocess

import ctxsim
import pytest
from conftest import COMMAND, SESSIONS

pyarrow = pytest.importorskip("pyarrow")


def once(folder):
    """What the command line says in one process."""
    return subprocess.run([*COMMAND, "run", str(folder), "--totals", "--format", "json"], check=True, capture_output=True, text=True).stdout


def test_shares_fold_to_the_bytes_of_the_command_line(folder):
    parts = [part for nth in (3, 1, 2) for part in ctxsim.parts(folder, shard=(nth, 3))]
    totals = ctxsim.fold(parts)
    assert totals.json() == once(folder)
    assert {"policy", "change", "cost_usd.total"} <= set(totals.lines.columns)
    with pytest.raises(ctxsim.Error, match="part-missing"):
        ctxsim.fold(parts[1:])


def test_batches_of_tickets_fold_to_the_same_from_paths_and_from_bytes(folder):
    job = ctxsim.plan(folder)
    table = job.table()
    rows = pyarrow.concat_tables([ctxsim.batch(table.slice(at, 1), job) for at in reversed(range(len(job)))])
    assert ctxsim.fold(rows).json() == once(folder)
    assert rows.column("skipped").to_pylist().count("not a recorded session") == 1
    assert str(rows.schema.field("base_usd").type) == "decimal128(38, 12)"
    # Retried tasks give the same rows again.
    assert ctxsim.fold(pyarrow.concat_tables([rows, rows])).json() == once(folder)

    held = {str(path): path.read_bytes() for path in sorted(folder.iterdir())}
    job = ctxsim.plan(held)
    assert ctxsim.fold(ctxsim.batch(job.table(with_bytes=True), job.text)).json() == once(folder)
    read = lambda path: held[path]
    assert ctxsim.fold(ctxsim.batch(job.table(), job, 1, read)).json() == once(folder)


def test_a_job_of_another_version_or_other_policies_is_refused():
    job = ctxsim.plan(SESSIONS[0], policies=["identity", "clear_tool_results"])
    with pytest.raises(ctxsim.Error, match="part-version"):
        ctxsim.batch(job.table(), job.text.replace('"version":"', '"version":"9', 1))
    with pytest.raises(ctxsim.Error, match="part-job"):
        ctxsim.batch(job.table(), job.text.replace('"clear_tool_results"', '"sliding_window"', 1))
    other = ctxsim.plan(SESSIONS[0], policies=["identity"])
    rows = [ctxsim.batch(it.table(), it) for it in (job, other)]
    with pytest.raises(ctxsim.Error, match="part-job"):
        ctxsim.fold(pyarrow.concat_tables(rows))


def test_the_shared_sessions_fold_to_the_same(reference):
    folders = [reference / "recorded/claude-code", reference / "recorded/claude-code-2"]
    job = ctxsim.plan(folders)
    rows = [ctxsim.batch(job.table().slice(at, 8), job) for at in (16, 0, 8)]
    parts = ctxsim.parts(folders)
    assert ctxsim.fold(pyarrow.concat_tables(rows)).json() == ctxsim.fold(parts).json()


def test_two_ray_workers_give_the_bytes_of_one_process(folder):
    ray = pytest.importorskip("ray")
    import ctxsim.ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        totals = ctxsim.ray.compare(folder, sessions_a_task=1)
    finally:
        ray.shutdown()
    assert totals.json() == once(folder)
