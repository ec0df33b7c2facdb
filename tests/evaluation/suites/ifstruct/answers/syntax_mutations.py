"""Faults of the syntax: JSON and YAML that cannot be read, or are read otherwise."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.rows import AnswerFormat
from evaluation.suites.ifstruct.settings import Failure
from tests.evaluation.suites.ifstruct.answers.mutation import (
    BrokenAnswer,
    PlantedFault,
    at_place,
)
from tests.evaluation.suites.ifstruct.answers.reference import json_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.evaluation.suites.ifstruct.answers.places import FieldPlace
    from tests.evaluation.suites.ifstruct.answers.reference import ReferenceAnswer

#: Stands in for a text until the answer is written, so that it is written bare.
_MARK: Final = "Placeholder0"
#: A comma before a member.
_COMMA: Final = re.compile(r',(?=\s+"\w+":)')


def _of_json(name: str, change: Callable[[str], str]) -> PlantedFault:
    """Return the mutation of the JSON text of an answer."""

    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        if not answer.is_json or not answer.items:
            return None
        content = change(answer.content)
        if content == answer.content:
            return None
        return BrokenAnswer(text=answer.around(content), failure=Failure.INVALID_JSON)

    return PlantedFault(name=name, apply=apply)


def _instead_of_text(
    name: str, raw: str, failure: Failure, *, in_json: bool
) -> PlantedFault:
    """Return the mutation that puts bare characters where a text should stand."""

    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        if answer.is_json != in_json:
            return None
        text = at_place(answer, _is_text, _mark)
        if text is None:
            return None
        return BrokenAnswer(text=text.replace(_MARK, raw, 1), failure=failure)

    return PlantedFault(name=name, apply=apply)


def _is_text(place: FieldPlace) -> bool:
    return place.kind == "string"


def _mark(place: FieldPlace) -> None:
    place.holder[place.name] = _MARK


def _other_format(answer: ReferenceAnswer) -> BrokenAnswer | None:
    is_json = answer.is_json
    other = AnswerFormat.YAML if is_json else AnswerFormat.JSON
    requirements = replace(answer.requirements, format=other)
    if not answer.items:
        return None
    content = replace(answer, requirements=requirements).content
    return BrokenAnswer(text=answer.around(content), failure=Failure.WRONG_FORMAT)


def _flow_items(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.is_json or not answer.items:
        return None
    lines = "".join(f"- {json_text(item, None)}\n" for item in answer.items)
    key = answer.requirements.wrapper
    content = lines if key is None else f"{key}:\n{lines}"
    return BrokenAnswer(text=answer.around(content), failure=Failure.WRONG_FORMAT)


def _two_documents(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.is_json:
        return None
    content = f"{answer.content}---\n{answer.content}"
    return BrokenAnswer(text=answer.around(content), failure=Failure.INVALID_YAML)


def _tab(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.is_json:
        return None
    key = answer.requirements.wrapper
    content = answer.content + ("\textra: 1\n" if key is None else "\t- extra\n")
    return BrokenAnswer(text=answer.around(content), failure=Failure.YAML_TAB)


def _recursive(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.is_json:
        return None
    anchored = f"&loop\n{answer.content}"
    extra = "- *loop\n" if answer.requirements.wrapper is None else "again: *loop\n"
    return BrokenAnswer(
        text=answer.around(anchored + extra), failure=Failure.YAML_ALIASES
    )


def _byte_order_mark(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if not answer.is_json or answer.fenced:
        return None
    return BrokenAnswer(text=f"\ufeff{answer.text}", failure=Failure.BYTE_ORDER_MARK)


def _two_thirds(text: str) -> str:
    return text[: len(text) * 2 // 3]


SYNTAX_MUTATIONS: Final = (
    _of_json("JSON cut", _two_thirds),
    _of_json("JSON without its last bracket", lambda text: text.rstrip()[:-1]),
    _of_json("comma before a bracket", lambda text: f"{text.rstrip()[:-1]},{text[-1]}"),
    _of_json("comment in JSON", lambda text: f"{text[0]} // items{text[1:]}"),
    _of_json("single quotes", lambda text: text.replace('"', "'", 2)),
    _of_json("name without quotes", lambda text: text.replace('"', "", 2)),
    _of_json("no comma", lambda text: _COMMA.sub("", text, count=1)),
    _instead_of_text(
        "quotation mark unescaped", 'a "b" c', Failure.INVALID_JSON, in_json=True
    ),
    _instead_of_text(
        "line break in a string", "a\nb", Failure.INVALID_JSON, in_json=True
    ),
    _instead_of_text(
        "backslash unescaped", "C:\\Users", Failure.INVALID_JSON, in_json=True
    ),
    PlantedFault(name="the other format", apply=_other_format),
    PlantedFault(name="JSON items in YAML", apply=_flow_items),
    PlantedFault(name="two documents", apply=_two_documents),
    PlantedFault(name="tab in YAML", apply=_tab),
    PlantedFault(name="alias inside itself", apply=_recursive),
    PlantedFault(name="byte order mark", apply=_byte_order_mark, published_only=True),
    _instead_of_text("bare no", "no", Failure.COERCED_SCALAR, in_json=False),
    _instead_of_text("bare 1.10", "1.10", Failure.COERCED_SCALAR, in_json=False),
    _instead_of_text("bare null", "~", Failure.COERCED_SCALAR, in_json=False),
    _instead_of_text("bare colon", "a: b", Failure.INVALID_YAML, in_json=False),
    _instead_of_text("quote unclosed", '"a', Failure.INVALID_YAML, in_json=False),
    _instead_of_text(
        "Python tag", "!!python/name:os.system", Failure.YAML_TAG, in_json=False
    ),
)
