"""Holds comparisons on several engines against one process, byte for byte: cluster.py WHAT FOLDER...

WHAT is one of: ray (two workers), kill (a busy Ray worker dies by SIGKILL), node (a Ray node is lost), s3 (sessions from an S3 server on the
loopback, by pyarrow and by obstore), spark, daft, duckdb. Each prints whether the totals have the same bytes, and how long it took.
"""

import os
import pathlib
import signal
import sys
import threading
import time

import ctxsim


def paths(folders):
    # In the order in which the command line takes them, which is that of the plan.
    return [str(path) for folder in folders for path in sorted(pathlib.Path(folder).rglob("*.jsonl"))]


def alone(folders):
    begin = time.monotonic()
    text = ctxsim.fold(ctxsim.parts(folders)).json()
    return text, time.monotonic() - begin


def told(what, text, once, seconds, seconds_alone, more=""):
    same = "the same bytes" if text == once else "OTHER BYTES"
    print(f"{what}: {same} as one process ({len(text)} bytes), {seconds:.1f} s; one process {seconds_alone:.1f} s{more}", flush=True)
    return text == once


def ray_started(nodes=2):
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    import ray
    import ray.cluster_utils

    cluster = ray.cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    more = [cluster.add_node(num_cpus=1) for _ in range(nodes - 1)]
    ray.init(address=cluster.address, log_to_driver=False)
    return cluster, more


def busy_worker():
    """Returns a process that plays a batch."""
    for folder in pathlib.Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if folder.name.isdigit() and words.startswith(b"ray::MapBatches"):
            return int(folder.name)
    return None


def with_ray(folders, disturb=None):
    import ctxsim.ray
    import ray

    once, seconds_alone = alone(folders)
    cluster, nodes = ray_started()
    done = []

    def wait():
        # A worker is busy as soon as it has its name.
        while not done and (pid := busy_worker()) is None:
            time.sleep(0.02)
        time.sleep(0.2)
        if not done:
            done.append(disturb(pid, cluster, nodes))

    thread = threading.Thread(target=wait) if disturb else None
    if thread:
        thread.start()
    begin = time.monotonic()
    text = ctxsim.ray.compare(folders, sessions_a_task=8).json()
    seconds = time.monotonic() - begin
    happened = f"; {done[0]}" if done else ""
    if not done:
        done.append("nothing happened")
        happened = "; NOTHING HAPPENED" if disturb else ""
    ok = told("ray", text, once, seconds, seconds_alone, happened)
    ray.shutdown()
    cluster.shutdown()
    return ok and ("NOTHING" not in happened)


def kill(pid, _cluster, _nodes):
    os.kill(pid, signal.SIGKILL)
    return f"worker {pid} was killed by SIGKILL"


def lose(_pid, cluster, nodes):
    cluster.remove_node(nodes[0], allow_graceful=False)
    return "one of two nodes was lost"


def s3(folders):
    import boto3
    import obstore.store
    import pyarrow.fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    at = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=at, **keys)
    client.create_bucket(Bucket="sessions")
    files = paths(folders)
    for path in files:
        client.upload_file(path, "sessions", path.lstrip("/"))
    once, seconds_alone = alone(folders)
    ok = True
    for how in ["pyarrow", "obstore"]:
        begin = time.monotonic()
        if how == "pyarrow":
            store = pyarrow.fs.S3FileSystem(access_key="x", secret_key="x", region="us-east-1", endpoint_override=at)
            read = lambda path: store.open_input_file(f"sessions{path}").readall()
        else:
            store = obstore.store.S3Store(
                "sessions", endpoint=at, access_key_id="x", secret_access_key="x", region="us-east-1", client_options={"allow_http": True}
            )
            read = lambda path: bytes(store.get(path.lstrip("/")).bytes())
        job = ctxsim.plan({path: read(path) for path in files})
        rows = ctxsim.batch(job.table(), job, 2, read)
        ok &= told(f"s3 by {how}", ctxsim.fold(rows).json(), once, time.monotonic() - begin, seconds_alone)
    server.stop()
    return ok


def spark(folders):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    once, seconds_alone = alone(folders)
    begin = time.monotonic()
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    job = ctxsim.plan(folders)
    started = time.monotonic()
    text = job.text

    def play(batches):
        for batch in batches:
            yield from ctxsim.batch(batch, text).select(["part"]).to_batches()

    data = session.createDataFrame([row[:2] for row in job.rows], ["path", "ticket"]).repartition(4)
    parts = [row.part for row in data.mapInArrow(play, "part string").collect()]
    ok = told("spark", ctxsim.fold(parts).json(), once, time.monotonic() - begin, seconds_alone, f"; {started - begin:.1f} s of it to start")
    session.stop()
    return ok


def daft(folders):
    import daft

    once, seconds_alone = alone(folders)
    begin = time.monotonic()
    job = ctxsim.plan(folders)

    @daft.func.batch(return_dtype=daft.DataType.string())
    def part(tickets: daft.Series):
        return ctxsim.batch({"ticket": tickets.to_pylist()}, job.text).column("part").combine_chunks()

    data = daft.from_arrow(job.table()).into_partitions(4)
    parts = data.select(part(data["ticket"]).alias("part")).to_pydict()["part"]
    return told("daft", ctxsim.fold(parts).json(), once, time.monotonic() - begin, seconds_alone)


def duckdb(folders):
    import duckdb

    once, seconds_alone = alone(folders)
    begin = time.monotonic()
    job = ctxsim.plan(folders)
    play = lambda tickets: ctxsim.batch({"ticket": tickets}, job.text).column("part").combine_chunks()
    base = duckdb.connect()
    base.create_function("part", play, ["VARCHAR"], "VARCHAR", type="arrow")
    sessions = job.table()
    rows = base.sql("select path, part(ticket) as part from sessions").to_arrow_table()
    return told("duckdb", ctxsim.fold(rows).json(), once, time.monotonic() - begin, seconds_alone)


WHAT = {
    "ray": with_ray,
    "kill": lambda folders: with_ray(folders, kill),
    "node": lambda folders: with_ray(folders, lose),
    "s3": s3,
    "spark": spark,
    "daft": daft,
    "duckdb": duckdb,
}

if __name__ == "__main__":
    what, *folders = sys.argv[1:]
    sys.exit(0 if WHAT[what](folders) else 1)
