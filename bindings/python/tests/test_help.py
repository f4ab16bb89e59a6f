"""Every public name explains itself: `help()` says what the stub says, and what a verb answers names its fields, columns and units."""

import ast
import dataclasses
import inspect
import os
import pathlib
import textwrap

import ctxsim
from ctxsim.answers import Answer
from ctxsim.columns import Tabled

STUB = pathlib.Path(ctxsim.__file__).parent / "__init__.pyi"
WIDTH = 150


def told(stub):
    """The classes, functions, methods and fields of the stub, each with the real thing and where its docstring stands."""
    for it in stub.body:
        if not isinstance(it, (ast.ClassDef, ast.FunctionDef)):
            continue
        own = getattr(ctxsim, it.name)
        yield it.name, it, own, it.body[0]
        for nth, member in enumerate(it.body if isinstance(it, ast.ClassDef) else []):
            after = it.body[nth + 1] if nth + 1 < len(it.body) else None
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                yield f"{it.name}.{member.name}", member, getattr(own, member.name), member.body[0]
            elif isinstance(member, ast.AnnAssign) and hasattr(own, member.target.id):
                yield f"{it.name}.{member.target.id}", member, getattr(own, member.target.id), after


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def words(text):
    return " ".join((text or "").split())


def written(doc, indent):
    """A docstring as the stub has it."""
    paragraphs = [textwrap.wrap(words(it), WIDTH - len(indent) - 3) for it in doc.split("\n\n")]
    lines = [line for nth, it in enumerate(paragraphs) for line in ([""] if nth else []) + it]
    lines[0], lines[-1] = f'"""{lines[0]}', f'{lines[-1]}"""' if len(lines) > 1 else f'{lines[-1]}"""'
    if len(lines) == 1:
        lines = [f'"""{doc and words(doc)}"""']
    return [indent + line if line else "" for line in lines]


def blessed(text):
    """The stub with the docstrings of the module."""
    lines = text.split("\n")
    edits = []
    for _, node, own, place in told(ast.parse(text)):
        doc = inspect.getdoc(own)
        if not doc or isinstance(node, ast.AnnAssign) and isinstance(own, (str, int, list)):
            continue
        indent = " " * (node.col_offset + (0 if isinstance(node, ast.AnnAssign) else 4))
        if is_text(place):
            edits.append((place.lineno - 1, place.end_lineno, written(doc, indent)))
        elif isinstance(node, ast.FunctionDef):
            last = lines[node.end_lineno - 1].removesuffix(" ...")
            edits.append((node.end_lineno - 1, node.end_lineno, [last, *written(doc, indent)]))
        elif isinstance(node, ast.ClassDef):
            edits.append((node.lineno, node.lineno, [*written(doc, indent), ""]))
        else:
            edits.append((node.end_lineno, node.end_lineno, written(doc, indent)))
    for begin, end, new in sorted(edits, key=lambda it: it[0], reverse=True):
        lines[begin:end] = new
    return "\n".join(lines)


def test_help_says_what_the_stub_says():
    text = STUB.read_text()
    if os.environ.get("CTXSIM_BLESS"):
        source = pathlib.Path(__file__).parents[1] / "python/ctxsim/__init__.pyi"
        source.write_text(text := blessed(source.read_text()))
    for name, node, own, place in told(ast.parse(text)):
        if isinstance(node, ast.AnnAssign):
            continue
        said = inspect.getdoc(own)
        assert said, f"{name} has no help"
        assert is_text(place) and words(place.value.value) == words(said), f"{name}: write the stub with CTXSIM_BLESS=1"


def test_every_name_has_help_with_units():
    assert "US dollars" in ctxsim.__doc__ and "tokens" in ctxsim.__doc__
    for name in ctxsim.__all__:
        assert len(words(inspect.getdoc(getattr(ctxsim, name)))) > 20, name
    for keyword in inspect.signature(ctxsim.compare).parameters:
        assert f"`{keyword}" in ctxsim.compare.__doc__ or f"{keyword}=" in ctxsim.compare.__doc__, keyword


def test_answers_name_their_fields_and_columns():
    for answer in Answer.__subclasses__():
        fields = [it.name for it in dataclasses.fields(answer) if it.name not in {"document", "_json", "_text"}]
        simple = {"policy", "base", "scenario", "profile", "agent", "sessions", "requests", "split", "reason", "notes", "first_day"}
        simple |= {"last_day", "min_evidence", "set", "waiting_minutes", "previous_30_days_usd"}
        for name in fields:
            assert name in simple or f"`{name}`" in answer.__doc__, f"{answer.__name__}.{name}"
        tables = [(name, it) for name, it in vars(answer).items() if isinstance(it, Tabled)]
        assert tables and answer._first in dict(tables)
        for name, table in tables:
            named = [it.name for it in table.columns]
            assert len(named) == len(set(named)), f"{answer.__name__}.{name}"
            assert all(f"`{it}`" in table.__doc__ for it in named) and "One row per" in table.__doc__ or "one row per" in table.__doc__
            for it in table.columns:
                is_size = it.kind == "number" or it.name.endswith("tokens")
                assert it.says or not is_size or "tokens" in it.name, f"{answer.__name__}.{name}.{it.name} says no unit"
            if "policy" in named:
                assert named[0] == "policy" and (not any("cost" in it for it in named) or "cost" in named[1]), f"{answer.__name__}.{name}"
