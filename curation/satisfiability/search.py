"""The search for what a schema may accept: a least fixed point over its places.

What applies to one instance at once is a *goal*: schemas that must all hold. For
each goal a set of types is computed of which a value may satisfy it. Whatever is
not understood counts as accepting, so that an empty set is a proof. Recursion
starts from nothing, because every instance is finite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.json.pointer import pointer
from curation.lint.contradictions import named_types, types_of
from curation.satisfiability.bounds import (
    highest,
    lowest,
    no_multiple_between,
    no_number_between,
    sizes,
)
from curation.satisfiability.branches import (
    BranchAlternatives,
    branch_choices,
    exclusive_branches,
)
from curation.satisfiability.state import (
    ALL,
    NOTHING,
    NUMBERS,
    Conjuncts,
    Goal,
    GoalState,
    Proof,
)
from curation.satisfiability.structures import Structures
from curation.satisfiability.values import ValueJudge
from curation.schema.dialects import DRAFT_04
from curation.schema.keywords import ANNOTATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.satisfiability.schema_view import SchemaView
    from curation.schema.locations import SchemaLocation

#: Goals looked at for one proof, and schemas that one goal may gather.
MAX_STEPS = 3_000
_MOST_CONJUNCTS = 200
#: Goals entered one from another.
_DEEPEST = 100
#: Listed values that are judged one by one.
_FEW = 32
#: Without one of these keywords a schema accepts something.
RISKY = frozenset(
    {
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "enum",
        "const",
        "required",
        "contains",
        "minItems",
        "minLength",
        "minimum",
        "exclusiveMinimum",
        "minProperties",
    }
)
_TEXT = frozenset({"string"})
#: With no other keywords, listed texts are accepted.
_KEYWORDS_OF_LISTS = (ANNOTATIONS - {"format"}) | {"type", "enum"}
_Key = tuple[frozenset["Tokens"], frozenset["Tokens"]]


@dataclass(slots=True)
class Search:
    """One round after another, until what is known to be accepted grows no more."""

    view: SchemaView
    steps_left: int = MAX_STEPS
    #: How often a name may still be tried on a schema or a pattern.
    name_checks_left: int = 50_000
    #: A goal, to the types that it may accept as far as is known.
    known: dict[_Key, frozenset[str]] = field(default_factory=dict)
    visited: set[_Key] = field(default_factory=set)
    proofs: dict[_Key, Proof] = field(default_factory=dict)
    #: Goals being looked at, to how deep in the instance that is.
    active: dict[_Key, int] = field(default_factory=dict)
    level: int = 0

    def proof_for_root(self) -> Proof | None:
        """Return a proof that the root accepts nothing, or None."""
        root = self.view.root
        while True:
            before = dict(self.known)
            self.visited.clear()
            self.proofs.clear()
            types = self.possible_types((), (root,))
            if self.steps_left <= 0 or types:
                return None
            if self.known == before:
                return self.proof((), (root,))

    def proof(self, context: Goal, fresh: Goal) -> Proof:
        """Return why a goal that is refuted accepts nothing."""
        found = self.proofs.get(_key(context, fresh))
        if found is not None:
            return found
        where = pointer(fresh[0].tokens)
        why = "every instance would be endless"
        return Proof(name="endless-recursion", pointer=where, why=why)

    def inner_proof(self, goal: Goal) -> Proof | None:
        """Return a proof that no member or item can satisfy all the schemas."""
        if not goal:
            return None
        self.level += 1
        accepted = self.possible_types((), goal)
        self.level -= 1
        return None if accepted else self.proof((), goal)

    def possible_types(self, context: Goal, fresh: Goal) -> frozenset[str]:
        """Return the types of which a value may satisfy all the schemas.

        The alternatives of `fresh` schemas are tried; those of the context count
        as satisfied.
        """
        if not context and len(fresh) == 1:
            only = fresh[0].schema
            if only is True or (only is not False and RISKY.isdisjoint(only)):
                return ALL
            if only is not False and _lists_text(only):
                return _TEXT
        self.steps_left -= 1
        if self.steps_left <= 0 or len(self.active) > _DEEPEST:
            self.steps_left = 0
            return ALL
        name = _key(context, fresh)
        if self.active.get(name) == self.level:
            # A loop of references at one place: validators differ about these.
            return ALL
        if name in self.visited:
            return self.known.get(name, NOTHING)
        self.visited.add(name)
        self.active[name] = self.level
        state = self._state(context, fresh)
        del self.active[name]
        self.known[name] = state.left
        if not state.left and state.proof is not None:
            self.proofs[name] = state.proof
        return state.left

    def _state(self, context: Goal, fresh: Goal) -> GoalState:
        own = self.conjuncts(fresh)
        around = self.conjuncts(context) if context else Conjuncts([], None)
        known = {location.tokens for location in around.locations}
        fresh_locations = (
            location for location in own.locations if location.tokens not in known
        )
        state = GoalState([*around.locations, *fresh_locations])
        false = own.false or around.false
        if false is not None:
            state.keep(NOTHING, "false-schema", false.tokens, "the schema is `false`")
            return state
        if len(state.locations) > _MOST_CONJUNCTS:
            return state
        for step in (self._types, self._negations, self._listed, self._ranges):
            step(state)
            if not state.left:
                return state
        Structures(self).apply(state)
        seen = {location.tokens for location in state.locations}
        for location in own.locations if state.left else ():
            for choice in branch_choices(location, self.view):
                given = any(
                    all(branch.tokens in seen for branch in goal)
                    for goal in choice.branches
                )
                if state.left and not given:
                    self._branches(choice, state)
        return state

    def conjuncts(self, goal: Goal) -> Conjuncts:
        """Return what a goal comes to, `$ref` and `allOf` followed."""
        locations: list[SchemaLocation] = []
        stack, seen = list(reversed(goal)), set[tuple[str, ...]]()
        view = self.view
        while stack:
            location = stack.pop()
            schema = location.schema
            if schema is False:
                return Conjuncts(locations, location)
            if not isinstance(schema, dict) or location.tokens in seen:
                continue
            seen.add(location.tokens)
            if "$ref" in schema:
                target = view.target(location)
                if target is not None:
                    stack.append(target)
                if view.hides_siblings:
                    continue
            locations.append(location)
            inner = schema.get("allOf")
            if isinstance(inner, list):
                stack.extend(
                    view.child(location, "allOf", str(index))
                    for index in reversed(range(len(inner)))
                )
        return Conjuncts(locations, None)

    def _types(self, state: GoalState) -> None:
        for location in state.locations:
            if "type" in location.schema:
                types = named_types(location.schema)
                if types is not None:
                    why = "no type is allowed by all that is asked"
                    where = (*location.tokens, "type")
                    state.keep(_atoms(types), "types-disjoint", where, why)

    def _negations(self, state: GoalState) -> None:
        for location in state.locations:
            if "not" not in location.schema:
                continue
            inner = self.view.child(location, "not")
            excluded = self._whole_types(inner)
            if excluded:
                why = "everything that is left is excluded"
                state.keep(ALL - excluded, "negates-all", inner.tokens, why)

    def _whole_types(self, location: SchemaLocation) -> frozenset[str]:
        """Return types of which a schema accepts every value."""
        if self.view.accepts_all(location):
            return ALL
        schema = location.schema
        if not isinstance(schema, dict):
            return NOTHING
        keywords = self.view.keywords(schema)
        if keywords == {"type"}:
            types = named_types(schema) or NOTHING
            if "number" in types:
                return _atoms(types)
            # In draft-04 the value 1.0 is no integer.
            old = self.view.dialect.order <= DRAFT_04.order
            return _atoms(types) - (NUMBERS if old else NOTHING)
        if keywords == {"anyOf"} and isinstance(schema["anyOf"], list):
            branches = (
                self.view.child(location, "anyOf", str(index))
                for index in range(len(schema["anyOf"]))
            )
            return NOTHING.union(*map(self._whole_types, branches))
        return NOTHING

    def _listed(self, state: GoalState) -> None:
        """Keep the types of the listed values that the other schemas may accept."""
        shortest: tuple[list[Json], SchemaLocation, str] | None = None
        for location in state.locations:
            schema = location.schema
            values: Json = schema.get("enum")
            keyword = "enum"
            if "const" in schema and "const" in self.view.effective:
                values, keyword = [schema["const"]], "const"
            if isinstance(values, list) and (
                shortest is None or len(values) < len(shortest[0])
            ):
                shortest = (values, location, keyword)
        if shortest is None:
            return
        values, location, keyword = shortest
        if len(values) <= _FEW:
            judge = ValueJudge(self.view)
            judging = [
                around
                for around in state.locations
                if self._judges(around, keyword, location)
            ]
            values = [
                value
                for value in values
                if all(judge.accepts(value, around) is not False for around in judging)
            ]
        types = NOTHING.union(*(self._types_of(value) for value in values))
        why = "no listed value meets all that is asked beside it"
        state.keep(types, "listed-values-refused", (*location.tokens, keyword), why)

    def _judges(
        self, location: SchemaLocation, keyword: str, listing: SchemaLocation
    ) -> bool:
        """Return whether a schema says more of a value than that it is listed."""
        keywords = self.view.keywords(location.schema)
        return location is not listing or bool(keywords - {keyword})

    def _types_of(self, value: Json) -> frozenset[str]:
        types = types_of(value, self.view.dialect)
        if isinstance(value, float) and value.is_integer():
            return NUMBERS
        if types == {"number"}:
            return frozenset({"fraction"})
        return frozenset({"whole"} if "integer" in types else types)

    def _ranges(self, state: GoalState) -> None:
        """Drop the numbers and texts for which the bounds leave no value."""
        if state.left & NUMBERS:
            self._numbers(state)
        if "string" in state.left:
            _texts(state)

    def _numbers(self, state: GoalState) -> None:
        low = lowest(state.locations, self.view)
        high = highest(state.locations, self.view) if low else None
        if low is None or high is None:
            return
        where = pointer((*low.location.tokens, low.keyword))
        why = "the bounds leave no number"
        proof = Proof(name="bounds-crossed", pointer=where, why=why)
        if no_number_between(low, high):
            state.drop(NUMBERS, proof)
            return
        why = "no whole number lies between the bounds"
        none_whole = Proof(name="integer-gap", pointer=where, why=why)
        if no_multiple_between(low, high, 1):
            state.drop(frozenset({"whole"}), none_whole)
        for location in state.locations:
            step = location.schema.get("multipleOf")
            if type(step) is int and step > 0 and no_multiple_between(low, high, step):
                why = "no multiple lies between the bounds"
                state.drop(
                    NUMBERS,
                    Proof(name="multiple-gap", pointer=where, why=why),
                )

    def _branches(self, choice: BranchAlternatives, state: GoalState) -> None:
        """Keep the types that one branch at least may accept."""
        viable, why = choice.branches, "no branch can hold"
        if choice.keyword == "oneOf":
            viable = exclusive_branches(choice, self.view)
            if not viable:
                why = "branches that accept the same are never the only one to hold"
        around = tuple(state.locations)
        accepted = NOTHING
        proofs: list[Proof] = []
        for goal in viable:
            types = self.possible_types(around, goal)
            accepted |= types
            if state.left <= accepted:
                return
            if not types:
                proofs.append(self.proof(around, goal))
        name = "every-branch-refuted" if viable else "branches-alike"
        if not accepted and proofs:
            why = f"{why}; the first: {proofs[0]}"
        where = (*choice.location.tokens, choice.keyword)
        state.keep(accepted, name, where, why)


def _texts(state: GoalState) -> None:
    (least, location), most = sizes(state.locations, "Length")
    if location is not None and least > most:
        where = pointer((*location.tokens, "minLength"))
        why = "the bounds leave no length"
        proof = Proof(name="bounds-crossed", pointer=where, why=why)
        state.drop(frozenset({"string"}), proof)


def _lists_text(schema: Mapping[str, Json]) -> bool:
    """Return whether a schema asks for one of some texts and nothing else."""
    values = schema.get("enum")
    if not isinstance(values, list) or not schema.keys() <= _KEYWORDS_OF_LISTS:
        return False
    typed = schema.get("type", "string") == "string"
    return typed and bool(values) and all(isinstance(value, str) for value in values)


def _atoms(types: frozenset[str]) -> frozenset[str]:
    """Return the types with numbers divided into whole and others."""
    if "number" in types:
        return (types - {"number", "integer"}) | NUMBERS
    if "integer" in types:
        return (types - {"integer"}) | {"whole"}
    return types


def _key(context: Goal, fresh: Goal) -> _Key:
    around = (
        frozenset(location.tokens for location in context) if context else frozenset()
    )
    return around, frozenset(location.tokens for location in fresh)
