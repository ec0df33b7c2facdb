"""Why a site or a branch is out of reach: proofs, narrow and cheap.

No proof says nothing: what was not reached may be within reach all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.conjunction import conjoin, contradiction
from curation.instances.constraints.keyword_values import names_of
from curation.instances.model import Unreached
from curation.json.values import identity
from curation.schema.keywords import ANNOTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.goals import Goals
    from curation.instances.reach.schema_graph import SchemaGraph
    from curation.schema.subschemas import SchemaLocation

#: Every value that the schema is asked about meets it and its holder: they contradict.
CONTRADICTION: Final = "contradiction"
#: Another branch of the `oneOf` says the same, so that both hold or none.
REPEATED: Final = "repeated branch"
#: It lists its values, and another branch of the `oneOf` accepts each.
OVERLAP: Final = "each value meets another branch"
#: Its object or array must not have such a member.
FORBIDDEN: Final = "forbidden member"
#: Unions inside of each other whose branches are all looked at.
_DEEPEST: Final = 2
#: All ways to it lead through what is out of reach.
BEHIND: Final = "behind one out of reach"


def unreached_of(
    graph: SchemaGraph, left: Iterable[SchemaLocation]
) -> tuple[Unreached, ...]:
    """Return targets that no witness reaches, each with a proof if there is one.

    Args:
        graph: Of the schema.
        left: The targets, in any order, which is kept.
    """
    listed = list(left)
    if not listed:
        return ()
    proofs = _Proofs(graph, set(listed))
    return tuple(
        Unreached(schema_pointer=target.pointer, proof=proofs.found.get(target, ""))
        for target in listed
    )


class _Proofs:
    """A walk from the root that does not enter what is out of reach."""

    def __init__(self, graph: SchemaGraph, left: set[SchemaLocation]) -> None:
        self.graph, self.left = graph, left
        #: Proofs of single steps: they hold wherever the holder applies.
        self.found: dict[SchemaLocation, str] = {}
        root = graph.compiled.root
        queue, entered = [root], {root}
        for holder in queue:
            for inner in self._entered(holder):
                if inner not in entered:
                    entered.add(inner)
                    queue.append(inner)
        for target in left - entered:
            self.found.setdefault(target, BEHIND)

    def _entered(self, holder: SchemaLocation) -> Iterator[SchemaLocation]:
        steps = self.graph.steps(holder)
        yield from steps.always
        for branches in steps.unions:
            for branch in branches:
                if not self._refuted(
                    branch, self._why_branch(holder, branch, branches)
                ):
                    yield branch
        for inner in (
            steps.then,
            steps.otherwise,
            *(place for _, place in steps.dependent),
        ):
            if inner is not None:
                yield inner
        for site in steps.members:
            if not self._refuted(site, self._why_member(holder, site)):
                yield site

    def _refuted(self, target: SchemaLocation, why: str) -> bool:
        if why:
            self.found[target] = why
        return bool(why)

    def _why_branch(
        self,
        holder: SchemaLocation,
        branch: SchemaLocation,
        branches: tuple[SchemaLocation, ...],
    ) -> str:
        if branch not in self.left:
            return ""
        compiled = self.graph.compiled
        if _contradict(compiled, (holder, branch)):
            return CONTRADICTION
        if branch.tokens[-2:-1] != ("oneOf",):
            return ""
        own = identity(branch.schema)
        others = [other for other in branches if other is not branch]
        if any(identity(other.schema) == own for other in others):
            return REPEATED
        listed = conjoin(compiled, (holder, branch)).values
        if listed and all(
            any(compiled.accepts(other, value) for other in others) for value in listed
        ):
            return OVERLAP
        return ""

    def _why_member(self, holder: SchemaLocation, site: SchemaLocation) -> str:
        if site not in self.left:
            return ""
        compiled = self.graph.compiled
        around = conjoin(compiled, (holder,))
        keyword, *rest = site.tokens[len(holder.tokens) :]
        if keyword == "properties" and around.property_goals(rest[0]) is None:
            return FORBIDDEN
        if around.max_items is not None and keyword in ("items", "prefixItems"):
            index = int(rest[0]) if rest else around.prefix_length()
            if index >= around.max_items:
                return FORBIDDEN
        return CONTRADICTION if _contradict(compiled, (site,)) else ""


def _contradict(compiled: CompiledSchema, goals: Goals, depth: int = _DEEPEST) -> bool:
    """Return whether nothing can meet goals: by bounds, `not` of types, or branches."""
    conjunction = conjoin(compiled, goals)
    if contradiction(compiled, conjunction):
        return True
    for negation in conjunction.negations:
        refused = negation.location.schema
        if isinstance(refused, dict) and refused.keys() <= {"type", *ANNOTATIONS}:
            names = set(names_of(refused.get("type")))
            names |= {"integer"} if "number" in names else set()
            if names >= set(conjunction.types):
                return True
    return depth > 0 and any(
        all(_contradict(compiled, (*goals, branch), depth - 1) for branch in branches)
        for branches in (choice.branches for choice in conjunction.choices)
        if not set(branches) & set(goals)
    )
