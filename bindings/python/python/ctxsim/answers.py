"""What verbs answer: values with units, and tables beside them.

Every answer is made of the document that the command line prints with `--format json`, so that both have the same numbers. Sizes are tokens, costs US
dollars, shares are from 0 to 1 and changes are shares of the cost before (−0.1 is a tenth less); what is unknown is None or null. Intervals are 95%.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

from ._ctxsim import Table
from .columns import Row, Tabled, flat
from .display import paragraphs
from .display import table as shown

Interval = tuple[float, float]
"""Both ends of a 95% interval."""

A = TypeVar("A", bound="Answer")


def at(path: str) -> Any:
    """A field that stands elsewhere in the document than under its own name; at no path is what stands beside it."""
    return field(metadata={"at": path})


@dataclass(frozen=True, repr=False)
class Answer:
    """What every answer has: `str(answer)` is its text, and a notebook shows its first table."""

    document: Row
    """All of it, as `ctxsim VERB --format json` prints it."""
    _json: str
    _text: str

    _first: ClassVar[str]
    """The table that a notebook shows."""

    @classmethod
    def of(cls: type[A], made: tuple[str, str, str | None]) -> A:
        """Makes an answer of what the engine returns: the JSON, the text, and what stands beside them."""
        whole, text, beside = made
        document = json.loads(whole)
        places = {it.name: it.metadata.get("at", it.name) for it in fields(cls) if it.name not in ("document", "_json", "_text")}
        return cls(document, whole, text, **{name: cls._read(path, document, beside) for name, path in places.items()})

    @staticmethod
    def _read(path: str, document: Row, beside: str | None) -> Any:
        if not path:
            return beside
        found: Any = document
        for key in path.split("."):
            found = None if found is None else found.get(key)
        return tuple(found) if isinstance(found, list) else found

    def json(self) -> str:
        """The document as JSON, that of the command line."""
        return self._json

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<ctxsim.{type(self).__name__}: {self._summary()}>"

    def _summary(self) -> str:
        return f"{len(getattr(self, self._first))} {self._first}"

    def _repr_html_(self) -> str:
        return f"<p>{self._first}</p>{shown(getattr(self, self._first))}"


def _without(record: Row, *names: str) -> Row:
    return {key: value for key, value in record.items() if key not in names}


# Prices


def _cells(it: Sensitivity) -> Iterator[Row]:
    for load in it.document["loads"]:
        yield from (flat(cell) | {"scenario": load["scenario"]} for cell in load["cells"])


def _cheapest(it: Sensitivity) -> Iterator[Row]:
    for load in it.document["loads"]:
        costs = {(cell["profile"], cell["policy"]): cell["cost_usd"] for cell in load["cells"]}
        for row in load["cheapest"]:
            yield flat(row) | {"scenario": load["scenario"], "cost_usd": costs.get((row["profile"], row["policy"]))}


def _flips(it: Sensitivity) -> Iterator[Row]:
    for load in it.document["loads"]:
        # A pair of names is a list of texts here, whatever it holds.
        yield from (dict(flip) | {"scenario": load["scenario"]} for flip in load["flips"])


@dataclass(frozen=True, repr=False)
class Sensitivity(Answer):
    """How the costs and the order of policies depend on prices and cache rules.

    `policies` are their names, the baseline first; `distinct_rules_and_limits` counts the profiles' cache rules and limits, and `simulations` the runs
    of these; `asked` has the numbers of the break-evens, by name; `answer` says who is cheapest under most lists, and at which ratios that turns."""

    policies: tuple[str, ...]
    distinct_rules_and_limits: int
    simulations: int
    asked: dict[str, float] | None
    answer: dict[str, Any] | None

    _first = "cells"

    cells = Tabled(
        "One row per scenario, profile and policy.",
        """
        policy name
        cost_usd number: US dollars
        scenario name: `ALL` is all of them together
        profile name
        rank count: place among the policies by cost, from 1; null where a limit stopped the policy
        stopped flag: whether a limit stopped it
        label text: how it compares with the first policy
        cache_hit_ratio number: share of the prompts' tokens that the cache served
        evidence_kept number: share of the needed evidence that prompts still held
        recovery_tokens number: tokens that recovery is expected to take
        results_shown number: share of the tool results' tokens that prompts show
        of_limit number: longest prompt as a share of the limit
        rates.* number: by rate: elasticity of the cost (percent of cost for a percent of the rate), and the cost in US dollars at 90% and 110% of it
        remembered.* number: what is remembered, for loads that ask
        """,
        _cells,
    )
    cheapest = Tabled(
        "One row per scenario and profile: the cheapest policy, and the nearest change of one rate that makes another one the cheapest.",
        """
        policy text: null if a limit stops every policy, or all cost nothing
        cost_usd number: US dollars
        scenario name
        profile name
        free flag: whether every policy costs nothing
        until.rate text: the rate that changes the order soonest
        until.factor number: the factor of that rate from which another policy is the cheapest
        until.then text: that policy
        """,
        _cheapest,
    )
    flips = Tabled(
        "One row per scenario and pair of policies whose order depends on the profile.",
        """
        policies texts: the two policies
        scenario name
        first_cheaper texts: profiles under which the first is cheaper
        second_cheaper texts: profiles under which the second is cheaper
        """,
        _flips,
    )
    profiles = Tabled(
        "One row per profile, with break-evens that follow from its prices alone.",
        """
        profile name
        as_of text: day of its prices
        tokens text: how its tokens are counted
        break_even.* number: shares, minutes, requests or tokens, as the name says
        """,
        lambda it: map(flat, it.document["profiles"]),
    )


# One request


@dataclass(frozen=True)
class RequestCost:
    """What a request was billed, in US dollars, exactly; None if tokens have no price."""

    cache_read_usd: Decimal | None
    cache_write_usd: Decimal | None
    uncached_usd: Decimal | None
    output_usd: Decimal | None
    total_usd: Decimal | None


@dataclass(frozen=True)
class SharedPrefix:
    """What a prompt has in common with the one before: sizes are tokens, requests count from 1 and items from 0."""

    says: str
    compared_with_request: int | None
    previous_tokens: int | None
    same_tokens: int | None
    differs_at_item: int | None


_CHANGE = """
        item count: number of the item, from 0
        by text: the stage or the party that changed it
        at text: the moment
        request count: before which request, from 1
        from text: how it was shown
        from_tokens count: tokens
        to text: how it is shown since
        to_tokens count: tokens
        """


@dataclass(frozen=True, repr=False)
class Explanation(Answer):
    """One request of a run: how every item is shown and why, where the prefix differs from the one before, and what was billed.

    `request` counts from 1, of `requests`; `asked_by` names the stage if a summariser was asked; `row` is its row, as `--rows requests` has it (turns
    and steps count from 0); `cache` says what the cache did; `tokens_beside_items` are tokens of the prompt that belong to no item; `prompt` is its text,
    None if the scenario has sizes alone."""

    policy: str
    scenario: str
    profile: str
    request: int
    requests: int
    asked_by: str | None
    row: Row
    cache: str = at("cache.says")
    tokens_beside_items: int
    prompt: str | None = at("")

    _first = "items"

    def _summary(self) -> str:
        return f"request {self.request} of {self.requests}, {self.policy} on {self.scenario}; {self.cache}"

    @property
    def cost(self) -> RequestCost:
        """What the request was billed."""
        parts = self.document["cost_picodollars"].items()
        return RequestCost(**{f"{name}_usd": None if it is None else Decimal(it).scaleb(-12) for name, it in parts})

    @property
    def prefix(self) -> SharedPrefix:
        """What the prompt has in common with the one before."""
        return SharedPrefix(**_without(self.document["prefix"], "changes"))

    items = Tabled(
        "One row per item of the history, in order.",
        """
        item count: its number, from 0
        kind name
        tool text: the tool of a call or a result
        turn count: from 0
        step count: from 0
        is_new flag: whether it is new since the last request
        raw_tokens count: tokens as it arrived
        shown name: how the prompt shows it
        shown_tokens count: tokens in the prompt
        behind_summary_at count: the item whose place its summary takes
        cache_read_tokens count: tokens that the cache served
        cache_write_tokens count: tokens written to the cache
        uncached_tokens count: tokens billed as plain input
        """,
        lambda it: map(flat, it.document["items"]),
    )
    changes = Tabled(
        "One row per change of an item until this request.",
        _CHANGE,
        lambda it: ({"item": of["item"]} | change for of in it.document["items"] for change in of["changes"]),
    )
    broken_by = Tabled(
        "One row per change that made the prefix differ from that of the request before.",
        _CHANGE,
        lambda it: ({"item": it.document["prefix"]["differs_at_item"]} | change for change in it.document["prefix"]["changes"]),
    )
    stages = Tabled(
        "One row per stage that acted since the last request.",
        """
        by name: the stage
        items count: items that it changed
        tokens_before count: their tokens before
        tokens_after count: their tokens after
        """,
        lambda it: it.document["stages"],
    )
    needs = Tabled(
        "One row per piece of evidence that this request needs.",
        """
        level name: what must be known
        weight number: from 0 to 1
        met number: share that the prompt met
        expected_calls number: calls that fetch it again
        fetched_tokens count: tokens of one such call
        expected_failures number: times that it cannot be had
        """,
        lambda it: it.document["recoveries"],
    )
    marks = Tabled(
        "One row per mark that the request set for the cache.",
        """
        slot count: the item up to which it goes, from 0
        tokens count: tokens up to there
        life_ms count: milliseconds that an entry lives there
        too_short_for count: the least tokens of an entry, where there are too few
        """,
        lambda it: it.document["cache"]["marks"],
    )
    entries = Tabled(
        "One row per cache entry that the request could have read.",
        """
        slot count: the item up to which it goes, from 0
        tokens count: tokens
        age_ms count: milliseconds since it was last used
        life_ms count: milliseconds that it lives
        says text: what became of it
        """,
        lambda it: it.document["cache"]["entries"],
    )


# Values of parameters


def _swept(it: Sweep) -> Iterator[Row]:
    front = set(it.front)
    for point in it.document["points"]:
        # The base's numbers stand beside the point's; these have the names of reports.
        row = flat(_without(point, "numbers")) | {"policy": it.policy} | point["numbers"]
        yield row | {"is_on_front": point["index"] in front, "is_knee": point["index"] == it.knee}


@dataclass(frozen=True, repr=False)
class Sweep(Answer):
    """A grid of variants of a policy, and which of them nothing beats.

    `objectives` are what the front is of, `front` has the indices of the variants on it and `knee` the index of its best compromise, None if there is none. Indices count from 0 and are those of the column `index`."""

    policy: str = at("sweep.policy")
    base: str = at("sweep.base")
    objectives: tuple[str, ...] = at("sweep.objectives")
    front: tuple[int, ...]
    knee: int | None

    _first = "points"

    @property
    def vary(self) -> dict[str, list[str]]:
        """The paths that vary, and the values of each."""
        return dict(self.document["sweep"]["vary"])

    points = Tabled(
        "One row per variant.",
        """
        policy name: the policy that is varied
        cost_usd.total number: US dollars
        interval_low number: change of the cost against the base, as a share; end of the interval for later sessions
        interval_high number: the other end
        evidence_kept number: share of the needed evidence that prompts still held
        index count: its number, from 0
        set texts: its overrides, as `PATH=VALUE`
        is_on_front flag: whether no other variant is as good in all objectives and better in one
        is_knee flag: whether it is the best compromise of the front
        label text: how it compares with the base
        bound_low number: change of the cost against the base under everything that is assumed
        bound_high number: the other end
        cost_usd.total_low number: US dollars; the lower end over what is assumed of recovery
        cost_usd.total_high number: US dollars; the upper end
        prompt_tokens_max number: tokens of the longest prompt
        cache_hit_ratio number: share of the prompts' tokens that the cache served
        recovery.* number: expected calls
        base.* number: the same numbers of the base
        * number: further numbers, by their path in reports
        """,
        _swept,
    )


def _parts(points: list[Row], policy: str) -> Iterator[Row]:
    for point in points:
        for part, name in zip(point["parts"], ("chosen on", "held out")):
            row = flat(_without(part, "cost", "base_cost", "spread"))
            spread = part["spread"] or {}
            ends = spread.get("interval") or (None, None)
            row |= {"policy": policy, "cost_usd": part["cost"], "base_cost_usd": part["base_cost"], "set": point["set"], "part": name}
            yield row | {"change": spread.get("change"), "change_low": ends[0], "change_high": ends[1]}


_PART = """
        policy name: the policy that is tuned
        cost_usd number: US dollars
        base_cost_usd number: US dollars that the base costs on the same sessions
        change number: change of the cost against the base, as a share
        change_low number: end of its interval for later sessions
        change_high number: the other end
        evidence_kept number: share of the needed evidence that prompts still held
        evidence_low number: lower end of its interval
        base_kept number: the same share under the base
        set texts: overrides, as `PATH=VALUE`; none is the policy as it is
        part name: `chosen on`, or `held out`: sessions that it was not chosen on
        sessions count
        projects count
        """


@dataclass(frozen=True, repr=False)
class Tuned(Answer):
    """The cheapest variant of a policy that keeps enough evidence, chosen on one part of the sessions and tested on the other.

    `chosen` are its overrides, `word` its word (`do`, `your_call`, `try`, `dont`, `cannot_tell`) and `word_rests_on` why; `is_recommended`, `why_not` and
    `reason` say whether it should be used. `variants` is how many were tried, `min_evidence` the floor (0 to 1), `optimism` by how much the saving was
    smaller on what was held out (a share), `prompt_tokens_max` the longest prompt in tokens, `never_fired` the stages that did nothing, and
    `file` the recommended policy as `Policy.ron` reads it, None if none is."""

    policy: str
    base: str
    min_evidence: float
    variants: int
    split: str
    chosen: tuple[str, ...]
    word: str | None
    word_rests_on: str | None
    is_recommended: bool
    why_not: str | None
    reason: str
    optimism: float | None
    never_fired: tuple[str, ...]
    prompt_tokens_max: int | None
    file: str | None = at("")

    _first = "points"

    def _summary(self) -> str:
        return self.reason

    points = Tabled("One row per variant and part of the sessions.", _PART, lambda it: _parts(it.document["points"], it.policy))
    parts = Tabled(
        "The variant that was chosen: one row per part of the sessions.",
        _PART,
        lambda it: _parts([{"set": list(it.chosen), "parts": it.document["parts"]}], it.policy),
    )
    varied = Tabled(
        "One row per path that was varied.",
        """
        path name
        values texts
        rule text: where the values come from
        """,
        lambda it: it.document["varied"],
    )
    fixed = Tabled(
        "One row per parameter that was left as it is.",
        """
        param name
        reason text
        """,
        lambda it: it.document["fixed"],
    )


# Suites


def _of_suites(name: str) -> Any:
    return lambda it: ({"suite": of["suite"]} | flat(row) for of in it.document["suites"] for row in of[name])


def _moved(it: Check) -> Iterator[Row]:
    for of in it.document["suites"]:
        for snapshot in of["snapshots"]:
            for moved in snapshot["moved"]:
                old, new = moved["values"]
                yield moved | {"old": old, "new": new, "suite": of["suite"], "file": snapshot["file"]}


@dataclass(frozen=True, repr=False)
class Check(Answer):
    """The guards and the snapshots of suites. `holds` is whether everything does, `version` that of ctxsim; nothing is written."""

    version: str

    _first = "guards"

    @property
    def holds(self) -> bool:
        """Whether every guard holds, no number moved, and every suite could be run."""
        return all(it["holds"] for it in self.document["suites"])

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites, by name."""
        return tuple(it["suite"] for it in self.document["suites"])

    def _summary(self) -> str:
        return f"{', '.join(self.suites)} {'passed' if self.holds else 'FAILED'}"

    guards = Tabled(
        "One row per guard and run that it is about.",
        """
        policy name
        value number: the number that is guarded, in the metric's unit
        bound text: what it must keep
        holds flag
        metric name: the number's path in reports
        guard text: the guard's name
        scenario name
        profile name
        suite name
        place text: file, line and column of the guard
        over text: what it is summed over
        reason text: why it does not hold, where a number is missing
        """,
        _of_suites("guards"),
    )
    snapshots = Tabled(
        "One row per snapshot.",
        """
        suite name
        file name
        state name: `same`, `moved`, `missing`, `orphan` or `blessed`
        differs texts: what else is not as it was: version, scenario, profile, policy
        """,
        _of_suites("snapshots"),
    )
    moved = Tabled(
        "One row per number that is not as its snapshot has it.",
        """
        policy name
        column name: the column of the snapshot
        old text: null if the line is new
        new text: null if the line is gone
        relative number: change, as a share of the old value
        suite name
        file name
        """,
        _moved,
    )
    errors = Tabled(
        "One row per reason for which a suite could not be run.",
        """
        suite name
        code text
        message text
        """,
        lambda it: ({"suite": of["suite"]} | row for of in it.document["suites"] for row in of.get("errors", [])),
    )


# Advice and bills


_LEVER = """
        title name: what to change
        saved_month number: US dollars saved a month
        month_usd number: what the agent's sessions cost a month, in US dollars
        saved_interval_low number: end of its interval
        saved_interval_high number: the other end
        word text: `do`, `your_call`, `try`, `dont` or `cannot_tell`; null of another model
        why text: what the word rests on
        agent name
        change number: change of the cost on these sessions, as a share
        expected number: change that is expected of later sessions
        interval_low number: end of its interval
        interval_high number: the other end
        evidence_kept number: share of the needed evidence that prompts would still hold
        evidence_low number: lower end of its interval
        floor_risk number: chance that as many later sessions hold less of it than is asked for
        saved_minutes_month number: minutes of waiting saved a month
        sessions_to_know count: about how many later sessions would tell
        gone_at_extra_turns.percent number: extra turns at which the saving is gone, in percent
        gone_at_extra_turns.interval_low number: end of its interval
        gone_at_extra_turns.interval_high number: the other end
        freed.* number: percent of the fullest window of the account that it would have left free, and its interval
        ceiling.* count: of another model, the sessions that its prices are taken of, and those that are short enough to try it on
        set texts: settings, as `KEY=VALUE`
        name name: the kind of lever
        known_by name: `simulated` or `bills`
        about text
        of text: what the lever is about, where there are several of its kind
        """


def _of_agents(name: str) -> Any:
    return lambda it: ({"agent": of["agent"]} | flat(row) for of in it.document["agents"] for row in of.get(name, ()))


@dataclass(frozen=True)
class Paste:
    """Settings to paste: `text` goes into the file `at`, or into `project` for one project alone."""

    agent: str
    at: str | None
    project: str | None
    text: str


@dataclass(frozen=True, repr=False)
class Advice(Answer):
    """Which settings of the agents that recorded the sessions to change, and what that saves and forgets.

    `unknown` are sessions of agents whose settings are not known, `skipped` files that cannot be used. `forecast` is what
    `realised` compares later sessions with; None if nothing is advised and nothing was tried."""

    unknown: tuple[Row, ...]
    skipped: tuple[Row, ...]
    forecast: str | None = at("")

    _first = "levers"

    @property
    def paste(self) -> tuple[Paste, ...]:
        """What to paste for the levers whose word is `do`."""
        found = ((of["agent"], it) for of in self.document["agents"] for it in of["paste"])
        return tuple(Paste(agent, it.get("at"), it.get("project"), it["text"]) for agent, it in found)

    agents = Tabled(
        "One row per agent.",
        """
        agent name
        month.usd number: US dollars a month, as simulated
        month.basis text: what a month is made of
        month.days number: days that the sessions span
        as_logged.total_usd number: US dollars billed, at list prices
        sessions count
        sub_agents count
        requests count
        projects count
        evidence_kept number: share of the needed evidence that prompts hold today
        min_evidence number: share that advice must keep
        tried count: settings and combinations that were tried
        as_logged.* number: US dollars, tokens and requests of the logs
        """,
        lambda it: map(flat, it.document["agents"]),
    )
    levers = Tabled("One row per lever, the most useful first.", _LEVER, _of_agents("levers"))
    ceilings = Tabled("One row per other model: the most that its prices could save, with nothing said of its answers.", _LEVER, _of_agents("ceilings"))
    current = Tabled(
        "One row per setting of an agent, as it is now.",
        """
        agent name
        key name
        value text
        from text: where that is known from
        about text
        """,
        _of_agents("in_force"),
    )
    lifetimes = Tabled(
        "One row per lane of requests: whether cache entries that live longer would pay.",
        """
        agent name
        lane name
        sessions count
        usd_month_low number: US dollars a month with entries that live shorter
        usd_month_high number: US dollars a month with entries that live longer
        written_tokens count
        rewritten_tokens count: tokens that were written again because an entry had expired
        share number: the share of these
        break_even number: the share from which it pays
        change number: change of the cost, as a share
        interval_low number: end of its interval
        interval_high number: the other end
        """,
        _of_agents("lifetimes"),
    )
    left_out = Tabled(
        "One row per setting that was not tried.",
        """
        agent name
        key name
        reason text
        """,
        _of_agents("left_out"),
    )


@dataclass(frozen=True, repr=False)
class Bill(Answer):
    """What recorded sessions were billed, at list prices, where that goes, and what can be done about it.

    `total_usd` is all of it, of main agents (`main_usd`) and sub-agents (`sub_agents_usd`); `last_30_days_usd` that of the newest 30 days, None if the
    sessions span less; `month_usd` what `parts` add up to, of `month_of` (`last30_days` or `all_sessions`, which span
    `month_days`). `certainty` says how sure the rest is."""

    total_usd: float = at("bill.total_usd")
    last_30_days_usd: float | None = at("bill.last_30_days_usd")
    previous_30_days_usd: float | None = at("bill.previous_30_days_usd")
    main_usd: float = at("bill.main.total_usd")
    sub_agents_usd: float = at("bill.sub_agents.total_usd")
    month_usd: float = at("month.usd")
    month_of: str = at("month.of")
    month_days: float | None = at("month.days")
    sessions: int = at("read.sessions")
    requests: int = at("read.requests")
    first_day: str | None = at("read.first_day")
    last_day: str | None = at("read.last_day")
    waiting_minutes: float | None = at("waiting.minutes")
    certainty: str

    _first = "parts"

    def _summary(self) -> str:
        return f"${self.total_usd:,.2f} for {self.sessions} sessions, {self.requests:,} requests"

    parts = Tabled(
        "One row per part of the bill; they add up to `month_usd`.",
        """
        part name
        usd number: US dollars
        about text
        """,
        lambda it: it.document["month"]["parts"],
    )
    misses = Tabled(
        "One row per further cause for which prompts were billed that the cache could have served.",
        """
        cause name
        usd number: US dollars
        sub_agents_usd number: requests of sub-agents
        at_turns_usd number: requests that a user's message began
        about text
        """,
        lambda it: it.document["month"]["other_misses"],
    )
    by_day = Tabled(
        "One row per day with requests.",
        """
        day text: YYYY-MM-DD, in UTC
        usd number: US dollars
        """,
        lambda it: it.document["by_day"],
    )
    by_project = Tabled(
        "One row per project, by cost.",
        """
        project text
        usd number: US dollars
        sessions count
        """,
        lambda it: it.document["by_project"],
    )
    agents = Tabled(
        "One row per agent.",
        """
        agent name
        sessions count
        versions texts: the oldest and the newest
        has_settings flag: whether advice knows its settings
        """,
        lambda it: it.document["read"]["agents"],
    )
    levers = Tabled("One row per lever, the most useful first.", _LEVER, lambda it: map(flat, it.document["levers"]))
    ceilings = Tabled("One row per other model: the most that its prices could save, with nothing said of its answers.", _LEVER, lambda it: map(flat, it.document.get("ceilings", ())))


@dataclass(frozen=True, repr=False)
class Realised(Answer):
    """Whether later sessions were billed what advice had forecast.

    `answer` is the finding and `word` its words; `is_shown` is whether anything shows that somebody made the change. `forecast` and `promised` are changes of the cost as shares, `realised` the change that was found and
    `interval` its ends; `is_by_cost` is whether that is of costs, else it is of costs per request. `billed_usd` is what `sessions` were billed, in US
    dollars, and `before_usd` what they would have been without the change. `more_sessions` and `trial_sessions` are how many would tell, None if none."""

    agent: str
    set: tuple[str, ...]
    word: str
    answer: str
    is_shown: bool
    is_by_cost: bool
    forecast: float | None
    promised: float | None
    realised: float | None
    interval: Interval | None
    sessions: int
    billed_usd: float
    before_usd: float
    more_sessions: int | None
    trial_sessions: int | None
    notes: tuple[str, ...]

    _first = "kinds"

    def _summary(self) -> str:
        return self.word

    kinds = Tabled(
        "One row per kind of session that is compared.",
        """
        name text
        * number: sessions, US dollars and changes as shares
        """,
        lambda it: map(flat, it.document["kinds"]),
    )
