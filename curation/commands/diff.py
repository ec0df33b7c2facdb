"""`csbdata diff`: compare two editions record by record, or two schemas."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from curation.system.errors import BadData, BadUsage
from curation.system.terminal import (
    Format,
    FormatOption,
    log,
    print_json,
    show,
    show_first,
    stdout,
    table,
)
from curation.system.words import counted, shortened

if TYPE_CHECKING:
    from curation.core.json_types import Json, ReadOnlyJson
    from curation.dataset.difference import EditionRow, RecordPair
    from curation.dataset.editions import Edition
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: Maximum number of listed records of each kind.
_LISTED = 10
#: Characters of a value that are shown to people.
_SHOWN = 400
_SIDE = (
    "A build, a folder of <config>/*.parquet or *.json, or owner/name@revision; "
    "or one schema: a file, FILE#NAME, MODULE:MODEL."
)


class Unwanted(StrEnum):
    """A change from one schema to another that is not to be made."""

    NARROWER = "narrower"
    """B refuses a value that A accepts."""
    WIDER = "wider"
    """B accepts a value that A refuses."""


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=_SIDE)],
    b: Annotated[str, typer.Argument(metavar="B", help="The other one, likewise.")],
    format_: FormatOption = Format.AUTO,
    fail_on: Annotated[
        list[Unwanted] | None,
        typer.Option(
            help="For two schemas: exit with 1 if B refuses a value that A accepts "
            "(narrower) or accepts one that A refuses (wider), or if this cannot be "
            "excluded."
        ),
    ] = None,
) -> None:
    """Compare two editions of the benchmark record by record, or two schemas.

    \b
    Examples:
      csbdata diff build/JSONSchemaBench epfl-dlab/JSONSchemaBench
      csbdata diff before.schema.json after.schema.json --fail-on narrower
      csbdata diff v1.yaml#createPet.request v2.yaml#createPet.request

    For editions, `textual` means another key order or number spelling of an equal
    schema.

    For two schemas, B is equal, wider, narrower, overlapping, apart or unknown, with a
    value on each side. jsonschema-rs makes proofs; otherwise values may decide.
    Formats are asserted.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    if _is_schema(a) or _is_schema(b):
        _diff_schemas(a, b, format_, fail_on or [])
        return
    if fail_on:
        raise BadUsage("--fail-on is for the files of two schemas", f"{a} {b}")
    from curation.dataset.difference import compare
    from curation.dataset.editions import open_edition

    old, new = open_edition(a), open_edition(b)
    pairs = compare(old, new)
    if format_ is Format.JSON:
        print_json(as_json(old, new, pairs))
    else:
        _print(old, new, pairs)


def _is_schema(side: str) -> bool:
    """Return whether a side is a file, or like `FILE#NAME` or `MODULE:MODEL`."""
    path = Path(side)
    is_named = not {":", "#"}.isdisjoint(side) and not side.startswith("hf://")
    return not path.is_dir() and (is_named or path.exists())


def _diff_schemas(a: str, b: str, format_: Format, fail_on: Sequence[Unwanted]) -> None:
    from curation.relation.comparer import Comparer

    old, new = _read_schema(a), _read_schema(b)
    with Comparer(forked=True) as comparer:
        relation = comparer.relation(old.value, new.value, old.dialect, new.dialect)
    if format_ is Format.JSON:
        print_json({"a": a, "b": b, **relation.as_json()})
    else:
        show(f"{relation.kind}: {relation.evidence}", style="bold")
        for words, text in (
            ("only a accepts", relation.only_first),
            ("only b accepts", relation.only_second),
            ("both accept", relation.both),
        ):
            if text is not None:
                show(f"{words}: {shortened(text, _SHOWN)}")
        if relation.failure:
            log(f"no proof: {relation.failure}")
    holds = {
        Unwanted.NARROWER: relation.first_in_second,
        Unwanted.WIDER: relation.second_in_first,
    }
    if not all(holds[change] for change in fail_on):
        raise typer.Exit(1)


def _read_schema(name: str) -> CompiledSchema:
    """Return the schema of a file, its references to neighbouring files followed.

    Raises:
        BadData: it holds no schema, or several, or one that no validator can use.
    """
    from curation.core.documents import Rejected
    from curation.instances.constraints.interpretations import read_schema
    from curation.sources.neighbours import (
        find_neighbours,
        neighbour_library,
        to_base_uri,
    )
    from curation.sources.schema_files import read_schema_files

    files = read_schema_files([name], log)
    if len(files) != 1:
        raise BadData(
            f"{counted(len(files), 'schema')}, and one is compared",
            name,
            f"name one: {quote(files[0].name)}",
        )
    path, content = files[0].path or Path(name), files[0].content
    text = files[0].schema_text()
    library = neighbour_library(find_neighbours(path.parent, {path.name: content}))
    compiled = read_schema(text, base_uri=to_base_uri(path.name), library=library)
    if isinstance(compiled, Rejected):
        raise BadData(f"{compiled.reason}: {compiled.detail}", name)
    if compiled.fault:
        raise BadData(f"no validator can use it: {compiled.fault}", name)
    return compiled


def as_json(
    old: Edition, new: Edition, pairs: Sequence[RecordPair]
) -> dict[str, ReadOnlyJson]:
    """Return the whole comparison as one JSON object."""
    from curation.dataset.difference import config_counts

    return {
        "a": old.name,
        "b": new.name,
        "configs": config_counts(old, new, pairs),
        "records": [
            {
                "kinds": list(pair.kinds),
                "a": _place(pair.before),
                "b": _place(pair.after),
            }
            for pair in pairs
        ],
    }


def _place(row: EditionRow | None) -> dict[str, Json] | None:
    if row is None:
        return None
    return {"config": row.config, "split": row.split, "unique_id": row.unique_id}


def _print(old: Edition, new: Edition, pairs: Sequence[RecordPair]) -> None:
    from curation.dataset.difference import KINDS, config_counts

    counts = config_counts(old, new, pairs)
    headers = ["config", "a", "b", *(kind.replace("_", " ") for kind in KINDS)]
    rows = [[config, *figures.values()] for config, figures in counts.items()]
    columns = zip(*(figures.values() for figures in counts.values()), strict=True)
    rows.append(["all", *map(sum, columns)])
    log(f"a: {old.name}")
    log(f"b: {new.name}")
    stdout().print(table(headers, rows, numbers=range(1, len(headers))))
    if not pairs:
        show("No differences.")
    for kind in KINDS:
        of_kind = [pair for pair in pairs if kind in pair.kinds]
        if of_kind:
            show(f"{kind.replace('_', ' ')} ({len(of_kind):,})", style="bold")
        lines = []
        for pair in of_kind:
            paths = [_path(row) for row in (pair.before, pair.after) if row is not None]
            if pair.before and pair.after and pair.before.split is None:
                # If one side has no splits, the other's is not a change.
                paths[1:] = [_path(pair.after._replace(split=None))]
            lines.append(f"  {' -> '.join(dict.fromkeys(paths))}")
        show_first(lines, _LISTED)


def _path(row: EditionRow) -> str:
    return "/".join(part for part in (row.config, row.split, row.unique_id) if part)
