"""Keywords that cannot fail alone, each with the name of a proof.

A keyword is implied where, type by type, every value that fails it fails another
keyword at the same place too, or where no value of the type fails it at all. The
proofs are sound for how jsonschema-rs judges; no proof means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.assertions import asserted
from curation.instances.constraints.conjunction import conjunction
from curation.instances.constraints.merging import ALL_TYPES
from curation.instances.constraints.violations import FALSE
from curation.instances.proofs import bounds, objects, values
from curation.instances.proofs.question import Question
from curation.instances.proofs.universal_verdicts import of_keyword

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.instances.constraints.compiled_schema import Subject
    from curation.instances.constraints.conjunction import Shape
    from curation.instances.constraints.reachable_keywords import Context, Pair

#: Contexts looked at for one pair; with more, nothing is claimed.
_CONTEXTS: Final = 64
NEVER_FAILS: Final = "never_fails"
OTHER_TYPE: Final = "other_type"
_PROOFS: Final[Mapping[str, Callable[[Question], bool]]] = {
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


def implied(subject: Subject, pair: Pair, contexts: Sequence[Context]) -> str:
    """Return the name of the proof that a keyword cannot fail alone, or "".

    It must hold wherever the place applies; the first context names the proof.
    """
    if not contexts or len(contexts) > _CONTEXTS or pair.keyword == FALSE:
        return ""
    names = []
    for each in contexts:
        name = _implied(conjunction(subject, each.goals), pair)
        if not name:
            return ""
        names.append(name)
    return names[0]


def _implied(shape: Shape, pair: Pair) -> str:
    names: dict[str, None] = {}
    for kind in ALL_TYPES:
        name = _of_kind(shape, pair, kind)
        if not name:
            return ""
        names[name] = None
    special = [each for each in names if each not in (NEVER_FAILS, OTHER_TYPE)]
    if special:
        return special[0]
    return OTHER_TYPE if OTHER_TYPE in names else NEVER_FAILS


def _of_kind(shape: Shape, pair: Pair, kind: str) -> str:
    """Return why no value of a type fails the keyword alone, or ""."""
    subject = shape.subject
    if of_keyword(subject, pair.node, pair.keyword, kind) is True:
        return NEVER_FAILS
    others = tuple(
        (part, word)
        for part in shape.places()
        for word in asserted(part.schema, subject.dialect)
        if word != pair.keyword
    )
    if any(of_keyword(subject, part, word, kind) is False for part, word in others):
        return OTHER_TYPE
    question = Question(
        shape=shape, node=pair.node, keyword=pair.keyword, kind=kind, others=others
    )
    return next((name for name, proof in _PROOFS.items() if proof(question)), "")
