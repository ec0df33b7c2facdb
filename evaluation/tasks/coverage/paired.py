"""Empirical coverage of two participants on the same requests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evaluation.generation.generated_texts import pair_texts
from evaluation.reporting.bootstrap import mean_difference
from evaluation.reporting.statistics import holm, sign_flip
from evaluation.reporting.tables import Cell, Rate, Shift, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evaluation.generation.generated_texts import PairedTexts
    from evaluation.generation.generation_rows import GeneratedText

_PAIR_NOTE = (
    "Requests that both were given. difference: b - a, with a 95 % interval by "
    "bootstrap over schemas. p: McNemar's exact test; with several texts a schema, of "
    "the sums of schemas under all signs. adjusted: Holm's, for all lines."
)


def share_of_texts(
    found: Iterable[GeneratedText], good: Callable[[GeneratedText], bool]
) -> Rate:
    """Return how many texts are so; texts for one schema are not independent."""
    return Rate.of_answers((text.schema_key, good(text)) for text in found)


def paired(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return the empirical coverage of every two participants on the same requests."""
    found = [pair for pair in pair_texts(sides) if pair.texts]
    ps = {place: sign_flip(_differences(pair)) for place, pair in enumerate(found)}
    adjusted = holm(ps)
    rows: list[tuple[Cell, ...]] = []
    for place, pair in enumerate(found):
        only_a = sum(a.compliant and not b.compliant for a, b in pair.texts)
        only_b = sum(b.compliant and not a.compliant for a, b in pair.texts)
        rows.append(
            (
                pair.a,
                pair.b,
                len({a.schema_key for a, _ in pair.texts}),
                share_of_texts([a for a, _ in pair.texts], lambda text: text.compliant),
                share_of_texts([b for _, b in pair.texts], lambda text: text.compliant),
                only_a,
                only_b,
                _shift(pair),
                ps[place],
                adjusted[place],
            )
        )
    columns = ("only a", "only b", "difference", "p", "p adjusted")
    return Table(
        title="Empirical coverage, paired",
        columns=("a", "b", "schemas", "empirical of a", "empirical of b", *columns),
        rows=tuple(rows),
        note=_PAIR_NOTE,
        name="coverage-paired",
    )


def _differences(pair: PairedTexts) -> list[int]:
    """Return for each schema how many more of its texts of b are compliant."""
    found: Counter[tuple[str, str]] = Counter()
    for a, b in pair.texts:
        found[a.schema_key] += b.compliant - a.compliant
    return list(found.values())


def _shift(pair: PairedTexts) -> Shift | None:
    found = mean_difference(
        [float(a.compliant) for a, _ in pair.texts],
        [float(b.compliant) for _, b in pair.texts],
        [a.schema_key for a, _ in pair.texts],
    )
    return None if found is None else Shift(found.value, found.interval)
