"""What is asked of a run of a suite, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration
from curation.system.registry import closest_names
from evaluation.generation.model_options import ModelOptions
from evaluation.results.reader import RecordedRun, open_run
from evaluation.suites.registry import suite_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.suite import RecordRequest, Suite

#: The one value of `--compat`.
PAPER = "paper"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenSuite:
    """A suite with its settings, as one command names them."""

    #: Its name, or the path of its folder.
    spec: str
    suite: Suite[Any]
    settings: msgspec.Struct
    #: Empty, or `paper`.
    compat: str = ""

    def header(self) -> dict[str, Json]:
        """Return what a run's header says of it."""
        settings: Json = msgspec.to_builtins(self.settings)
        return {
            "name": self.suite.name,
            "spec": self.spec,
            "settings": settings,
            "compat": self.compat,
        }


def choose_suite(
    spec: str, values: Mapping[str, Json] | None = None, compat: str = ""
) -> ChosenSuite:
    """Return a suite with its settings.

    Args:
        spec: Its name, or the path of its folder.
        values: Settings by name, over those of the reading.
        compat: Empty for the recommended reading, `paper` for the published one.

    Example:
        >>> choose_suite("passrate", {"budget": 512}).settings.budget
        512

    Raises:
        BadConfiguration: there is no such suite, setting, value or reading.
    """
    suite = suite_named(spec)
    settings: msgspec.Struct = suite.settings()
    if compat:
        if compat != PAPER:
            raise BadConfiguration(f"--compat {compat!r}: there is only {PAPER}")
        if suite.paper is None:
            raise BadConfiguration(
                f"suite {suite.name} has one reading only", then="leave --compat out"
            )
        settings = suite.paper(settings)
    known = suite.settings.__struct_fields__
    for name in values or {}:
        if name not in known:
            near = closest_names(name, known) or list(known)
            raise BadConfiguration(
                f"suite {suite.name} has no setting {name!r}",
                then=f"choose of {', '.join(near) or 'none: it has no settings'}",
            )
    merged = {**msgspec.to_builtins(settings), **(values or {})}
    try:
        chosen = msgspec.convert(merged, suite.settings, strict=False)
    except msgspec.ValidationError as error:
        raise BadConfiguration(f"--set: {error}") from error
    return ChosenSuite(spec=spec, suite=suite, settings=chosen, compat=compat)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRunRequest:
    """Which suite to run, on which records, with whom.

    Example:
        >>> request = SuiteRunRequest(
        ...     chosen=choose_suite("passrate"),
        ...     wanted=RecordRequest(data=None, fetch=FetchSettings.from_environment()),
        ... )
        >>> request.engines
        ('none',)
    """

    chosen: ChosenSuite
    wanted: RecordRequest
    #: The models, each with how it writes.
    models: Sequence[ModelOptions] = (ModelOptions(),)
    #: Engines, or ways to ask a server; `none` constrains nothing.
    engines: Sequence[str] = ("none",)
    preset: str = "faithful"
    #: `NAME=VALUE` for every engine with that option, `ENGINE.NAME=VALUE` for one.
    options: Sequence[str] = ()
    #: How often an answer that fails is handed back with the reasons.
    repairs: int = 0
    #: Processes that score; None for one a core.
    jobs: int | None = None
    #: Seconds in which one response must be scored.
    scoring_seconds: float = 10.0
    #: The folder of the run; None for one below `runs/` named after the plan.
    run_dir: Path | None = None
    fetch: FetchSettings = field(default_factory=FetchSettings.from_environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRunResult:
    """What a run of a suite has done; the rows themselves are in the folder."""

    folder: Path
    #: Responses that were written now, and that were there already.
    written: int = 0
    found: int = 0
    #: Of those written, how many have no answer because a server was in trouble.
    in_trouble: int = 0
    #: Label of who could not take part to why.
    unavailable: Mapping[str, str] = field(default_factory=dict)
    #: One line for each response or record that could not be matched.
    problems: Sequence[str] = ()

    def open(self) -> RecordedRun:
        """Return the run, read back.

        Raises:
            NoInput: the folder has gone since.
        """
        return open_run(self.folder)
