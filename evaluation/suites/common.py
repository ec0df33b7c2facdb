"""Parts that several suites share: schemas of any data, witnesses, late imports."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from curation.json.values import identity
from curation.system.errors import NoInput
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

    path, origin = Path(data).expanduser(), "file"
    if not path.exists():
        dataset = dataset_name(data)
        if not dataset:
            raise NoInput("no such file or folder", data, then)
        from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy

        patterns = [f"*{suffix}" for suffix in suffixes]
        path, origin = hub_snapshot(dataset.name, dataset.revision, patterns), "hub"
    files = [path]
    if not path.is_file():
        files = sorted(each for each in path.rglob("*") if each.suffix in suffixes)
    if not files:
        raise NoInput(f"no {' or '.join(suffixes)} file in it", str(path), then)
    return origin, files


def schema_records(
    request: RecordRequest,
    *,
    dialect: str = "",
    witnesses: bool = False,
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
    from curation.core.documents import Rejected  # noqa: PLC0415 - heavy
    from curation.instances.constraints.interpretations import read_schema  # noqa: PLC0415 - heavy
    from curation.instances.search.witnesses import Budget, find_witnesses  # noqa: PLC0415 - heavy

    compiled = read_schema(schema, dialect)
    if not isinstance(compiled, Rejected):
        for witness in find_witnesses(compiled, 0, Budget(count=1)).witnesses:
            yield compiled, witness.value
