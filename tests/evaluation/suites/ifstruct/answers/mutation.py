"""What a mutation is: one fault, put into a right answer, with the failure it earns."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.evaluation.suites.ifstruct.answers.places import field_places

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.suites.ifstruct.settings import Failure
    from tests.evaluation.suites.ifstruct.answers.places import FieldPlace
    from tests.evaluation.suites.ifstruct.answers.reference import ReferenceAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenAnswer:
    """An answer with one fault."""

    text: str
    #: The failure that names it; None where no rule can see the fault.
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """One kind of fault."""

    name: str
    #: Returns the broken answer, or None where the row leaves no room for the fault.
    apply: Callable[[ReferenceAnswer], BrokenAnswer | None]
    #: Whether only the recommended reading counts it, or only the published one.
    recommended_only: bool = False
    published_only: bool = False


def at_place(
    answer: ReferenceAnswer,
    fits: Callable[[FieldPlace], bool],
    change: Callable[[FieldPlace], None],
) -> str | None:
    """Return the answer changed at its first place that fits; None where none does."""
    items = deepcopy(answer.items)
    schema = answer.requirements.schema
    place = next((one for one in field_places(items, schema) if fits(one)), None)
    if place is None:
        return None
    change(place)
    return answer.with_items(items).text
