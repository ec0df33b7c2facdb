"""What is asked of `evaluation.run`, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from curation.download.acquire import FetchSettings
from evaluation.core.task_settings import TaskSettings
from evaluation.generation.model_options import (
    PAPER,
    ModelOptions,
    as_paper,
    paper_seconds,
)
from evaluation.results.reader import RecordedRun, open_run
from evaluation.walking.engine_worker import Bounds

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evaluation.core.cases import Sample
    from evaluation.walking.plan import RunTotals

#: Where a run's folder is made, unless the request names one.
RUNS = Path("runs")

#: A build, a folder of JSON Schemas or of MaskBench's files, one such file, or
#: `owner/name[@revision]` on the Hub; or the samples themselves. None: the local
#: build, else the published benchmark, else the embedded sample.
Data: TypeAlias = "str | Path | Sequence[Sample] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What to measure, with whom, and within which limits.

    Example:
        >>> request = RunRequest(engines=["llguidance"], tasks=["declared"], limit=50)
        >>> request.settings.seed
        0
    """

    #: Each an engine's name, `NAME==VERSION`, or the path of an engine's file; of a
    #: model behind a server the dialects in which it is asked.
    engines: Sequence[str] = ("llguidance",)
    #: Names of tasks, such as `csbdata eval --help` lists them.
    tasks: Sequence[str]
    data: Data = None
    #: A tokenizer that is known by name, a path, or a model on the Hub.
    tokenizer: str = "smollm2"
    #: Name of a set of engine options.
    preset: str = "faithful"
    #: `NAME=VALUE` for every engine with that option, `ENGINE.NAME=VALUE` for one.
    options: Sequence[str] = ()
    settings: TaskSettings = field(default_factory=TaskSettings)
    bounds: Bounds = field(default_factory=Bounds)
    #: Only these configs, splits and ids (`ID` or `CONFIG/ID`); empty for all.
    configs: Sequence[str] = ()
    splits: Sequence[str] = ()
    only: Sequence[str] = ()
    #: At most so many samples, each config by its share; None for all.
    limit: int | None = None
    #: Workers at a time; None for one where times are results, else one a core.
    jobs: int | None = None
    #: How often every case is measured, in tasks whose times are results: each time
    #: in a process of its own, in turn with all others.
    repeats: int = 1
    #: Whether only instances that the data holds are walked, and none are made.
    given_only: bool = False
    #: Which part of how many.
    shard: tuple[int, int] = (1, 1)
    #: The folder of the run; None for a folder below `runs/` named after the plan.
    run_dir: Path | None = None
    #: The model and how it writes, for tasks in which one does.
    models: ModelOptions = field(default_factory=ModelOptions)
    #: How what is missing is fetched, and where it is kept.
    fetch: FetchSettings = field(default_factory=FetchSettings.from_environment)

    def as_paper(self, given: Collection[str] = ()) -> RunRequest:
        """Return the same as the paper did it: limits, presets, split, model, prompt.

        Source: section 5.1 of arXiv 2501.10868.

        Args:
            given: Names of the settings that stay as they are here, by the names of
                the command line's options: `model`, `split`, `preset`, ...
        """
        compile_seconds, run_seconds = paper_seconds(self.bounds, given)
        return replace(
            self,
            preset=self.preset if "preset" in given else PAPER,
            splits=self.splits if "split" in given else ["test"],
            bounds=replace(
                self.bounds, compile_seconds=compile_seconds, run_seconds=run_seconds
            ),
            models=as_paper(self.models, given),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What `evaluation.run` has done; the rows themselves are in the folder."""

    folder: Path
    totals: RunTotals

    @property
    def none_usable(self) -> bool:
        """Whether there is no row, because no engine could be run here."""
        return bool(self.totals.unavailable) and not (
            self.totals.ran or self.totals.found
        )

    def open(self) -> RecordedRun:
        """Return the run, read back.

        Raises:
            NoInput: the folder has gone since.
        """
        return open_run(self.folder)
