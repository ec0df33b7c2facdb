"""The figures of a run, by model and source, as the tables need them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from curation.json.values import is_number
from evaluation.suites.sob.leaderboard.source_summary import (
    RecordFigures,
    SourceSummary,
    summarise,
)
from evaluation.suites.sob.leaderboard.unified import SourceMeans, standings
from evaluation.suites.sob.leaderboard.weights import (
    PUBLISHED_TOTALS,
    SourceTotal,
    totals_of,
)
from evaluation.suites.sob.metrics.names import Metric
from evaluation.suites.sob.records.loading import PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun
    from evaluation.suites.sob.leaderboard.unified import Standing

#: The sources in the order of the paper.
SOURCES = ("text", "image", "audio")


@dataclass(frozen=True)
class RunFigures:
    """A scored run, with what is computed of it at most once."""

    run: ScoredRun

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """Return the weight of each record that any model was asked about."""
        found: dict[str, float] = {}
        for scored in self._all():
            weight = scored.verdict.details.get("weight")
            if is_number(weight):
                found[scored.record] = float(weight)
        return found

    @cached_property
    def totals(self) -> Mapping[str, SourceTotal]:
        """Return the totals of the sources: the published ones, or those of the run."""
        if str(self.run.facts.get("data", "")).startswith(PUBLISHED):
            return PUBLISHED_TOTALS
        groups = {scored.record: scored.group for scored in self._all()}
        return totals_of(
            (group, self.weights.get(record, 0.0)) for record, group in groups.items()
        )

    @cached_property
    def summaries(self) -> Sequence[SourceSummary]:
        """Return every model on every source that it was asked about."""
        return [
            summarise(label, source, figures)
            for label, listed in self.run.by_label.items()
            for source in SOURCES
            if (figures := [*self._figures(listed, source)])
        ]

    @cached_property
    def standings(self) -> Sequence[Standing]:
        """Return the leaderboard, the best first."""
        means = [
            SourceMeans(
                model=summary.model,
                source=summary.source,
                records=summary.records,
                metrics={
                    metric: mean.value
                    for metric, mean in summary.weighted.metrics.items()
                },
            )
            for summary in self.summaries
            if summary.weighted is not None
        ]
        return standings(means, self.totals, counted_coverage=not self.is_published)

    @property
    def is_published(self) -> bool:
        """Whether the published reading decides."""
        settings = self.run.facts.get("settings")
        return isinstance(settings, dict) and settings.get("reading") == "paper"

    def _all(self) -> Iterator[ScoredResponse]:
        for listed in self.run.by_label.values():
            yield from listed

    def _figures(
        self, listed: Sequence[ScoredResponse], source: str
    ) -> Iterator[RecordFigures]:
        for scored in listed:
            if scored.group == source and scored.verdict.counted:
                yield RecordFigures(
                    record=scored.record,
                    weight=self.weights.get(scored.record, 0.0),
                    values={metric: figure(scored, metric) for metric in Metric},
                )


def figure(scored: ScoredResponse, name: str) -> float:
    """Return a figure of one response; 0 where scoring failed, or none was reached."""
    return scored.verdict.scores.get(name, 0.0)


def counted(listed: Sequence[ScoredResponse]) -> list[ScoredResponse]:
    """Return the responses that are part of the denominators."""
    return [scored for scored in listed if scored.verdict.counted]
