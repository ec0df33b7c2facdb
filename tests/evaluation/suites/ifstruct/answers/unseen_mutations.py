"""Faults that no rule sees, or none of the published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.settings import Failure
from tests.evaluation.suites.ifstruct.answers.mutation import (
    BrokenAnswer,
    PlantedFault,
    at_place,
)
from tests.evaluation.suites.ifstruct.answers.places import field_places

if TYPE_CHECKING:
    from tests.evaluation.suites.ifstruct.answers.places import FieldPlace
    from tests.evaluation.suites.ifstruct.answers.reference import ReferenceAnswer

_MARK: Final = "1234567.25"


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
    return BrokenAnswer(text=text, failure=None)


def _not_a_number(answer: ReferenceAnswer) -> BrokenAnswer | None:
    """Write NaN for a number, which passes every bound of the published rule."""

    def change(place: FieldPlace) -> None:
        place.holder[place.name] = float(_MARK)

    text = at_place(answer, lambda place: place.kind == "number", change)
    if text is None:
        return None
    spelled = "NaN" if answer.is_json else ".nan"
    text = text.replace(_MARK, spelled, 1)
    return BrokenAnswer(text=text, failure=Failure.WRONG_TYPE)


def _empty_texts(answer: ReferenceAnswer) -> BrokenAnswer | None:
    def change(place: FieldPlace) -> None:
        place.holder[place.name] = ""

    def fits(place: FieldPlace) -> bool:
        limits = {"pattern", "format", "minLength"}
        return place.kind == "string" and not limits & set(place.schema)

    text = at_place(answer, fits, change)
    return None if text is None else BrokenAnswer(text=text, failure=None)


def _same_item(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if len(answer.items) < 2:
        return None
    items = [answer.items[0]] * len(answer.items)
    return BrokenAnswer(text=answer.with_items(items).text, failure=None)


#: Faults that no rule is about.
UNSEEN_MUTATIONS: Final = (
    PlantedFault(name="name twice", apply=_duplicate),
    PlantedFault(name="NaN", apply=_not_a_number, recommended_only=True),
    PlantedFault(name="empty text", apply=_empty_texts),
    PlantedFault(name="the same item again", apply=_same_item),
)
