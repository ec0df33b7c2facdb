"""IFStruct, as `csbdata suite` runs it: records, files of rows, known answers.

Source: Sam Paech and others, "IFStruct: Measuring structured-output compliance", Liquid
AI, 2026; docs/suites/ifstruct.md lists our changes and where the readings differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.system.errors import BadData
from curation.system.registry import imported_late
from evaluation.core.records import (
    GENERATED,
    Message,
    Prompt,
    Record,
    RecordRequest,
    RecordSet,
)
from evaluation.core.suite import KnownAnswer, Rewording, Suite
from evaluation.suites.common import (
    first_witness,
    published_files,
    published_rows,
)
from evaluation.suites.ifstruct.rows import (
    AnswerFormat,
    Fence,
    FenceWish,
    IfstructRecord,
    Requirements,
    read_record,
)
from evaluation.suites.ifstruct.settings import Failure, IfstructSettings, as_published

_THEN: Final = (
    "name a file of rows or owner/name[@revision], or leave --data out for our own rows"
)
#: Rows of a run without a file and without a limit; the published file has 2,000.
_ROWS: Final = 200
#: Tokens of a reworded request.
_REWORDING_BUDGET: Final = 4096


def suite_record(row: IfstructRecord) -> Record:
    """Return a row as the record of a suite; its group is the format of its answer.

    Only answers in JSON can be held to a schema, so only these have one.
    """
    schema = None
    if row.output_format is AnswerFormat.JSON:
        schema = json.dumps(row.requirements.answer_schema(), ensure_ascii=False)
    return Record(
        id=row.id,
        group=str(row.output_format),
        split="test" if row.entity_type.startswith("test__") else "",
        schema=schema,
        fields=msgspec.to_builtins(row),
    )


def _records(request: RecordRequest, settings: IfstructSettings) -> RecordSet:
    """Return the rows of published files, or generated rows.

    Raises:
        NoInput: missing file, folder or dataset, or it cannot be read.
        BadData: a line of it is not a row.
    """
    if request.data is not None:
        origin, files = published_files(request.data, (".jsonl", ".parquet"), _THEN)
        rows = [row for file in files for row in read_rows(published_rows(file))]
        return RecordSet(
            name=request.data, origin=origin, records=[*map(suite_record, rows)]
        )
    records = _generate(request.limit or _ROWS, request.seed, settings)
    name = f"{settings.split} split, mix {settings.mix}, seed {request.seed}"
    return RecordSet(name=name, origin=GENERATED, records=list(records), generated=True)


def _generate(count: int, seed: int, settings: IfstructSettings) -> Iterator[Record]:
    """Yield generated rows; two seeds share none."""
    from evaluation.suites.ifstruct.generator import RowSource, generate_rows  # noqa: PLC0415 - heavy

    source = RowSource(split=settings.split, mix=settings.mix)
    return map(suite_record, generate_rows(source, seed, count))


def read_rows(rows: Iterable[tuple[str, Mapping[str, Json]]]) -> list[IfstructRecord]:
    """Return the rows of a file, in either published variant.

    Args:
        rows: JSON objects with their places.

    Raises:
        BadData: one is not a row, two have one seed, or the file is empty.
    """
    read: dict[int, tuple[str, IfstructRecord]] = {}
    for where, columns in rows:
        try:
            row = read_record(columns)
        except (ValueError, msgspec.ValidationError) as error:
            then = "see docs/suites/ifstruct.md for the columns"
            raise BadData(f"no row: {error}", where, then) from None
        if row.seed in read:
            message = f"the seed {row.seed} stands at {read[row.seed][0]} too"
            raise BadData(message, where, "give each row its own")
        read[row.seed] = (where, row)
    if not read:
        raise BadData("the file has no rows")
    return [row for _, row in read.values()]


def _prompt(record: Record, settings: IfstructSettings) -> Prompt:
    turn = Message(role="user", content=str(record.fields["prompt"]))
    return Prompt(messages=(turn,), budget=settings.budget)


def _rewording(record: Record, _settings: IfstructSettings) -> Prompt:
    from evaluation.suites.ifstruct.rewriting import rewording_request  # noqa: PLC0415 - heavy

    request = rewording_request(read_record(record.fields))
    turn = Message(role="user", content=request)
    return Prompt(messages=(turn,), budget=_REWORDING_BUDGET)


def _reworded(record: Record, text: str) -> Record:
    from evaluation.suites.ifstruct.rewriting import reworded  # noqa: PLC0415 - heavy

    return suite_record(reworded(read_record(record.fields), text))


def _known_answers(record: Record, settings: IfstructSettings) -> Iterator[KnownAnswer]:
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
    yield KnownAnswer(kind="null", text=None, expected=no_answer)
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
    import yaml  # noqa: PLC0415 - heavy

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


SUITE: Final = Suite(
    name="ifstruct",
    summary="Does a model follow a request for JSON or YAML, to the letter?",
    settings=IfstructSettings,
    classes={str(failure): failure.explanation for failure in Failure},
    records=_records,
    prompt=_prompt,
    scorer=imported_late("evaluation.suites.ifstruct.scorer", "ifstruct_scorer"),
    tables=imported_late("evaluation.suites.ifstruct.report", "tables"),
    known_answers=_known_answers,
    generate=_generate,
    published="LiquidAI/ifstruct-v1.0",
    paper=as_published,
    rewording=Rewording(prompt=_rewording, accept=_reworded),
)
