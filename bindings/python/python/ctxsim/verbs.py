"""The verbs of the command line as functions: each answers with values and tables that have the numbers of `ctxsim VERB --format json`.

`sessions`, `policies`, `profiles`, `set`, `folders`, `since`, `limit`, `model` and `threads` are those of `compare`; `sessions` may be a
`Workbench`, too, whose sessions are not read again. All raise `Error` with every problem of every input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import fspath
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from . import _ctxsim
from .answers import Advice, Bill, Check, Explanation, Realised, Sensitivity, Sweep, Tuned

if TYPE_CHECKING:
    from . import Loads, OnePolicy, Path, Policies, Progress, Report, Settings, Vary

POLICY = "identity"
"""The policy that others are compared with: it keeps everything."""
FALLBACK = "anthropic/claude-opus-4.5"
"""The profile of sessions that come without a model, as on the command line."""

# A function hands all of its arguments to the engine by their names: `locals()` in its first line has nothing else.


def _varied(given: Vary | None) -> list[tuple[str, str]]:
    """Returns what varies: paths with their values, as the command line writes them."""
    if isinstance(given, Mapping):
        return [(path, it if isinstance(it, str) else ",".join(map(str, it))) for path, it in given.items()]
    return [(path, values) for path, _, values in (text.partition("=") for text in _texts(given))]


def _texts(given: str | Sequence[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def compare(
    sessions: Loads | None = None,
    *,
    policies: Policies | None = None,
    profiles: Path | Sequence[Path] | None = None,
    suite: Path | None = None,
    set: Settings | None = None,
    folders: Path | Sequence[Path] | None = None,
    own_models: bool = False,
    seed: int | None = None,
    trials: int | None = None,
    threads: int | None = None,
    since: str | None = None,
    limit: int | None = None,
    model: str | None = None,
    min_evidence: float | None = None,
    rows: bool = True,
    allow_process: bool = False,
    play_twice: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Compares policies on sessions, as `ctxsim run` does.

    `sessions`: files, folders, quoted patterns or bundled names; or bytes, as pairs of a name and bytes, or a dict. `policies`: names, paths,
    `Policy` objects and functions, the first being the baseline; the seven of the suite `default` if left out. `profiles`: models with prices by
    name or path; each session under its own model's if left out, or with `own_models` those that are named for sessions whose model is not known.
    `suite` names a suite that gives what is left out. `set`: overrides by path, as `--set` takes them; a bare number takes the unit that the
    parameter has. `folders`: folders with your own `policies/`, `profiles/` and so on. `seed` is the random seed of what is drawn, `trials` how
    many conversations are drawn of each length. `since` (`YYYY-MM-DD`), `limit` (the newest so many) and `model` select recorded sessions.
    `min_evidence` (0 to 1; 0.9 by default) is what a policy must keep to be recommended. `rows=False` saves the memory of `requests` and `needs`,
    about 150 bytes a row. `allow_process` lets policies start the programs that they name, `play_twice` runs policies in code twice and fails
    where they differ. `threads` (1 to 1024; all cores by default) never changes a result.

    `progress(done, all)` is called after each session, from a thread that does the work. If it raises, or on Ctrl-C, the runs stop within one
    session.

    Raises `Error` with every problem of every input."""
    return _ctxsim.compare(sessions, locals())


def sensitivity(
    sessions: Loads | None = None,
    *,
    policies: Policies | None = None,
    profiles: Path | Sequence[Path] | None = None,
    suite: Path = "sensitivity",
    set: Settings | None = None,
    folders: Path | Sequence[Path] | None = None,
    seed: int | None = None,
    trials: int | None = None,
    threads: int | None = None,
    since: str | None = None,
    limit: int | None = None,
    model: str | None = None,
    allow_process: bool = False,
) -> Sensitivity:
    """Compares policies under many price lists, as `ctxsim sensitivity` does: which is the cheapest where, and how far a price must move to change that.

    The `suite` gives what is left out: six policies, under the bundled providers' models. `set` changes what break-evens ask, too, as in
    `{"break_even.prune_removes_tokens": 30_000}`.

    Raises `Error`; a policy that fails is a problem, too."""
    return Sensitivity.of(_ctxsim.answer(sessions, locals() | {"verb": "sensitivity"}))


def explain(
    sessions: Loads,
    *,
    policy: OnePolicy,
    request: int,
    session: str | None = None,
    profile: Path | None = None,
    set: Settings | None = None,
    folders: Path | Sequence[Path] | None = None,
    allow_process: bool = False,
) -> Explanation:
    """Explains one request of one run, as `ctxsim explain` does: what the prompt showed and why, where its prefix broke, and what was billed.

    `request` counts from 1, in the order of `report.requests`. `session` chooses one by name where `sessions` are several. Without a `profile`, prices
    are those of the session's model.

    Raises `Error` if there is no such request."""
    given = locals() | {"verb": "explain", "policies": policy, "profiles": profile or FALLBACK, "own_models": profile is None}
    return Explanation.of(_ctxsim.answer(sessions, given))


def sweep(
    sessions: Loads | None = None,
    *,
    policy: OnePolicy,
    vary: Vary,
    base: OnePolicy = POLICY,
    objectives: str | Sequence[str] = ("cost", "evidence", "retention"),
    guards: str | Sequence[str] = (),
    profiles: Path | Sequence[Path] | None = None,
    suite: Path | None = None,
    set: Settings | None = None,
    folders: Path | Sequence[Path] | None = None,
    seed: int | None = None,
    trials: int | None = None,
    threads: int | None = None,
    since: str | None = None,
    limit: int | None = None,
    model: str | None = None,
    allow_process: bool = False,
) -> Sweep:
    """Runs a grid of variants of a policy, as `ctxsim sweep` does, and finds those that nothing beats.

    `vary` has a path and its values for each axis, as in `{"params.trigger": [20_000, 40_000]}` or `"params.trigger=20000..80000:20000"`. `objectives`
    are what the front is of; `guards`, such as `"evidence>=0.9"`, are bounds that its recommended point keeps.

    Raises `Error`; an objective that does not exist is a problem, with the nearest that does."""
    given = locals() | {"verb": "sweep", "policies": [base, policy], "vary": _varied(vary)}
    given |= {"objectives": _texts(objectives), "guards": _texts(guards)}
    return Sweep.of(_ctxsim.answer(sessions, given))


def tune(
    sessions: Loads | None = None,
    *,
    policy: OnePolicy,
    vary: Vary | None = None,
    base: OnePolicy = POLICY,
    min_evidence: float | None = None,
    objectives: str | Sequence[str] = (),
    guards: str | Sequence[str] = (),
    profiles: Path | Sequence[Path] | None = None,
    set: Settings | None = None,
    folders: Path | Sequence[Path] | None = None,
    seed: int | None = None,
    threads: int | None = None,
    since: str | None = None,
    limit: int | None = None,
    model: str | None = None,
    allow_process: bool = False,
) -> Tuned:
    """Finds the cheapest numbers of a policy that keep enough evidence, as `ctxsim tune` does: chosen on one part of the sessions, tested on the other.

    Without `vary`, values around each number that can be set are tried. `min_evidence` (0 to 1; 0.9 by default) is the share that must be kept, `seed`
    that of the choice. `objectives` and `guards` look for something else than the lowest cost.

    Raises `Error`."""
    given = locals() | {"verb": "tune", "policies": [base, policy], "vary": _varied(vary)}
    given |= {"objectives": _texts(objectives), "guards": _texts(guards)}
    return Tuned.of(_ctxsim.answer(sessions, given))


def check(
    suite: Path | None = None,
    *,
    snapshots: Path = "snapshots",
    folders: Path | Sequence[Path] | None = None,
    threads: int | None = None,
    allow_process: bool = False,
) -> Check:
    """Checks the guards and the snapshots of suites, as `ctxsim check` does, and writes nothing: `ctxsim check --bless` accepts numbers.

    `suite` is a name or a path; all suites of your `folders` if left out. `snapshots` is the folder with the numbers that were accepted.
    `ctxsim.toml` is not read: name its `folders`; what it pins (version, prices) counts on the command line alone.

    Raises `Error` if no suite can be found; one that cannot be run is a row of `errors`."""
    return Check.of(_ctxsim.answer(None, locals() | {"verb": "check", "snapshots": fspath(snapshots)}))


def advise(
    sessions: Loads,
    *,
    agent: str | None = None,
    settings: tuple[str, str] | None = None,
    tries: str | Sequence[str] = (),
    min_evidence: float | None = None,
    profiles: Path | Sequence[Path] | None = None,
    folders: Path | Sequence[Path] | None = None,
    threads: int | None = None,
    since: str | None = None,
    limit: int | None = None,
    model: str | None = None,
) -> Advice:
    """Says which settings of the agents that recorded the sessions to change, as `ctxsim advise` does.

    `agent` names the agent where the logs do not tell, `settings` is the name and the text of its settings file. `tries` are settings that are judged
    together whatever their word, as `KEY=VALUE`. `min_evidence` (0 to 1; 0.9 by default) is the share of evidence that advice must keep.

    Raises `Error` if no session is one of an agent whose settings are known."""
    return Advice.of(_ctxsim.answer(sessions, locals() | {"verb": "advise", "pairs": _texts(tries)}))


def bill(
    sessions: Loads,
    *,
    settings: tuple[str, str] | None = None,
    profiles: Path | Sequence[Path] | None = None,
    folders: Path | Sequence[Path] | None = None,
    threads: int | None = None,
    since: str | None = None,
    limit: int | None = None,
    model: str | None = None,
) -> Bill:
    """Says what recorded sessions were billed and where that goes, as `ctxsim screen` does.

    Raises `Error` if no session is recorded."""
    return Bill.of(_ctxsim.answer(sessions, locals() | {"verb": "bill"}))


def realised(
    forecast: Path | None,
    sessions: Loads,
    *,
    changed: str | None = None,
    profiles: Path | Sequence[Path] | None = None,
    folders: Path | Sequence[Path] | None = None,
    threads: int | None = None,
    since: str | None = None,
    limit: int | None = None,
    model: str | None = None,
) -> Realised:
    """Says whether later sessions were billed what advice had forecast, as `ctxsim realised` does.

    `forecast` is `Advice.forecast`, or the file that `ctxsim advise --save FILE` wrote; `changed` (`YYYY-MM-DD`) is the day of the change, where logs do
    not show it.

    Raises `Error` if there is no such forecast, or no session is recorded."""
    if forecast is None:
        raise ValueError("there is no forecast: nothing was advised, and no setting was tried (`tries`)")
    text = fspath(forecast)
    if not text.lstrip().startswith("{"):
        text = FilePath(text).read_text(encoding="utf-8")
    return Realised.of(_ctxsim.answer(sessions, locals() | {"verb": "realised", "forecast": text}))
