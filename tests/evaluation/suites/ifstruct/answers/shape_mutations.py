"""Faults of the shape around the items, and of the number of these."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.settings import Failure
from tests.evaluation.suites.ifstruct.answers.mutation import BrokenAnswer, PlantedFault

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from tests.evaluation.suites.ifstruct.answers.reference import ReferenceAnswer


def _with_outer(
    answer: ReferenceAnswer, outer: UntypedJson, failure: Failure
) -> BrokenAnswer:
    return BrokenAnswer(text=replace(answer, outer=outer).text, failure=failure)


def _with_items(
    answer: ReferenceAnswer, items: list[UntypedJson], failure: Failure
) -> BrokenAnswer:
    return BrokenAnswer(text=answer.with_items(items).text, failure=failure)


def _too_many(answer: ReferenceAnswer) -> BrokenAnswer | None:
    most = answer.requirements.most
    if not answer.items:
        return None
    items = (answer.items * (most + 1))[: most + 1]
    return _with_items(answer, items, Failure.ITEM_COUNT)


def _too_few(answer: ReferenceAnswer) -> BrokenAnswer | None:
    least = answer.requirements.least
    if least < 2:
        return None
    return _with_items(answer, answer.items[: least - 1], Failure.ITEM_COUNT)


def _none(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if not answer.requirements.least:
        return None
    # In YAML an empty list can only be written in brackets, as JSON.
    as_json = not answer.is_json and answer.requirements.wrapper is None
    failure = Failure.WRONG_FORMAT if as_json else Failure.ITEM_COUNT
    return _with_items(answer, [], failure)


def _as_texts(answer: ReferenceAnswer) -> BrokenAnswer:
    texts = [json.dumps(item) for item in answer.items]
    return _with_items(answer, texts, Failure.WRONG_TYPE)


def _nested_list(answer: ReferenceAnswer) -> BrokenAnswer:
    return _with_items(answer, [[item] for item in answer.items], Failure.WRONG_TYPE)


def _no_wrapper(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.wrapper is None:
        return None
    return _with_outer(answer, answer.items, Failure.NOT_WRAPPED)


def _unwanted_wrapper(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.wrapper is not None:
        return None
    return _with_outer(answer, {"items": answer.items}, Failure.WRAPPED)


def _other_key(answer: ReferenceAnswer) -> BrokenAnswer | None:
    key = answer.requirements.wrapper
    if key is None:
        return None
    return _with_outer(answer, {f"{key}s": answer.items}, Failure.WRONG_WRAPPER_KEY)


def _sibling(answer: ReferenceAnswer) -> BrokenAnswer | None:
    key = answer.requirements.wrapper
    if key is None:
        return None
    outer = {key: answer.items, "total": len(answer.items)}
    return _with_outer(answer, outer, Failure.NOT_A_LIST)


def _two_wrappers(answer: ReferenceAnswer) -> BrokenAnswer | None:
    key = answer.requirements.wrapper
    if key is None:
        return None
    return _with_outer(answer, {key: {key: answer.items}}, Failure.NOT_A_LIST)


def _by_number(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if not answer.items:
        return None
    outer = {f"item_{number}": item for number, item in enumerate(answer.items)}
    return _with_outer(answer, outer, Failure.NOT_A_LIST)


SHAPE_MUTATIONS: Final = (
    PlantedFault(name="one item too many", apply=_too_many),
    PlantedFault(name="one item too few", apply=_too_few),
    PlantedFault(name="no items", apply=_none),
    PlantedFault(name="items as text", apply=_as_texts),
    PlantedFault(name="every item in a list", apply=_nested_list),
    PlantedFault(name="no wrapper", apply=_no_wrapper),
    PlantedFault(name="wrapper unasked", apply=_unwanted_wrapper),
    PlantedFault(name="wrapper of another key", apply=_other_key),
    PlantedFault(name="wrapper with a sibling", apply=_sibling),
    PlantedFault(name="two wrappers", apply=_two_wrappers),
    PlantedFault(name="object of items", apply=_by_number),
)
