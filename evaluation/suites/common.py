"""Parts that several suites share: schemas of any data, witnesses, late imports."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from curation.core.documents import Rejected
from curation.json.text import parse, plain
from curation.json.values import identity
from curation.system.errors import BadData, NoInput
from curation.system.user_files import existing_path, reading_parquet, refuse_large
from evaluation.answers.extraction import POLICIES, MissingAnswer, TriageRules, triage
from evaluation.answers.json_answers import read_json_answer
from evaluation.core.records import Record, Response, Verdict
from evaluation.core.suite import Judge, RecordRequest, RecordSet, Scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema


def imported_late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports a function when it is called, and calls it.

    Help texts read the list of suites, and scoring workers need no reports.

    Args:
        module: The dotted name of a module below `evaluation.suites`.
        name: The function or class in it.
    """

    def call(*arguments: object) -> object:
        target = getattr(import_module(f"evaluation.suites.{module}"), name)
        return target(*arguments)

    return call


def published_files(
    data: str, suffixes: Sequence[str], then: str
) -> tuple[str, list[Path]]:
    """Return where data are from, and their files: a file, a folder, or the Hub's.

    Args:
        data: A path, or `owner/name[@revision]` on the Hub.
        suffixes: Endings of the files that are read of a folder.
        then: What may be named instead.

    Raises:
        NoInput: there is no such file, folder, dataset or revision, or no file in it.
        Unavailable: the Hub cannot be reached.
    """
    from curation.core.hub_names import dataset_name  # noqa: PLC0415 - of files alone

    path, origin = existing_path(data), "file"
    if path is None:
        dataset = dataset_name(data)
        if not dataset:
            raise NoInput("no such file or folder", data, then)
        from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy

        patterns = [f"*{suffix}" for suffix in suffixes]
        path, origin = hub_snapshot(dataset.name, dataset.revision, patterns), "hub"
    files = [path]
    if not path.is_file():
        # A table in parts is a folder of that ending.
        inside = (each for each in path.rglob("*") if each.is_file())
        files = sorted(each for each in inside if each.suffix in suffixes)
    if not files:
        raise NoInput(f"no {' or '.join(suffixes)} file in it", str(path), then)
    return origin, files


def published_rows(file: Path) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the rows of a published file, parquet or JSON, each with its place.

    Raises:
        NoInput: the file cannot be read.
        BadData: it is damaged, or a line of it is no JSON object.
    """
    if file.suffix == ".parquet":
        import polars as pl  # noqa: PLC0415 - heavy

        with reading_parquet(file):
            rows = pl.read_parquet(file, glob=False).to_dicts()
        yield from ((f"{file}:{place}", row) for place, row in enumerate(rows, 1))
        return
    try:
        content = refuse_large(file).read_bytes()
    except OSError as error:
        raise NoInput(error.strerror or "cannot be read", str(file)) from error
    yield from json_rows(content, str(file))


def json_rows(content: bytes, name: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the objects of JSON lines, or of one array in `.json`, with their places.

    Python's parser reads what ours refuses, as authors' files may hold NaN.

    Raises:
        BadData: a line is no JSON object.
    """
    lines: list[bytes | Json] = [*content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    if name.endswith(".json"):
        whole = _json_value(content, name)
        lines = [*whole] if isinstance(whole, list) else [whole]
    for number, line in enumerate(lines, 1):
        if isinstance(line, bytes) and not line.strip():
            continue
        where = f"{name}:{number}"
        row = _json_value(line, where) if isinstance(line, bytes) else line
        if not isinstance(row, dict):
            raise BadData("no JSON object", where)
        yield where, row


def _json_value(text: bytes, where: str) -> Json:
    value = parse(text)
    if not isinstance(value, Rejected):
        return plain(value)
    try:
        read: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadData(f"no JSON: {error}", where) from error
    return read


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
        from evaluation.data import RecordSelection, open_data  # noqa: PLC0415 - heavy

        data = open_data(
            request.data,
            selection=RecordSelection(
                configs=request.configs,
                splits=request.splits,
                ids=request.only,
                limit=None if request.first else request.limit,
                seed=request.seed,
                vacuous=request.vacuous,
            ),
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
VALUE_CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "no_answer": "there is no text",
        "not_json": "the text is not JSON",
        "wrong_value": "JSON, but not the right value",
    }
)


def value_scorer(right: Callable[[Record], Json]) -> Scorer:
    """Return a scorer of answers that are JSON of one right value.

    Thinking and a fence around the answer are taken off.

    Args:
        right: Returns a record's right value.
    """
    rules = TriageRules(policy=POLICIES["outer_fence"])

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


def first_witness(schema: str, dialect: str) -> Iterator[tuple[CompiledSchema, Json]]:
    """Yield a schema with one value that it accepts; nothing where none is known."""
    from curation.instances.constraints.interpretations import read_schema  # noqa: PLC0415 - heavy
    from curation.instances.search.witnesses import Budget, find_witnesses  # noqa: PLC0415 - heavy

    compiled = read_schema(schema, dialect)
    if not isinstance(compiled, Rejected):
        for witness in find_witnesses(compiled, 0, Budget(count=1)).witnesses:
            yield compiled, witness.value
