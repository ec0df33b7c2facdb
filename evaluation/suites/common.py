"""Parts that several suites share: schemas of any data, witnesses, late imports."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evaluation.core.suite import RecordRequest, RecordSet
from evaluation.core.suite_records import SuiteRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.core.cases import Sample


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


def schema_records(
    request: RecordRequest,
    *,
    dialect: str = "",
    fields: Callable[[Sample], dict[str, Json]] | None = None,
) -> RecordSet:
    """Return the schemas of a build, a folder, a file or a dataset on the Hub.

    Args:
        request: The request for records.
        dialect: The dialect for every schema; empty for its own.
        fields: Returns the fields of a schema's record, from its instances too; None
            for records without fields, for which no instances are read.

    Raises:
        Fault: the data cannot be read or fetched; see `evaluation.data.open_data`.
    """
    data = request.opened
    if data is None:
        from evaluation.data import SampleSelection, open_data  # noqa: PLC0415 - heavy

        data = open_data(
            request.data,
            selection=SampleSelection(
                configs=request.configs,
                splits=request.splits,
                ids=request.only,
                limit=None if request.first else request.limit,
                seed=request.seed,
            ),
            instances=fields is not None,
            settings=request.fetch,
        )
    return RecordSet(
        name=data.name,
        origin=data.origin,
        records=[
            SuiteRecord(
                id=sample.id,
                group=sample.config,
                schema=sample.schema,
                dialect=dialect or sample.dialect,
                fields={} if fields is None else fields(sample),
            )
            for sample in data.samples()
        ],
    )


def first_witness(schema: str, dialect: str) -> Iterator[tuple[CompiledSchema, Json]]:
    """Yield a schema with one value that it accepts; nothing where none is known."""
    from curation.core.documents import Rejected  # noqa: PLC0415 - heavy
    from curation.instances.constraints.interpretations import read_schema  # noqa: PLC0415 - heavy
    from curation.instances.search.witnesses import Budget, find_witnesses  # noqa: PLC0415 - heavy

    compiled = read_schema(schema, dialect)
    if not isinstance(compiled, Rejected):
        for witness in find_witnesses(compiled, 0, Budget(count=1)).witnesses:
            yield compiled, witness.value
