"""Answers to rows of suite ifstruct."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import yaml

from evaluation.suites.ifstruct.rows import (
    AnswerFormat,
    Fence,
    FenceWish,
    Requirements,
    read_record,
)
from evaluation.suites.ifstruct.settings import Failure, IfstructSettings
from tests.evaluation.suites.known_answers import KnownAnswer, first_witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.core.records import Record


def known_answers(record: Record, settings: IfstructSettings) -> Iterator[KnownAnswer]:
    """Yield right answers to a row, and a wrong one of each class it has room for."""
    requirements = read_record(record.fields).requirements
    items: UntypedJson
    for _, items in first_witness(json.dumps(requirements.schema), "2020-12"):
        right = _answer(items, requirements)
        yield KnownAnswer(kind="reference", text=right)
        yield KnownAnswer(kind="thought before", text=f"<think>{{[</think>\n{right}")
        for failure, broken in (
            (Failure.EMPTY, " \n"),
            (Failure.THINKING_UNCLOSED, f"<think>{right}"),
            (Failure.UNCLOSED_FENCE, f"```\n{right.strip('`')}"),
            (Failure.ITEM_COUNT, _answer(items * 40, requirements)),
            (Failure.UNKNOWN_FIELD, _answer([*_with_field(items)], requirements)),
            (Failure.NOT_A_LIST, _answer({"a": 1, "b": 2}, requirements)),
        ):
            yield KnownAnswer(kind=failure, text=broken, expected=failure)
        wrong = {
            **dict(_wrong_values(items, requirements)),
            **dict(_wrong_shapes(items, requirements)),
            **dict(_wrong_texts(right, requirements, settings)),
        }
        for failure, broken in wrong.items():
            yield KnownAnswer(kind=failure, text=broken, expected=failure)
    no_answer = Failure.NO_ANSWER
    refused = Failure.REFUSED
    yield KnownAnswer(kind="null", text=None, expected=Failure.EMPTY)
    yield KnownAnswer(kind="server error", text=None, error="500", expected=no_answer)
    yield KnownAnswer(kind=refused, text="", finish="refusal", expected=refused)
    if settings.reading == "recommended":
        cut = Failure.TRUNCATED
        yield KnownAnswer(kind=cut, text='[{"a', finish="length", expected=cut)


def _with_field(items: Iterable[UntypedJson]) -> Iterator[UntypedJson]:
    return ({**item, "additional_remark": "no"} for item in items)


def _wrong_values(
    items: UntypedJson, requirements: Requirements
) -> Iterator[tuple[Failure, str]]:
    """Yield answers whose first item lacks a field or has a wrong value."""
    item, *items_after = items
    fields = requirements.schema["items"]
    is_yaml = requirements.format is AnswerFormat.YAML
    for name in fields["required"] if len(item) > 1 else ():
        shortened_item = {key: value for key, value in item.items() if key != name}
        yield (
            Failure.MISSING_FIELD,
            _answer([shortened_item, *items_after], requirements),
        )
    for name, field in fields["properties"].items():
        for failure, value in _refused(field, item.get(name)):
            if failure is Failure.COERCED_SCALAR and not is_yaml:
                continue
            changed = [{**item, name: value}, *items_after]
            yield failure, _answer(changed, requirements)


def _refused(
    field: Mapping[str, UntypedJson], right: UntypedJson
) -> Iterator[tuple[Failure, UntypedJson]]:
    """Yield wrong values of a field, with the failure of each."""
    if "enum" in field:
        yield Failure.NOT_IN_ENUM, "none of these"
    elif field["type"] == "string":
        yield Failure.WRONG_TYPE, ["a"]
        yield Failure.COERCED_SCALAR, 7
    if "minimum" in field:
        yield Failure.BELOW_MINIMUM, field["minimum"] - 1
    if "maximum" in field:
        yield Failure.ABOVE_MAXIMUM, field["maximum"] + 1
    if field.get("minItems"):
        yield Failure.TOO_FEW_ITEMS, []
    if "maxItems" in field and right:
        yield Failure.TOO_MANY_ITEMS, right[:1] * (field["maxItems"] + 1)


def _wrong_shapes(
    items: UntypedJson, requirements: Requirements
) -> Iterator[tuple[Failure, str]]:
    """Yield answers with another wrapper or in the other format."""
    bare = replace(requirements, wrapper=None)
    if requirements.wrapper is None:
        wrapped = replace(requirements, wrapper="items")
        yield Failure.WRAPPED, _answer(items, wrapped)
    else:
        other_key = replace(requirements, wrapper=f"{requirements.wrapper}s")
        yield Failure.NOT_WRAPPED, _answer(items, bare)
        yield Failure.WRONG_WRAPPER_KEY, _answer(items, other_key)
    (wrong_format,) = {*AnswerFormat} - {requirements.format}
    yield (
        Failure.WRONG_FORMAT,
        _answer(items, replace(requirements, format=wrong_format)),
    )


#: Content that cannot be read, by format.
_UNREADABLE: Final = {
    AnswerFormat.JSON: {
        Failure.INVALID_JSON: "[{'a': 1}]",
        Failure.TOO_DEEP: "[" * 200 + "]" * 200,
        Failure.NUMBER_TOO_LONG: f"[{'1' * 5000}]",
    },
    AnswerFormat.YAML: {
        Failure.INVALID_YAML: "- 'a",
        Failure.YAML_TAB: "- a\n\t- b",
        Failure.YAML_TAG: "- !!python/name:os.system ''",
        Failure.YAML_ALIASES: "&loop\n- *loop",
    },
}


def _wrong_texts(
    right: str, requirements: Requirements, settings: IfstructSettings
) -> Iterator[tuple[Failure, str]]:
    """Yield answers that cannot be read, or with a wrong code block or text around."""
    fence = requirements.fence
    is_json = requirements.format is AnswerFormat.JSON
    is_fenced = fence.wish is FenceWish.REQUIRED
    recommended = settings.reading == "recommended"
    for failure, content in _UNREADABLE[requirements.format].items():
        yield failure, _fenced(content, fence)
    if is_fenced:
        yield Failure.MISSING_FENCE, right.partition("\n")[2].rstrip("`")
        if recommended and fence.language:
            mislabelled = right.replace(fence.language, "text", 1)
            yield Failure.WRONG_FENCE_LANGUAGE, mislabelled
        if recommended and not requirements.commentary:
            yield Failure.SEVERAL_FENCES, f"{right}\n{right}"
    elif fence.wish is FenceWish.FORBIDDEN and recommended:
        yield Failure.FORBIDDEN_FENCE, f"```\n{right}\n```"
    if not requirements.commentary and (is_fenced or is_json):
        yield Failure.COMMENTARY, f"{right}\nThat is all."
    if is_json and is_fenced:
        yield Failure.TRAILING_TEXT, f"{right.rstrip('`')}That is all.\n```"
    if is_json and not (is_fenced or recommended):
        yield Failure.BYTE_ORDER_MARK, f"\ufeff{right}"


def _answer(items: UntypedJson, requirements: Requirements) -> str:
    key = requirements.wrapper
    value = {key: items} if key is not None and isinstance(items, list) else items
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if requirements.format is AnswerFormat.YAML:
        # Otherwise equal items would become aliases.
        value = json.loads(text)
        text = yaml.safe_dump(value, default_flow_style=False, sort_keys=False)
    return _fenced(text, requirements.fence)


def _fenced(content: str, fence: Fence) -> str:
    """Return an answer with its content in a code block, if one is required."""
    if fence.wish is not FenceWish.REQUIRED:
        return content
    return f"```{fence.language}\n{content.rstrip()}\n```"
