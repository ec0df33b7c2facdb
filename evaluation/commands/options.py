"""Options that `csbdata eval` and `csbdata suite` share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from curation.credentials import redacted

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
