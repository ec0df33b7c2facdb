"""Keywords that cannot fail alone, each with the name of a proof.

A keyword is implied where, type by type, every value that fails it fails another
keyword at the same place too, or where no value of the type fails it at all. The
proofs are sound for how jsonschema-rs judges; no proof means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.assertions import asserting_keywords
from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.goals import ALL_TYPES
from curation.instances.constraints.violations import FALSE
from curation.instances.proofs import bounds, objects, values
from curation.instances.proofs.question import ImplicationQuestion
from curation.instances.proofs.universal_verdicts import keyword_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.model import Conjunction
    from curation.instances.constraints.reachable_keywords import (
        Assertion,
        InstanceLocation,
    )

#: Contexts looked at for one pair; with more, nothing is claimed.
_CONTEXTS: Final = 64
NEVER_FAILS: Final = "never_fails"
OTHER_TYPE: Final = "other_type"
_PROOFS: Final[Mapping[str, Callable[[ImplicationQuestion], bool]]] = {
    "listed": values.listed,
    "lengths": bounds.lengths,
    "tighter_bound": bounds.tighter_bound,
    "item_count": bounds.item_count,
    "property_count": objects.property_count,
    "names": objects.names,
    "dependents": objects.dependents,
    "branch_repeats": values.branch_repeats,
    "branches_repeat": values.branches_repeat,
}
#: The proofs by name, each with what it says.
PROOFS: Final[Mapping[str, str]] = {
    NEVER_FAILS: "the keyword accepts every value of the types that are left",
    OTHER_TYPE: "another keyword refuses every value of the types it speaks of",
    **{name: (each.__doc__ or "").splitlines()[0] for name, each in _PROOFS.items()},
}


def implied(
    compiled: CompiledSchema, pair: Assertion, contexts: Sequence[InstanceLocation]
) -> str:
    """Return the name of the proof that a keyword cannot fail alone, or "".

    It must hold wherever the place applies; the first context names the proof.
    """
    if not contexts or len(contexts) > _CONTEXTS or pair.keyword == FALSE:
        return ""
    names = []
    for each in contexts:
        name = _implied(compiled, conjoin(compiled, each.goals), pair)
        if not name:
            return ""
        names.append(name)
    return names[0]


def _implied(compiled: CompiledSchema, shape: Conjunction, pair: Assertion) -> str:
    names: dict[str, None] = {}
    for kind in ALL_TYPES:
        name = _of_kind(compiled, shape, pair, kind)
        if not name:
            return ""
        names[name] = None
    special = [each for each in names if each not in (NEVER_FAILS, OTHER_TYPE)]
    if special:
        return special[0]
    return OTHER_TYPE if OTHER_TYPE in names else NEVER_FAILS


def _of_kind(
    compiled: CompiledSchema, shape: Conjunction, pair: Assertion, kind: str
) -> str:
    """Return why no value of a type fails the keyword alone, or ""."""
    if keyword_verdict(compiled, pair.location, pair.keyword, kind) is True:
        return NEVER_FAILS
    others = tuple(
        (part, word)
        for part in shape.locations()
        for word in asserting_keywords(part.schema, compiled.dialect)
        if word != pair.keyword
    )
    if any(
        keyword_verdict(compiled, part, word, kind) is False for part, word in others
    ):
        return OTHER_TYPE
    question = ImplicationQuestion(
        compiled=compiled,
        shape=shape,
        location=pair.location,
        keyword=pair.keyword,
        kind=kind,
        others=others,
    )
    return next((name for name, proof in _PROOFS.items() if proof(question)), "")
