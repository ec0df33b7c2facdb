"""`csbdata check`: what is wrong with schemas, as a linter says it."""

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
from curation.system.terminal import print_json, say, show
from curation.system.words import counted

if TYPE_CHECKING:
    from curation.checking.report import SchemaReport


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
    reports = _check(files)
    if format_ is ProblemFormat.JSON:
        entries = [{"file": name, **asdict(report)} for name, report in reports]
        print_json({"files": entries})
    elif format_ is ProblemFormat.GITHUB:
        print_annotations([(name, report.problems) for name, report in reports])
    else:
        _print(reports)
    if any(report.crashed for _, report in reports):
        raise CsbdataError("a rule raised an exception, see the code `crashed` above")
    if any(report.faults for _, report in reports):
        raise typer.Exit(1)


def _check(names: Sequence[str]) -> list[tuple[str, SchemaReport]]:
    """Return the name of each file with its report; print what else to check."""
    from curation.checking.schema_check import SchemaChecker
    from curation.checking.schema_files import (
        place_of,
        read_schema_files,
        root_of,
    )
    from curation.sources.neighbours import neighbours_of

    files = read_schema_files(names, say)
    root = root_of(files)
    places = [place_of(file, root) for file in files]
    contents = {
        place: file.content
        for file, place in zip(files, places, strict=True)
        if place is not None
    }
    progress = progress_of(len(files))
    reports = []
    with (
        SchemaChecker(neighbours_of(root, contents)) as checker,
        progress.bar("Checking", total=len(files)) as advance,
    ):
        for file, place in zip(files, places, strict=True):
            report = checker.check(file.content, place=place)
            placed = replace(report, problems=file.placed(report.problems))
            reports.append((file.name, placed))
            advance(1)
    return reports


def _print(reports: Sequence[tuple[str, SchemaReport]]) -> None:
    for name, report in reports:
        if len(reports) == 1 and report.dialect:
            valid = ", ".join(report.valid_under) or "none"
            evidence = ", ".join([report.dialect_found or "", *report.dialect_words])
            show(f"{name}: {report.dialect} ({evidence}); valid under {valid}")
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
