"""`csbdata export`: the benchmark in the layouts of others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from curation.commands.options import CommandGroup, path_argument
from curation.dataset.editions import DEFAULT_BUILD
from curation.system.terminal import Format, FormatOption, print_json, show
from curation.system.words import counted

export = typer.Typer(
    name="export",
    cls=CommandGroup,
    help="Write the benchmark in the layout of another program.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Split(StrEnum):
    """A split, as the command line takes it."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"


@export.command()
def maskbench(
    folder: Annotated[
        Path,
        path_argument("DIR", "The folder to write; replaced whole."),
    ],
    data: Annotated[
        Path,
        typer.Option(metavar="BUILD", help="The build to take, made with --instances."),
    ] = DEFAULT_BUILD,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this config; may be repeated."),
    ] = None,
    split: Annotated[
        list[Split] | None, typer.Option(help="Only this split; may be repeated.")
    ] = None,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Write one JSON file a record, as MaskBench reads them: schema and tests.

    The file's name is CONFIG---ID.json. DIR appears whole or not at all; stopped, the
    same command starts again.

    \b
    Examples:
      csbdata export maskbench maskbench/data
      csbdata export maskbench test-set --split test --config Github_easy
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.instances.dataset.records import select_records, write_files
    from curation.system.atomic_files import EXPORTED, atomic_folder
    from curation.system.progress import progress_for

    rows = select_records(data, config or (), split or ())
    with (
        atomic_folder(folder, marker=EXPORTED) as temporary,
        progress_for(format_).bar("Exporting", len(rows)) as advance,
    ):
        (temporary / EXPORTED).touch()
        write_files(data, rows, temporary, advance)
    if format_ is Format.JSON:
        print_json({"folder": str(folder), "files": len(rows)})
        return
    show(f"{counted(len(rows), 'file')} in {folder}")
