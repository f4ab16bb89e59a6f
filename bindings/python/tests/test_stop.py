"""Progress, Ctrl-C and the memory of sessions."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import ctxsim
from conftest import PROFILE, SESSION, SESSIONS


def copies(n):
    """Sessions that are told apart by their names."""
    data = SESSIONS[0].read_bytes()
    return [("same", data)] * n


def test_progress_counts_the_sessions_and_stops_them():
    told = []
    report = ctxsim.compare(copies(5), policies="identity", profiles=PROFILE, threads=1, progress=lambda *it: told.append(it))
    assert told == [(n, 5) for n in range(1, 6)]
    assert [it for it in report.json().split('"') if it == "same#5"]

    told.clear()

    def stops(done, all):
        told.append(done)
        if done == 2:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ctxsim.compare(copies(5), policies="identity", profiles=PROFILE, threads=1, progress=stops)
    assert told == [1, 2], "the sessions behind are not begun"


@pytest.mark.parametrize("how", ["seven policies", "a policy in Python"])
def test_ctrl_c_stops_within_one_session(how):
    script = textwrap.dedent(
        f"""
        import sys, time, ctxsim
        bench = ctxsim.Workbench([("same", open({str(SESSIONS[0])!r}, "rb").read())] * 400)
        def keeps(trace):
            return lambda cx, history: list(history)
        policies = {"[keeps]" if "Python" in how else "None"}
        started = False
        def told(done, all):
            global started
            if not started:
                started = True
                print("started", flush=True)
        try:
            bench.compare(policies=policies, profiles={PROFILE!r}, rows=False, progress=told)
            print("whole")
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "started\n"
    begun = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    assert child.stdout.readline() == "stopped\n"
    print(f"Ctrl-C took {time.monotonic() - begun:.3f} s ({how})")
    assert child.wait() == 0


def test_a_keyboard_interrupt_in_a_policy_stops_everything():
    def interrupts(trace):
        def view(cx, history):
            raise KeyboardInterrupt

        return view

    with pytest.raises(KeyboardInterrupt):
        ctxsim.compare(copies(3), policies=["identity", interrupts], profiles=PROFILE)


def test_other_threads_of_python_run_meanwhile():
    ticks = []
    done = threading.Event()

    def ticking():
        while not done.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=ticking)
    thread.start()
    ctxsim.compare(copies(8), profiles=PROFILE)
    done.set()
    thread.join()
    assert len(ticks) > 5


def test_a_workbench_reads_once(folder):
    bench = ctxsim.Workbench()
    assert bench.add("mine", SESSIONS[1].read_bytes()) == ["mine"]
    assert bench.read(folder) == ["claude-code-session", "pi-session"]
    assert bench.names == ["mine", "claude-code-session", "pi-session"] and len(bench) == 3
    for path in folder.iterdir():
        path.unlink()
    first = bench.compare(policies=["identity", "truncate_oldest"])
    assert first.json() == bench.compare(policies=["identity", "truncate_oldest"], threads=2).json()
    assert bench.compare(policies="identity", limit=1).json() != first.json()
    with pytest.raises(ctxsim.Error, match="recording-read"):
        bench.compare(policies="identity", set={"scenario.load.recorded.assume.chars_per_token": 3})
    with pytest.raises(ctxsim.Error, match="not a recorded session"):
        bench.add("broken", b"nothing")
    assert len(bench) == 3
    with pytest.raises(ValueError, match="no sessions"):
        ctxsim.Workbench().compare()


def test_a_workbench_takes_assumptions_and_tools():
    data = SESSIONS[1].read_bytes()
    plain, other = ctxsim.Workbench({"s": data}), ctxsim.Workbench()
    other.add("s", data, assume="(chars_per_token: 3.0, summary_tokens_max: 40)", file_tools=["bash"])
    args = {"policies": ["identity", "sliding_window"], "profiles": PROFILE}
    assert plain.compare(**args).json() != other.compare(**args).json()
    with pytest.raises(ctxsim.Error):
        other.add("s", data, assume="(nothing: 1)")


def test_a_small_call_is_quick():
    bench = ctxsim.Workbench([SESSIONS[2]])
    bench.compare(policies=["identity"], rows=False)
    times = []
    for _ in range(50):
        begun = time.perf_counter()
        bench.compare(policies=["identity"], rows=False)
        times.append(time.perf_counter() - begun)
    print(f"a small call takes {sorted(times)[25] * 1e3:.2f} ms")
    assert SESSION in ctxsim.names("scenarios")


def test_threads_are_bounded_as_on_the_command_line():
    for threads in (0, 1025, 10_000):
        with pytest.raises(ValueError, match="write a number from 1 to 1024"):
            ctxsim.compare(copies(1), policies="identity", profiles=PROFILE, threads=threads)
    assert ctxsim.compare(copies(1), policies="identity", profiles=PROFILE, threads=8).json()
