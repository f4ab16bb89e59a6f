"""What the engine says beside tables: problems of inputs, runs that failed, and what tables say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, repr=False)
class Problem:
    """A problem of an input: what is wrong, where, and how to fix it.

    `code` is a stable name of the kind of problem, such as `unknown-name`; `message` what is wrong; `file` the file or what stands for one, empty if the
    input was made in code; `field` the path of the field, such as `stages.0.apply`, empty for the whole input; `line_column` the place in the text, from
    1, None if there is none; `help` how to fix it, None if there is nothing to add."""

    code: str
    message: str
    file: str
    field: str
    line_column: tuple[int, int] | None
    help: str | None

    @property
    def line(self) -> int | None:
        """The line in the text, from 1; None if the problem has no place in a text."""
        return self.line_column[0] if self.line_column else None

    @property
    def column(self) -> int | None:
        """The column in the text, from 1; None if the problem has no place in a text."""
        return self.line_column[1] if self.line_column else None

    def __str__(self) -> str:
        place = ":".join(str(it) for it in (self.file, *(self.line_column or ())) if it != "")
        field = f"`{self.field}`: " if self.field else ""
        return f"{place and place + ': '}{field}{self.message} [{self.code}]" + (f" ({self.help})" if self.help else "")

    def __repr__(self) -> str:
        return f"<ctxsim.Problem: {self}>"


@dataclass(frozen=True, repr=False)
class Failure:
    """A run that came to no result, because code outside ctxsim failed. `turn` and `request` count from 1."""

    policy: str
    scenario: str
    profile: str
    turn: int
    request: int
    reason: str

    @property
    def words(self) -> str:
        """All of it in a sentence."""
        at = f"in turn {self.turn} at request {self.request}"
        return f"{self.policy} failed on {self.scenario} under {self.profile}, {at}: {self.reason}"

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        return f"<ctxsim.Failure: {self}>"


@dataclass(frozen=True, repr=False)
class Verdict:
    """What a table says. Shares are from 0 to 1; `change` is the share by which the cheapest policy's cost differs from the baseline's (−0.1 is a
    tenth less), and `interval` its 95% interval for later sessions."""

    load: str
    profile: str
    scenarios: int
    min_evidence: float
    knows_evidence: bool
    baseline: str
    cheapest: str | None
    change: float | None
    interval: tuple[float, float] | None
    lossy: list[str]
    words: str

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        return f"<ctxsim.Verdict: {self}>"


def read(kind: str, text: str) -> list[Any]:
    """Reads values of a class of this module from JSON; pairs of numbers are tuples."""
    made = {"Problem": Problem, "Failure": Failure, "Verdict": Verdict}[kind]
    pairs = ("interval", "line_column")
    return [made(**{name: tuple(it) if name in pairs and it else it for name, it in record.items()}) for record in json.loads(text)]
