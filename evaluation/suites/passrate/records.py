"""The records of the prompted pass rate: the schemas of any data of `csbdata eval`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.suite import RecordSet
from evaluation.core.suite_records import SuiteRecord
from evaluation.data import SampleSelection, open_data

if TYPE_CHECKING:
    from evaluation.core.suite import RecordRequest
    from evaluation.suites.passrate.settings import PassrateSettings


def records(request: RecordRequest, _settings: PassrateSettings) -> RecordSet:
    """Return the schemas of a build, a folder, a file or a dataset on the Hub.

    Raises:
        Fault: the data cannot be read or fetched; see `evaluation.data.open_data`.
    """
    data = open_data(
        request.data,
        selection=SampleSelection(
            configs=request.configs,
            splits=request.splits,
            ids=request.only,
            limit=None if request.first else request.limit,
            seed=request.seed,
        ),
        instances=False,
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
                dialect=sample.dialect,
            )
            for sample in data.samples()
        ],
    )
