"""The self-test of a suite: answers whose verdicts are known, scored like others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.system.progress import Quiet
from evaluation.asking.scoring import score_all
from evaluation.core.suite_records import SuiteResponse
from evaluation.reporting.tables import Rate, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.system.progress import Progress
    from evaluation.asking.request import ChosenSuite
    from evaluation.core.suite import KnownAnswer
    from evaluation.core.suite_records import SuiteRecord, Verdict
    from evaluation.reporting.tables import Cell

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedAnswer:
    """One known answer with the verdict that it got."""

    record: SuiteRecord
    known: KnownAnswer
    verdict: Verdict

    @property
    def as_expected(self) -> bool:
        """Whether class and reason are those intended."""
        verdict, known = self.verdict, self.known
        if verdict.passed:
            return not known.expected
        return verdict.failure_class == known.expected and (
            not known.because
            or any(known.because in reason for reason in verdict.reasons)
        )


def known_pairs(
    chosen: ChosenSuite,
    records: Sequence[SuiteRecord],
    advance: Callable[[int], None] = lambda _steps: None,
) -> list[tuple[SuiteRecord, KnownAnswer, SuiteResponse]]:
    """Return every known answer of some records, as a response too.

    Args:
        chosen: The suite, with its settings.
        records: The records.
        advance: Called with the number of records whose answers were made.
    """
    pairs = []
    for record in records:
        answers = chosen.suite.known_answers(record, chosen.settings)
        pairs += [
            (record, known, _as_response(record, known, place))
            for place, known in enumerate(answers)
        ]
        advance(1)
    return pairs


def _as_response(record: SuiteRecord, known: KnownAnswer, place: int) -> SuiteResponse:
    return SuiteResponse(
        record=record.key,
        model=known.kind,
        repeat=place,
        text=known.text,
        reasoning=known.reasoning,
        finish=known.finish,
        error=known.error,
    )


def self_test(
    chosen: ChosenSuite,
    records: Sequence[SuiteRecord],
    *,
    jobs: int,
    progress: Progress | None = None,
) -> list[TestedAnswer]:
    """Return every known answer of some records, scored.

    Args:
        chosen: The suite, with its settings.
        records: The records whose answers are made.
        jobs: Processes that score.
        progress: Told how many answers are made, and how many scored.
    """
    progress = progress or Quiet()
    with progress.bar("Making known answers", len(records)) as advance:
        known = known_pairs(chosen, records, advance)
    with progress.bar("Scoring", len(known)) as advance:
        verdicts = score_all(
            chosen,
            [(record, response) for record, _, response in known],
            jobs=jobs,
            advance=advance,
        )
    return [
        TestedAnswer(record=record, known=answer, verdict=verdict)
        for (record, answer, _), verdict in zip(known, verdicts, strict=True)
    ]


def kinds_table(tested: Sequence[TestedAnswer]) -> Table:
    """Return how many answers of each kind got the verdict intended."""
    kinds: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for answer in tested:
        key = (answer.known.kind, answer.known.expected)
        kinds[key].append(answer.as_expected)
    rows: list[tuple[Cell, ...]] = [
        (kind, expected or "passes", Rate(sum(good), len(good)))
        for (kind, expected), good in kinds.items()
    ]
    return Table(
        title="Self-test",
        columns=("kind of answer", "expected", "as expected"),
        rows=tuple(rows),
        note="Every answer has one verdict that is right; a class or a reason other "
        "than the one intended counts as wrong.",
        name="self-test",
    )


def surprises_table(tested: Sequence[TestedAnswer]) -> Table:
    """List answers whose verdict is not the one intended."""
    wrong = [answer for answer in tested if not answer.as_expected]
    return Table(
        title=f"Not as expected: {min(_SHOWN, len(wrong))} of {len(wrong):,}",
        columns=("record", "kind", "expected", "found", "reason"),
        rows=tuple(
            (
                answer.record.key,
                answer.known.kind,
                f"{answer.known.expected or 'passes'} {answer.known.because}".strip(),
                answer.verdict.failure_class or "passes",
                answer.verdict.reasons[0] if answer.verdict.reasons else "",
            )
            for answer in wrong[:_SHOWN]
        ),
        name="not-as-expected",
    )
