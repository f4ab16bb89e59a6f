"""The Python of the documents runs: each document is one program, beside the sessions that its reader would have."""

import re
import shutil

import pytest

from conftest import ROOT, SESSIONS

# A block with further words on its first line is a program of a policy, or says what it needs; tests/suite/examples.rs knows both.
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", ROOT / "bindings/python/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}


@pytest.mark.parametrize("document", [name for name, text in TEXTS.items() if BLOCK.search(text)])
def test_the_python_of_a_document_runs(document, tmp_path, monkeypatch):
    for folder in ["home/.claude/projects/mine", "sessions"]:
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(SESSIONS[0], tmp_path / folder)
    shutil.copy(SESSIONS[0], tmp_path / "session.jsonl")
    monkeypatch.chdir(tmp_path)
    for variable in ["HOME", "USERPROFILE"]:
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    names = {"data": SESSIONS[1].read_bytes()}

    for block in BLOCK.findall(TEXTS[document]):
        exec(compile(block, document, "exec"), names)
