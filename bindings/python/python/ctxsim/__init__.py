"""Simulates what context policies do to recorded LLM agents: prompt sizes, cache reads and writes, cost, evidence kept.

Offline and deterministic: no network, no model. Sizes are tokens, costs US dollars, times milliseconds; an unknown number is None or null.
"""

from types import ModuleType as _ModuleType

from ._ctxsim import (
    Cx,
    Entry,
    Error,
    ModelCall,
    Part,
    Policy,
    Report,
    Table,
    Totals,
    Trace,
    Workbench,
    insert,
    keep,
    main,
    names,
    rewrite,
    sized,
)
from .answers import Advice, Answer, Bill, Check, Explanation, Paste, Realised, RequestCost, Sensitivity, SharedPrefix, Sweep, Tuned
from .cluster import Job, batch, fold, parts, plan
from .values import Failure, Problem, Verdict
from .verbs import advise, bill, check, compare, explain, realised, sensitivity, sweep, tune

# Everything above that is no module.
__all__ = sorted(name for name, value in globals().items() if not name.startswith("_") and not isinstance(value, _ModuleType))
