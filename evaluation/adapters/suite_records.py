"""The records of a suite with their prompts and judges, for other harnesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.download.cache import FetchSettings
from evaluation.core.records import FREE, RecordRequest, Response
from evaluation.runner.records import make_records
from evaluation.runner.request import choose_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.core.records import Record, Verdict
    from evaluation.runner.request import SuiteChoice


@dataclass(frozen=True, slots=True)
class OpenedSuite:
    """A suite with its settings and records."""

    choice: SuiteChoice
    records: Sequence[Record]
    #: Where the records are from.
    origin: str

    def judge(
        self, record: Record, text: str, *, finish: str = "", condition: str = FREE
    ) -> Verdict:
        """Return the verdict on a text, as `csbdata suite score` gives it."""
        response = Response(
            record=record.key, text=text or None, finish=finish, condition=condition
        )
        return self.choice.suite.scorer(self.choice.settings)(record)(response)

    def cluster(self, record: Record) -> str:
        """Return the inputs of an answer besides its record."""
        return str(self.judge(record, "").details.get("cluster") or record.key)


def open_suite(
    name: str, data: str | None = None, limit: int | None = None, compat: str = ""
) -> OpenedSuite:
    """Return a suite with the records that `csbdata suite run` would ask.

    Args:
        name: The suite, or the folder of one.
        data: As `--data`: a path, a dataset on the Hub, or `own`.
        limit: As `--limit`.
        compat: `paper` for the published reading.

    Raises:
        Fault: unknown suite, or its data cannot be read.
    """
    choice = choose_suite(name, {}, compat)
    fetch = FetchSettings.from_environment()
    request = RecordRequest(data=data, fetch=fetch, limit=limit)
    selected = make_records(choice, request)
    return OpenedSuite(choice, selected.records, f"{selected.name} ({selected.origin})")
