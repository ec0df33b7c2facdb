"""Parts that several suites share: schemas of any data, witnesses."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.json.values import identity
from curation.system.errors import BadData, NoInput
from curation.system.user_files import (
    existing_path,
    reading,
    reading_parquet,
    refuse_large,
)
from evaluation.answers.extraction import (
    MissingAnswer,
    TriageRules,
    outer_fence,
    read_json_answer,
    triage,
)
from evaluation.core.records import Record, RecordRequest, RecordSet, Response, Verdict
from evaluation.reporting.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.suite import Judge, Scorer

#: Origin of the records that ship with a suite, to try a run with.
SAMPLE: Final = "sample written for csbdata"


def published_files(
    data: str, suffixes: Sequence[str], hint: str
) -> tuple[str, list[Path]]:
    """Return where data are from, and their files: a file, a folder, or the Hub's.

    Args:
        data: A path, or `owner/name[@revision]` on the Hub.
        suffixes: Endings of the files to read in a folder.
        hint: What may be named instead.

    Raises:
        NoInput: missing file, folder, dataset or revision, or no file in it.
        Unavailable: the Hub cannot be reached.
    """
    from curation.core.hub_names import dataset_name  # noqa: PLC0415 - of files alone

    path = existing_path(data)
    origin = "file"
    if path is None:
        dataset = dataset_name(data)
        if not dataset:
            raise NoInput("no such file or folder", data, hint)
        from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy

        patterns = [f"*{suffix}" for suffix in suffixes]
        path = hub_snapshot(dataset.name, dataset.revision, patterns)
        origin = "hub"
    files = [path]
    if not path.is_file():
        # A table in parts is a folder of that ending.
        inside = (entry for entry in path.rglob("*") if entry.is_file())
        files = sorted(file for file in inside if file.suffix in suffixes)
    if not files:
        raise NoInput(f"no {' or '.join(suffixes)} file in it", str(path), hint)
    return origin, files


def published_rows(file: Path) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the rows of a published file, parquet or JSON, each with its place.

    Raises:
        NoInput: the file cannot be read.
        BadData: it is damaged, or a line of it is not a JSON object.
    """
    if file.suffix == ".parquet":
        import polars as pl  # noqa: PLC0415 - heavy

        with reading_parquet(file):
            rows = pl.read_parquet(file, glob=False).to_dicts()
        yield from ((f"{file}:{number}", row) for number, row in enumerate(rows, 1))
        return
    with reading(file):
        content = refuse_large(file).read_bytes()
    yield from json_rows(content, str(file))


def json_rows(content: bytes, name: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the objects of JSON lines, or of one array in `.json`, with their places.

    Python's parser reads what ours refuses, as authors' files may hold NaN.

    Raises:
        BadData: a line is not a JSON object.
    """
    lines: list[bytes | Json] = [*content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    if name.endswith(".json"):
        value = _json_value(content, name)
        lines = [*value] if isinstance(value, list) else [value]
    for number, line in enumerate(lines, 1):
        if isinstance(line, bytes) and not line.strip():
            continue
        where = f"{name}:{number}"
        row = _json_value(line, where) if isinstance(line, bytes) else line
        if not isinstance(row, dict):
            raise BadData("no JSON object", where)
        yield where, row


def _json_value(text: bytes, where: str) -> Json:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadData(f"no JSON: {error}", where) from error
    return value


def schema_records(
    request: RecordRequest, *, dialect: str = "", witnesses: bool = False
) -> RecordSet:
    """Return the schemas of a build, a folder, a file or a dataset on the Hub.

    Args:
        request: The request for records.
        dialect: The dialect for every schema; empty for its own.
        witnesses: Whether each record's valid instances are among its fields, as
            `witnesses`; otherwise no instances are read.

    Raises:
        Fault: the data cannot be read or fetched; see `evaluation.data.open_data`.
    """
    data = request.dataset
    if data is None:
        from evaluation.data import open_data  # noqa: PLC0415 - heavy

        data = open_data(
            request.data,
            selection=replace(request, limit=None) if request.first else request,
            instances=witnesses,
            settings=request.fetch,
        )
    return RecordSet(
        name=data.name,
        origin=data.origin,
        records=[
            Record(
                id=record.id,
                group=record.group,
                split=record.split,
                schema=record.schema,
                dialect=dialect or record.dialect,
                weight=record.weight,
                fields={"witnesses": _witnesses(record)} if witnesses else {},
            )
            for record in data.records()
        ],
    )


def _witnesses(record: Record) -> list[Json]:
    return [instance.text for instance in record.instances if instance.valid]


#: The classes of `value_scorer`.
VALUE_CLASSES: Final[Mapping[str, str]] = {
    "no_answer": "the text is missing",
    "not_json": "the text is not JSON",
    "wrong_value": "JSON, but not the right value",
}


def value_scorer(right: Callable[[Record], Json]) -> Scorer:
    """Return a scorer of answers that are JSON of one right value.

    Thinking and a fence around the answer are taken off.

    Args:
        right: Returns a record's right value.
    """
    rules = TriageRules(policy=outer_fence)

    def failed(kind: str, reason: str) -> Verdict:
        return Verdict(passed=False, failure_class=kind, reasons=(reason,))

    def prepare(record: Record) -> Judge:
        expected = right(record)
        value = identity(expected)

        def judge(response: Response) -> Verdict:
            text = triage(response, rules)
            if isinstance(text, MissingAnswer):
                return failed("no_answer", text.reason)
            answer = read_json_answer(text)
            if answer.problem:
                return failed("not_json", answer.detail)
            if answer.duplicates or identity(answer.value) != value:
                return failed("wrong_value", f"{answer.value} is not {expected}")
            return Verdict(passed=True)

        return judge

    return prepare


def count_table(
    title: str, name: str, column: str, counts: Mapping[str, Counter[str]], note: str
) -> Table:
    """Return how often each word of several counts occurs, the most frequent first."""
    total = sum(counts.values(), Counter[str]())
    words = sorted(total, key=lambda word: (-total[word], word))
    return Table(
        title=title,
        columns=(column, *counts),
        rows=tuple(
            (word, *(counted[word] for counted in counts.values())) for word in words
        ),
        note=note,
        name=name,
    )
