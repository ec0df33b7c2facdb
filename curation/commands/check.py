"""`csbdata check`: problems of schemas, as a linter reports them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import typer
from msgspec.structs import replace

from curation.checking.report import SchemaReport
from curation.commands.annotations import print_annotations
from curation.commands.options import (
    ProblemFormat,
    ProblemFormatOption,
    SourcesArgument,
)
from curation.core.problems import NOTE
from curation.system.errors import CsbdataError, NoInput
from curation.system.progress import make_progress
from curation.system.terminal import log, print_json, show
from curation.system.words import counted, safe, shortened

if TYPE_CHECKING:
    from curation.sources.schema_files import SchemaFile


def check(
    files: SourcesArgument,
    format_: ProblemFormatOption = ProblemFormat.AUTO,
) -> None:
    """Find mistakes in schemas, each with its line; exits with 1 if there are any.

    \b
    Examples:
      csbdata check person.schema.json
      csbdata check schemas/ --format github

    A file is a schema, an OpenAPI description, a list of tools or a request, in JSON or
    YAML; all schemas in it are checked where they are written. A line is
    `file:line:column: pointer: code: message`; docs/codes.md explains the codes. A file
    that is not JSON is a problem too, and the others are checked. References to the
    web, unused definitions and words that no validator reads are notes and no problems.
    Relative references lead to the files next to it, as in `csbdata build --with
    FOLDER`. Nothing is ever fetched. `--format json` adds each file's dialect and the
    drafts under which it is valid.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    reports, lost = _check(files)
    if format_ is ProblemFormat.JSON:
        entries = [
            {"file": name, **msgspec.to_builtins(report)} for name, report in reports
        ]
        print_json({"files": entries})
    elif format_ is ProblemFormat.GITHUB:
        print_annotations([(name, report.problems) for name, report in reports])
    else:
        _print(reports)
    if lost:
        raise lost[0]
    if any(report.crashed for _, report in reports):
        raise CsbdataError("a rule raised an exception, see the code `crashed` above")
    if any(report.faults for _, report in reports):
        raise typer.Exit(1)


def _check(
    names: Sequence[str],
) -> tuple[list[tuple[str, SchemaReport]], list[NoInput]]:
    """Return the name of each file with its report, and what cannot be read.

    Raises:
        NoInput: nothing can be read.
    """
    # Imports here are not repeated in the forked child.
    import curation.checking.check_worker  # noqa: F401 (loaded before the fork)
    from curation.checking.schema_check import SchemaChecker
    from curation.sources.schema_files import (
        WHOLE,
        read_schema_files,
        with_neighbours,
    )

    by_path: dict[Path | str, SchemaFile] = {}
    lost: list[NoInput] = []
    for name in names:
        try:
            files = read_schema_files([name], log, split=False)
        except NoInput as error:
            lost.append(error)
        else:
            by_path |= {
                file.name if file.entry is not WHOLE else file.path or file.name: file
                for file in files
            }
    files = list(by_path.values())
    if not files:
        raise lost[0]
    for fault in lost[1:]:
        log(str(fault))
    places, neighbours = with_neighbours(files)
    progress = make_progress(len(files))
    reports = []
    with (
        SchemaChecker(neighbours, forked=True) as checker,
        progress.bar("Checking", total=len(files)) as advance,
    ):
        for file, place in zip(files, places, strict=True):
            report = checker.check(file.content, path=place)
            placed = replace(report, problems=file.placed(report.problems))
            reports.append((file.name, placed))
            advance(1)
    return reports, lost


#: What `dialect_found` is in the words of a reader.
_EVIDENCE: Final = {
    "prior": "assumed",
    "words": "by its keywords",
    "mixed": "mixed drafts",
    "upgraded": "converted from draft-03",
    "fitting": "the declared draft does not fit",
}


def _print(reports: Sequence[tuple[str, SchemaReport]]) -> None:
    count = sum(len(report.faults) for _, report in reports)
    bad = sum(bool(report.faults) for _, report in reports)
    answer = counted(count, "problem") if count else "no problems"
    if len(reports) > 1:
        among = f"{bad:,} of {len(reports):,}" if count else f"{len(reports):,}"
        # Models of a module and rows of a table are no files.
        are_files = all(Path(name).exists() for name, _ in reports)
        answer += f" in {among} {'files' if are_files else 'schemas'}"
    elif dialect := reports[0][1].dialect:
        evidence = str(reports[0][1].dialect_found)
        answer += f"; read as {dialect} ({_EVIDENCE.get(evidence, evidence)})"
    show(answer)
    for name, report in reports:
        for problem in report.problems:
            line = f"{safe(problem.file or name)}:{problem.line}:{problem.column}"
            pointer = safe(problem.pointer or "(root)")
            note = "note: " if problem.level == NOTE else ""
            message = shortened(problem.message, 400)
            show(f"{line}: {pointer}: {problem.code}: {note}{message}")
