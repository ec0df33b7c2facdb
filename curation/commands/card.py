"""`csbdata card`: write or check everything that is computed of a dataset folder."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.system.errors import BadUsage
from curation.system.terminal import Format, FormatOption, print_json, say, show
from curation.system.words import command, counted

if TYPE_CHECKING:
    from curation.packaging.manifest import BuildFacts

#: Title of the options on publication, in the help.
_PLACE = "Publication, kept in the manifest"
#: Forms of the places of publication.
_FORMS = {
    "repository": re.compile(r"[\w.-]+/[\w.-]+", re.ASCII),
    "doi": re.compile(r"10\.[0-9]{4,9}/[\w.:;()/-]+", re.ASCII),
    "code": re.compile(r"https://[\w.~/%#?=&+@:-]+", re.ASCII),
}


def card(  # noqa: PLR0913 (one parameter an option)
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A folder that csbdata built.")
    ] = Path("build/JSONSchemaBench"),
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if anything differs.")
    ] = False,
    repo: Annotated[
        str,
        typer.Option(
            metavar="OWNER/NAME",
            help="Its repository on the Hub.",
            rich_help_panel=_PLACE,
        ),
    ] = "",
    doi: Annotated[
        str, typer.Option(help="Its DOI, 10.PREFIX/SUFFIX.", rich_help_panel=_PLACE)
    ] = "",
    code: Annotated[
        str,
        typer.Option(
            help="Address of the code, such as https://github.com/OWNER/NAME",
            rich_help_panel=_PLACE,
        ),
    ] = "",
    format_: FormatOption = Format.AUTO,
) -> None:
    """Write the card of a built folder anew, from its rows, ledger and manifest.

    With the card come LICENSE and LICENSES/, plots/, the counts and
    digests of manifest.json, and SHA256SUMS: the same bytes as the build wrote, if
    nothing else has changed. Rows and ledger are only read. --repo, --doi and --code
    are stored in the manifest, and stand in the card from then on.

    \b
    Examples:
      csbdata card
      csbdata card --check
      csbdata card --repo OWNER/JSONSchemaBench build/JSONSchemaBench
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.packaging.derived_files import differing_files, rebuild
    from curation.system.atomic_files import writing

    if check:
        _print_check(folder, differing_files(folder), format_)
        return
    place = {"repository": repo, "doi": doi, "code": code}
    facts = _facts(folder, {name: text for name, text in place.items() if text})
    with writing(folder):
        written = rebuild(folder, facts)
    if format_ is Format.JSON:
        print_json({"folder": str(folder), "written": sorted(written)})
    else:
        show("\n".join(sorted(written)))
        say(f"{counted(len(written), 'file')} written in {folder}")


def _facts(folder: Path, place: dict[str, str]) -> BuildFacts:
    """Return a folder's facts, with some of its places of publication changed.

    Raises:
        BadUsage: a value has not the form that it must have.
    """
    from msgspec.structs import replace as with_fields

    from curation.dataset.summary import Publication
    from curation.packaging.manifest import read_facts

    for name, text in place.items():
        if not _FORMS[name].fullmatch(text):
            option = "repo" if name == "repository" else name
            raise BadUsage("has not the form of its option", text, f"see --{option}")
    facts = read_facts(folder)
    if not place:
        return facts
    old = facts.publication
    publication = old if isinstance(old, Publication) else Publication()
    return with_fields(facts, publication=replace(publication, **place))


def _print_check(folder: Path, names: list[str], format_: Format) -> None:
    """Print the files that differ.

    Raises:
        Exit: with 1, if any does.
    """
    if format_ is Format.JSON:
        print_json({"folder": str(folder), "differing": names})
    elif names:
        show("\n".join(names))
    if names:
        differing = counted(len(names), "file")
        text = f"not as the data says: {differing}. {command('card', folder)}"
        say(text, style="red")
        raise typer.Exit(1)
    say(f"The card and all that comes with it follow from the data of {folder}")
