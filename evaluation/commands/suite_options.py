"""The options of `csbdata suite`, and the request that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.commands.eval_options import task_values
from evaluation.commands.options import (
    MODELS,
    AttentionOption,
    CompileOption,
    DeviceOption,
    DtypeOption,
    PatienceOption,
    TemperatureOption,
    ThreadsOption,
    loop_options,
    parse_prices,
    split_revision,
)

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.asking.request import ChosenSuite, ModelOptions, RunRequest
    from evaluation.core.suite import RecordRequest

_RECORDS = "Records"
_SCORING = "Scoring"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """Which records are asked."""

    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="A file of records, or whatever the suite reads [default: the "
            "suite's own].",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    config: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP",
            help="Only these configs or groups; repeatable.",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    split: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPLIT",
            help="Only these splits; repeatable.",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Only so many records, drawn with the seed.",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    first: Annotated[
        bool,
        typer.Option(
            "--first",
            help="With --limit take the first ones, not a draw.",
            rich_help_panel=_RECORDS,
        ),
    ] = False
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--id",
            metavar="[GROUP/]ID",
            help="Only these records; repeatable.",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    seed: Annotated[
        int,
        typer.Option(min=0, help="Seed of what is drawn.", rich_help_panel=_RECORDS),
    ] = 0

    def request(self) -> RecordRequest:
        """Return the records that are wanted."""
        from curation.download.acquire import FetchSettings
        from evaluation.core.suite import RecordRequest

        return RecordRequest(
            data=self.data,
            fetch=FetchSettings.from_environment(),
            configs=tuple(self.config or ()),
            splits=tuple(self.split or ()),
            limit=self.limit,
            first=self.first,
            only=frozenset(self.only or ()),
            seed=self.seed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How the suite is set, and by which reading."""

    value: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the suite; repeatable. docs/suites.md lists them.",
        ),
    ] = None
    compat: Annotated[
        str,
        typer.Option(
            metavar="[paper]",
            help="paper: as it was published, where that differs.",
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """How scoring is spread, and what one response may cost."""

    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes that score [default: all cores].",
            rich_help_panel=_SCORING,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions:
    """Which models answer, free and under which engines."""

    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="smollm2, a folder, owner/name[@revision] on the Hub, or the URL of a "
            "server; repeatable [default: smollm2].",
            rich_help_panel=MODELS,
        ),
    ] = None
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC",
            help="none answers free; an engine's NAME, NAME==VERSION or file holds the "
            "answer to the record's schema; of a server a way to ask it; repeatable "
            "[default: none].",
            rich_help_panel=MODELS,
        ),
    ] = None
    preset: Annotated[
        str,
        typer.Option(help="Of the engines' options.", rich_help_panel=MODELS),
    ] = "faithful"
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An engine's option over the preset; repeatable.",
            rich_help_panel=MODELS,
        ),
    ] = None
    repairs: Annotated[
        int,
        typer.Option(
            min=0,
            help="How often a failed answer is handed back with the reasons.",
            rich_help_panel=MODELS,
        ),
    ] = 0
    samples: Annotated[
        int,
        typer.Option(min=1, help="Answers to each record.", rich_help_panel=MODELS),
    ] = 1
    temperature: TemperatureOption = 0.0
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Most tokens of an answer [default: the suite's].",
            rich_help_panel=MODELS,
        ),
    ] = None
    batch: Annotated[
        int,
        typer.Option(
            min=1,
            help="Answers written together; of a server asked for at once.",
            rich_help_panel=MODELS,
        ),
    ] = 1
    device: DeviceOption = "auto"
    dtype: DtypeOption = "auto"
    threads: ThreadsOption = 1
    attention: AttentionOption = ""
    compile: CompileOption = "auto"
    answer_seconds: Annotated[
        float,
        typer.Option(min=0.1, help="Deadline of one answer.", rich_help_panel=MODELS),
    ] = 120.0
    patience: PatienceOption = 10.0
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IN/OUT",
            help="What a million tokens cost: one for all models, or one for each.",
            rich_help_panel=MODELS,
        ),
    ] = None

    def models(self, seed: int) -> tuple[ModelOptions, ...]:
        """Return each model with how it writes.

        Raises:
            BadConfiguration: a price is none, or there are too few of them.
        """
        from curation.system.errors import BadConfiguration
        from evaluation.asking.request import ModelOptions

        names = self.model or ["smollm2"]
        prices = [parse_prices(text) for text in self.price or [""]]
        if len(prices) == 1:
            prices *= len(names)
        if len(prices) != len(names):
            raise BadConfiguration(
                f"{len(prices)} prices for {len(names)} models",
                then="give one --price for all, or one for each --model",
            )
        found = []
        for text, price in zip(names, prices, strict=True):
            name, revision = split_revision(text)
            found.append(
                ModelOptions(
                    model=name,
                    revision=revision,
                    device=self.device,
                    dtype=self.dtype,
                    threads=self.threads,
                    attention=self.attention,
                    compile=self.compile,
                    samples=self.samples,
                    temperature=self.temperature,
                    batch=self.batch,
                    budget=self.budget,
                    seed=seed,
                    options=loop_options(
                        "both",
                        forced=False,
                        compile_seconds=40.0,
                        run_seconds=self.answer_seconds,
                    ),
                    prices=price,
                    patience=self.patience,
                )
            )
        return tuple(found)


def chosen_suite(name: str, reading: ReadingOptions) -> ChosenSuite:
    """Return the suite that a command line names, with its settings.

    Raises:
        BadConfiguration: there is no such suite or setting.
    """
    from evaluation.asking.request import choose_suite

    return choose_suite(name, task_values(None, reading.value), reading.compat)


def run_request(  # noqa: PLR0913, PLR0917 (groups of options)
    name: str,
    records: RecordOptions,
    reading: ReadingOptions,
    scoring: ScoringOptions,
    asking: AskingOptions | None,
    run_dir: Path | None,
) -> RunRequest:
    """Return what a run of a suite is asked for.

    Raises:
        BadConfiguration: an option makes no sense.
    """
    from evaluation.asking.request import RunRequest
    from evaluation.core.task_settings import TaskSettings
    from evaluation.walking.engine_worker import Bounds

    asking = asking or AskingOptions()
    return RunRequest(
        suite=chosen_suite(name, reading),
        data=records.data,
        configs=records.config or (),
        splits=records.split or (),
        only=records.only or (),
        limit=records.limit,
        first=records.first,
        settings=TaskSettings(seed=records.seed),
        models=asking.models(records.seed),
        engines=asking.engine or ("none",),
        preset=asking.preset,
        options=asking.option or (),
        bounds=Bounds(run_seconds=asking.answer_seconds),
        repairs=asking.repairs,
        jobs=scoring.jobs,
        run_dir=run_dir,
    )


def name_of_suite(ctx: typer.Context) -> str:
    """Return the suite that the command line names."""
    parent = ctx.parent
    return str(parent.info_name) if parent is not None else ""
