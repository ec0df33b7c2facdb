"""How a schema says that its fields are compared, and schemas without saying it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.json.pointer import pointer
from curation.system.errors import BadData
from evaluation.suites.sob.comparison.comparators import comparison_named
from evaluation.suites.sob.metrics.leaves import ANY_INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json

#: The keyword of ExtractBench's schemas.
KEYWORD: Final = "evaluation_config"


def annotated_comparisons(schema: Json) -> dict[str, str]:
    """Return the comparisons that a schema names, by their place.

    A field says `"evaluation_config": "string_exact"`, or
    `{"metrics": [{"metric_id": "number_tolerance", "params": {"tolerance": 0.01}}]}`.

    Raises:
        BadData: a field names a comparison that is not known here.

    Example:
        >>> annotated_comparisons({"properties": {"a": {KEYWORD: "string_exact"}}})
        {'/a': 'string_exact'}
    """
    found: dict[str, str] = {}
    for place, inner in _places(schema, ()):
        if KEYWORD in inner:
            where = pointer(place)
            found[where] = _text(inner[KEYWORD], where)
            comparison_named(found[where])
    return found


def without_annotations(schema: Json) -> Json:
    """Return the schema without its comparisons, as a model is shown it."""
    if isinstance(schema, dict):
        return {
            name: without_annotations(member)
            for name, member in schema.items()
            if name != KEYWORD or (isinstance(member, dict) and "type" in member)
        }
    if isinstance(schema, list):
        return list(map(without_annotations, schema))
    return schema


def _text(said: Json, where: str) -> str:
    if isinstance(said, str):
        return said
    metrics = said.get("metrics") if isinstance(said, dict) else None
    first = metrics[0] if isinstance(metrics, list) and metrics else None
    name = first.get("metric_id") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(name, str):
        raise BadData(f"{KEYWORD} names no comparison", where)
    parameters = first.get("params")
    tolerance = parameters.get("tolerance") if isinstance(parameters, dict) else None
    return name if tolerance is None else f"{name}:{tolerance}"


def _places(
    schema: Json, place: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], dict[str, Json]]]:
    """Yield every field of a schema with its place; references are not followed."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    properties = schema.get("properties")
    for name, child in properties.items() if isinstance(properties, dict) else ():
        yield from _places(child, (*place, name))
    yield from _places(schema.get("items"), (*place, ANY_INDEX))
