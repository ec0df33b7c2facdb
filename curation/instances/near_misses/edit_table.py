"""Which edits may fail which keyword."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.violations import FALSE
from curation.instances.near_misses import (
    array_edits,
    edits,
    object_edits,
    string_edits,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.instances.near_misses.edit_target import EditFunction

#: The edits of each keyword.
EDITS: Final[Mapping[str, EditFunction]] = {
    "type": edits.of_another_type,
    "enum": edits.unlisted,
    "const": edits.unlisted,
    "minimum": edits.below,
    "maximum": edits.above,
    "exclusiveMinimum": edits.at_bound("minimum", -1),
    "exclusiveMaximum": edits.at_bound("maximum", 1),
    "multipleOf": edits.off_step,
    "minLength": string_edits.shorter,
    "maxLength": string_edits.longer,
    "pattern": string_edits.unmatched,
    "format": string_edits.malformed,
    "minItems": array_edits.fewer_items,
    "maxItems": array_edits.more_items,
    "uniqueItems": array_edits.twice,
    "contains": array_edits.without_contained,
    "minContains": array_edits.without_contained,
    "maxContains": array_edits.too_often,
    "items": array_edits.one_more_item,
    "additionalItems": array_edits.one_more_item,
    "unevaluatedItems": array_edits.one_more_item,
    "anyOf": edits.replaced,
    "oneOf": edits.replaced,
    "not": edits.replaced,
    "if": edits.replaced,
    "additionalProperties": object_edits.extra,
    "unevaluatedProperties": object_edits.extra,
    "required": object_edits.missing,
    "minProperties": object_edits.fewer,
    "maxProperties": object_edits.more,
    "propertyNames": object_edits.misnamed,
    "dependencies": object_edits.dependent,
    "dependentRequired": object_edits.dependent,
    "dependentSchemas": object_edits.dependent,
    FALSE: edits.anything,
}
