"""Comparisons on Ray Data: paths go to the workers, one row per session comes back, and the fold has the bytes of one process.

A worker that dies is replaced and its sessions are played again; which worker played what changes nothing.
"""

from . import cluster


def rows(job, *, sessions_a_task=cluster.BATCH, read=None, bytes=False, concurrency=None, **options):
    """Returns a Ray dataset with one row per session; `options` are those of `Dataset.map_batches`, such as `num_cpus`."""
    import ray.data

    blocks = max(1, -(-len(job) // sessions_a_task))
    table = job.table(with_bytes=bytes)
    # One block a task: a block is what Ray moves, retries and counts.
    data = ray.data.from_arrow([table.slice(at * sessions_a_task, sessions_a_task) for at in range(blocks)])
    text = job.text

    def play(batch):
        return cluster.batch(batch, text, 1, read)

    return data.map_batches(play, batch_size=None, batch_format="pyarrow", concurrency=concurrency, **options)


def compare(sessions, *, sessions_a_task=cluster.BATCH, read=None, bytes=False, ray_options=None, **arguments):
    """Compares policies on sessions, spread over a Ray cluster; returns `Totals`.

    Paths must mean the same files on all machines, or `read(path)` must return their bytes, or `bytes=True` sends what was given as bytes.
    Ray must be running (`ray.init()`), with one version of ctxsim on all machines.
    """
    job = cluster.plan(sessions, **arguments)
    data = rows(job, sessions_a_task=sessions_a_task, read=read, bytes=bytes, **(ray_options or {}))
    parts = []
    for block in data.select_columns(["part"]).iter_batches(batch_size=None, batch_format="pyarrow"):
        parts.extend(block.column("part").to_pylist())
    return cluster.fold(parts)
