"""What judges responses in a worker: it keeps the records that it was asked last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.suites.sob.answers.judging import PreparedRecord, judge
from evaluation.suites.sob.records.loading import sob_record

if TYPE_CHECKING:
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse, Verdict
    from evaluation.suites.sob.metrics.rules import ScoringRules

_MOST_KEPT: Final = 512


class SobScorer:
    """Judges responses under one reading; each record is compiled once."""

    def __init__(self, rules: ScoringRules) -> None:
        """Prepare to judge."""
        self._rules = rules
        self._kept: dict[str, tuple[SuiteRecord, PreparedRecord]] = {}

    def __call__(self, record: SuiteRecord, response: SuiteResponse) -> Verdict:
        """Return the verdict on one response.

        Raises:
            BadData: the record is one of another suite.
        """
        kept = self._kept.get(record.key)
        if kept is None or (kept[0] is not record and kept[0] != record):
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            own = sob_record(record)
            prepared = PreparedRecord.of(own, self._rules)
            kept = self._kept[record.key] = (record, prepared)
        return judge(kept[1], response)
