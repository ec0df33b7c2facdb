"""`csbdata check`: one schema across drafts and validators, as a linter would."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.system.errors import NoInput
from curation.system.escaping import safe, shortened
from curation.system.terminal import (
    Format,
    FormatOption,
    plain,
    print_json,
    say,
    show,
    stdout,
    table,
)

if TYPE_CHECKING:
    from rich.text import Text

    from curation.pipeline.schema_check import SchemaReport

_STDIN = "-"


def check(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A JSON Schema; - reads stdin.")
    ],
    format_: FormatOption = Format.AUTO,
) -> None:
    """Say what is wrong with one schema, place by place; 1 if anything is.

    Example: csbdata check person.schema.json

    A line is `file:pointer: code: message`. The code is a reason to reject the
    schema, a rule that would change it, or a lint. Nothing is ever fetched.
    """
    from curation.pipeline.schema_check import check as check_schema

    name, content = _read(file)
    report = check_schema(content)
    if format_ is Format.JSON:
        print_json({"file": name, **asdict(report)})
    else:
        _print(name, report)
    if report.problems:
        raise typer.Exit(1)


def _read(file: str) -> tuple[str, bytes]:
    from curation.workers.limits import Limits

    # One byte more than the limit is enough to know that it is exceeded.
    most = Limits().document_bytes + 1
    if file == _STDIN:
        return "<stdin>", sys.stdin.buffer.read(most)
    try:
        with Path(file).open("rb") as stream:
            return file, stream.read(most)
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise NoInput(what, file) from error


def _print(name: str, report: SchemaReport) -> None:
    from curation.pipeline.schema_check import VALIDATORS

    if report.dialect:
        valid = ", ".join(report.valid_under) or "none"
        show(f"{name}: {report.dialect} ({report.dialect_found}); valid under {valid}")
    if report.verdicts:
        drafts = list(report.verdicts["jsonschema"])
        rows = [
            [validator, *(_cell(report, validator, draft) for draft in drafts)]
            for validator in VALIDATORS
        ]
        stdout().print(table(["validator", *drafts], rows))
        _explain_refusals(report)
    for problem in report.problems:
        pointer = safe(problem.pointer or "(root)")
        message = shortened(problem.message, 400)
        line = f"{safe(name)}:{pointer}: {problem.code}: {message}"
        stdout().print(plain(line), soft_wrap=True)
    count = len(report.problems)
    say(f"{count:,} problem{'' if count == 1 else 's'}")


def _cell(report: SchemaReport, validator: str, draft: str) -> Text:
    from curation.pipeline.check_messages import ACCEPTS

    verdict = report.verdicts[validator].get(draft)
    if verdict is None:
        return plain("-", "dim")
    if verdict == ACCEPTS:
        return plain(verdict, "green")
    return plain("refuses", "red" if draft == report.dialect else "")


def _explain_refusals(report: SchemaReport) -> None:
    """Say why a validator refuses the schema under its own draft."""
    from curation.pipeline.check_messages import ACCEPTS

    for validator, verdicts in report.verdicts.items():
        verdict = verdicts.get(report.dialect or "", ACCEPTS)
        if verdict != ACCEPTS:
            show(f"{validator} under {report.dialect}: {shortened(verdict, 400)}")
