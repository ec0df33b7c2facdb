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
    from collections.abc import Iterator

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


def _wrong_values(items: UntypedJson, row: IfstructRecord) -> Iterator[tuple[str, str]]:
    """Yield answers whose first item lacks a field or has a wrong value."""
    item, *others = items
    fields = row.json_schema["items"]
    for name in fields["required"] if len(item) > 1 else ():
        rest = {key: value for key, value in item.items() if key != name}
        yield "missing_field", _answer([rest, *others], row)
    for name, field in fields["properties"].items():
        is_text = field["type"] == "string" and "enum" not in field
        right = item.get(name)
        for failure, has_room, value in (
            ("not_in_enum", "enum" in field, "none of these"),
            ("wrong_type", is_text, ["a"]),
            ("coerced_scalar", is_text and row.output_format == "yaml", 7),
            ("below_minimum", "minimum" in field, field.get("minimum", 0) - 1),
            ("above_maximum", "maximum" in field, field.get("maximum", 0) + 1),
            ("too_few_items", "minItems" in field, []),
            ("too_many_items", "maxItems" in field and right, (right or []) * 99),
        ):
            if has_room:
                yield failure, _answer([{**item, name: value}, *others], row)


def _wrong_shapes(items: UntypedJson, row: IfstructRecord) -> Iterator[tuple[str, str]]:
    """Yield answers with other items, another wrapper or in the other format."""
    yield "item_count", _answer(items * 40, row)
    yield "unknown_field", _answer([{**item, "added": "no"} for item in items], row)
    yield "not_a_list", _answer({"a": 1, "b": 2}, row)
    if row.wrapper is None:
        wrapped = replace(row, top_level_key="items", require_wrapper_key=True)
        yield "wrapped", _answer(items, wrapped)
    else:
        yield "not_wrapped", _answer(items, replace(row, require_wrapper_key=False))
        yield "wrong_wrapper_key", _answer(items, replace(row, top_level_key="other"))
    is_json = row.output_format == "json"
    other = replace(row, output_format="yaml" if is_json else "json")
    yield "wrong_format", _answer(items, other)


#: Content that cannot be read, by format.
_UNREADABLE: Final = {
    "json": ("invalid_json", "[{'a': 1}]"),
    "yaml": ("invalid_yaml", "- !!python/name:os.system ''"),
}


def _wrong_texts(
    right: str, row: IfstructRecord, settings: IfstructSettings
) -> Iterator[tuple[str, str]]:
    """Yield answers that cannot be read, or with a wrong code block or text around."""
    wish, names, language = row.wish.partition(":")
    is_json = row.output_format == "json"
    is_fenced, is_unwanted = wish == "required", wish == "forbidden"
    is_raw = is_json and not is_fenced
    mislabelled = right.replace(f"```{language}", "```text", 1)
    recommended = settings.reading == "recommended"
    bans = row.require_no_commentary
    failure, content = _UNREADABLE[row.output_format]
    yield failure, _fenced(content, row)
    for failure, has_room, text in (
        ("empty", True, " \n"),
        ("thinking_unclosed", True, f"<think>{right}"),
        ("unclosed_fence", True, f"```\n{right.strip('`')}"),
        ("missing_fence", is_fenced, right.partition("\n")[2].rstrip("`")),
        ("wrong_fence_language", names and recommended, mislabelled),
        ("several_fences", is_fenced and recommended and bans, f"{right}\n{right}"),
        ("forbidden_fence", is_unwanted and recommended, f"```\n{right}\n```"),
        ("commentary", bans and (is_fenced or is_json), f"{right}\nThat is all."),
        ("trailing_text", is_json and is_fenced, f"{right.rstrip('`')}So be it.\n```"),
        ("leading_text", is_raw and not (recommended or bans), f"Here: {right}"),
    ):
        if has_room:
            yield failure, text


def _answer(items: UntypedJson, row: IfstructRecord) -> str:
    key = row.wrapper
    value = {key: items} if key is not None and isinstance(items, list) else items
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if row.output_format == "yaml":
        # Otherwise equal items would become aliases.
        value = json.loads(text)
        text = yaml.safe_dump(value, default_flow_style=False, sort_keys=False)
    return _fenced(text, row)


def _fenced(content: str, row: IfstructRecord) -> str:
    """Return an answer with its content in a code block, if one is required."""
    wish, _, language = row.wish.partition(":")
    if wish != "required":
        return content
    return f"```{language}\n{content.rstrip()}\n```"
