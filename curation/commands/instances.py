"""`csbdata instances`: witnesses and near misses of schemas, grades, and figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.dataset.editions import DEFAULT_BUILD
from curation.system.errors import BadData, NoInput
from curation.system.escaping import shortened
from curation.system.tables import table
from curation.system.terminal import Format, FormatOption, print_json, say, show, stdout

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.dataset.grade_files import GradedSchema, GradingFigures
    from curation.instances.dataset.make_instances import SchemaInstances
    from curation.instances.dataset.worker import InstanceRequest
    from curation.sources.neighbours import NeighbourFiles

_SHOWN = 400
_MOST_DIFFERENCES = 20
#: Characters of a source expression that no id has.
_SOURCE_MARKS = frozenset(":@")
_MAKE, _CHECK = "Witnesses and near misses", "Grading"


def instances(  # noqa: PLR0913 (one parameter an option)
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE|ID]",
            help="Schemas (a file, a folder, openapi:FILE, tools:FILE, ...; - reads "
            "stdin), or the id of a record (config/id); with --report a build.",
        ),
    ] = None,
    *,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of random choices.", rich_help_panel=_MAKE)
    ] = 0,
    build: Annotated[
        Path,
        typer.Option(
            "--in", metavar="DIR", help="The build with ID.", rich_help_panel=_MAKE
        ),
    ] = DEFAULT_BUILD,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Grade instances made elsewhere: JSON Lines, a MaskBench file, or a "
            "folder of those.",
            rich_help_panel=_CHECK,
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Print the figures of a build made with --instances.",
            rich_help_panel="Figures",
        ),
    ] = False,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Make witnesses and near misses of schemas, or look at those of a build.

    A line is the instance's kind, the keyword that refuses it and where, and its
    text. Exits with 1 if a schema has no witness, or if a graded instance is not
    what its label says. Nothing is ever fetched.

    \b
    Examples:
      csbdata instances person.schema.json
      csbdata instances my_schemas/ --format json
      csbdata instances openapi:api.yaml
      csbdata instances Github_easy/o13947
      csbdata instances --check theirs.jsonl
      csbdata instances --check maskbench/data/
      csbdata instances --report build/JSONSchemaBench

    --check takes lines with unique_id or json_schema, text or data, and valid where
    it is known.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    if report:
        _report(Path(target) if target else build, format_)
    elif check is not None:
        _check(check, build, format_)
    elif target is not None:
        _make(target, build, seed, format_)
    else:
        raise typer.BadParameter("give SOURCE or ID, --check or --report")


def _make(target: str, build: Path, seed: int, format_: Format) -> None:
    from curation.instances.dataset.worker import InstanceRequest, witnesses_of_each

    schemas, neighbours = _schemas_of(target, build)
    printed: list[Json] = []
    complete = bool(schemas)
    requests = [it for it in schemas.values() if isinstance(it, InstanceRequest)]
    results = witnesses_of_each(requests, seed, neighbours)
    for name, schema in schemas.items():
        result = next(results) if isinstance(schema, InstanceRequest) else schema
        complete = complete and bool(result.instances)
        if format_ is Format.JSON:
            printed.append({"schema": name, **result.to_json()})
        else:
            _print_made(name, result)
    if format_ is Format.JSON:
        print_json(printed[0] if len(printed) == 1 else printed)
    if not complete:
        raise typer.Exit(1)


def _schemas_of(
    target: str, build: Path
) -> tuple[dict[str, InstanceRequest | SchemaInstances], NeighbourFiles | None]:
    """Return the schemas of a source, or a record, by name, and the files beside them.

    Among several, one that is no schema has its result.
    An existing file or folder comes before a record of that id.

    Raises:
        NoInput: there is neither.
        BadData: the only one is no schema.
    """
    from curation.checking.schema_files import STDIN, why_no_schema
    from curation.instances.dataset.make_instances import SchemaInstances
    from curation.instances.dataset.worker import InstanceRequest
    from curation.json.named_text import parse_named
    from curation.lint.satisfiability import Satisfiability
    from curation.sources.local import open_source, require_files
    from curation.sources.neighbours import base_uri_of, neighbours_of

    target = STDIN if target == "-" else target
    path = Path(target)
    if path.exists() or not _SOURCE_MARKS.isdisjoint(target):
        source = open_source(target, say)
        if unread := require_files(source):
            say(unread)
        contents = {text.place: text.read() for text in source.texts()}
        requests: dict[str, InstanceRequest | SchemaInstances] = {}
        for place, content in contents.items():
            name = target if len(contents) == 1 else place
            named = str(path / place) if path.is_dir() else target
            why = why_no_schema(named, parse_named(place, content))
            if why is not None and len(contents) == 1:
                raise BadData(f"{why.reason}: {why.detail}", target)
            if why is not None:
                requests[name] = SchemaInstances(
                    answer=Satisfiability.UNKNOWN, reason=why.reason, detail=why.detail
                )
                continue
            requests[name] = InstanceRequest(
                schema=content.decode("utf-8-sig"),
                dialect="",
                base_uri=base_uri_of(place) if source.has_files else None,
            )
        if source.path is None or not source.has_files:
            return requests, None
        root = source.path if source.path.is_dir() else source.path.parent
        return requests, neighbours_of(root, contents)
    # No id ends like that, so that a file is meant.
    if path.suffix == ".json" or path.is_absolute():
        raise NoInput("no such file", target)
    from curation.instances.dataset.records import Records

    record = Records(build).one(target)
    request = InstanceRequest(schema=record.schema, dialect=record.dialect)
    return {target: request}, None


def _print_made(target: str, result: SchemaInstances) -> None:
    show(f"{target}: {result.answer}  {result.dialect}".rstrip(), style="bold")
    why = ": ".join(filter(None, (result.reason, result.detail)))
    if why:
        show(f"  {shortened(why, _SHOWN)}")
    for row in result.instances:
        where = f"  {row.keyword}" if row.keyword else ""
        if row.schema_pointer:
            where += f" at {row.schema_pointer}"
        if row.keyword:
            where += f" for {row.instance_pointer or 'the root'}"
        show(f"{row.kind}{where}", style="green" if row.valid else "yellow")
        show(f"  {shortened(row.text, _SHOWN)}")


def _check(file: Path, build: Path, format_: Format) -> None:
    from curation.instances.dataset.grade_files import (
        count_grades,
        grade_all,
        read_schemas_to_grade,
    )
    from curation.instances.dataset.records import Records
    from curation.system.progress import Quiet, Shown

    questions = read_schemas_to_grade(file, Records(build))
    progress = Quiet() if format_ is Format.JSON else Shown()
    with progress.bar("Grading", len(questions)) as advance:
        answers = grade_all(questions, jobs=os.cpu_count() or 1, progress=advance)
    figures = count_grades(answers)
    if format_ is Format.JSON:
        print_json(
            {
                **asdict(figures),
                "agreement": figures.agreement,
                "schemas_graded": [_as_json(schema) for schema in answers],
            }
        )
    else:
        _print_check(answers, figures)
    if figures.agreeing < figures.labelled:
        raise typer.Exit(1)


def _as_json(answers: GradedSchema) -> Json:
    schema = answers.schema
    return {
        "config": schema.config,
        "unique_id": schema.unique_id,
        "dialect": answers.graded.dialect,
        "error": answers.graded.error,
        "instances": [
            {**asdict(instance), **asdict(grade)}
            for instance, grade in zip(
                schema.instances, answers.graded.grades, strict=False
            )
        ],
    }


def _print_check(answers: Sequence[GradedSchema], figures: GradingFigures) -> None:
    printed = 0
    for schema in answers:
        for instance, grade in schema.differing():
            printed += 1
            if printed > _MOST_DIFFERENCES:
                break
            label = "valid" if instance.valid else "invalid"
            place = f"{grade.keyword} at {grade.schema_pointer or 'the root'}"
            why = f"refused for {place}" if grade.keyword else "accepted"
            name = f"{schema.schema.config}/{schema.schema.unique_id}".strip("/")
            show(f"{name}: labelled {label}, {why}")
            show(f"  {shortened(instance.text, _SHOWN)}")
    differing = figures.labelled - figures.agreeing
    if differing > _MOST_DIFFERENCES:
        say(f"... and {differing - _MOST_DIFFERENCES:,} more (--format json)")
    both = figures.judged_by_both
    rows = [
        ("schemas", f"{figures.schemas:,}", ""),
        ("  that cannot be judged", *_of(figures.unusable, figures.schemas)),
        ("  with an accepted instance", *_of(figures.with_valid, figures.schemas)),
        ("instances", f"{figures.instances:,}", ""),
        ("  whose label agrees", *_of(figures.agreeing, figures.labelled)),
        ("  on which validators differ", *_of(figures.disputed, both)),
        ("  refused for one keyword", *_of(figures.single, figures.refused)),
    ]
    stdout().print(table(("", "count", "of"), rows, numbers=(1, 2)))


def _of(count: int, total: int) -> tuple[str, str]:
    share = f" ({100 * count / total:.2f} %)" if total else ""
    return f"{count:,}", f"{total:,}{share}"


def _report(build: Path, format_: Format) -> None:
    from curation.instances.dataset.report import (
        HEADERS,
        as_json,
        cost_lines,
        given_lines,
        report_of,
        rows_of,
    )

    report = report_of(build)
    if format_ is Format.JSON:
        print_json(as_json(report))
        return
    stdout().print(table(HEADERS, list(rows_of(report)), numbers=(2, 5, 7, 8)))
    for name, reason, detail in report.without[:_MOST_DIFFERENCES]:
        show(f"{name}: {reason}: {shortened(detail, _SHOWN)}")
    if len(report.without) > _MOST_DIFFERENCES:
        remaining = len(report.without) - _MOST_DIFFERENCES
        say(f"... and {remaining:,} more without a witness (--format json)")
    for line in (*given_lines(report), *cost_lines(report)):
        show(line)
