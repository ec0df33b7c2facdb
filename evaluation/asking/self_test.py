"""The self-test of a suite: answers whose verdicts are known, scored like others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.system.progress import Progress, Quiet
from evaluation.asking.scoring import score_all
from evaluation.core.records import Record, Response, Verdict
from evaluation.reporting.tables import Cell, Rate, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.asking.request import SuiteChoice
    from evaluation.core.suite import KnownAnswer

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedAnswer:
    """One known answer with the verdict that it got."""

    record: Record
    answer: KnownAnswer
    verdict: Verdict

    @property
    def as_expected(self) -> bool:
        """Whether class and reason are those intended."""
        verdict, answer = self.verdict, self.answer
        if verdict.passed:
            return not answer.expected
        return verdict.failure_class == answer.expected and (
            not answer.because
            or any(answer.because in reason for reason in verdict.reasons)
        )


def known_pairs(
    choice: SuiteChoice,
    records: Sequence[Record],
    advance: Callable[[int], None] = lambda _steps: None,
) -> list[tuple[Record, KnownAnswer, Response]]:
    """Return every known answer of some records, as a response too.

    Args:
        choice: The suite, with its settings.
        records: The records.
        advance: Called with the number of records whose answers were made.
    """
    pairs = []
    for record in records:
        answers = choice.suite.known_answers(record, choice.settings)
        pairs += [
            (
                record,
                answer,
                Response(
                    record=record.key,
                    model=answer.kind,
                    repeat=index,
                    text=answer.text,
                    reasoning=answer.reasoning,
                    finish=answer.finish,
                    error=answer.error,
                    writing=answer.writing,
                ),
            )
            for index, answer in enumerate(answers)
        ]
        advance(1)
    return pairs


def self_test(
    choice: SuiteChoice,
    records: Sequence[Record],
    *,
    jobs: int,
    progress: Progress | None = None,
) -> list[TestedAnswer]:
    """Return every known answer of some records, scored.

    Args:
        choice: The suite, with its settings.
        records: The records whose answers are made.
        jobs: Processes that score.
        progress: Told how many answers are made, and how many scored.
    """
    progress = progress or Quiet()
    with progress.bar("Making known answers", len(records)) as advance:
        pairs = known_pairs(choice, records, advance)
    with progress.bar("Scoring", len(pairs)) as advance:
        verdicts = score_all(
            choice,
            [(record, response) for record, _, response in pairs],
            jobs=jobs,
            advance=advance,
        )
    return [
        TestedAnswer(record=record, answer=answer, verdict=verdict)
        for (record, answer, _), verdict in zip(pairs, verdicts, strict=True)
    ]


def kinds_table(tested: Sequence[TestedAnswer]) -> Table:
    """Return how many answers of each kind got the verdict intended."""
    kinds: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for answer in tested:
        key = (answer.answer.kind, answer.answer.expected)
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
                answer.answer.kind,
                f"{answer.answer.expected or 'passes'} {answer.answer.because}".strip(),
                answer.verdict.failure_class or "passes",
                answer.verdict.reasons[0] if answer.verdict.reasons else "",
            )
            for answer in wrong[:_SHOWN]
        ),
        name="not-as-expected",
    )
