"""Comparisons on more than one machine, whatever moves the sessions: a job, tickets, batches of sessions, and their fold.

`plan` reads all sessions once and gives each a ticket (its name, its place, and what the others tell of it). `batch` turns a table with the columns
`ticket` and, where paths cannot be read, `bytes` into a table with one row per session; an engine calls it wherever it likes, as often as it likes.
`fold` takes these rows in any order and gives what one process gives, byte for byte. Tables are Arrow tables (pyarrow), which all engines have.
"""

from . import _ctxsim

BATCH = 16
"""Sessions a task: fewer, and planning counts."""


class Job:
    """What every machine must know, and a table with the path and the ticket of each session."""

    __slots__ = ("rows", "text")

    def __init__(self, text, rows):
        self.text = text
        self.rows = rows

    def table(self, with_bytes=False):
        """The sessions as a pyarrow table: path, ticket and, if asked for, the bytes of those that were given as bytes."""
        import pyarrow as pa

        columns = {"path": [row[0] for row in self.rows], "ticket": [row[1] for row in self.rows]}
        if with_bytes:
            columns["bytes"] = pa.array([row[2] for row in self.rows], pa.large_binary())
        return pa.table(columns)

    def __len__(self):
        return len(self.rows)


def plan(
    sessions,
    *,
    policies=None,
    profiles=None,
    suite=None,
    set=None,
    own_models=False,
    seed=None,
    trials=None,
    min_evidence=None,
):
    """Makes a job of sessions (paths, folders, patterns, or bytes by name), with the arguments of `compare` that a file could hold."""
    return Job(
        *_ctxsim.job(
            sessions,
            policies=policies,
            profiles=profiles,
            suite=suite,
            set=set,
            own_models=own_models,
            seed=seed,
            trials=trials,
            min_evidence=min_evidence,
        )
    )


def batch(table, job, threads=1, read=None):
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


def fold(rows):
    """Folds rows of `batch`, or the parts themselves, in any order, to `Totals`."""
    if isinstance(rows, (list, tuple)) and all(isinstance(it, str) for it in rows):
        return _ctxsim.fold(list(rows))
    import pyarrow as pa

    table = rows if isinstance(rows, pa.Table) else pa.table(rows)
    return _ctxsim.fold(table.column("part").to_pylist())
