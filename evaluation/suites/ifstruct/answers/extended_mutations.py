"""Faults that only the extended track sees, and faults that no rule sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.answers.mutation import (
    BrokenAnswer,
    PlantedFault,
    at_place,
)
from evaluation.suites.ifstruct.answers.places import field_places
from evaluation.suites.ifstruct.verifier.findings import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson
    from evaluation.suites.ifstruct.answers.places import FieldPlace
    from evaluation.suites.ifstruct.answers.reference import ReferenceAnswer

_MARK: Final = "1234567.25"


def _put(
    name: str,
    failure: Failure,
    fits: Callable[[FieldPlace], bool],
    make: Callable[[FieldPlace], UntypedJson],
) -> PlantedFault:
    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        def change(place: FieldPlace) -> None:
            place.holder[place.name] = make(place)

        text = at_place(answer, fits, change)
        return None if text is None else BrokenAnswer(text=text, failure=failure)

    return PlantedFault(name=name, apply=apply, extended_only=True)


def _condition(answer: ReferenceAnswer) -> BrokenAnswer | None:
    """Leave a field out, and give the other one the value that requires it."""
    rules = answer.requirements.schema.get("items", {})
    for rule in rules.get("allOf", ()) if isinstance(rules, dict) else ():
        ((other, wanted),) = rule["if"]["properties"].items()
        (name,) = rule["then"]["required"]

        def change(
            place: FieldPlace, other: str = other, value: UntypedJson = wanted["const"]
        ) -> None:
            place.holder[other] = value
            del place.holder[place.name]

        text = at_place(answer, _named(name), change)
        if text is not None:
            return BrokenAnswer(text=text, failure=Failure.CONDITION)
    return None


def _named(name: str) -> Callable[[FieldPlace], bool]:
    return lambda place: place.name == name


def _duplicate(answer: ReferenceAnswer) -> BrokenAnswer | None:
    """Write one member of the first item twice."""
    schema = answer.requirements.schema
    place = next(
        (one for one in field_places(answer.items, schema) if one.kind == "boolean"),
        None,
    )
    if place is None or not answer.content:
        return None
    content = answer.content
    if answer.is_json:
        member = f'"{place.name}": {str(place.value).lower()}'
        twice = f"{member}, {member}"
    else:
        member = f"{place.name}: {str(place.value).lower()}\n"
        line = next(
            line for line in content.splitlines(keepends=True) if member in line
        )
        indent = " " * line.index(place.name)
        twice = f"{member}{indent}{member}"
    text = answer.around(content.replace(member, twice, 1))
    return BrokenAnswer(text=text, failure=Failure.DUPLICATE_KEY)


def _not_a_number(answer: ReferenceAnswer) -> BrokenAnswer | None:
    """Write NaN for a number, which passes every bound."""

    def change(place: FieldPlace) -> None:
        place.holder[place.name] = float(_MARK)

    text = at_place(answer, lambda place: place.kind == "number", change)
    if text is None:
        return None
    spelled = "NaN" if answer.is_json else ".nan"
    return BrokenAnswer(
        text=text.replace(_MARK, spelled, 1), failure=Failure.NOT_FINITE
    )


def _empty_texts(answer: ReferenceAnswer) -> BrokenAnswer | None:
    def change(place: FieldPlace) -> None:
        place.holder[place.name] = ""

    def fits(place: FieldPlace) -> bool:
        limits = {"pattern", "format", "minLength"}
        return place.kind == "string" and not limits & set(place.schema)

    text = at_place(answer, fits, change)
    return None if text is None else BrokenAnswer(text=text, failure=None)


def _same_item(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if len(answer.items) < 2:  # noqa: PLR2004 (one item is like no other)
        return None
    items = [answer.items[0]] * len(answer.items)
    return BrokenAnswer(text=answer.with_items(items).text, failure=None)


EXTENDED_MUTATIONS: Final = (
    _put(
        "pattern broken",
        Failure.PATTERN,
        lambda place: "pattern" in place.schema,
        lambda _place: "does not match",
    ),
    _put(
        "format broken",
        Failure.BAD_FORMAT,
        lambda place: "format" in place.schema,
        lambda _place: "not of this format",
    ),
    _put(
        "text too short",
        Failure.TOO_SHORT,
        lambda place: "minLength" in place.schema,
        lambda _place: "a",
    ),
    _put(
        "text too long",
        Failure.TOO_LONG,
        lambda place: "maxLength" in place.schema,
        lambda place: "a" * (place.schema["maxLength"] + 1),
    ),
    _put(
        "equal values in a list",
        Failure.NOT_UNIQUE,
        lambda place: bool(place.schema.get("uniqueItems")),
        lambda place: ["same"] * len(place.value),
    ),
    PlantedFault(name="condition broken", apply=_condition, extended_only=True),
    PlantedFault(name="name twice", apply=_duplicate, seen_when_extended=True),
    PlantedFault(name="NaN", apply=_not_a_number, seen_when_extended=True),
)
#: Faults that no rule of either track is about.
UNSEEN_MUTATIONS: Final = (
    PlantedFault(name="empty text", apply=_empty_texts),
    PlantedFault(name="the same item again", apply=_same_item),
)
