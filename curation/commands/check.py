"""`csbdata check`: schemas across drafts and validators, as a linter would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import typer

from curation.checking.problems import print_annotations
from curation.commands.options import (
    ProblemFormat,
    ProblemFormatOption,
    SourcesArgument,
)
from curation.system.errors import CsbdataError
from curation.system.escaping import safe, shortened
from curation.system.progress import progress_of
from curation.system.tables import plain, table
from curation.system.terminal import print_json, say, say_command, show, stdout
from curation.system.words import command, counted

if TYPE_CHECKING:
    from rich.text import Text

    from curation.checking.schema_check import SchemaReport
    from curation.checking.schema_files import SchemaFile
    from curation.sources.neighbours import NeighbourFiles


def check(
    files: SourcesArgument,
    format_: ProblemFormatOption = ProblemFormat.AUTO,
) -> None:
    """Say what is wrong with schemas, place by place; 1 if anything is.

    \b
    Examples:
      csbdata check person.schema.json
      csbdata check schemas/ --format github

    A line is `file:line:column: pointer: code: message`; docs/codes.md explains the
    codes. A file that is not JSON is a problem too, and the others are checked.
    References to the web and unused definitions are notes and no problems.
    Relative references lead to the files beside it, as in `csbdata build --with
    FOLDER`. Nothing is ever fetched.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    placed, neighbours = _read(files)
    reports = _check(placed, neighbours, format_)
    if format_ is ProblemFormat.AUTO:
        _print(reports)
    else:
        _print_for_programs(reports, format_)
    if any(report.crashed for _, report in reports):
        raise CsbdataError("a rule raised an exception, see the code `crashed` above")
    if any(report.faults for _, report in reports):
        raise typer.Exit(1)


def _read(
    names: Sequence[str],
) -> tuple[list[tuple[SchemaFile, str | None]], NeighbourFiles]:
    """Return each file with its place, and those to which references may lead."""
    from curation.checking.schema_files import place_of, read_schema_files, root_of
    from curation.sources.neighbours import neighbours_of

    files = read_schema_files(names, say)
    root = root_of(files)
    placed = [(file, place_of(file, root)) for file in files]
    contents = {place: file.content for file, place in placed if place is not None}
    return placed, neighbours_of(root, contents)


def _check(
    placed: Sequence[tuple[SchemaFile, str | None]],
    neighbours: NeighbourFiles,
    format_: ProblemFormat,
) -> list[tuple[str, SchemaReport]]:
    from curation.checking.schema_check import SchemaChecker
    from curation.checking.schema_files import STDIN, form_of
    from curation.json.named_text import parse_named
    from curation.sources.tools import request_of

    files = [file for file, _ in placed]
    wants_verdicts = len(files) == 1 or format_ is ProblemFormat.JSON
    progress = progress_of(len(files))
    reports = []
    with (
        SchemaChecker(neighbours) as checker,
        progress.bar("Checking", total=len(files)) as advance,
    ):
        for file, place in placed:
            report = checker.check(file.content, place=place, verdicts=wants_verdicts)
            reports.append((file.name, report))
            advance(1)
    for index, (name, report) in enumerate(reports):
        file = files[index]
        reports[index] = name, replace(report, problems=file.placed(report.problems))
        if report.problems and (file.path or name == STDIN):
            value = parse_named(name, file.content)
            if form := form_of(value):
                say_command("What it holds", command("check", form + name))
            elif held := request_of(value):
                say(f"{name}: {held}")
    return reports


def _print_for_programs(
    reports: Sequence[tuple[str, SchemaReport]], format_: ProblemFormat
) -> None:
    if format_ is ProblemFormat.JSON:
        entries = [{"file": name, **asdict(report)} for name, report in reports]
        print_json({"files": entries})
        return
    problems = [(name, report.problems) for name, report in reports]
    print_annotations(problems)


def _print(reports: Sequence[tuple[str, SchemaReport]]) -> None:
    for name, report in reports:
        if len(reports) == 1:
            _print_verdicts(name, report)
        for problem in report.problems:
            place = f"{safe(name)}:{problem.line}:{problem.column}"
            pointer = safe(problem.pointer or "(root)")
            message = shortened(problem.message, 400)
            line = f"{place}: {pointer}: {problem.code}: {message}"
            show(line)
    count = sum(len(report.faults) for _, report in reports)
    bad = sum(bool(report.faults) for _, report in reports)
    among = f" in {bad:,} of {len(reports):,} files" if len(reports) > 1 else ""
    say(f"{counted(count, 'problem')}{among}")


def _print_verdicts(name: str, report: SchemaReport) -> None:
    from curation.checking.schema_check import VALIDATORS

    if report.dialect:
        valid = ", ".join(report.valid_under) or "none"
        evidence = ", ".join([report.dialect_found or "", *report.dialect_words])
        show(f"{name}: {report.dialect} ({evidence}); valid under {valid}")
    drafts = list(report.verdicts.get("jsonschema", ()))
    if drafts:
        rows = [
            [validator, *(_cell(report, validator, draft) for draft in drafts)]
            for validator in VALIDATORS
        ]
        stdout().print(table(["validator", *drafts], rows))
        _explain_refusals(report)


def _cell(report: SchemaReport, validator: str, draft: str) -> Text:
    from curation.checking.messages import ACCEPTS, GIVES_UP

    verdict = report.verdicts[validator].get(draft)
    if verdict is None:
        return plain("-", "dim")
    if verdict == ACCEPTS:
        return plain(verdict, "green")
    if verdict.startswith(GIVES_UP):
        return plain(GIVES_UP, "dim")
    return plain("refuses", "red" if draft == report.dialect else "")


def _explain_refusals(report: SchemaReport) -> None:
    from curation.checking.messages import ACCEPTS

    for validator, verdicts in report.verdicts.items():
        verdict = verdicts.get(report.dialect or "", ACCEPTS)
        if verdict != ACCEPTS:
            show(f"{validator} under {report.dialect}: {shortened(verdict, 400)}")
