"""What the tests share: the repository, sessions of several harnesses from its test data, and the command line."""

import os
import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SESSIONS = [
    ROOT / "scenarios/recorded/claude-code-session.jsonl",
    ROOT / "tests/data/recorded/pi-session.jsonl",
    ROOT / "tests/data/recorded/codex-rollout.jsonl",
]
SESSION, PROFILE = "recorded/claude-code", "anthropic/claude-sonnet-4.5"
COMMAND = [sys.executable, "-m", "ctxsim"]


@pytest.fixture
def folder(tmp_path):
    """A folder with two sessions and a file that is none."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    for path in SESSIONS[:2]:
        shutil.copy(path, folder)
    (folder / "notes.jsonl").write_text("{}\n")
    return folder


@pytest.fixture
def reference():
    """The shared sessions, which are too large for the repository."""
    root = os.environ.get("CTXSIM_REFERENCE")
    if root is None:
        pytest.skip("CTXSIM_REFERENCE names no folder with the shared sessions")
    return pathlib.Path(root)
