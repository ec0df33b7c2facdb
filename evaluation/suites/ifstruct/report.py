"""Tables of a run of IFStruct."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self, TypeAlias

import msgspec
from msgspec.structs import replace as with_fields

from evaluation.reporting.tables import BRACKETS, Cell, MissingFigure, Rate, Table
from evaluation.results.suite_pairs import pair_sides, paired_rates, pairs_with_free
from evaluation.results.suite_tables import pass_rates
from evaluation.suites.ifstruct.rows import SLICES, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun

#: Error classes that the published summary shows.
_TOP: Final = 10
_CONDITION_NOTE: Final = (
    "Responses to the same rows, all in JSON: an engine cannot hold YAML to a schema. "
    "passes: wrapper, number of items and fields are right, whatever is around; "
    "what a free answer lacks and a constrained one has is what the model could say "
    "and not write."
)
_SLICE_NOTE: Final = (
    "structure: wrapper, number of items and every field are right, whatever stands "
    "around the answer. " + BRACKETS
)


class JudgedResponse(msgspec.Struct, frozen=True, kw_only=True):
    """One response, with the facts of its verdict; none if its scorer was ended."""

    passed: bool = False
    #: Whether the content is right, whatever is around it.
    structure: bool = False
    #: The alternative drawn for each choice of the row.
    slices: dict[str, str] = {}
    #: The kind of thing that the row asks for: what its rates take together.
    kind: str = UNKNOWN
    #: Every error by the classes of the published summary.
    published_errors: tuple[str, ...] = ()

    @classmethod
    def of(cls, scored: ScoredResponse) -> Self:
        """Return a response with the facts of its verdict."""
        verdict = scored.verdict
        facts = {
            **verdict.details,
            "passed": verdict.passed,
            "structure": _is_right(scored),
        }
        return msgspec.convert(facts, cls)


#: The responses of each model and condition.
Responses: TypeAlias = "Mapping[str, Sequence[JudgedResponse]]"


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables."""
    responses = {
        label: [JudgedResponse.of(scored) for scored in side if scored.verdict.counted]
        for label, side in run.by_label.items()
    }
    yield pass_rates(run)
    yield _free_or_constrained(run)
    yield _by_choice(responses)
    yield _published_classes(responses)


def _free_or_constrained(run: ScoredRun) -> Table:
    """Return the responses with the right structure, free and constrained."""
    sides = {
        label: [
            replace(
                response,
                verdicts=(with_fields(response.verdict, passed=_is_right(response)),),
            )
            for response in side
        ]
        for label, side in run.by_label.items()
    }
    pairs = pair_sides(sides, pairs_with_free(sides))
    title = "Cannot follow (free, a), or cannot format (constrained, b)"
    table = paired_rates(pairs, title, "free-or-constrained")
    return replace(table, note=f"{_CONDITION_NOTE} {table.note}")


def _is_right(scored: ScoredResponse) -> bool:
    return scored.verdict.scores.get("structure") == 1.0


def _published_classes(responses: Responses) -> Table:
    counts = {
        label: Counter(
            error for response in side for error in response.published_errors
        )
        for label, side in responses.items()
    }
    total = sum(counts.values(), Counter[str]())
    return Table(
        title="Most frequent errors, as the published summary books them",
        columns=("error", *counts),
        rows=tuple(
            (name, *(counted[name] for counted in counts.values()))
            for name, _ in total.most_common(_TOP)
        ),
        note="Errors, not responses: one response may have several, and a wrong number "
        "of items counts twice if the schema has it too.",
        name="published-errors",
    )


def _by_choice(responses: Responses) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in SLICES:
        sides: dict[str, dict[str, list[JudgedResponse]]] = {}
        for label, side in responses.items():
            for response in side:
                value = response.slices.get(name, UNKNOWN)
                sides.setdefault(value, {}).setdefault(label, []).append(response)
        rows += [
            (name, value, label, *_rates(by_label.get(label, ())))
            for value, by_label in sorted(sides.items())
            for label in responses
        ]
    return Table(
        title="By drawn alternative",
        columns=("choice", "drawn", "model", "passed", "structure"),
        rows=tuple(rows),
        note=_SLICE_NOTE,
        name="choices",
    )


def _rates(responses: Sequence[JudgedResponse]) -> tuple[Cell, Cell]:
    return (
        _rate((response, response.passed) for response in responses),
        _rate((response, response.structure) for response in responses),
    )


def _rate(responses: Iterable[tuple[JudgedResponse, bool]]) -> Cell:
    """Return the share that is so; responses about one kind of thing are a cluster."""
    rate = Rate.of_answers((response.kind, good) for response, good in responses)
    return rate if rate.of else MissingFigure("no row")
