"""`csbdata verify`: check a dataset folder whole."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.dataset.editions import DEFAULT_BUILD
from curation.system.errors import Unavailable
from curation.system.terminal import (
    Format,
    FormatOption,
    log,
    print_json,
    show_first,
    stdout,
    table,
)
from curation.system.words import command, counted, plain

if TYPE_CHECKING:
    from curation.verification import Verification


#: Findings of a check printed for people.
_LISTED = 10


def verify(
    where: Annotated[
        str,
        typer.Argument(
            metavar="[DIR|REPO]",
            help="A built folder, or a dataset on the Hub: owner/name[@revision].",
        ),
    ] = str(DEFAULT_BUILD),
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Judge and make every instance again, and not a sample."
        ),
    ] = False,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Verify a dataset folder, or a dataset on the Hub, before it is published.

    Every config and split is opened with `datasets`, offline; digests, schemas and
    ledger are checked, tables and card written again, instances judged by both
    validators, and texts searched for credentials. A folder on the Hub is downloaded
    first. Nothing is changed.

    \b
    Exit codes:
      0   all is well; notes are worth knowing
      1   everything was read, and a check failed
      65  something cannot be read at all: a table, the manifest
      66  no such folder or repository, or no build in it
      69  the Hub cannot be reached, or a program is missing that a check needs
          (the others are reported)
      75  the Hub is busy   77  the Hub denies access

    \b
    Examples:
      csbdata verify
      csbdata verify --all
      csbdata verify build/JSONSchemaBench --format json
      csbdata verify epfl-dlab/JSONSchemaBench@2026.11.28
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.publish.verify import verify as verify_dataset
    from curation.system.progress import progress_for

    verification = verify_dataset(
        where,
        jobs=os.cpu_count() or 1,
        whole=everything,
        progress=progress_for(format_),
    )
    if format_ is Format.JSON:
        print_json(
            {
                "verified": where,
                "ok": verification.exit_code == 0,
                "partial": verification.partial,
                "exit_code": verification.exit_code,
                "counted": dict(verification.counted),
                "checks": {**_questions(verification)},
                "nonce": verification.nonce,
                "findings": [asdict(finding) for finding in verification.findings],
            }
        )
    else:
        _print(where, verification)
    if verification.exit_code:
        raise typer.Exit(verification.exit_code)


def _questions(verification: Verification) -> dict[str, str]:
    """Return the question of each check; reading everything comes first."""
    from curation.verification.check import READABLE

    return {READABLE: "can everything be read?", **verification.questions}


def _print(where: str, verification: Verification) -> None:
    rows = []
    for name, question in _questions(verification).items():
        failures = [
            failure for failure in verification.failures if failure.check == name
        ]
        notes = [note for note in verification.notes if note.check == name]
        verdict = plain("ok", "green")
        if failures:
            verdict = plain("failed", "red")
        elif any(note.not_run for note in notes):
            verdict = plain("not run", "yellow")
        rows.append([name, verdict, len(failures), len(notes), question])
        show_first([*map(str, failures)], _LISTED, "red")
        show_first([*map(str, notes)], _LISTED)
    stdout().print(
        table(["check", "", "failures", "notes", "asks"], rows, numbers=(2, 3))
    )
    totals = verification.counted.items()
    log(", ".join(counted(number, noun) for noun, number in totals))
    if verification.nonce:
        log(f"instances: a sample (nonce {verification.nonce}); --all judges every one")
    _conclude(where, verification)


def _conclude(where: str, verification: Verification) -> None:
    if verification.partial:
        log(f"{where} is a partial build, and says so.", style="yellow")
    if verification.exit_code == Unavailable.exit_code:
        log("No check failed, but one was not run: see above.", style="yellow")
        return
    if not verification.failures:
        partial = ("--allow-partial",) if verification.partial else ()
        push = command("push", where, "--repo", "OWNER/NAME", *partial, "--dry-run")
        hint = f" Next: {push}" if Path(where).exists() else ""
        log(f"{where} is fine.{hint}")
        return
    checks = {failure.check for failure in verification.failures}
    hint = "csbdata build makes a sound one."
    if "texts" in checks:
        hint = "Publish nothing before the credential is revoked and the text gone."
    elif checks <= {"derived", "digests"} and Path(where).is_dir():
        hint = f"If the data is as it should be: {command('card', where)}"
    log(f"{counted(len(verification.failures), 'failure')}. {hint}")
