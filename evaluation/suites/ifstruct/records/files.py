"""Files of rows, read and written: JSON Lines, in the two variants that there are.

The plain variant holds `json_schema` and `top_level_count` as JSON values. The variant
of the Hub holds them as JSON text, `""` where a value is null, and `doc_id` beside or
in place of `seed`. Both are read, told apart line by line; either can be written, with
the columns of ours or without.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.documents import Rejected
from curation.json.text import parse
from curation.system.errors import BadData
from evaluation.suites.ifstruct.records.record import IfstructRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from curation.core.json_types import Json

#: The columns of a published file, in their order.
PUBLISHED: Final = (
    "seed",
    "entity_type",
    "prompt",
    "json_schema",
    "top_level_count",
    "top_level_key",
    "require_wrapper_key",
    "require_code_block",
    "require_no_commentary",
    "output_format",
)
#: The columns that the Hub's variant holds as JSON text.
_AS_TEXT: Final = ("json_schema", "top_level_count")


def read_records(content: bytes, name: str) -> list[IfstructRecord]:
    """Return the rows of a file, in the order in which they stand.

    Args:
        content: The file's bytes, one JSON object a line; empty lines are passed over.
        name: What a message calls the file.

    Raises:
        BadData: a line is no row, or two rows have one seed.
    """
    records = list(_records(content, name))
    seen: dict[int, int] = {}
    for number, record in records:
        if record.seed in seen:
            what = f"lines {seen[record.seed]} and {number} both have the seed"
            raise BadData(f"{what} {record.seed}", name, "give each row its own")
        seen[record.seed] = number
    if not records:
        raise BadData("there is no row in it", name)
    return [record for _, record in records]


def write_records(
    records: Iterable[IfstructRecord], *, published: bool = False, hub: bool = False
) -> bytes:
    """Return the bytes of a file of these rows.

    Args:
        records: The rows, written in this order.
        published: Keep to the ten published columns.
        hub: Write the Hub's variant.
    """
    return b"".join(_line(record, published, hub) + b"\n" for record in records)


def _records(content: bytes, name: str) -> Iterator[tuple[int, IfstructRecord]]:
    content = content.removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            try:
                yield number, read_record(_row(line))
            except (ValueError, msgspec.ValidationError) as error:
                raise BadData(
                    f"line {number} is no row: {error}",
                    name,
                    "see docs/suites/ifstruct.md for the columns",
                ) from None


def _row(line: bytes) -> dict[str, Json]:
    row = parse(line)
    if isinstance(row, Rejected):
        raise ValueError(row.detail)  # noqa: TRY004 (the data are wrong, no type is)
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 (as above)
    return row


def read_record(row: Mapping[str, Json]) -> IfstructRecord:
    """Return the row that a JSON object of either variant stands for.

    Raises:
        ValueError: a column is missing, or holds what it cannot
            (`msgspec.ValidationError` is one).
    """
    values: dict[str, Json] = {
        name: value for name, value in row.items() if value is not None
    }
    if "seed" not in values and "doc_id" in values:
        values["seed"] = _whole(values["doc_id"])
    for name in _AS_TEXT:
        text = values.get(name)
        if isinstance(text, str):
            values[name] = _from_text(name, text)
    values["top_level_key"] = row.get("top_level_key") or None
    if values.get("spec") == "":
        del values["spec"]
    record = msgspec.convert(values, IfstructRecord)
    if record.require_wrapper_key and record.top_level_key is None:
        raise ValueError("a wrapper is required, and `top_level_key` names none")
    wanted = record.requirements
    if not 0 <= wanted.least <= wanted.most:
        raise ValueError(f"`top_level_count` is no range: {record.top_level_count}")
    return record


def _from_text(name: str, text: str) -> Json:
    value = parse(text.encode("utf-8", "surrogatepass"))
    if isinstance(value, Rejected):
        raise ValueError(f"`{name}` is no JSON text: {value.detail}")  # noqa: TRY004 (as above)
    return value


def _whole(value: Json) -> Json:
    """Return an id as the number it is; `doc_id` may be text."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _line(record: IfstructRecord, published: bool, hub: bool) -> bytes:  # noqa: FBT001 (both named by the caller)
    row: dict[str, Json] = msgspec.to_builtins(record)
    if published:
        row = {name: row[name] for name in PUBLISHED}
    if hub:
        row = {"doc_id": row["seed"], **row}
        for name in _AS_TEXT:
            row[name] = json.dumps(row[name], ensure_ascii=False)
        row = {name: "" if value is None else value for name, value in row.items()}
    return json.dumps(row, ensure_ascii=False).encode()
