"""What a notebook shows: small tables, so that a saved notebook stays small."""

from __future__ import annotations

import base64
import html
from decimal import Decimal
from typing import Any

from ._ctxsim import Error, Table

ROWS = 20
"""The most rows that are shown."""
COLUMNS = 12
"""The most columns that are shown."""


def cell(value: Any) -> str:
    """Returns a value as a table shows it."""
    if value is None:
        return "–"
    if isinstance(value, bool) or isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (float, Decimal)):
        return f"{value:,.4g}" if -10_000 < value < 10_000 else f"{value:,.0f}"
    return ", ".join(value)


def table(of: Table, names: list[str] | None = None) -> str:
    """Returns the first rows of a table as HTML: the columns that are named, or the first ones."""
    names = names or of.columns[:COLUMNS]
    rows = of.rows(ROWS)
    head = "".join(f"<th>{html.escape(it)}</th>" for it in names)
    lines = ("".join(f"<td>{html.escape(cell(row[it]))}</td>" for it in names) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    more = [f"{len(of):,} rows"] if len(of) > len(rows) else []
    more += [f"{len(of.columns)} columns: <code>.columns</code> names them"] if len(of.columns) > len(names) else []
    below = f"<p>{', '.join(more)}</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def paragraphs(text: str) -> str:
    """Returns lines of text as paragraphs."""
    return "".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines() if line)


CHARTS = ["frontier", "cost"]
"""The charts of a report, of which the first that it has is shown."""
SHOWN = [
    "policy",
    "cost_usd.total",
    "change",
    "change_low",
    "change_high",
    "evidence_kept",
    "cache_hit_ratio",
    "prompt_tokens_max",
    "scenario",
    "profile",
    "failed",
]
"""The columns of a report that are shown, where they are there."""


def report(of: Any) -> str:
    """Returns the verdict of a report, a table and a chart as HTML."""
    whole = of.totals if len(of.totals) else of.sums
    return paragraphs(of.verdict) + table(whole, [it for it in SHOWN if it in whole.columns]) + chart(of)


def chart(of: Any) -> str:
    """Returns the chart of a report, if it has one."""
    for name in CHARTS:
        try:
            picture = base64.b64encode(of.chart(name).encode()).decode()
        except Error:
            # A report of one policy has nothing to chart, and without needs there is no frontier.
            continue
        return f'<img alt="{name}" style="max-width:100%" src="data:image/svg+xml;base64,{picture}">'
    return ""
