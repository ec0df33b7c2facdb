"""How far near misses reach: assertions covered, implied, or missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.instances.constraints.reachable_keywords import find_reachable_keywords
from curation.instances.proofs.implied import find_proof

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.model import NearMiss


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Counts of assertions (keywords at schema locations) that can refuse a value."""

    #: All of them: pairs of a schema location and a keyword.
    pairs: int
    #: With a near miss that fails that keyword alone.
    covered: int
    #: With a proof that it cannot fail alone.
    implied: int
    #: How many the cap lets be covered, the implied ones apart.
    possible: int
    #: Keyword and pointer of those that are neither. Where the cap was reached, only
    #: those whose keyword has no near miss at all.
    missing: tuple[tuple[str, str], ...]
    #: The same, a keyword counting once for the whole schema.
    keywords: int
    keywords_covered: int
    keywords_implied: int
    #: Whether the whole schema was visited.
    complete: bool


def measure_coverage(
    compiled: CompiledSchema, near_misses: Sequence[NearMiss], most: int = 24
) -> Coverage:
    """Return how far the near misses of a schema reach.

    Args:
        compiled: The schema.
        near_misses: What was found for it.
        most: How many were asked for at most.
    """
    reachable = find_reachable_keywords(compiled)
    have = {pointer for found in near_misses for pointer in keyword_pointers(found)}
    implied = 0
    covered: Counter[str] = Counter()
    missing: list[tuple[str, str]] = []
    for assertion in reachable.assertions:
        if assertion.pointer in have:
            covered[assertion.keyword] += 1
            continue
        if find_proof(compiled, assertion, reachable):
            implied += 1
        else:
            missing.append((assertion.keyword, assertion.pointer))
    keywords = {assertion.keyword for assertion in reachable.assertions}
    lost = {keyword for keyword, _ in missing} - covered.keys()
    full = len(near_misses) >= most
    return Coverage(
        pairs=len(reachable.assertions),
        covered=covered.total(),
        implied=implied,
        possible=min(max(most, covered.total()), covered.total() + len(missing)),
        missing=tuple(pair for pair in missing if not full or pair[0] in lost),
        keywords=len(keywords),
        keywords_covered=len(covered),
        keywords_implied=len(keywords) - len(covered) - len(lost),
        complete=reachable.complete,
    )


def keyword_pointers(near_miss: NearMiss) -> list[str]:
    """Return the JSON pointer of the keyword in every schema that refuses for it."""
    found = [schema_pointer for _, schema_pointer, _ in near_miss.keywords]
    return found or [near_miss.schema_pointer]
