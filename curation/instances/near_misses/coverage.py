"""How far near misses reach: pairs covered, implied, or missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.instances.constraints.reachable_keywords import find_reachable_keywords
from curation.instances.proofs.implied import implied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.model import NearMiss


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Counts of (place, keyword) pairs that some value of an instance meets."""

    pairs: int
    #: With a near miss that fails that keyword alone.
    covered: int
    #: With a proof that it cannot fail alone.
    implied: int
    #: How many the cap lets be covered, the implied ones apart.
    possible: int
    #: Name of the proof to pairs that it shows to be implied.
    proofs: dict[str, int]
    #: Keyword and pointer of pairs that are neither. Where the cap was reached, only
    #: those whose keyword has no near miss at all.
    missing: tuple[tuple[str, str], ...]
    #: The same, a keyword counting once for the whole schema.
    keywords: int
    keywords_covered: int
    keywords_implied: int
    #: Whether the whole schema was visited.
    complete: bool


def coverage(
    compiled: CompiledSchema, found: Sequence[NearMiss], most: int = 24
) -> Coverage:
    """Return how far the near misses of a schema reach."""
    reached = find_reachable_keywords(compiled)
    have = {pointer for each in found for pointer in pointers(each)}
    proofs: Counter[str] = Counter()
    covered: Counter[str] = Counter()
    open_pairs: list[tuple[str, str]] = []
    for pair, contexts in reached.assertions.items():
        if pair.pointer in have:
            covered[pair.keyword] += 1
            continue
        proof = implied(compiled, pair, contexts)
        if proof:
            proofs[proof] += 1
        else:
            open_pairs.append((pair.keyword, pair.pointer))
    every = {pair.keyword for pair in reached.assertions}
    lost = {keyword for keyword, _ in open_pairs} - covered.keys()
    full = len(found) >= most
    return Coverage(
        pairs=len(reached.assertions),
        covered=covered.total(),
        implied=proofs.total(),
        possible=min(max(most, covered.total()), covered.total() + len(open_pairs)),
        proofs=dict(sorted(proofs.items())),
        missing=tuple(each for each in open_pairs if not full or each[0] in lost),
        keywords=len(every),
        keywords_covered=len(covered),
        keywords_implied=len(every) - len(covered) - len(lost),
        complete=reached.complete,
    )


def pointers(case: NearMiss) -> list[str]:
    """Return where the keyword of a near miss stands, in every schema that says it."""
    return [each[1] for each in case.keywords] or [case.schema_pointer]
