"""The request of a run: tasks, data and engines; and its result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from curation.download.cache import FetchSettings
from curation.system.credentials import split_url
from curation.system.errors import BadData, BadUsage
from curation.system.registry import closest_names
from curation.system.words import command
from evaluation.core.cases import Bounds
from evaluation.core.records import Adapt, OpenedData, RecordRequest, TokenPrices
from evaluation.core.run_header import TaskSettings
from evaluation.results.reader import RecordedRun, open_run

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.records import Prompt, Record
    from evaluation.core.suite import Suite
    from evaluation.masks.run import RunTotals

#: Where a run's folder is made, unless the request names one.
RUNS: Final = Path("runs")
#: The one value of `--compat`: do as the paper did.
PAPER: Final = "paper"
#: The paper's coverage experiment (section 5.1 of arXiv 2501.10868): its model, the
#: tokens that its code allowed each text, and the deadlines of a compile and of the
#: rest.
PAPER_MODEL: Final = "meta-llama/Llama-3.2-1B-Instruct"
_PAPER_BUDGET: Final = 2048
_PAPER_SECONDS: Final = 40.0

#: A build, a folder of JSON Schemas or of MaskBench's files, one such file, or
#: `owner/name[@revision]` on the Hub; or the records themselves. None: the local
#: build, otherwise the published benchmark, otherwise the embedded sample.
Data: TypeAlias = "str | Path | Sequence[Record] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """A model, and how it writes; recorded in the run's header."""

    #: `smollm2`, a folder, `owner/name` on the Hub, or the address of a server.
    model: str = "smollm2"
    revision: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    threads: int = 1
    #: What computes attention, as transformers calls it; empty: its own choice.
    attention: str = ""
    #: Texts for each record.
    samples: int = 1
    temperature: float = 0.0
    #: Texts under way at a time.
    batch: int = 1
    #: Tokens of every text; None: by the prompt.
    budget: int | None = None
    seed: int = 0
    #: Whether the tokens that an engine offers as the only way on are taken.
    forced: bool = False
    #: Minutes for which a server may be in trouble without any answer.
    patience: float = 10.0
    #: Prices of a server's tokens; None: from csbdata's list.
    prices: TokenPrices | None = None
    #: Empty, or `paper`.
    compat: str = ""
    #: Whether an engine has its forced tokens taken where the paper took them.
    forced_as_paper: bool = False

    @property
    def recorded_model(self) -> str:
        """The model without the secrets of its address."""
        if not self.over_http:
            return self.model
        from evaluation.servers.provider import split_provider  # noqa: PLC0415 - of servers alone

        provider, address = split_provider(self.model)
        return f"{provider.name}:{split_url(address).clean}".removeprefix(":")

    @property
    def over_http(self) -> bool:
        """Whether a server runs the model."""
        if ":" not in self.model:
            return False
        from evaluation.servers.provider import is_served  # noqa: PLC0415 - of servers alone

        return is_served(self.model)

    def as_paper(self, explicit: Collection[str] = ()) -> ModelOptions:
        """Return the options of the paper's experiment: model, budget, loop.

        Greedy, one text a schema, forced tokens as in its Tables 12 and 13; otherwise
        the defaults of its code.

        Args:
            explicit: Names of options of the command line that stay as they are.
        """
        paper: dict[str, Any] = {
            "model": PAPER_MODEL,
            "samples": 1,
            "dtype": "bf16",
            "temperature": 0.0,
            "budget": _PAPER_BUDGET,
            "forced_as_paper": "forced" not in explicit,
        }
        changes = {name: value for name, value in paper.items() if name not in explicit}
        return replace(self, **changes, compat=PAPER)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteChoice:
    """A suite with its settings."""

    #: Its name, or the path of its folder.
    spec: str
    suite: Suite[Any]
    settings: msgspec.Struct
    #: Empty, or `paper`.
    compat: str = ""

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        settings: Json = msgspec.to_builtins(self.settings)
        return {
            "name": self.suite.name,
            "spec": self.spec,
            "settings": settings,
            "compat": self.compat,
        }

    def prompt(self, record: Record) -> Prompt:
        """Return how a record is asked.

        Raises:
            BadData: the record is another suite's.
        """
        name = self.suite.name
        try:
            return self.suite.prompt(record, self.settings)
        except (LookupError, TypeError, ValueError, msgspec.MsgspecError) as error:
            raise BadData(
                f"no record of suite {name} ({error})",
                record.key,
                f"{command('suite', 'generate', name)} writes some",
            ) from error


def choose_suite(
    spec: str, values: Mapping[str, Json] | None = None, compat: str = ""
) -> SuiteChoice:
    """Return a suite with its settings.

    Args:
        spec: Its name, or the path of its folder.
        values: Settings by name, over those of the reading.
        compat: Empty for the recommended reading, `paper` for the published one.

    Example:
        >>> choose_suite("passrate", {"budget": 512}).settings.budget
        512

    Raises:
        BadUsage: no such suite, setting, value or reading.
    """
    from evaluation.suites.registry import suite_named  # noqa: PLC0415 - of suites alone

    suite = suite_named(spec)
    settings: msgspec.Struct = suite.settings()
    if compat:
        if compat != PAPER:
            raise BadUsage(f"{compat!r} is no reading: there is only {PAPER}")
        if not suite.paper:
            raise BadUsage(
                f"suite {suite.name} has one reading only", hint=f"leave @{PAPER} out"
            )
    names = suite.settings.__struct_fields__
    for name in values or {}:
        if name not in names:
            near = closest_names(name, names) or list(names)
            raise BadUsage(
                f"suite {suite.name} has no setting {name!r}",
                hint=f"did you mean: {', '.join(near) or 'none: it has no settings'}",
            )
    published = suite.paper if compat else {}
    merged = {**msgspec.to_builtins(settings), **published, **(values or {})}
    try:
        settings = msgspec.convert(merged, suite.settings, strict=False)
    except msgspec.ValidationError as error:
        raise BadUsage(f"--set: {error}") from error
    return SuiteChoice(spec=spec, suite=suite, settings=settings, compat=compat)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A run: what to measure, on which data, and within which limits.

    Attributes:
        engines: Each an engine's name, `NAME==VERSION`, or the path of an engine's
            file; for a server's model the ways to send a schema. Empty: llguidance, and
            for a suite none, which constrains nothing.
        tasks: Names of tasks, as `csbdata eval --help` lists them.
        suite: The suite whose records models answer; None: the tasks' suite.
        data: A source (`--data`), or the schemas themselves; None for the default.
        tokenizer: A tokenizer's name, its path, or a model on the Hub.
        preset: Name of a set of engine options.
        options: `NAME=VALUE` for every engine with that option, `ENGINE.NAME=VALUE` for
            one.
        adapt: Treatment of schemas that a model's provider does not accept.
        settings: Settings of the tasks (`--set`).
        bounds: Limits of time and memory of a case.
        configs: Only these configs; empty for all.
        splits: Only these splits; empty for all.
        only: Only these ids (`ID` or `CONFIG/ID`); empty for all.
        limit: Maximum number of records, each config by its share; None for all.
        first: Whether to use the first ones, not a seeded draw; only for suites.
        vacuous: Whether vacuous records of a build count: only the type of their root
            can fail.
        jobs: Workers at a time; None for one where times are results, otherwise one a
            core.
        repeats: How often every case is measured, in tasks whose times are results:
            each time in a separate process, in turn with all others.
        given_only: Whether only instances that the data holds are walked, and none are
            made.
        sha256: How the digest of the data must begin.
        run_dir: The folder of the run; None for a folder below `runs/` named after the
            plan.
        models: The models that write; one alone for tasks.
        repairs: How often an answer that fails is handed back with the reasons.
        max_cost: Maximum cost of servers' answers, those in the folder included; None
            for any.
        max_requests: Maximum number of requests; those under way are completed.
        fetch: How missing files are fetched, and where they are kept.

    Example:
        >>> request = RunRequest(engines=["llguidance"], tasks=["masks"], limit=50)
        >>> request.settings.seed
        0
        >>> RunRequest(suite=choose_suite("passrate"), engines=["none"]).tasks
        ()
    """

    engines: Sequence[str] = ()
    tasks: Sequence[str] = ()
    suite: SuiteChoice | None = None
    data: Data = None
    tokenizer: str = "smollm2"
    preset: str = "faithful"
    options: Sequence[str] = ()
    adapt: Adapt = Adapt.SAFE
    settings: TaskSettings = field(default_factory=TaskSettings)
    bounds: Bounds = field(default_factory=Bounds)
    configs: Sequence[str] = ()
    splits: Sequence[str] = ()
    only: Sequence[str] = ()
    limit: int | None = None
    first: bool = False
    vacuous: bool = False
    jobs: int | None = None
    repeats: int = 1
    given_only: bool = False
    sha256: str = ""
    run_dir: Path | None = None
    models: Sequence[ModelOptions] = (ModelOptions(),)
    repairs: int = 0
    max_cost: float | None = None
    max_requests: int | None = None
    fetch: FetchSettings = field(default_factory=FetchSettings.from_environment)

    @property
    def engine_specs(self) -> Sequence[str]:
        """The engines, or the default ones."""
        return self.engines or (("none",) if self.suite else ("llguidance",))

    def as_paper(self, explicit: Collection[str] = ()) -> RunRequest:
        """Return the same as the paper did it: limits, preset, split, model, prompt.

        Vacuous records count, as they did there; 40 s for a compile and 40 s for the
        rest.

        Source: section 5.1 of arXiv 2501.10868.

        Args:
            explicit: Names of options of the command line that stay as they are here:
                `model`, `split`, `preset`, ...
        """
        names = {"compile_seconds", "run_seconds"}.difference(explicit)
        seconds: dict[str, Any] = dict.fromkeys(names, _PAPER_SECONDS)
        return replace(
            self,
            preset=self.preset if "preset" in explicit else PAPER,
            splits=self.splits if "split" in explicit else ["test"],
            vacuous=self.vacuous if "vacuous" in explicit else True,
            bounds=replace(self.bounds, **seconds),
            models=[model.as_paper(explicit) for model in self.models],
        )

    def records(self, dataset: OpenedData | None = None) -> RecordRequest:
        """Return the request for the suite's records.

        Args:
            dataset: The data, if the run has opened it already.
        """
        named = isinstance(self.data, str | Path)
        return RecordRequest(
            data=str(self.data) if named else None,
            fetch=self.fetch,
            configs=tuple(self.configs),
            splits=tuple(self.splits),
            limit=self.limit,
            first=self.first,
            ids=frozenset(self.only),
            vacuous=self.vacuous,
            seed=self.settings.seed,
            dataset=dataset,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run; the rows themselves are in the folder."""

    folder: Path
    totals: RunTotals
    #: One line for each response or record that could not be matched.
    problems: Sequence[str] = ()

    def open(self) -> RecordedRun:
        """Return the run, read back.

        Raises:
            NoInput: the folder has gone since.
        """
        return open_run(self.folder)
