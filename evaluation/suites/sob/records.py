"""Records: their files in our layout and in the authors', and how they are asked.

A row that the authors publish has `record_id`, `context`, `question`, `json_schema` and
`ground_truth`, the last two as JSON text or as values. A line of their response files
has the same beneath `input`, `output` and `metadata`, with the answer of a model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.json.text import write
from curation.json.values import is_number
from curation.system.errors import BadData
from evaluation.core.records import (
    Message,
    Prompt,
    Record,
    RecordRequest,
    RecordSet,
    Response,
)
from evaluation.suites.common import SAMPLE, published_files, published_rows
from evaluation.suites.sob.metrics import SobSettings, read_dialect

#: Where a context comes from: texts, OCR of images, transcripts of speech.
Source: TypeAlias = Literal["text", "image", "audio"]
#: The published data.
PUBLISHED: Final = "interfaze-ai/sob"


class SourceTotal(NamedTuple):
    """A whole source of a data set."""

    records: int
    #: The sum of its records' weights: `W_u` of equation 4.
    weight: float


#: Figures on the published data (the paper's sections 6.1 and Table 8).
PUBLISHED_TOTALS: Final[Mapping[str, SourceTotal]] = {
    "text": SourceTotal(5_000, 13_054.0),
    "image": SourceTotal(209, 602.0),
    "audio": SourceTotal(115, 343.0),
}
_SAMPLE_FILE: Final = Path(__file__).with_name("sample.jsonl")
#: The weight of a record of each complexity (the paper's section 4.4).
COMPLEXITY_WEIGHTS: Final[Mapping[str, float]] = {
    "easy": 1.0,
    "medium": 2.0,
    "hard": 3.0,
}
# Columns that only rows of one source have.
_COLUMNS: Final[Mapping[str, Source]] = {
    "meeting_id": "audio",
    "num_speakers": "audio",
    "source_pdf": "image",
    "source_category": "image",
}
# A published file is called by its split: `data/test-00000-of-00001.parquet`.
_SPLIT: Final = re.compile(r"(?:^|[/\\])(train|validation|test)\b[^/\\]*\Z")
_THEN: Final = (
    "name a .jsonl or .parquet file, a folder of them, or owner/name[@revision]"
)
_OTHER_LAYOUT: Final = "it is a row of another layout"


class SobRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record: a context, a question, a schema and the true answer."""

    record_id: str
    source: Source
    context: str
    question: str
    json_schema: UntypedJson
    ground_truth: UntypedJson
    schema_complexity: str = ""
    question_difficulty: str = ""
    #: The kind of a record of the sample; empty for published ones.
    family: str = ""
    #: The kind of page of a published image.
    category: str = ""
    #: Split of the published data: `train`, `validation` or `test`; otherwise empty.
    split: str = ""


def compute_weight(complexity: str, difficulty: str = "") -> float:
    """Return a record's weight by its schema, or by its question; 0 if unknown."""
    for word in (complexity, difficulty):
        if word.lower() in COMPLEXITY_WEIGHTS:
            return COMPLEXITY_WEIGHTS[word.lower()]
    return 0.0


def measure_complexity(schema: Json) -> str:
    """Return how hard a schema is, by the paper's definition.

    Hard is an array of objects, or three levels of objects and arrays; medium is two
    levels; easy is flat. References are not followed.
    """
    deepest = 0
    stack: list[tuple[Json, int]] = [(schema, 1)]
    while stack:
        inner, level = stack.pop()
        if not isinstance(inner, dict):
            continue
        items = inner.get("items")
        properties = inner.get("properties")
        if isinstance(items, dict):
            if isinstance(items.get("properties"), dict):
                return "hard"
            deepest = max(deepest, level)
            stack.append((items, level + 1))
        if isinstance(properties, dict):
            deepest = max(deepest, level)
            stack += [(child, level + 1) for child in properties.values()]
    return ("easy", "easy", "medium", "hard")[min(deepest, 3)]


def suite_record(record: SobRecord) -> Record:
    """Return a record as every suite's are; the group is its source."""
    schema = record.json_schema
    return Record(
        id=record.record_id,
        group=record.source,
        split=record.split,
        schema=write(schema),
        dialect=read_dialect(schema),
        fields=msgspec.to_builtins(record),
    )


def sob_record(record: Record) -> SobRecord:
    """Return the record that `suite_record` was made of.

    Raises:
        BadData: it is a record of another suite.
    """
    try:
        return msgspec.convert(record.fields, SobRecord)
    except msgspec.ValidationError as error:
        message = f"no record of suite sob: {error}"
        raise BadData(message, record.key, _THEN) from error


def sample_records() -> list[SobRecord]:
    """Return the forty records of the sample, their sources in turn."""
    lines = _SAMPLE_FILE.read_bytes().splitlines()
    return [msgspec.json.decode(line, type=SobRecord) for line in lines]


def suite_records(request: RecordRequest, _settings: SobSettings) -> RecordSet:
    """Return the records of a run: its data's, otherwise the sample.

    Args:
        request: `data` is a file, a folder or a dataset on the Hub;
            `interfaze-ai/sob[@revision]` are the published ones. Without splits these
            are the authors' choice: the test split of each source that has one.
        _settings: Unused.

    Raises:
        NoInput: missing file, folder, dataset or revision.
        BadData: a row of it is not a record.
        Unavailable: the Hub cannot be reached.
    """
    data = request.data
    if data is None:
        records = [*map(suite_record, sample_records())]
        return RecordSet(
            name="sob-sample", origin=SAMPLE, records=records, generated=True
        )
    origin, files = published_files(data, (".parquet", ".jsonl"), _THEN)
    rows = [record for file in files for record in _read(file)]
    if not request.splits:
        tested = {row.source for row in rows if row.split == "test"}
        rows = [row for row in rows if row.source not in tested or row.split == "test"]
    if data.startswith(PUBLISHED) and not request.splits:
        counts = Counter[str](row.source for row in rows)
        origin += "".join(
            f", {counts[source]:,} {source} for {published.records:,} published"
            for source, published in PUBLISHED_TOTALS.items()
            if counts[source] != published.records
        )
    return RecordSet(name=data, origin=origin, records=[*map(suite_record, rows)])


def _read(file: Path) -> Iterator[SobRecord]:
    answered: set[Json] = set()
    for where, line in published_rows(file):
        row = line
        match line:
            case {"input": dict(asked), "output": dict(output)}:
                value = line.get("metadata")
                metadata = value if isinstance(value, dict) else {}
                row = {**metadata, **asked, "ground_truth": output.get("ground_truth")}
                row["question_difficulty"] = metadata.get("difficulty")
                # A response file may answer one record more than once.
                if row.get("record_id") in answered:
                    continue
                answered.add(row.get("record_id"))
        yield _record_of_row(row, where)


def _record_of_row(row: Mapping[str, Json], where: str) -> SobRecord:
    """Return the record of a row of the published data.

    Args:
        row: The row.
        where: Its file and line, for messages, and to infer its source.

    Raises:
        BadData: a column is missing, or holds no JSON.
    """
    schema = _value(row, "json_schema", where)
    complexity = str(row.get("schema_complexity") or "")
    difficulty = str(row.get("question_difficulty") or "")
    if not complexity and not difficulty:
        # It is as hard as its schema: else it would weigh nothing.
        complexity = measure_complexity(schema)
    return SobRecord(
        record_id=_text(row, "record_id", where),
        split=split[1] if (split := _SPLIT.search(where)) else "",
        source=_find_source(row, where),
        category=str(row.get("source_category") or ""),
        context=_text(row, "context", where),
        question=_text(row, "question", where),
        json_schema=schema,
        ground_truth=_value(row, "ground_truth", where),
        schema_complexity=complexity,
        question_difficulty=difficulty,
    )


def _find_source(row: Mapping[str, Json], where: str) -> Source:
    """Return a row's source by a column, or by the name of its file."""
    for column, source in _COLUMNS.items():
        if row.get(column) is not None:
            return source
    # `audio/train.jsonl` and `image-train.jsonl`, but nobody's /home/claudio/sob.jsonl.
    near = "/".join(Path(where).parts[-2:]).lower()
    words = set(re.findall("[a-z]+", near))
    if "image" in words:
        return "image"
    return "audio" if "audio" in words else "text"


def _text(row: Mapping[str, Json], column: str, where: str) -> str:
    value = row.get(column)
    if not isinstance(value, str):
        raise BadData(f"no text in {column!r}", where, _OTHER_LAYOUT)
    return value


def _value(row: Mapping[str, Json], column: str, where: str) -> Json:
    value = row.get(column)
    if value is None:
        raise BadData(f"no {column!r}", where, _OTHER_LAYOUT)
    if not isinstance(value, str):
        return value
    try:
        parsed: Json = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise BadData(f"{column!r} is no JSON: {error}", where) from error
    return parsed


def response_of_line(line: Mapping[str, Json]) -> Response | None:
    """Return the response of a line of a published response file; None of another.

    The authors store parsed answers. A text that they could not parse is a string
    there and is not parsed again, so it becomes the JSON text of that string.
    """
    match line:
        case {
            "metadata": {"record_id": record, **metadata},
            "output": {"candidate_response": candidate},
        }:
            info = line.get("eval_info")
            tokens = info if isinstance(info, dict) else {}
            return Response(
                record=str(record),
                model=str(metadata.get("model_id") or "model"),
                text=None
                if candidate is None
                else json.dumps(candidate, ensure_ascii=False),
                error="no response was stored" if candidate is None else "",
                prompt_tokens=_count(tokens.get("input_tokens")),
                output_tokens=_count(tokens.get("output_tokens")),
            )
    return None


def _count(value: Json) -> int | None:
    return int(value) if is_number(value) and isfinite(value) else None


_SYSTEM: Final = (
    "Answer the question from the context alone. Return exactly one JSON object that "
    "follows the schema. No explanation, no markdown, no text around it. Use only the "
    "keys of the schema, with values of the right types, and include every one. Where "
    "the context does not hold an answer, the value is null."
)


def make_prompt(record: Record, settings: SobSettings) -> Prompt:
    """Return two messages, as the paper's section 5.2 describes them.

    They paraphrase the authors' messages. Like these they ask for
    null if the context has no answer, even if a schema does not allow null: then no
    answer can be right and valid.
    """
    fields = sob_record(record)
    schema = json.dumps(fields.json_schema, indent=2, ensure_ascii=False)
    parts = (
        f"Context:\n{fields.context}",
        f"Question:\n{fields.question}",
        f"Respond with JSON that matches this schema:\n{schema}",
    )
    messages = (
        Message(role="system", content=_SYSTEM),
        Message(role="user", content="\n\n".join(parts)),
    )
    return Prompt(messages=messages, budget=settings.max_tokens)
