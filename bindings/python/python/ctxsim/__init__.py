"""Simulates what context policies do to recorded LLM agents: prompt sizes, cache reads and writes, cost, evidence kept.

Offline and deterministic: no network, no model. Sizes are tokens, costs US dollars, times milliseconds; an unknown number is None or null.
"""

from ._ctxsim import (
    Cx,
    Entry,
    Error,
    Failure,
    ModelCall,
    Part,
    Policy,
    Report,
    Table,
    Totals,
    Trace,
    Verdict,
    Workbench,
    compare,
    insert,
    keep,
    main,
    names,
    parts,
    rewrite,
    sized,
)
from .cluster import Job, batch, fold, plan

__all__ = [
    "Cx",
    "Entry",
    "Error",
    "Failure",
    "Job",
    "ModelCall",
    "Part",
    "Policy",
    "Report",
    "Table",
    "Totals",
    "Trace",
    "Verdict",
    "Workbench",
    "batch",
    "compare",
    "fold",
    "insert",
    "keep",
    "main",
    "names",
    "parts",
    "plan",
    "rewrite",
    "sized",
]
