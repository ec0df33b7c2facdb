"""How much a validator does at one value: schemas entered through references.

A definition that several branches refer to is entered once for each of them. Chains
of such definitions double at every step, and so do the errors of a refused value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.schema.dialects import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import Node, Subject

_MANY: Final = ("allOf", "anyOf", "oneOf")
_ONE: Final = ("not", "if", "then", "else")
#: Schemas entered one from another; below, nothing more is counted.
_DEEPEST: Final = 200


def weight(subject: Subject, node: Node) -> int:
    """Return how many schemas are entered for one value at a place."""
    return _Weighing(subject).of(node, 0)


class _Weighing:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._known: dict[Node, int] = {}

    def of(self, node: Node, depth: int) -> int:
        if node in self._known or depth > _DEEPEST:
            return self._known.get(node, 1)
        # What refers back to itself is counted once.
        self._known[node] = 1
        total = 1 + sum(self.of(each, depth + 1) for each in self._inner(node))
        self._known[node] = total
        return total

    def _inner(self, node: Node) -> list[Node]:
        schema, subject = node.schema, self._subject
        if not isinstance(schema, dict):
            return []
        targets = [
            subject.target(node, each) for each in REFERENCE_KEYWORDS if each in schema
        ]
        found = [each for each in targets if each is not None]
        if "$ref" in schema and subject.dialect.ref_hides_siblings:
            return found
        for word in _MANY:
            branches = schema.get(word)
            count = len(branches) if isinstance(branches, list) else 0
            found += [subject.child(node, (word, str(each))) for each in range(count)]
        found += [subject.child(node, (word,)) for word in _ONE if word in schema]
        return found
