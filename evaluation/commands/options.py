"""Options that `csbdata eval` and `csbdata suite` share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from curation.credentials import redacted
from curation.system.errors import BadConfiguration
from evaluation.generation.requests import AUTO_BATCH, TokenPrices
from evaluation.generation.text_generation import LoopOptions

#: Heading of the options that only matter where a model writes.
MODELS: Final = "Models"


def local_path(text: str) -> Path:
    """Return a path on this machine: a URL would become a folder named `s3:`.

    Raises:
        BadParameter: it is a URL (exit 2).
    """
    if "://" in text:
        raise typer.BadParameter(f"a path on this machine, not {redacted(text)}")
    return Path(text)


#: The folder of a run: its rows, and everything from which it is continued.
RunFolderOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The run's folder [default: runs/...].",
        parser=local_path,
    ),
]
#: Where a model is run.
DeviceOption = Annotated[
    str,
    typer.Option(
        help="auto is a GPU where there is one; cpu, cuda, cuda:1.",
        rich_help_panel=MODELS,
    ),
]
#: The numbers that a model computes with.
DtypeOption = Annotated[
    str,
    typer.Option(
        help="bf16, fp16 or fp32; auto is bf16 on a GPU, fp32 on a CPU.",
        rich_help_panel=MODELS,
    ),
]
#: How many cores a model takes where there is no GPU.
ThreadsOption = Annotated[
    int,
    typer.Option(min=1, help="Threads of the model on a CPU.", rich_help_panel=MODELS),
]
#: What computes attention.
AttentionOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What computes attention: eager, sdpa, flash_attention_2, ... [default: "
        "transformers' choice].",
        rich_help_panel=MODELS,
    ),
]
#: How a step of decoding is kept.
CompileOption = Annotated[
    str,
    typer.Option(
        metavar="KIND",
        help="How a step of decoding is kept: graphs, compile, none; auto is graphs "
        "on a GPU, none on a CPU.",
        rich_help_panel=MODELS,
    ),
]
#: How tokens are drawn.
TemperatureOption = Annotated[
    float, typer.Option(min=0.0, help="0 is greedy.", rich_help_panel=MODELS)
]
#: When a server that gives no answer is given up.
PatienceOption = Annotated[
    float,
    typer.Option(
        min=0.0,
        metavar="MINUTES",
        help="For how long a server may be in trouble without any answer.",
        rich_help_panel=MODELS,
    ),
]
#: What of compile and masks happens beside the model's passes.
_OVERLAPS: Final = {
    "both": (True, True),
    "compile": (True, False),
    "mask": (False, True),
    "none": (False, False),
}


def split_revision(model: str) -> tuple[str, str | None]:
    """Return a model's name, and the revision that follows an `@`.

    Example:
        >>> split_revision("owner/name@main")
        ('owner/name', 'main')
    """
    if model.startswith(("http://", "https://")) or Path(model).exists():
        return model, None
    name, _, revision = model.partition("@")
    return name, revision or None


def parse_batch(text: str) -> int:
    """Return a size of batches: a number above 0, or `AUTO_BATCH` for `auto`.

    Raises:
        BadConfiguration: the text is neither.
    """
    if text == "auto":
        return AUTO_BATCH
    if not (text.isdecimal() and int(text)):
        raise BadConfiguration(f"--batch takes a number above 0, or auto, not {text!r}")
    return int(text)


def parse_prices(text: str) -> TokenPrices | None:
    """Return prices given as `PROMPT/OUTPUT`, for a million tokens each.

    Raises:
        BadConfiguration: the text is no such pair of numbers.
    """
    if not text:
        return None
    first, _, second = text.partition("/")
    try:
        prices = TokenPrices(prompt=float(first), output=float(second))
    except ValueError:
        raise BadConfiguration(
            f"--price takes PROMPT/OUTPUT for a million tokens, not {text!r}"
        ) from None
    return prices


def loop_options(
    overlap: str,
    *,
    forced: bool,
    compile_seconds: float,
    run_seconds: float,
    prefix_cache: bool = False,
) -> LoopOptions:
    """Return how the generation loop is to work.

    Args:
        overlap: What happens beside the model's passes: `both`, `compile`, `mask` or
            `none`.
        forced: Whether tokens that are the only way on are taken unasked.
        compile_seconds: Deadline of one compile.
        run_seconds: Deadline of everything after it.
        prefix_cache: Whether what prompts begin with in common is read once.

    Raises:
        BadConfiguration: there is no such overlap.
    """
    if overlap not in _OVERLAPS:
        raise BadConfiguration(f"--overlap {overlap!r}: say {', '.join(_OVERLAPS)}")
    compiles, masks = _OVERLAPS[overlap]
    return LoopOptions(
        overlap_compile=compiles,
        overlap_mask=masks,
        forced=forced,
        prefix_cache=prefix_cache,
        compile_seconds=compile_seconds,
        run_seconds=run_seconds,
    )
