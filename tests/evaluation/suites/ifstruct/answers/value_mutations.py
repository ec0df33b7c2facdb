"""Faults of values: fields, types, enums, bounds, lengths of lists."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.settings import Failure
from tests.evaluation.suites.ifstruct.answers.mutation import (
    BrokenAnswer,
    PlantedFault,
    at_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson
    from tests.evaluation.suites.ifstruct.answers.places import FieldPlace
    from tests.evaluation.suites.ifstruct.answers.reference import ReferenceAnswer

_COERCED: Final = (bool, int, float, type(None))


def _mutation(
    name: str,
    failure: Failure,
    fits: Callable[[FieldPlace], bool],
    change: Callable[[FieldPlace], None],
) -> PlantedFault:
    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        text = at_place(answer, fits, change)
        return None if text is None else BrokenAnswer(text=text, failure=failure)

    return PlantedFault(name=name, apply=apply)


def _put(name: str, kind: str, value: UntypedJson) -> PlantedFault:
    """Return the mutation that puts a value of another type where a kind stands."""

    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        text = at_place(answer, lambda place: place.kind == kind, _setter(value))
        if text is None:
            return None
        coerced = kind == "string" and isinstance(value, _COERCED)
        failure = Failure.WRONG_TYPE
        if coerced and not answer.is_json:
            failure = Failure.COERCED_SCALAR
        return BrokenAnswer(text=text, failure=failure)

    return PlantedFault(name=name, apply=apply)


def _setter(value: UntypedJson) -> Callable[[FieldPlace], None]:
    def change(place: FieldPlace) -> None:
        place.holder[place.name] = value

    return change


def _computed(
    make: Callable[[FieldPlace], UntypedJson],
) -> Callable[[FieldPlace], None]:
    def change(place: FieldPlace) -> None:
        place.holder[place.name] = make(place)

    return change


def _may_go(place: FieldPlace) -> bool:
    """Return whether a required field is not the only one of its object."""
    return place.required and len(place.holder) > 1


def _drop(place: FieldPlace) -> None:
    del place.holder[place.name]


def _add_beside(place: FieldPlace) -> None:
    place.holder["additional_remark"] = "not asked for"


def _camel_case(place: FieldPlace) -> None:
    first, *others = place.name.split("_")
    value = place.holder.pop(place.name)
    place.holder[first + "".join(word.title() for word in others)] = value


def _has(place: FieldPlace, keyword: str) -> bool:
    return keyword in place.schema and place.kind in ("integer", "number")


def _is_list(place: FieldPlace) -> bool:
    return place.kind == "array"


def _whole_float(place: FieldPlace) -> float:
    return float(place.value)


VALUE_MUTATIONS: Final = (
    _mutation(
        "missing field",
        Failure.MISSING_FIELD,
        lambda place: _may_go(place) and place.depth == 0,
        _drop,
    ),
    _mutation(
        "missing nested field",
        Failure.MISSING_FIELD,
        lambda place: _may_go(place) and place.depth > 0,
        _drop,
    ),
    _mutation(
        "field in camel case",
        Failure.MISSING_FIELD,
        lambda place: place.required and "_" in place.name,
        _camel_case,
    ),
    _mutation(
        "extra field",
        Failure.UNKNOWN_FIELD,
        lambda place: place.depth == 0,
        _add_beside,
    ),
    _mutation(
        "extra nested field",
        Failure.UNKNOWN_FIELD,
        lambda place: place.depth > 0,
        _add_beside,
    ),
    _put("number for text", "string", 7),
    _put("null for text", "string", None),
    _put("boolean for text", "string", value=False),
    _put("list for text", "string", ["a"]),
    _put("text for whole number", "integer", "seven"),
    _put("null for whole number", "integer", None),
    _put("boolean for whole number", "integer", value=True),
    _mutation(
        "fraction for whole number",
        Failure.WRONG_TYPE,
        lambda place: place.kind == "integer",
        _computed(_whole_float),
    ),
    _put("text for number", "number", "1.5"),
    _put("boolean for number", "number", value=True),
    _put("text for boolean", "boolean", "true"),
    _put("number for boolean", "boolean", 1),
    _mutation(
        "list for enum",
        Failure.WRONG_TYPE,
        lambda place: place.kind == "enum",
        _setter(["a"]),
    ),
    _mutation(
        "value outside enum",
        Failure.NOT_IN_ENUM,
        lambda place: place.kind == "enum",
        _setter("none of these"),
    ),
    _mutation(
        "enum in capitals",
        Failure.NOT_IN_ENUM,
        lambda place: place.kind == "enum" and place.value.upper() != place.value,
        _computed(lambda place: place.value.upper()),
    ),
    _mutation(
        "below minimum",
        Failure.BELOW_MINIMUM,
        lambda place: _has(place, "minimum"),
        _computed(lambda place: place.schema["minimum"] - 1),
    ),
    _mutation(
        "above maximum",
        Failure.ABOVE_MAXIMUM,
        lambda place: _has(place, "maximum"),
        _computed(lambda place: place.schema["maximum"] + 1),
    ),
    _mutation(
        "nested list too short",
        Failure.TOO_FEW_ITEMS,
        lambda place: _is_list(place) and place.schema.get("minItems", 0) > 0,
        _computed(lambda place: place.value[: place.schema["minItems"] - 1]),
    ),
    _mutation(
        "nested list too long",
        Failure.TOO_MANY_ITEMS,
        lambda place: (
            _is_list(place)
            and "maxItems" in place.schema
            and "uniqueItems" not in place.schema
            and bool(place.value)
        ),
        _computed(lambda place: place.value[:1] * (place.schema["maxItems"] + 1)),
    ),
    _mutation(
        "object for nested list",
        Failure.WRONG_TYPE,
        lambda place: _is_list(place) and bool(place.value),
        _computed(lambda place: {"first_one": place.value[0]}),
    ),
    _mutation(
        "list for nested object",
        Failure.WRONG_TYPE,
        lambda place: place.kind == "object",
        _computed(lambda place: [place.value]),
    ),
    _mutation(
        "nested value as text",
        Failure.WRONG_TYPE,
        lambda place: place.kind in ("array", "object"),
        _computed(lambda place: json.dumps(place.value)),
    ),
)
