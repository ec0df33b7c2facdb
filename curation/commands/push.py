"""`csbdata push`: verify a dataset folder and publish it, whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.dataset.editions import DEFAULT_BUILD
from curation.system.terminal import (
    Format,
    FormatOption,
    log,
    print_json,
    show,
    show_first,
)
from curation.system.words import command, counted

if TYPE_CHECKING:
    from curation.publish.push import PushPreview, PushRequest, PushResult


#: Title of the options on the destination, in the help.
_DESTINATION = "Destination"
#: Files named of each kind before the rest is counted.
_FEW = 20


def push(  # noqa: PLR0913 (one parameter an option)
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The dataset folder.")
    ] = DEFAULT_BUILD,
    repo: Annotated[
        str,
        typer.Option(
            metavar="OWNER/NAME",
            help="The dataset on the Hub.",
            rich_help_panel=_DESTINATION,
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")] = False,
    public: Annotated[
        bool,
        typer.Option(
            "--public",
            help="Make a new repository public.",
            rich_help_panel=_DESTINATION,
        ),
    ] = False,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Push a partial build too.")
    ] = False,
    replace_foreign: Annotated[
        bool,
        typer.Option(
            "--replace-foreign", help="Remove files that belong to no edition."
        ),
    ] = False,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Publish a dataset folder: verified, in one commit, read back, then tagged.

    Readers see the old state or the new one. The same command resumes a push that was
    killed. One commit replaces the present edition; the paper's keeps the tag v1. If
    the repository has foreign files, nothing is sent without --replace-foreign. A new
    repository is private without --public. The token comes from `hf auth login`,
    HF_TOKEN, or a trusted publisher.

    Exits with 65 if the folder does not verify or was read back with other bytes (then
    no tag is set), 69 if the Hub cannot be reached, 73 if there are foreign files,
    75 if another commit came first or the Hub limits the rate, 77 if the token
    may not.

    \b
    Examples:
      csbdata push --repo OWNER/JSONSchemaBench --dry-run
      csbdata push --repo OWNER/JSONSchemaBench --public -y
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.publish.push import PushRequest

    as_json = format_ is Format.JSON
    try:
        request = PushRequest(
            folder=folder,
            repo=repo,
            private=not public,
            allow_partial=allow_partial,
            replace_foreign=replace_foreign,
            jobs=os.cpu_count() or 1,
            transfer_bars=sys.stderr.isatty() and not as_json,
        )
    except ValueError as error:
        # The request contradicts itself.
        raise typer.BadParameter(str(error)) from error
    _push(request, dry_run=dry_run, yes=yes, format_=format_)


def _push(request: PushRequest, *, dry_run: bool, yes: bool, format_: Format) -> None:
    """Push, and print the plan and the result.

    Raises:
        BadParameter: nobody can confirm (exit code 2).
    """
    from curation.publish.push import PushOutcome
    from curation.publish.push import push as push_folder
    from curation.system.errors import CannotCreate
    from curation.system.progress import no_heartbeat, progress_for

    as_json = format_ is Format.JSON
    if not (dry_run or yes) and (as_json or not _interactive()):
        raise typer.BadParameter(
            "no terminal to ask on: use -y to push, or --dry-run to see the plan"
        )

    def confirm(preview: PushPreview) -> bool:
        if not as_json:
            _print_preview(preview)
        if dry_run or yes or preview.plan.nothing:
            return not dry_run
        with no_heartbeat():
            return typer.confirm("Push it?", err=True)

    progress = progress_for(format_)
    result = push_folder(request, confirm=confirm, progress=progress)
    refused = result.outcome is PushOutcome.REFUSED
    if as_json:
        print_json(result.as_json())
    elif refused:
        _print_preview(result.preview)
    else:
        show(_sentence(result))
    if refused:
        options = ["--allow-partial"] if request.allow_partial else []
        options += [] if request.private else ["--public"]
        repo = ("--repo", request.repo, *options, "--replace-foreign")
        raise CannotCreate(
            f"{counted(len(result.preview.plan.foreign), 'file')} of no edition there; "
            "nothing was sent",
            request.repo,
            f"{command('push', request.folder, *repo)} removes what the plan lists",
        )


def _interactive() -> bool:
    return sys.stdin.isatty()


def _sentence(result: PushResult) -> str:
    from curation.publish.push import PushOutcome

    if not result.commit:
        return "Nothing was changed."
    did = "Pushed" if result.outcome is PushOutcome.PUSHED else "There already"
    where = f"{result.preview.request.repo}@{result.commit}"
    parts = [f"{did}, read back and compared: {where}."]
    if result.preview.former_tag:
        parts.append(f"The edition before it is {result.preview.former_tag}.")
    parts.append(f"Tagged {result.tag}." if result.tag else "Not tagged.")
    return " ".join(parts)


def _print_preview(preview: PushPreview) -> None:
    log(preview.headline)
    plan = preview.plan
    if preview.former_tag:
        log(f"The edition there is tagged {preview.former_tag}, then replaced")
    for sign, kind, names in (
        ("+", "added", plan.added),
        ("~", "changed", plan.changed),
        ("-", "deleted", plan.deleted),
        ("!", "of no edition", plan.foreign),
    ):
        if names:
            show(f"{len(names):,} {kind}")
        show_first([f"  {sign} {name}" for name in names], _FEW)
    show(f"{len(plan.unchanged):,} unchanged; {plan.bytes:,} bytes to send")
