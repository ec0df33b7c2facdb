"""`csbdata card`: write or check everything that is computed of a dataset folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.system.terminal import Format, FormatOption, print_json, say, show


def card(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A folder that csbdata built.")
    ] = Path("build/JSONSchemaBench"),
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit 1 if anything differs."),
    ] = False,
    eval_yaml: Annotated[
        bool,
        typer.Option(
            "--eval-yaml",
            help="Also the Hub's eval.yaml; from then on it is kept with the rest.",
        ),
    ] = False,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Write the card of a built folder anew, from its rows, ledger and manifest.

    With the card come LICENSE and LICENSES/, plots/, croissant.json, the counts and
    digests of manifest.json, and SHA256SUMS: the same bytes as the build wrote, if
    nothing else has changed. Rows and ledger are only read.

    \b
    Examples:
      csbdata card
      csbdata card --check build/JSONSchemaBench
      csbdata card --eval-yaml build/JSONSchemaBench
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.packaging.derived_files import differing_files, rebuild
    from curation.system.atomic_files import cannot_write

    if check:
        _print_check(folder, differing_files(folder, eval_yaml_too=eval_yaml), format_)
        return
    try:
        written = rebuild(folder, eval_yaml_too=eval_yaml)
    except OSError as error:
        raise cannot_write(folder, error) from error
    if format_ is Format.JSON:
        print_json({"folder": str(folder), "written": sorted(written)})
    else:
        show("\n".join(sorted(written)))
        say(f"{len(written)} files written in {folder}")


def _print_check(folder: Path, names: list[str], format_: Format) -> None:
    """Print what differs.

    Raises:
        Exit: with 1, if anything does.
    """
    if format_ is Format.JSON:
        print_json({"folder": str(folder), "differing": names})
    elif names:
        show("\n".join(names))
    if names:
        say(
            f"{len(names)} files are not what the data of {folder} give: "
            f"csbdata card {folder}",
            style="red",
        )
        raise typer.Exit(1)
    say(f"The card and all that comes with it follow from the data of {folder}")
