"""What else is in the wheel: the command line, stubs, and a notebook that goes from a folder to a chart."""

import ast
import inspect
import json
import pathlib
import re
import subprocess
import sys
import sysconfig

import ctxsim
from conftest import ROOT


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


def test_a_notebook_goes_from_a_folder_to_a_chart(folder, tmp_path):
    chart = tmp_path / "chart.json"
    script = ROOT / "bindings/python/examples/notebook.py"
    said = subprocess.run([sys.executable, script, folder, chart], capture_output=True, text=True, check=True)
    drawn = json.loads(chart.read_text())
    assert "identity" in said.stdout and drawn["mark"]["type"] == "bar"
    assert len(drawn["data"]["values"]) == 7 and all(it["usd"] > 0 for it in drawn["data"]["values"])


def test_stubs_name_what_there_is():
    """Names, parameters and defaults of the stubs are those of the module."""
    stub = ast.parse((pathlib.Path(ctxsim.__file__).parent / "__init__.pyi").read_text())
    public = {it.name: it for it in stub.body if isinstance(it, (ast.ClassDef, ast.FunctionDef))}
    assert set(public) == set(ctxsim.__all__)

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
