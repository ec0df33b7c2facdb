"""Free against constrained answers to the same rows, and reading against reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.suite_records import FREE
from evaluation.reporting.statistics import mcnemar
from evaluation.reporting.tables import Rate, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.reporting.tables import Cell
    from evaluation.suites.ifstruct.reporting.verdicts import JudgedResponse

_NOTE: Final = (
    "Responses to the same rows, all in JSON: an engine cannot hold YAML to a schema. "
    "structure: wrapper, number of items and fields are right; what a free answer "
    "lacks and a constrained one has is what the model could say and not write. "
    "passed: code block and commentary count too; a constrained answer can never be in "
    "a code block. p: McNemar's exact test."
)


def free_or_constrained(
    responses: Mapping[str, Sequence[JudgedResponse]],
) -> Table | None:
    """Return what a constraint changes; None where nothing was constrained."""
    rows = tuple(_pairs(responses))
    if not rows:
        return None
    columns = ("engine", "of", "rows", "free", "constrained")
    return Table(
        title="Cannot follow, or cannot format",
        columns=(*columns, "only free", "only constrained", "p"),
        rows=rows,
        note=_NOTE,
        name="free-or-constrained",
    )


def _pairs(
    responses: Mapping[str, Sequence[JudgedResponse]],
) -> Iterator[tuple[Cell, ...]]:
    by_side = {
        (listed[0].scored.model, listed[0].scored.condition): listed
        for listed in responses.values()
        if listed
    }
    for (model, condition), listed in by_side.items():
        free = by_side.get((model, FREE))
        if condition == FREE or free is None:
            continue
        known = {_key(one): one for one in free}
        pairs = [(known[_key(one)], one) for one in listed if _key(one) in known]
        for figure in ("structure", "passed"):
            both = [
                (bool(getattr(one, figure)), bool(getattr(other, figure)))
                for one, other in pairs
            ]
            yield (f"{model} {condition}", figure, *_compared(both))


def _key(one: JudgedResponse) -> tuple[str, int]:
    return one.scored.record, one.scored.repeat


def _compared(both: Sequence[tuple[bool, bool]]) -> tuple[Cell, ...]:
    only_free = sum(free and not held for free, held in both)
    only_held = sum(held and not free for free, held in both)
    return (
        len(both),
        Rate(sum(free for free, _ in both), len(both)),
        Rate(sum(held for _, held in both), len(both)),
        only_free,
        only_held,
        mcnemar(only_free, only_held),
    )


def readings(responses: Mapping[str, Sequence[JudgedResponse]]) -> Table:
    """Return the pass rate by both readings, and where they differ."""
    rows: list[tuple[Cell, ...]] = []
    for label, listed in responses.items():
        published = sum(one.passes("published") for one in listed)
        recommended = sum(one.passes("recommended") for one in listed)
        apart = [one for one in listed if one.passes("published") is not _ours(one)]
        rows.append(
            (
                label,
                Rate(published, len(listed)),
                Rate(recommended, len(listed)),
                len(apart),
                ", ".join(sorted({name for one in apart for name in one.differs})),
            )
        )
    return Table(
        title="By both readings",
        columns=("model", "published", "recommended", "rows apart", "for"),
        rows=tuple(rows),
        note="published: the rules of the published verifier. recommended: requests "
        "are taken at their word, so that a forbidden code block, one that names "
        "another language, and a second one count as well.",
        name="readings",
    )


def _ours(one: JudgedResponse) -> bool:
    return one.passes("recommended")
