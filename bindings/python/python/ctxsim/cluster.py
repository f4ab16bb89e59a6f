"""Comparisons on more than one machine, whatever moves the sessions: a job, tickets, batches of sessions, and their fold.

`plan` reads all sessions once and gives each a ticket (its name, its place, and what the others tell of it). `batch` turns a table with the columns
`ticket` and, where paths cannot be read, `bytes` into a table with one row per session; an engine calls it wherever it likes, as often as it likes.
`fold` takes these rows in any order and gives what one process gives, byte for byte. Tables are Arrow tables (pyarrow), which all engines have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _ctxsim

if TYPE_CHECKING:
    from . import Path, Policies, Progress, Sessions, Settings, Totals

BATCH = 16
"""Sessions a task: fewer, and planning counts."""


class Job:
    """What every machine must know, and a table with the path and the ticket of each session."""

    __slots__ = ("rows", "text")

    def __init__(self, text: str, rows: list[tuple[str, str, bytes | None]]) -> None:
        self.text = text
        self.rows = rows

    def table(self, with_bytes: bool = False) -> Any:
        """The sessions as a pyarrow table: path, ticket and, if asked for, the bytes of those that were given as bytes."""
        import pyarrow as pa

        columns = {"path": [row[0] for row in self.rows], "ticket": [row[1] for row in self.rows]}
        if with_bytes:
            columns["bytes"] = pa.array([row[2] for row in self.rows], pa.large_binary())
        return pa.table(columns)

    def __len__(self) -> int:
        return len(self.rows)


def parts(
    sessions: Path | Sequence[Path] | None = None,
    *,
    shard: tuple[int, int] = (1, 1),
    policies: Policies | None = None,
    profiles: Path | Sequence[Path] | None = None,
    suite: Path | None = None,
    set: Settings | None = None,
    folders: Path | Sequence[Path] | None = None,
    own_models: bool = False,
    seed: int | None = None,
    trials: int | None = None,
    threads: int | None = None,
    since: str | None = None,
    limit: int | None = None,
    model: str | None = None,
    min_evidence: float | None = None,
    allow_process: bool = False,
    play_twice: bool = False,
    progress: Progress | None = None,
) -> list[str]:
    """Plays one share of the sessions, `(part, of)` from 1, and returns the part of each, for `fold`: about 10 kB with seven policies."""
    return _ctxsim.parts(sessions, shard, locals())


def plan(
    sessions: Sessions,
    *,
    policies: Path | Sequence[Path] | None = None,
    profiles: Path | Sequence[Path] | None = None,
    suite: str | None = None,
    set: str | Sequence[str] | None = None,
    own_models: bool = False,
    seed: int | None = None,
    trials: int | None = None,
    min_evidence: float | None = None,
) -> Job:
    """Makes a job of sessions (paths, folders, patterns, or bytes by name), with the arguments of `compare` that a file could hold."""
    return Job(*_ctxsim.job(sessions, locals() | {"folders": None}))


def batch(table: Any, job: Job | str, threads: int | None = 1, read: Callable[[str], bytes] | None = None) -> Any:
    """Plays the sessions of a table and returns a pyarrow table with one row each.

    `table` has a column `ticket`; `bytes`, if it is there and not null, is what is played, or what `read(path)` returns, or the file at the path.
    `job` is a `Job` or its text. A job of another version, or of other policies, is refused. A session that cannot be used has a row that says why.
    """
    import pyarrow as pa

    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        table = pa.table(table)
    text = job.text if isinstance(job, Job) else job
    tickets = table.column("ticket").to_pylist()
    if "bytes" in table.schema.names:
        contents = table.column("bytes").to_pylist()
    elif read is not None:
        contents = [read(path) for path in table.column("path").to_pylist()]
    else:
        contents = [None] * len(tickets)
    made = pa.table(_ctxsim.batch(text, list(zip(tickets, contents, strict=True)), threads))
    names = [pa.field(it.name, pa.string() if pa.types.is_dictionary(it.type) else it.type) for it in made.schema]
    return made.cast(pa.schema(names))


def fold(rows: Any) -> Totals:
    """Folds rows of `batch`, or the parts themselves, in any order, to `Totals`."""
    if isinstance(rows, (list, tuple)) and all(isinstance(it, str) for it in rows):
        return _ctxsim.fold(list(rows))
    import pyarrow as pa

    table = rows if isinstance(rows, pa.Table) else pa.table(rows)
    return _ctxsim.fold(table.column("part").to_pylist())
