"""The options of `csbdata eval` that say which model writes, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

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
    parse_batch,
    parse_prices,
    split_revision,
)

if TYPE_CHECKING:
    from evaluation.asking.request import ModelOptions
    from evaluation.commands.eval_options import WorkOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterOptions:
    """Which model writes, and how."""

    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="Who writes in coverage and efficiency: smollm2, a folder, "
            "owner/name[@revision] on the Hub, shape:NAME with random weights, or the "
            "URL of a server.",
            rich_help_panel=MODELS,
        ),
    ] = "smollm2"
    device: DeviceOption = "auto"
    dtype: DtypeOption = "auto"
    threads: ThreadsOption = 1
    attention: AttentionOption = ""
    compile: CompileOption = "auto"
    samples: Annotated[
        int,
        typer.Option(min=1, help="Texts for each schema.", rich_help_panel=MODELS),
    ] = 1
    temperature: TemperatureOption = 0.0
    batch: Annotated[
        str,
        typer.Option(
            metavar="N|auto",
            help="Texts under way at a time; auto is as many as fit into memory.",
            rich_help_panel=MODELS,
        ),
    ] = "1"
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens of a text [default: by the schema's own witnesses].",
            rich_help_panel=MODELS,
        ),
    ] = None
    forced: Annotated[
        bool,
        typer.Option(
            "--forced/--no-forced",
            help="Take tokens that are the only way on without asking the model.",
            rich_help_panel=MODELS,
        ),
    ] = False
    prefix_cache: Annotated[
        bool,
        typer.Option(
            "--prefix-cache/--no-prefix-cache",
            help="Read once what prompts begin with in common, in blocks of 128.",
            rich_help_panel=MODELS,
        ),
    ] = False
    overlap: Annotated[
        str,
        typer.Option(
            help="What happens beside the model's passes: both, compile, mask, none.",
            rich_help_panel=MODELS,
        ),
    ] = "both"
    price: Annotated[
        str,
        typer.Option(
            metavar="IN/OUT",
            help="What a server's tokens cost, for a million each.",
            rich_help_panel=MODELS,
        ),
    ] = ""
    patience: PatienceOption = 10.0
    compat: Annotated[
        str,
        typer.Option(
            metavar="[paper]",
            help="As 2501.10868 did: its model, prompt, limits, test split, forced "
            "tokens, 2020-12; what is said beside it holds.",
            rich_help_panel=MODELS,
        ),
    ] = ""


def model_options(writer: WriterOptions, seed: int, work: WorkOptions) -> ModelOptions:
    """Return which model writes, and how, as `evaluation.run` is asked for it.

    Raises:
        BadConfiguration: an option makes no sense.
    """
    from evaluation.asking.request import ModelOptions

    name, revision = split_revision(writer.model)
    return ModelOptions(
        model=name,
        revision=revision,
        device=writer.device,
        dtype=writer.dtype,
        threads=writer.threads,
        attention=writer.attention,
        compile=writer.compile,
        samples=writer.samples,
        temperature=writer.temperature,
        batch=parse_batch(writer.batch),
        budget=writer.budget,
        seed=seed,
        options=loop_options(
            writer.overlap,
            forced=writer.forced,
            prefix_cache=writer.prefix_cache,
            compile_seconds=work.compile_seconds,
            run_seconds=work.run_seconds,
        ),
        memory_mb=work.memory,
        patience=writer.patience,
        prices=parse_prices(writer.price),
    )
