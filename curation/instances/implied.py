"""Keywords that cannot fail alone, each with the name of a proof.

A keyword is implied where, type by type, every value that fails it fails another
keyword at the same place too, or where no value of the type fails it at all. The
proofs are sound for how jsonschema-rs judges; no proof means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances import proofs_of_bounds, proofs_of_objects, proofs_of_values
from curation.instances.assertions import asserted
from curation.instances.labels import FALSE
from curation.instances.merging import ALL_TYPES
from curation.instances.outlook import of_keyword
from curation.instances.proofs import Question
from curation.instances.shapes import conjunction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.instances.reach import Context, Pair
    from curation.instances.shapes import Shape
    from curation.instances.subject import Subject

#: Contexts looked at for one pair; with more, nothing is claimed.
_CONTEXTS: Final = 64
NEVER_FAILS: Final = "never_fails"
OTHER_TYPE: Final = "other_type"
_PROOFS: Final[Mapping[str, Callable[[Question], bool]]] = {
    "listed": proofs_of_values.listed,
    "lengths": proofs_of_bounds.lengths,
    "tighter_bound": proofs_of_bounds.tighter_bound,
    "item_count": proofs_of_bounds.item_count,
    "property_count": proofs_of_objects.property_count,
    "names": proofs_of_objects.names,
    "dependents": proofs_of_objects.dependents,
    "branch_repeats": proofs_of_values.branch_repeats,
    "branches_repeat": proofs_of_values.branches_repeat,
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
