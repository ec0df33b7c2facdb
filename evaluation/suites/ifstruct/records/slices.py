"""What results are sliced by: the choices of a row, and how much it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.core.requirement import Requirement
from evaluation.suites.ifstruct.core.requirements import FenceWish

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.suites.ifstruct.records.record import IfstructRecord

#: What a slice says where a published file does not say it.
UNKNOWN: Final = "not recorded"
#: The slices of a row, in the order of a report.
SLICES: Final = (
    "style",
    "voice",
    "format",
    "wrapper",
    "count",
    "fence",
    "commentary",
    "escaping",
)


def slices_of(record: IfstructRecord) -> dict[str, str]:
    """Return the alternative that was drawn for each choice of a row."""
    wanted, spec = record.requirements, record.spec
    escaping = UNKNOWN
    if spec is not None:
        escaping = "stressed" if spec.escaping else "plain"
    return {
        "style": record.presentation or UNKNOWN,
        "voice": record.voice or UNKNOWN,
        "format": str(wanted.format),
        "wrapper": "bare" if wanted.wrapper is None else "wrapped",
        "count": "exact" if wanted.least == wanted.most else "range",
        "fence": str(wanted.fence),
        "commentary": "allowed" if wanted.commentary else "banned",
        "escaping": escaping,
    }


def asked_of(record: IfstructRecord) -> list[Requirement]:
    """Return which requirements a row has; some are in every row."""
    wanted = record.requirements
    asked = {
        Requirement.ANSWER,
        Requirement.SYNTAX,
        Requirement.FORMAT,
        Requirement.WRAPPER,
        Requirement.COUNT,
        Requirement.FIELDS,
        Requirement.NO_EXTRA,
        Requirement.TYPES,
    }
    if wanted.fence.wish is not FenceWish.FREE:
        asked.add(Requirement.FENCE)
    if not wanted.commentary:
        asked.add(Requirement.COMMENTARY)
    if wanted.extended:
        asked.add(Requirement.EXTENDED)
    for schema in _inner_schemas(wanted.schema.get("items", {})):
        if "enum" in schema:
            asked.add(Requirement.ENUMS)
        if "minimum" in schema or "maximum" in schema:
            asked.add(Requirement.BOUNDS)
        if schema.get("type") == "array":
            asked.add(Requirement.LISTS)
    return [requirement for requirement in Requirement if requirement in asked]


def difficulty_of(record: IfstructRecord) -> int:
    """Return how much a row asks for: its fields, their limits, and its wishes.

    One for each field, enum, bound, list, and pattern or other extended rule; one for
    each wish about code block, commentary and wrapper; one for a text to escape, and
    one for each choice that the text takes back.
    """
    wanted, spec = record.requirements, record.spec
    rules = ("enum", "minimum", "maximum", "pattern", "format", "minLength")
    more = ("maxLength", "uniqueItems", "minItems", "maxItems", "allOf")
    points = 0
    for schema in _inner_schemas(wanted.schema.get("items", {})):
        points += len(schema.get("properties", ()))
        points += sum(rule in schema for rule in (*rules, *more))
    points += wanted.fence.wish is not FenceWish.FREE
    points += not wanted.commentary
    points += wanted.wrapper is not None
    if spec is not None:
        points += spec.escaping + len(spec.retractions)
    return points


def _inner_schemas(schema: UntypedJson) -> Iterator[Mapping[str, UntypedJson]]:
    """Yield a schema and those of its members and items."""
    stack = [schema]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            yield one
            stack += one.get("properties", {}).values()
            stack += [one["items"]] if "items" in one else []
