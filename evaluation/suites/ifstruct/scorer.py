"""The verdict on one response, with all that a report slices it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evaluation.core.suite_records import FREE, Verdict
from evaluation.suites.ifstruct.core.requirement import Requirement
from evaluation.suites.ifstruct.records.asked import read_asked
from evaluation.suites.ifstruct.records.slices import (
    asked_of,
    difficulty_of,
    slices_of,
)
from evaluation.suites.ifstruct.verifier.findings import (
    Failure,
    RuleReading,
    StructureFinding,
)
from evaluation.suites.ifstruct.verifier.published_errors import published_class
from evaluation.suites.ifstruct.verifier.verify import (
    StructureVerdict,
    compile_requirements,
    verify,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse
    from evaluation.suites.ifstruct.settings import IfstructSettings
    from evaluation.suites.ifstruct.verifier.verify import CompiledRequirements

#: Requirements that are about what is in the answer, whatever stands around it.
STRUCTURE: Final = frozenset(
    {
        Requirement.WRAPPER,
        Requirement.COUNT,
        Requirement.FIELDS,
        Requirement.NO_EXTRA,
        Requirement.TYPES,
        Requirement.ENUMS,
        Requirement.BOUNDS,
        Requirement.LISTS,
        Requirement.EXTENDED,
    }
)
_REFUSED: Final = frozenset({"refusal", "content_filter"})
#: Reasons that a verdict tells.
_MOST_REASONS: Final = 20

#: What a constrained run has of a row whose answer no engine can constrain.
_NOT_ASKED: Final = Verdict(
    passed=False,
    failure_class=str(Failure.NO_ANSWER),
    reasons=("not run: YAML is held to no schema",),
    counted=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row, ready to have responses held against it."""

    key: str
    compiled: CompiledRequirements
    facts: Mapping[str, Json]


class IfstructScorer:
    """Judges responses; the row that was asked last is kept compiled."""

    def __init__(self, settings: IfstructSettings) -> None:
        """Take the settings of the suite."""
        self._settings = settings
        self._row: _Row | None = None

    def __call__(self, record: SuiteRecord, response: SuiteResponse) -> Verdict:
        """Return the verdict on one response."""
        if record.schema is None and response.condition != FREE:
            return _NOT_ASKED
        row = self._row
        if row is None or row.key != record.key:
            row = self._row = _prepared(record)
        judged = self._judged(row, response)
        decides = self._settings.decides
        counted = judged.counted(decides)
        lost = {found.failure.requirement for found in counted}
        scores = {"layout": float(not lost - STRUCTURE)}
        if judged.parsed:
            scores["structure"] = float(not lost & STRUCTURE)
            total = judged.fields_total
            scores["fields"] = judged.fields_passed / total if total else 1.0
        return Verdict(
            passed=not counted,
            failure_class=str(counted[0].failure) if counted else "",
            reasons=tuple(str(found) for found in counted[:_MOST_REASONS]),
            scores=scores,
            details={**row.facts, **_details(judged, counted)},
        )

    def _judged(self, row: _Row, response: SuiteResponse) -> StructureVerdict:
        """Return what is wrong with a response, or why there is none."""
        if response.text is None or response.error:
            return _unjudged(Failure.NO_ANSWER, response.error or "no text")
        if response.finish in _REFUSED and not response.text.strip():
            return _unjudged(Failure.REFUSED, response.finish)
        judged = verify(response.text, row.compiled, self._settings.options)
        cut = response.finish == "length" and not judged.parsed
        if not cut:
            return judged
        finding = StructureFinding(
            Failure.TRUNCATED, "the budget was used up", reading=RuleReading.RECOMMENDED
        )
        return StructureVerdict(
            findings=(finding, *judged.findings), parsed=False, fenced=judged.fenced
        )


def _prepared(record: SuiteRecord) -> _Row:
    row = read_asked(record)
    return _Row(
        key=record.key,
        compiled=compile_requirements(row.requirements),
        facts={
            "slices": {**slices_of(row)},
            "kind": row.entity_type,
            "difficulty": difficulty_of(row),
            "asked": [str(requirement) for requirement in asked_of(row)],
        },
    )


def _unjudged(failure: Failure, why: str) -> StructureVerdict:
    return StructureVerdict(findings=(StructureFinding(failure, why),), parsed=False)


def _details(
    judged: StructureVerdict, counted: tuple[StructureFinding, ...]
) -> dict[str, Json]:
    """Return what was found, by requirement and by both readings."""
    lost = {found.failure.requirement for found in counted}
    differs = {
        str(found.failure)
        for found in judged.findings
        if found.reading is not RuleReading.BOTH
    }
    published = judged.counted(RuleReading.PUBLISHED)
    return {
        "lost": [
            str(requirement) for requirement in Requirement if requirement in lost
        ],
        "fenced": judged.fenced,
        "wrapped": judged.wrapped,
        "fields_total": judged.fields_total,
        "fields_passed": judged.fields_passed,
        "passes_published": judged.passed(RuleReading.PUBLISHED),
        "passes_recommended": judged.passed(RuleReading.RECOMMENDED),
        "differs": [*sorted(differs)],
        "published_errors": [published_class(found) for found in published],
    }
