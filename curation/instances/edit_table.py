"""Which edits may fail which keyword."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances import (
    edits,
    edits_of_arrays,
    edits_of_objects,
    edits_of_text,
)
from curation.instances.labels import FALSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from curation.documents import Json

#: Each yields values to stand in the place of the spot's, the most natural first.
EDITS: Final[Mapping[str, Callable[[edits.Spot], Iterator[Json]]]] = {
    "type": edits.of_another_type,
    "enum": edits.unlisted,
    "const": edits.unlisted,
    "minimum": edits.below,
    "maximum": edits.above,
    "exclusiveMinimum": edits.at_bound("minimum", -1),
    "exclusiveMaximum": edits.at_bound("maximum", 1),
    "multipleOf": edits.off_step,
    "minLength": edits_of_text.shorter,
    "maxLength": edits_of_text.longer,
    "pattern": edits_of_text.unmatched,
    "format": edits_of_text.malformed,
    "minItems": edits_of_arrays.fewer_items,
    "maxItems": edits_of_arrays.more_items,
    "uniqueItems": edits_of_arrays.twice,
    "contains": edits_of_arrays.without_contained,
    "minContains": edits_of_arrays.without_contained,
    "maxContains": edits_of_arrays.too_often,
    "items": edits_of_arrays.one_more_item,
    "additionalItems": edits_of_arrays.one_more_item,
    "unevaluatedItems": edits_of_arrays.one_more_item,
    "anyOf": edits.replaced,
    "oneOf": edits.replaced,
    "not": edits.replaced,
    "if": edits.replaced,
    "additionalProperties": edits_of_objects.extra,
    "unevaluatedProperties": edits_of_objects.extra,
    "required": edits_of_objects.missing,
    "minProperties": edits_of_objects.fewer,
    "maxProperties": edits_of_objects.more,
    "propertyNames": edits_of_objects.misnamed,
    "dependencies": edits_of_objects.dependent,
    "dependentRequired": edits_of_objects.dependent,
    "dependentSchemas": edits_of_objects.dependent,
    FALSE: edits.anything,
}
