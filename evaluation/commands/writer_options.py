"""The options of `csbdata eval` that say which model writes, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evaluation.commands.eval_options import WorkOptions
    from evaluation.generation.model_options import ModelOptions

#: Heading of the options that only matter where a model writes.
_MODELS = "Models"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterOptions:
    """Which model writes, and how."""

    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="Who writes in coverage and efficiency: smollm2, a folder, "
            "owner/name[@revision] on the Hub, or the URL of a server.",
            rich_help_panel=_MODELS,
        ),
    ] = "smollm2"
    device: Annotated[
        str,
        typer.Option(
            help="auto is a GPU where there is one; cpu, cuda, cuda:1.",
            rich_help_panel=_MODELS,
        ),
    ] = "auto"
    dtype: Annotated[
        str, typer.Option(help="bf16, fp16 or fp32.", rich_help_panel=_MODELS)
    ] = "bf16"
    threads: Annotated[
        int,
        typer.Option(
            min=1, help="Threads of the model on a CPU.", rich_help_panel=_MODELS
        ),
    ] = 1
    prompt: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="sections as the paper's Figure 3, chat for turns, or a file.",
            rich_help_panel=_MODELS,
        ),
    ] = "sections"
    shots: Annotated[
        int,
        typer.Option(min=0, help="Worked examples.", rich_help_panel=_MODELS),
    ] = 2
    samples: Annotated[
        int,
        typer.Option(min=1, help="Texts for each schema.", rich_help_panel=_MODELS),
    ] = 1
    temperature: Annotated[
        float,
        typer.Option(min=0.0, help="0 is greedy.", rich_help_panel=_MODELS),
    ] = 0.0
    batch: Annotated[
        int,
        typer.Option(min=1, help="Texts under way at a time.", rich_help_panel=_MODELS),
    ] = 1
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens of a text [default: by the schema's own witnesses].",
            rich_help_panel=_MODELS,
        ),
    ] = None
    forced: Annotated[
        bool,
        typer.Option(
            "--forced/--no-forced",
            help="Take tokens that are the only way on without asking the model.",
            rich_help_panel=_MODELS,
        ),
    ] = False
    prefix_cache: Annotated[
        bool,
        typer.Option(
            "--prefix-cache/--no-prefix-cache",
            help="Read once what prompts begin with in common, in blocks of 128.",
            rich_help_panel=_MODELS,
        ),
    ] = False
    overlap: Annotated[
        str,
        typer.Option(
            help="What happens beside the model's passes: both, compile, mask, none.",
            rich_help_panel=_MODELS,
        ),
    ] = "both"
    price: Annotated[
        str,
        typer.Option(
            metavar="IN/OUT",
            help="What a server's tokens cost, for a million each.",
            rich_help_panel=_MODELS,
        ),
    ] = ""
    patience: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="MINUTES",
            help="For how long a server may be in trouble without any answer.",
            rich_help_panel=_MODELS,
        ),
    ] = 10.0
    compat: Annotated[
        str,
        typer.Option(
            metavar="[paper]",
            help="As 2501.10868 did: its model, prompt, limits, test split, forced "
            "tokens, 2020-12; what is said beside it holds.",
            rich_help_panel=_MODELS,
        ),
    ] = ""


def model_options(writer: WriterOptions, seed: int, work: WorkOptions) -> ModelOptions:
    """Return which model writes, and how, as `evaluation.run` is asked for it.

    Raises:
        BadConfiguration: an option makes no sense.
    """
    from evaluation.generation.model_options import (
        ModelOptions,
        loop_options,
        parse_prices,
        split_revision,
    )

    name, revision = split_revision(writer.model)
    return ModelOptions(
        model=name,
        revision=revision,
        device=writer.device,
        dtype=writer.dtype,
        threads=writer.threads,
        prompt=writer.prompt,
        shots=writer.shots,
        samples=writer.samples,
        temperature=writer.temperature,
        batch=writer.batch,
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
