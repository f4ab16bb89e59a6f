"""Simulates what context policies do to recorded LLM agents: prompt sizes, cache reads and writes, cost, evidence kept.

Offline and deterministic: no network, no model. Sizes are tokens, costs US dollars, times milliseconds; an unknown number is None or null.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final

from .answers import Advice as Advice
from .answers import Answer as Answer
from .answers import Bill as Bill
from .answers import Check as Check
from .answers import Explanation as Explanation
from .answers import Paste as Paste
from .answers import Realised as Realised
from .answers import RequestCost as RequestCost
from .answers import Sensitivity as Sensitivity
from .answers import SharedPrefix as SharedPrefix
from .answers import Sweep as Sweep
from .answers import Tuned as Tuned
from .cluster import Job as Job
from .cluster import batch as batch
from .cluster import fold as fold
from .cluster import parts as parts
from .cluster import plan as plan
from .values import Failure as Failure
from .values import Problem as Problem
from .values import Verdict as Verdict
from .verbs import advise as advise
from .verbs import bill as bill
from .verbs import check as check
from .verbs import compare as compare
from .verbs import explain as explain
from .verbs import realised as realised
from .verbs import sensitivity as sensitivity
from .verbs import sweep as sweep
from .verbs import tune as tune

Kind: TypeAlias = Literal[
    "system",
    "tool_schema",
    "user",
    "assistant",
    "reasoning",
    "tool_call",
    "tool_result",
    "summary",
    "memory",
    "approval",
    "image",
]
Path: TypeAlias = str | PathLike[str]
Sessions: TypeAlias = (
    Path | tuple[str, bytes] | Sequence[Path | tuple[str, bytes]] | Mapping[str, bytes]
)
View: TypeAlias = Callable[["Cx", tuple["Entry", ...]], Iterable["Part | Entry | int"]]
Make: TypeAlias = Callable[["Trace"], View]
Policies: TypeAlias = Path | Policy | Make | Sequence[Path | Policy | Make]
OnePolicy: TypeAlias = Path | Policy | Make
Loads: TypeAlias = Sessions | Workbench
Vary: TypeAlias = str | Mapping[str, str | Iterable[object]] | Sequence[str]
Settings: TypeAlias = (
    str | Mapping[str, object] | Sequence[str | tuple[str, object]]
)
Progress: TypeAlias = Callable[[int, int], object]

class Error(Exception):
    """Inputs that cannot be used; the message says every problem with its place and its fix. `problems` lists them as `Problem`s."""

    problems: list[Problem]

@final
class Table:
    """A table with named, typed columns, for every library that reads the Arrow PyCapsule interface, without a copy: `polars.DataFrame(t)`,
    `pyarrow.table(t)`, `pandas.DataFrame.from_arrow(t)`, `duckdb.sql("from t")`."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
    def rows(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Its rows, each a dict by column: money is a `decimal.Decimal`, what is unknown is None."""
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Report:
    """The result of a comparison: every policy on every session under every profile. `str(report)` is the Markdown report; a notebook shows a table
    and a chart of it, and `html()` is the whole page."""

    @property
    def runs(self) -> Table:
        """One row per policy, session and profile: `policy`, `cost_usd.total` (US dollars), `scenario`, `profile`, `failed` (why the run has no
        numbers), and every other number of the JSON report by its path, such as `input_tokens`."""
    @property
    def sums(self) -> Table:
        """The same columns, summed over all sessions, by profile. A policy that failed on one of them has no numbers, and `failed` says why."""
    @property
    def totals(self) -> Table:
        """The lines of the tables over several sessions, whatever profiles these ran under: `policy`, `cost_usd.total` (US dollars), then `change`,
        `change_low`, `change_high` (95% interval) and `change_median` are shares of the first policy's cost; `cheaper`, `same` and `dearer` are
        shares of the sessions; `is_whole` is false if the policy failed on some of them."""
    @property
    def requests(self) -> Table:
        """One row per model request of the same runs: `policy`, then money as exact decimals with 12 places, `turn`, `step`, `n` (all from 0),
        `role`, `at_ms` (milliseconds since the start), tokens and `actions` (edits since the last request). `cost_usd` is the request's own cost;
        `total_usd` adds what is expected beside it (`recovery_usd`, `exploration_usd`, `left_by_others_usd`) and, in the last row of a run, what
        is known of the run as a whole (`reaction_usd`; `rest_usd`: stored caches, calls of memories, penalties). The sum of `total_usd` over a run
        is `cost_usd.total` in `runs`. `pair` names the same request under every policy, to join on; turns and places in a step differ between
        policies.

        Raises `ValueError` if the comparison was made with `rows=False`."""
    @property
    def needs(self) -> Table:
        """One row per thing that later work needs: `turn` (from 0), `weight` and `met` (0 to 1), `expected_calls` that fetch it again,
        `fetched_tokens` of one such call, `expected_failures`."""
    def metric(self, policy: str, place: str, *, scenario: str | None = None, profile: str | None = None) -> float | None:
        """Any number of a policy by its path in the JSON report, such as `cost_usd.total` (US dollars) or `evidence_kept` (0 to 1): of one
        `scenario`, or summed over all. None if it is unknown. `profile` chooses one of several.

        Raises `Error` if there is no such number, with the nearest that there is, or no such run."""
    def chart(self, name: str = "cost") -> str:
        """One chart as SVG, that of `ctxsim run --format svg --chart NAME`: such as `frontier`, `cost` or `waiting`.

        Raises `Error` if the report has no such chart."""
    @property
    def failures(self) -> list[Failure]:
        """The runs that failed."""
    def all_passed(self) -> None:
        """Raises `Error` if any run failed, or a guard of the suite does not hold."""
    @property
    def verdict(self) -> str:
        """Which policy to take, in a few sentences; empty if there is nothing to compare."""
    @property
    def verdicts(self) -> list[Verdict]:
        """What each table says, for code that acts on it."""
    @property
    def repairs(self) -> list[str]:
        """What to repair in memories, in sentences; empty if no load asks what is remembered."""
    @property
    def notes(self) -> list[str]:
        """Notes that a reader of the numbers must know."""
    @property
    def broken_guards(self) -> list[str]:
        """The guards of the suite that do not hold, as sentences."""
    def json(self) -> str:
        """The JSON report, byte for byte that of `ctxsim run --format json`."""
    def html(self) -> str:
        """The report as one self-contained HTML page, that of `ctxsim run --format html`."""
    def _repr_html_(self) -> str: ...

@final
class Policy:
    """A policy that is more than a name. `str` arguments of `compare` are names and paths."""

    @staticmethod
    def ron(text: str) -> Policy:
        """A policy in RON, as a policy file has it."""
    @staticmethod
    def toml(text: str) -> Policy:
        """A policy in TOML, as a policy file has it."""
    @staticmethod
    def code(
        make: Make,
        name: str | None = None,
        *,
        title: str | None = None,
        about: str | None = None,
        lasts: Literal["history", "request"] = "history",
    ) -> Policy:
        """A policy in Python: `make(trace)` is called for each run and returns the run's `view(cx, history)`.

        Its name is that of the function by default; verdicts say its `title`, at most 48 characters, beside it. A view replaces the history until
        the next one (`lasts="history"`), or holds for one request (`lasts="request"`)."""
    @property
    def name(self) -> str:
        """Its name."""

@final
class Trace:
    """What happens in a run: `requests` of its agent, user `turns`, the random `seed`, the profile's `prompt_limit` in tokens."""

    name: str
    """The scenario's name."""
    turns: int
    """How many user turns it has."""
    requests: int
    """How many requests its agent makes."""
    seed: int
    """The random seed of the run."""
    prompt_limit: int | None
    """The profile's prompt limit in tokens; None if it sets none."""

@final
class Cx:
    """The circumstances of a request. Numbers count from 0, sizes are tokens, times milliseconds."""

    request: int
    """The number of the request, from 0."""
    session: int
    """The session, from 0."""
    turn: int
    """The turn, from 0."""
    now_ms: int
    """Milliseconds from the start of the scenario to this request."""
    idle_ms: int
    """Milliseconds since the last request started."""
    ttl_ms: int | None
    """How long a cache entry lives after its last use, in milliseconds; None if the provider does not say."""
    prompt_tokens: int
    """The size of the request in tokens if nothing were changed."""
    prompt_limit: int | None
    """The profile's prompt limit in tokens; None if it sets none."""
    new_from: int
    """The index in the history of the first entry added since the last view."""
    gone: list[int]
    """The numbers of the entries that the recorded harness removed since the last view. The history no longer has them, so a view need not follow
    them."""
    is_cold: bool
    """Whether the last request has expired from the provider's cache by now."""

@final
class Entry:
    """One entry of a history, as it arrived; earlier views never change it."""

    id: int
    """Its number, in order of arrival across all sessions of a run."""
    kind: Kind
    """What it is: `system`, `tool_schema`, `user`, `assistant`, `reasoning`, `tool_call`, `tool_result`, `summary`, `memory` or `approval`."""
    tool: str
    """The tool of a call or a result; empty for others."""
    call: int | None
    """For a result, the number of its call."""
    text: str | None
    """Its text, if the session has text; for a call, its input as JSON."""
    tokens: int
    """Its size in tokens."""
    is_stable: bool
    """Whether every request sends it unchanged, in front of everything else."""

@final
class ModelCall:
    """A model call that wrote a part, billed once as a call to the policy's summariser: tokens that it read and wrote, and whether its prompt begins
    with the agent's own, so that the cache serves that part."""

    def __init__(self, input: int, output: int, *, shares_prefix: bool = False) -> None: ...

@final
class Part:
    """A part of a view; `keep`, `rewrite` and `insert` make them."""

def keep(entry: Entry | int) -> Part:
    """Shows an entry unchanged, as naming the entry itself does."""

def rewrite(
    entry: Entry | int, text: str | object, *, handle: bool = False, exact: bool = False, written_by: ModelCall | None = None
) -> Part:
    """Shows an entry with new text, or with `sized(…)`. `handle`: the text names a way to fetch the entry again; `exact`: it keeps the exact
    evidence."""

def insert(
    text: str | object,
    *,
    kind: Kind = "summary",
    replaces: Sequence[Entry | int] = (),
    handle: bool = False,
    exact: bool = False,
    written_by: ModelCall | None = None,
) -> Part:
    """Inserts text of the policy's own between two messages. The entries that it `replaces` count as summarised, not as left out."""

def sized(tokens: int, number: int) -> object:
    """A text known only by its size in tokens; texts with equal numbers are equal to caches."""

def main(args: Sequence[str]) -> int:
    """Runs the command line on arguments, the first of which is the program's name; returns its exit code: 0 is success; 1, that a guard or a run
    failed, or a number changed; 2, bad input or usage."""

def names(kind: Literal["policies", "scenarios", "profiles", "suites"] = "policies") -> list[str]:
    """Lists the names of bundled inputs."""

@final
class Totals:
    """What all sessions come to together, without the runs of each: what `ctxsim run --totals` and `ctxsim run --merge` write."""

    @property
    def lines(self) -> Table:
        """The lines of the tables, as `Report.totals` has them."""
    @property
    def verdicts(self) -> list[Verdict]:
        """What each table says: which policy to take."""
    @property
    def failures(self) -> list[Failure]:
        """The runs that failed; they are in no total."""
    @property
    def notes(self) -> list[str]:
        """Notes that a reader of the numbers must know."""
    def json(self) -> str:
        """The bytes of `ctxsim run --totals --format json`."""

@final
class Workbench:
    """Sessions that are read once and compared often. Every verb takes one in the place of sessions, as in `ctxsim.advise(bench)`."""

    def __init__(
        self,
        sessions: Sessions | None = None,
        *,
        since: str | None = None,
        limit: int | None = None,
        model: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None: ...
    def add(
        self, name: str, data: bytes, *, assume: str | None = None, file_tools: Sequence[str] | None = None
    ) -> list[str]:
        """Reads a recording from bytes; returns the names of its sessions.

        `assume` is the field `load.recorded.assume` of a scenario file, in RON; `file_tools` are tools whose results can be read again by range."""
    def read(
        self,
        sessions: Sessions,
        *,
        since: str | None = None,
        limit: int | None = None,
        model: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[str]:
        """Reads sessions as `compare` names them; returns their names. Files of a folder that cannot be used are left out."""
    @property
    def names(self) -> list[str]:
        """The names of its sessions."""
    def __len__(self) -> int: ...
    def compare(
        self,
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
        """Compares policies on its sessions, with the arguments of `ctxsim.compare`."""
