"""Compare the labels of near misses with what jsonschema says of them.

A label is the keyword that refuses the instance, and where it stands in the schema and
in the instance. It comes from jsonschema-rs; jsonschema, which lists errors by code of
its own, is asked about the near misses of every n-th record. Its errors are followed
from the root here, since it names other keywords where one only passes on what fails
below it (`then`, `propertyNames`), and leaves out references.

Not told are near misses that jsonschema accepts (formats of newer drafts). A schema
pointer is not told where the way leads through a reference that is no pointer.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars
from referencing import Registry

from bench.builds import clean_build
from curation.core.benchmark import CONFIGS
from curation.dataset.editions import instance_tables
from curation.instances.ecma_validators import ECMA_VALIDATORS
from curation.json.pointer import pointer, tokens_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from jsonschema import ValidationError

#: Keywords that decide by themselves, whatever failed below them.
_DECIDING: Final = frozenset(
    {
        *("anyOf", "oneOf", "not", "contains", "propertyNames", "dependencies"),
        *("dependentRequired", "dependentSchemas"),
        *("unevaluatedItems", "unevaluatedProperties"),
    }
)
_OLD: Final = frozenset({"draft-04", "draft-06", "draft-07"})
_EXCLUSIVE: Final = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_COLUMNS: Final = (
    *("unique_id", "number", "kind", "text"),
    *("keyword", "schema_pointer", "instance_pointer"),
)


class Told(NamedTuple):
    """What jsonschema holds against an instance."""

    keyword: str
    instance_pointer: str
    #: None where it cannot be told.
    schema_pointer: str | None


class Labelled(NamedTuple):
    """A near miss with its label."""

    name: str
    text: str
    keyword: str
    schema_pointer: str
    instance_pointer: str


def told(schema: Any, dialect: str, value: Any) -> list[Told]:  # noqa: ANN401 - any JSON
    """Return what jsonschema holds against an instance, formats asserted.

    Args:
        schema: The record's schema.
        dialect: Name of its dialect.
        value: The instance.
    """
    make = ECMA_VALIDATORS[dialect]
    validator = make(schema, registry=Registry(), format_checker=make.FORMAT_CHECKER)
    return [_told(schema, dialect, error) for error in validator.iter_errors(value)]


def _told(root: Any, dialect: str, error: ValidationError) -> Told:  # noqa: ANN401 - any JSON
    here: Any = root
    tokens: tuple[str, ...] | None = ()
    path = list(map(str, error.absolute_schema_path))
    instance = tuple(map(str, error.absolute_path))
    below = len(error.absolute_path)
    depth = 0
    while path:
        here, tokens = _referred(root, dialect, here, tokens, path[0])
        step = path.pop(0)
        if step in ("then", "else") and isinstance(here, dict) and "if" in here:
            return Told("if", pointer(instance[:depth]), _at(tokens, "if"))
        if step in _DECIDING:
            return Told(step, pointer(instance[:depth]), _at(tokens, step))
        if not path:
            step = _named(here, step, error)
            return Told(step, pointer(instance), _at(tokens, step))
        here, tokens = _inside(here, step), _and(tokens, step)
        if step in ("properties", "patternProperties", "allOf") or isinstance(
            here, list
        ):
            inner = path.pop(0)
            here, tokens = _inside(here, inner), _and(tokens, inner)
        depth = min(below, depth + (step != "allOf"))
    here, tokens = _referred(root, dialect, here, tokens, "")
    where = None if tokens is None else pointer(tokens)
    return Told("false", pointer(instance), where)


def _named(here: Any, keyword: str, error: ValidationError) -> str:  # noqa: ANN401 - any JSON
    """Return the keyword that fails: jsonschema names the bound, not its flag."""
    flag = _EXCLUSIVE.get(keyword, "")
    if isinstance(here, dict) and here.get(flag) is True:
        return flag if error.instance == here[keyword] else keyword
    return keyword


def _at(tokens: tuple[str, ...] | None, keyword: str) -> str | None:
    return None if tokens is None else pointer((*tokens, keyword))


def _and(tokens: tuple[str, ...] | None, token: str) -> tuple[str, ...] | None:
    return None if tokens is None else (*tokens, token)


def _inside(here: Any, token: str) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(here, list):
        return here[int(token)]
    return here.get(token) if isinstance(here, dict) else None


def _referred(
    root: Any,  # noqa: ANN401 - any JSON
    dialect: str,
    here: Any,  # noqa: ANN401 - any JSON
    tokens: tuple[str, ...] | None,
    step: str,
) -> tuple[Any, tuple[str, ...] | None]:
    """Follow the references that jsonschema leaves out, before a step."""
    for _ in range(100):
        if not isinstance(here, dict) or not isinstance(here.get("$ref"), str):
            break
        if dialect not in _OLD and step in here:
            break
        reference = here["$ref"]
        if reference != "#" and not reference.startswith("#/"):
            return None, None
        here = root
        try:
            tokens = tokens_of(reference[1:])
            for token in tokens:
                here = _inside(here, token)
        except (ValueError, LookupError):
            return None, None
    return here, tokens


def compared(
    schema: Any,  # noqa: ANN401 - any JSON
    dialect: str,
    near_misses: Iterable[Labelled],
) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Return how many labels jsonschema confirms, and those that it does not.

    Args:
        schema: The record's schema.
        dialect: Name of its dialect.
        near_misses: Some of its near misses.
    """
    counts = Counter[str]()
    differing: list[dict[str, Any]] = []
    for near_miss in near_misses:
        counts["near_misses"] += 1
        found = told(schema, dialect, json.loads(near_miss.text))
        if not found:
            counts["accepted"] += 1
            continue
        counts["told"] += 1
        places = {(one.keyword, one.instance_pointer) for one in found}
        pointers = {one.schema_pointer for one in found}
        if places == {(near_miss.keyword, near_miss.instance_pointer)}:
            counts["keyword_and_place"] += 1
            counts["schema_pointer_told"] += None not in pointers
            if near_miss.schema_pointer in pointers or None in pointers:
                counts["exact"] += 1
                continue
        differing.append({**near_miss._asdict(), "told": sorted(map(str, found))[:4]})
    return counts, differing


def _records(folder: Path, every: int) -> Iterator[tuple[Any, str, Iterator[Labelled]]]:
    for config in CONFIGS:
        files = instance_tables(folder, config)
        if not files:
            continue
        near_misses: dict[str, list[tuple[str, ...]]] = {}
        for file in files:
            rows = polars.read_parquet(file, columns=list(_COLUMNS)).iter_rows()
            for unique_id, _, kind, *rest in rows:
                if kind == "near_miss":
                    near_misses.setdefault(unique_id, []).append(tuple(rest))
        for file in sorted((folder / config).glob("*.parquet")):
            columns = ["unique_id", "dialect", "json_schema"]
            records = polars.read_parquet(file, columns=columns).rows()
            for unique_id, dialect, schema in records[::every]:
                name = f"{config}/{unique_id}"
                own = near_misses.get(unique_id, ())
                labelled = (Labelled(name, *row) for row in own)
                yield json.loads(schema), dialect, labelled


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument(
        "--labels-every", type=int, default=1, help="ask about every n-th record only"
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return how many labels jsonschema confirms, and where it does not."""
    counts = Counter[str]()
    differing: list[dict[str, Any]] = []
    with clean_build(options.build, "--instances") as build:
        print("labels: asking jsonschema", file=sys.stderr)
        for record in _records(build.folder, options.labels_every):
            own, where = compared(*record)
            counts.update(own)
            differing += where
    return {
        "measured": build.name,
        "every": options.labels_every,
        **dict(counts),
        "differing": differing,
    }
