"""Tables of a run of IFStruct."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace as with_fields

from evaluation.reporting.tables import BRACKETS, Table
from evaluation.results.suite_pairs import pair_sides, paired_rates, pairs_with_free
from evaluation.results.suite_tables import pass_rates, passed, share_of
from evaluation.suites.common import count_table
from evaluation.suites.ifstruct.rows import SLICES, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun

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


#: The counted responses of each model and condition.
Responses: TypeAlias = "Mapping[str, Sequence[ScoredResponse]]"


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables."""
    yield pass_rates(run)
    yield _free_or_constrained(run)
    yield _by_choice(run.counted)
    yield _published_classes(run.counted)


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
    counts = {label: Counter[str]() for label in responses}
    for label, side in responses.items():
        for response in side:
            errors = response.verdict.details.get("published_errors")
            counts[label].update(map(str, errors if isinstance(errors, list) else ()))
    return count_table(
        "Errors, as the published summary books them",
        "published-errors",
        "error",
        counts,
        "Errors, not responses: one response may have several, and a wrong number "
        "of items counts twice if the schema has it too.",
    )


def _by_choice(responses: Responses) -> Table:
    parts: dict[tuple[int, str, str], list[ScoredResponse]] = defaultdict(list)
    for label, side in responses.items():
        for response in side:
            slices = response.verdict.details.get("slices")
            drawn = slices if isinstance(slices, dict) else {}
            for index, name in enumerate(SLICES):
                parts[index, str(drawn.get(name, UNKNOWN)), label].append(response)
    # Models keep the order of the run.
    ordered = sorted(parts.items(), key=lambda it: it[0][:2])
    return Table(
        title="By drawn alternative",
        columns=("choice", "drawn", "model", "passed", "structure"),
        rows=tuple(
            (SLICES[index], drawn, label, passed(part), share_of(part, "structure"))
            for (index, drawn, label), part in ordered
        ),
        note=_SLICE_NOTE,
        name="choices",
    )
