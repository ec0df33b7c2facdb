"""`csbdata instances`: witnesses and near misses of schemas."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from curation.dataset.editions import DEFAULT_BUILD
from curation.system.errors import BadData, NoInput
from curation.system.terminal import Format, FormatOption, log, print_json, show
from curation.system.words import shortened

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.dataset.make_instances import SchemaInstances
    from curation.instances.dataset.worker import InstanceRequest
    from curation.sources.neighbours import NeighbourFiles

_SHOWN = 400


def instances(
    target: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE|ID",
            help="Schemas (a file, a folder, FILE#NAME, MODULE:MODEL, ...; - reads "
            "stdin), or the id of a record (config/id).",
        ),
    ],
    *,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random choices.")] = 0,
    build: Annotated[
        Path,
        typer.Option("--in", metavar="DIR", help="The build with ID."),
    ] = DEFAULT_BUILD,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Make witnesses and near misses of schemas.

    A line is the instance's kind, the keyword that refuses it and where, and its
    text. Exits with 1 if a schema has no witness. Nothing is ever fetched.

    \b
    Examples:
      csbdata instances person.schema.json
      csbdata instances my_schemas/ --format json
      csbdata instances api.yaml#createPet.request
      csbdata instances Github_easy/o13947
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.instances.dataset.worker import InstanceRequest, witnesses_of_each

    schemas, neighbours = _read_schemas(target, build)
    printed: list[Json] = []
    complete = True
    requests = [
        schema for schema in schemas.values() if isinstance(schema, InstanceRequest)
    ]
    results = witnesses_of_each(requests, seed, neighbours)
    for name, schema in schemas.items():
        result = next(results) if isinstance(schema, InstanceRequest) else schema
        complete = complete and bool(result.instances)
        if format_ is Format.JSON:
            printed.append({"schema": name, **result.to_json()})
        else:
            _print_made(name, result, target)
    if format_ is Format.JSON:
        print_json(printed[0] if len(printed) == 1 else printed)
    if not complete:
        raise typer.Exit(1)


def _read_schemas(
    target: str, build: Path
) -> tuple[dict[str, InstanceRequest | SchemaInstances], NeighbourFiles | None]:
    """Return the schemas of a source, or a record, by name, and the files next to them.

    Among several, an invalid schema has its result.
    An existing file or folder comes before a record of that id.

    Raises:
        NoInput: there is neither.
        BadData: the only one is not a schema.
    """
    from curation.instances.dataset.make_instances import SchemaInstances
    from curation.instances.dataset.worker import InstanceRequest
    from curation.json.named_text import parse_named
    from curation.lint.satisfiability import Satisfiability
    from curation.sources.neighbours import to_base_uri
    from curation.sources.schema_files import (
        read_schema_files,
        why_in_words,
        why_no_schema,
        with_neighbours,
    )
    from curation.workers.limits import too_big

    path = Path(target)
    # No id has these characters.
    if target != "-" and not path.exists() and {":", "@", "#"}.isdisjoint(target):
        # No id ends like that, so that a file is meant.
        if path.suffix == ".json" or path.is_absolute():
            raise NoInput("no such file", target)
        from curation.instances.dataset.records import find_record

        record = find_record(build, target)
        request = InstanceRequest(
            schema=record["json_schema"], dialect=record["dialect"]
        )
        return {target: request}, None
    files = read_schema_files([target], log)
    places, neighbours = with_neighbours(files)
    requests: dict[str, InstanceRequest | SchemaInstances] = {}
    for file, place in zip(files, places, strict=True):
        why = too_big(file.content) or why_no_schema(
            parse_named(file.name, file.content)
        )
        if why is None:
            requests[file.name] = InstanceRequest(
                schema=file.content.decode("utf-8-sig"),
                dialect="",
                base_uri=None if place is None else to_base_uri(place),
            )
            continue
        detail = why_in_words(why, file.content)
        if len(files) == 1:
            raise BadData(detail, target)
        requests[file.name] = SchemaInstances(
            answer=Satisfiability.UNKNOWN, reason=why.reason, detail=detail
        )
    return requests, neighbours


def _print_made(name: str, result: SchemaInstances, target: str) -> None:
    from curation.instances.model import SearchFailure

    show(f"{name}: {result.answer}  {result.dialect}".rstrip(), style="bold")
    why = ": ".join(filter(None, (result.reason, result.detail)))
    if why:
        show(f"  {shortened(why, _SHOWN)}")
    if result.reason == SearchFailure.UNUSABLE:
        show(f"  to name its faults: csbdata check {quote(target)}")
    for row in result.instances:
        where = f"  {row.keyword}" if row.keyword else ""
        if row.schema_pointer:
            where += f" at {row.schema_pointer}"
        if row.keyword:
            where += f" for {row.instance_pointer or 'the root'}"
        show(f"{row.kind}{where}", style="green" if row.valid else "yellow")
        show(f"  {shortened(row.text, _SHOWN)}")
