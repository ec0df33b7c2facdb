"""Verdicts of a run as the tables read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.reporting.tables import MissingFigure, Rate
from evaluation.suites.ifstruct.records.slices import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun
    from evaluation.reporting.tables import Cell

#: What a response has no facts of: its scorer was ended.
_NOTHING: Any = {}


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """One response, with the facts that its scorer noted."""

    scored: ScoredResponse

    @property
    def passed(self) -> bool:
        """Whether it keeps every requirement."""
        return self.scored.verdict.passed

    @property
    def structure(self) -> bool:
        """Whether what is in it keeps every requirement, whatever stands around it."""
        return self.scored.verdict.scores.get("structure", 0.0) == 1.0

    @property
    def difficulty(self) -> int:
        """How much its row asks for."""
        return int(self._detail("difficulty", 0))

    @property
    def kind(self) -> str:
        """The kind of thing that its row asks for."""
        return str(self._detail("kind", UNKNOWN))

    @property
    def asked(self) -> list[str]:
        """The requirements of its row."""
        return list(self._detail("asked", ()))

    @property
    def lost(self) -> list[str]:
        """The requirements that it does not keep."""
        return list(self._detail("lost", ()))

    @property
    def published_errors(self) -> list[str]:
        """Every error by the classes of the published summary."""
        return list(self._detail("published_errors", ()))

    @property
    def differs(self) -> list[str]:
        """The failures that one reading counts and the other does not."""
        return list(self._detail("differs", ()))

    def slice(self, name: str) -> str:
        """Return the alternative that was drawn for a choice of its row."""
        return str(self._detail("slices", _NOTHING).get(name, UNKNOWN))

    def passes(self, reading: str) -> bool:
        """Return whether it passes by `published` or `recommended`."""
        return bool(self._detail(f"passes_{reading}", self.passed))

    def _detail(self, name: str, default: Any) -> Any:  # noqa: ANN401 - JSON out of a row
        return self.scored.verdict.details.get(name, default)


def judged(run: ScoredRun) -> dict[str, list[JudgedResponse]]:
    """Return the responses that count, by model and condition."""
    return {
        label: [JudgedResponse(one) for one in listed if one.verdict.counted]
        for label, listed in run.by_label.items()
    }


def pass_rate(listed: Sequence[JudgedResponse]) -> Cell:
    """Return the share that passes; of none there is no share."""
    if not listed:
        return MissingFigure("no row")
    return Rate(sum(one.passed for one in listed), len(listed))


def structure_rate(listed: Sequence[JudgedResponse]) -> Cell:
    """Return the share whose content is right, whatever stands around it."""
    if not listed:
        return MissingFigure("no row")
    return Rate(sum(one.structure for one in listed), len(listed))
