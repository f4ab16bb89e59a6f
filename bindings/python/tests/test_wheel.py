"""What else is in the wheel: the command line, stubs, and a notebook that goes from a folder to a chart."""

import ast
import contextlib
import inspect
import io
import json
import pathlib
import re
import subprocess
import sys
import sysconfig
import unittest.mock

import ctxsim
from conftest import ROOT

STUB = pathlib.Path(ctxsim.__file__).parent / "__init__.pyi"


def test_the_command_line_is_whole():
    command = pathlib.Path(sysconfig.get_path("scripts")) / "ctxsim"
    shown = subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(verb in shown for verb in ("run", "sweep", "tune", "explain", "check", "import"))
    listed = subprocess.run([command, "list", "policies"], capture_output=True, text=True, check=True).stdout
    assert "identity" in listed
    wrong = subprocess.run([command, "run", "--policy", "identitty"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "did you mean `identity`" in wrong.stderr
    usage = subprocess.run([command, "run", "--nothing"], capture_output=True, text=True)
    assert usage.returncode == 2
    module = subprocess.run([sys.executable, "-m", "ctxsim", "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"ctxsim \d+\.\d+\.\d+.*\n", module.stdout)
    closed = subprocess.run(f"'{command}' list | head -1", shell=True, capture_output=True, text=True)
    assert closed.returncode == 0 and "Error" not in closed.stderr


def saved(script, args):
    """Runs a script in the form of a notebook, and returns it as a notebook with its output, as one is saved."""
    cells, names = [], {"__name__": "__main__"}
    for cell in re.split(r"^# %%", script.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        kind, _, body = cell.partition("\n")
        if "markdown" in kind:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": body})
            continue
        tree, printed, outputs = ast.parse(body), io.StringIO(), []
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(printed), unittest.mock.patch.object(sys, "argv", ["notebook.py", *map(str, args)]):
            exec(compile(tree, script.name, "exec"), names)
            value = eval(compile(ast.Expression(last.value), script.name, "eval"), names) if last else None
        if printed.getvalue():
            outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
        if value is not None:
            data = {"text/plain": repr(value), **({"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {})}
            outputs.append({"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1})
        cells.append({"cell_type": "code", "metadata": {}, "execution_count": 1, "source": body, "outputs": outputs})
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def test_a_notebook_shows_a_table_and_a_chart_and_stays_small(folder, tmp_path):
    chart = tmp_path / "chart.json"
    notebook = saved(ROOT / "bindings/python/examples/notebook.py", [folder, chart])
    drawn = json.loads(chart.read_text(encoding="utf-8"))
    assert drawn["mark"]["type"] == "bar" and all(it["usd"] > 0 for it in drawn["data"]["values"])
    assert {"identity", "clairvoyant"} <= {it["policy"] for it in drawn["data"]["values"]}
    text = json.dumps(notebook, ensure_ascii=False, indent=1)
    print(f"the notebook has {len(text.encode())} bytes as saved")
    assert text.count("<table>") >= 3 and text.count("data:image/svg+xml") == 1 and "identity" in text
    assert len(text.encode()) <= 30_000


def test_stubs_name_what_there_is():
    """Names, parameters and defaults of the stubs are those of the module."""
    stub = ast.parse(STUB.read_text())
    public = {it.name: it for it in stub.body if isinstance(it, (ast.ClassDef, ast.FunctionDef))}
    beside = {name.asname for it in stub.body if isinstance(it, ast.ImportFrom) for name in it.names} - {None}
    assert sorted([*public, *beside]) == ctxsim.__all__

    def parameters(it):
        args = it.args
        plain = [a.arg for a in args.posonlyargs + args.args if a.arg != "self"]
        return plain, [a.arg for a in args.kwonlyargs]

    def real(it):
        all = inspect.signature(it).parameters.values()
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return (
            [p.name for p in all if p.kind in positional and p.name != "self"],
            [p.name for p in all if p.kind == inspect.Parameter.KEYWORD_ONLY],
        )

    for name, it in public.items():
        own = getattr(ctxsim, name)
        if isinstance(it, ast.FunctionDef):
            assert parameters(it) == real(own), name
            continue
        methods = {m.name: m for m in it.body if isinstance(m, ast.FunctionDef)}
        fields = {m.target.id for m in it.body if isinstance(m, ast.AnnAssign)}
        for member in (set(methods) | fields) - {"__init__", "problems"}:
            assert hasattr(own, member), f"{name}.{member}"
        own_members = {m for m in vars(own) if not m.startswith("_")}
        assert own_members <= set(methods) | fields, f"{name} has {own_members - set(methods) - fields}"
        for method, written in methods.items():
            is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in written.decorator_list)
            if not is_property and not method.startswith("__"):
                assert parameters(written) == real(getattr(own, method)), f"{name}.{method}"
