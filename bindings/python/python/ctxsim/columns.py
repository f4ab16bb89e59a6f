"""Tables with declared columns: a table and its documentation are made of the same lines.

A line has the name of a column, its kind and what it says, with its unit: `cost_usd number: US dollars`. Kinds are `name` (a text that repeats, never
null), `text`, `texts` (a list), `flag`, `count` (a whole number) and `number`; all but `name` may be null, which means unknown. A name that ends in `*`
is every further column of the document that begins so.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._ctxsim import Table, table

Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A declared column."""

    name: str
    kind: str
    says: str


def flat(record: Row, under: str = "") -> Row:
    """Returns a record in one level: `a.b` for what stands within, and `x_low`, `x_high` for the two ends of `x`; lists of records are left out."""
    found: Row = {}
    for key, value in record.items():
        name = f"{under}{key}"
        if isinstance(value, dict):
            found.update(flat(value, f"{name}."))
        elif not isinstance(value, list):
            found[name] = value
        elif len(value) == 2 and all(isinstance(it, (int, float)) for it in value):
            found[f"{name}_low"], found[f"{name}_high"] = value
        elif all(isinstance(it, str) for it in value):
            found[name] = value
    return found


class Tabled(property):
    """A table of an answer, made when it is asked for."""

    def __init__(self, says: str, columns: str, rows: Callable[[Any], Iterable[Row]]) -> None:
        self.columns = [declared(line) for line in columns.strip().splitlines()]
        self.rows = rows
        super().__init__(self.made)
        self.__doc__ = documented(says, self.columns)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Table: ...  # type: ignore[override]

    def made(self, answer: Any) -> Table:
        """Makes the table of an answer."""
        rows = list(self.rows(answer))
        return table([(it.name, it.kind, [row.get(it.name) for row in rows]) for it in self.whole(rows)])

    def whole(self, rows: list[Row]) -> Iterator[Column]:
        """Returns the columns, with those of the rows in the place of a name that ends in `*`."""
        seen = {it.name for it in self.columns}
        for it in self.columns:
            if not it.name.endswith("*"):
                yield it
                continue
            begins = it.name[:-1]
            found = (name for row in rows for name, of in row.items() if name.startswith(begins) and not isinstance(of, (str, bool, list)))
            for name in [name for name in dict.fromkeys(found) if name not in seen]:
                seen.add(name)
                yield Column(name, it.kind, it.says)


def declared(line: str) -> Column:
    """Reads a line that declares a column."""
    head, _, says = line.partition(":")
    name, kind = head.split()
    return Column(name, kind, says.strip())


def documented(says: str, columns: list[Column]) -> str:
    """Returns the documentation of a table."""
    lines = [says, "", "Columns:"]
    for it in columns:
        text = f"`{it.name}` ({it.kind})" + (f": {it.says}" if it.says else "")
        lines.extend(textwrap.wrap(text, 140, initial_indent="  ", subsequent_indent="    "))
    return "\n".join(lines)
