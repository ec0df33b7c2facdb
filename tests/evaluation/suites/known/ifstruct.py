"""Answers to rows of suite ifstruct."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import yaml
from msgspec.structs import replace

from evaluation.suites.ifstruct.rows import (
    IfstructRecord,
    IfstructSettings,
    read_record,
)
from tests.evaluation.suites.known_answers import KnownAnswer, first_witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.core.records import Record


def known_answers(record: Record, settings: IfstructSettings) -> Iterator[KnownAnswer]:
    """Yield right answers to a row, and a wrong one of each class it has room for."""
    row = read_record(record.fields)
    items: UntypedJson
    for _, items in first_witness(json.dumps(row.json_schema), "2020-12"):
        right = _answer(items, row)
        yield KnownAnswer(kind="reference", text=right)
        yield KnownAnswer(kind="thought before", text=f"<think>{{[</think>\n{right}")
        for failure, broken in (
            ("empty", " \n"),
            ("thinking_unclosed", f"<think>{right}"),
            ("unclosed_fence", f"```\n{right.strip('`')}"),
            ("item_count", _answer(items * 40, row)),
            ("unknown_field", _answer([*_with_field(items)], row)),
            ("not_a_list", _answer({"a": 1, "b": 2}, row)),
        ):
            yield KnownAnswer(kind=failure, text=broken, expected=failure)
        wrong = {
            **dict(_wrong_values(items, row)),
            **dict(_wrong_shapes(items, row)),
            **dict(_wrong_texts(right, row, settings)),
        }
        for failure, broken in wrong.items():
            yield KnownAnswer(kind=failure, text=broken, expected=failure)
    yield KnownAnswer(kind="null", text=None, expected="empty")
    yield KnownAnswer(kind="server error", text=None, error="500", expected="no_answer")
    yield KnownAnswer(kind="refused", text="", finish="refusal", expected="refused")
    if settings.reading == "recommended":
        yield KnownAnswer(
            kind="cut", text='[{"a', finish="length", expected="truncated"
        )


def _with_field(items: Iterable[UntypedJson]) -> Iterator[UntypedJson]:
    return ({**item, "additional_remark": "no"} for item in items)


def _wrong_values(items: UntypedJson, row: IfstructRecord) -> Iterator[tuple[str, str]]:
    """Yield answers whose first item lacks a field or has a wrong value."""
    item, *items_after = items
    fields = row.json_schema["items"]
    is_yaml = row.output_format == "yaml"
    for name in fields["required"] if len(item) > 1 else ():
        shortened_item = {key: value for key, value in item.items() if key != name}
        yield "missing_field", _answer([shortened_item, *items_after], row)
    for name, field in fields["properties"].items():
        for failure, value in _refused(field, item.get(name)):
            if failure == "coerced_scalar" and not is_yaml:
                continue
            changed = [{**item, name: value}, *items_after]
            yield failure, _answer(changed, row)


def _refused(
    field: Mapping[str, UntypedJson], right: UntypedJson
) -> Iterator[tuple[str, UntypedJson]]:
    """Yield wrong values of a field, with the failure of each."""
    if "enum" in field:
        yield "not_in_enum", "none of these"
    elif field["type"] == "string":
        yield "wrong_type", ["a"]
        yield "coerced_scalar", 7
    if "minimum" in field:
        yield "below_minimum", field["minimum"] - 1
    if "maximum" in field:
        yield "above_maximum", field["maximum"] + 1
    if field.get("minItems"):
        yield "too_few_items", []
    if "maxItems" in field and right:
        yield "too_many_items", right[:1] * (field["maxItems"] + 1)


def _wrong_shapes(items: UntypedJson, row: IfstructRecord) -> Iterator[tuple[str, str]]:
    """Yield answers with another wrapper or in the other format."""
    bare = replace(row, require_wrapper_key=False)
    if row.requirements.wrapper is None:
        wrapped = replace(row, top_level_key="items", require_wrapper_key=True)
        yield "wrapped", _answer(items, wrapped)
    else:
        other_key = replace(row, top_level_key=f"{row.requirements.wrapper}s")
        yield "not_wrapped", _answer(items, bare)
        yield "wrong_wrapper_key", _answer(items, other_key)
    other = replace(
        row, output_format="yaml" if row.output_format == "json" else "json"
    )
    yield "wrong_format", _answer(items, other)


#: Content that cannot be read, by format.
_UNREADABLE: Final = {
    "json": {
        "invalid_json": "[{'a': 1}]",
        "too_deep": "[" * 200 + "]" * 200,
        "number_too_long": f"[{'1' * 5000}]",
    },
    "yaml": {
        "invalid_yaml": "- 'a",
        "yaml_tab": "- a\n\t- b",
        "yaml_tag": "- !!python/name:os.system ''",
        "yaml_aliases": "&loop\n- *loop",
    },
}


def _wrong_texts(
    right: str, row: IfstructRecord, settings: IfstructSettings
) -> Iterator[tuple[str, str]]:
    """Yield answers that cannot be read, or with a wrong code block or text around."""
    wish, _, language = row.requirements.fence.partition(":")
    is_json = row.output_format == "json"
    is_fenced = wish == "required"
    recommended = settings.reading == "recommended"
    for failure, content in _UNREADABLE[row.output_format].items():
        yield failure, _fenced(content, row)
    if is_fenced:
        yield "missing_fence", right.partition("\n")[2].rstrip("`")
        if recommended and language:
            mislabelled = right.replace(language, "text", 1)
            yield "wrong_fence_language", mislabelled
        if recommended and row.require_no_commentary:
            yield "several_fences", f"{right}\n{right}"
    elif wish == "forbidden" and recommended:
        yield "forbidden_fence", f"```\n{right}\n```"
    if row.require_no_commentary and (is_fenced or is_json):
        yield "commentary", f"{right}\nThat is all."
    if is_json and is_fenced:
        yield "trailing_text", f"{right.rstrip('`')}That is all.\n```"
    if is_json and not (is_fenced or recommended or row.require_no_commentary):
        yield "leading_text", f"Here: {right}"


def _answer(items: UntypedJson, row: IfstructRecord) -> str:
    key = row.requirements.wrapper
    value = {key: items} if key is not None and isinstance(items, list) else items
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if row.output_format == "yaml":
        # Otherwise equal items would become aliases.
        value = json.loads(text)
        text = yaml.safe_dump(value, default_flow_style=False, sort_keys=False)
    return _fenced(text, row)


def _fenced(content: str, row: IfstructRecord) -> str:
    """Return an answer with its content in a code block, if one is required."""
    wish, _, language = row.requirements.fence.partition(":")
    if wish != "required":
        return content
    return f"```{language}\n{content.rstrip()}\n```"
