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
    Trace,
    Verdict,
    Workbench,
    compare,
    insert,
    keep,
    main,
    names,
    rewrite,
    sized,
)

__all__ = [
    "Cx",
    "Entry",
    "Error",
    "Failure",
    "ModelCall",
    "Part",
    "Policy",
    "Report",
    "Table",
    "Trace",
    "Verdict",
    "Workbench",
    "compare",
    "insert",
    "keep",
    "main",
    "names",
    "rewrite",
    "sized",
]
