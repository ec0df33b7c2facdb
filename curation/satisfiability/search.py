"""The search for what a schema may accept: a least fixed point over its places.

What applies to one instance at once is a *goal*: schemas that must all hold. For
each goal a set of types is computed of which a value may satisfy it. Whatever is
not understood counts as accepting, so that an empty set is a proof. Recursion
starts from nothing, because every instance is finite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from curation.json.pointer import pointer
from curation.lint.contradictions import named_types, types_of
from curation.satisfiability.bounds import empty_range, gap, highest, lowest, sizes
from curation.satisfiability.branches import Choice, choices, lone
from curation.satisfiability.state import ALL, NOTHING, NUMBERS, Proof, State
from curation.satisfiability.structures import Structures
from curation.satisfiability.values import Judge
from curation.schema.dialects import DRAFT_04
from curation.schema.keywords import ANNOTATIONS

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens
    from curation.satisfiability.schema_view import Ground, Node

#: Goals looked at for one proof, and schemas that one goal may gather.
FUEL = 3_000
_MOST_PARTS = 200
#: Goals entered one from another.
_DEEPEST = 100
#: Listed values that are judged one by one.
_FEW = 32
#: Without one of these words a schema accepts something.
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
#: With no other words, listed texts are accepted.
_WORDS_OF_LISTS = (ANNOTATIONS - {"format"}) | {"type", "enum"}
_Goal = tuple["Node", ...]
_Key = tuple[frozenset["Tokens"], frozenset["Tokens"]]


class Parts(NamedTuple):
    """What a goal comes to, `$ref` and `allOf` followed."""

    nodes: list[Node]
    #: A schema among them that is `false`.
    false: Node | None


@dataclass(slots=True)
class Search:
    """One round after another, until what is known to be accepted grows no more."""

    ground: Ground
    fuel: int = FUEL
    #: How often a name may still be tried on a schema or a pattern.
    tries: int = 50_000
    #: A goal, to the types that it may accept as far as is known.
    known: dict[_Key, frozenset[str]] = field(default_factory=dict)
    visited: set[_Key] = field(default_factory=set)
    proofs: dict[_Key, Proof] = field(default_factory=dict)
    #: Goals being looked at, to how deep in the instance that is.
    active: dict[_Key, int] = field(default_factory=dict)
    level: int = 0

    def settle(self, nodes: list[Node]) -> list[Proof | None]:
        """Return for each schema, by itself, a proof that it accepts nothing."""
        while True:
            before = dict(self.known)
            self.visited.clear()
            self.proofs.clear()
            kinds = [self.kinds((), (each,)) for each in nodes]
            if self.fuel <= 0:
                return [None] * len(nodes)
            if self.known == before or all(kinds):
                break
        return [
            None if accepted else self.proof((), (node,))
            for node, accepted in zip(nodes, kinds, strict=True)
        ]

    def proof(self, context: _Goal, fresh: _Goal) -> Proof:
        """Return why a goal that is refuted accepts nothing."""
        found = self.proofs.get(_key(context, fresh))
        if found is not None:
            return found
        where = pointer(fresh[0].tokens)
        why = "every instance would be endless"
        return Proof(name="endless-recursion", pointer=where, why=why)

    def inner(self, goal: _Goal) -> Proof | None:
        """Return a proof that no member or item can satisfy all the schemas."""
        if not goal:
            return None
        self.level += 1
        accepted = self.kinds((), goal)
        self.level -= 1
        return None if accepted else self.proof((), goal)

    def kinds(self, context: _Goal, fresh: _Goal) -> frozenset[str]:
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
        self.fuel -= 1
        if self.fuel <= 0 or len(self.active) > _DEEPEST:
            self.fuel = 0
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

    def _state(self, context: _Goal, fresh: _Goal) -> State:
        own = self.parts(fresh)
        around = self.parts(context) if context else Parts([], None)
        known = {each.tokens for each in around.nodes}
        fresh_nodes = (each for each in own.nodes if each.tokens not in known)
        state = State([*around.nodes, *fresh_nodes])
        false = own.false or around.false
        if false is not None:
            state.keep(NOTHING, "false-schema", false.tokens, "the schema is `false`")
            return state
        if len(state.nodes) > _MOST_PARTS:
            return state
        for step in (self._types, self._negations, self._listed, self._ranges):
            step(state)
            if not state.left:
                return state
        Structures(self).apply(state)
        seen = {each.tokens for each in state.nodes}
        for node in own.nodes if state.left else ():
            for choice in choices(node, self.ground):
                settled = any(
                    all(each.tokens in seen for each in goal)
                    for goal in choice.branches
                )
                if state.left and not settled:
                    self._choose(choice, state)
        return state

    def parts(self, goal: _Goal) -> Parts:
        """Return what a goal comes to, `$ref` and `allOf` followed."""
        nodes: list[Node] = []
        stack, seen = list(reversed(goal)), set[tuple[str, ...]]()
        ground = self.ground
        while stack:
            node = stack.pop()
            schema = node.schema
            if schema is False:
                return Parts(nodes, node)
            if not isinstance(schema, dict) or node.tokens in seen:
                continue
            seen.add(node.tokens)
            if "$ref" in schema:
                target = ground.target(node)
                if target is not None:
                    stack.append(target)
                if ground.hides_siblings:
                    continue
            nodes.append(node)
            inner = schema.get("allOf")
            if isinstance(inner, list):
                stack.extend(
                    ground.child(node, "allOf", str(index))
                    for index in reversed(range(len(inner)))
                )
        return Parts(nodes, None)

    def _types(self, state: State) -> None:
        for node in state.nodes:
            if "type" in node.schema:
                types = named_types(node.schema)
                if types is not None:
                    why = "no type is allowed by all that is asked"
                    where = (*node.tokens, "type")
                    state.keep(_atoms(types), "types-disjoint", where, why)

    def _negations(self, state: State) -> None:
        for node in state.nodes:
            if "not" not in node.schema:
                continue
            inner = self.ground.child(node, "not")
            excluded = self._whole_types(inner)
            if excluded:
                why = "everything that is left is excluded"
                state.keep(ALL - excluded, "negates-all", inner.tokens, why)

    def _whole_types(self, node: Node) -> frozenset[str]:
        """Return types of which a schema accepts every value."""
        if self.ground.accepts_all(node):
            return ALL
        schema = node.schema
        if not isinstance(schema, dict):
            return NOTHING
        words = self.ground.words(schema)
        if words == {"type"}:
            types = named_types(schema) or NOTHING
            if "number" in types:
                return _atoms(types)
            # In draft-04 the value 1.0 is no integer.
            old = self.ground.dialect.order <= DRAFT_04.order
            return _atoms(types) - (NUMBERS if old else NOTHING)
        if words == {"anyOf"} and isinstance(schema["anyOf"], list):
            each = range(len(schema["anyOf"]))
            branches = (self.ground.child(node, "anyOf", str(i)) for i in each)
            return NOTHING.union(*map(self._whole_types, branches))
        return NOTHING

    def _listed(self, state: State) -> None:
        """Keep the types of the listed values that the other schemas may accept."""
        shortest: tuple[list[UntypedJson], Node, str] | None = None
        for node in state.nodes:
            schema = node.schema
            values: UntypedJson = schema.get("enum")
            word = "enum"
            if "const" in schema and "const" in self.ground.effective:
                values, word = [schema["const"]], "const"
            if isinstance(values, list) and (
                shortest is None or len(values) < len(shortest[0])
            ):
                shortest = (values, node, word)
        if shortest is None:
            return
        values, node, word = shortest
        if len(values) <= _FEW:
            judge = Judge(self.ground)
            parts = [e for e in state.nodes if self._judges(e, word, node)]
            values = [
                value
                for value in values
                if all(judge.accepts(value, e) is not False for e in parts)
            ]
        kinds = NOTHING.union(*(self._kind(each) for each in values))
        why = "no listed value meets all that is asked beside it"
        state.keep(kinds, "listed-values-refused", (*node.tokens, word), why)

    def _judges(self, node: Node, word: str, listing: Node) -> bool:
        """Tell whether a schema says more of a value than that it is listed."""
        words = self.ground.words(node.schema)
        return node is not listing or bool(words - {word})

    def _kind(self, value: UntypedJson) -> frozenset[str]:
        types = types_of(value, self.ground.dialect)
        if isinstance(value, float) and value.is_integer():
            return NUMBERS
        if types == {"number"}:
            return frozenset({"fraction"})
        return frozenset({"whole"} if "integer" in types else types)

    def _ranges(self, state: State) -> None:
        """Drop the numbers and texts for which the bounds leave no value."""
        if state.left & NUMBERS:
            self._numbers(state)
        if "string" in state.left:
            _texts(state)

    def _numbers(self, state: State) -> None:
        low = lowest(state.nodes, self.ground)
        high = highest(state.nodes, self.ground) if low else None
        if low is None or high is None:
            return
        where = pointer((*low.node.tokens, low.word))
        why = "the bounds leave no number"
        proof = Proof(name="bounds-crossed", pointer=where, why=why)
        if empty_range(low, high):
            state.drop(NUMBERS, proof)
            return
        why = "no whole number lies between the bounds"
        none_whole = Proof(name="integer-gap", pointer=where, why=why)
        if gap(low, high, 1):
            state.drop(frozenset({"whole"}), none_whole)
        for node in state.nodes:
            step = node.schema.get("multipleOf")
            if type(step) is int and step > 0 and gap(low, high, step):
                why = "no multiple lies between the bounds"
                state.drop(NUMBERS, Proof(name="multiple-gap", pointer=where, why=why))

    def _choose(self, choice: Choice, state: State) -> None:
        """Keep the types that one branch at least may accept."""
        viable, why = choice.branches, "no branch can hold"
        if choice.word == "oneOf":
            viable = lone(choice, self.ground)
            if not viable:
                why = "branches that accept the same are never the only one to hold"
        around = tuple(state.nodes)
        accepted = NOTHING
        proofs: list[Proof] = []
        for goal in viable:
            kinds = self.kinds(around, goal)
            accepted |= kinds
            if state.left <= accepted:
                return
            if not kinds:
                proofs.append(self.proof(around, goal))
        name = "every-branch-refuted" if viable else "branches-alike"
        if not accepted and proofs:
            why = f"{why}; the first: {proofs[0]}"
        where = (*choice.node.tokens, choice.word)
        state.keep(accepted, name, where, why)


def _texts(state: State) -> None:
    (least, node), most = sizes(state.nodes, "Length")
    if node is not None and least > most:
        where = pointer((*node.tokens, "minLength"))
        why = "the bounds leave no length"
        proof = Proof(name="bounds-crossed", pointer=where, why=why)
        state.drop(frozenset({"string"}), proof)


def _lists_text(schema: dict[str, UntypedJson]) -> bool:
    """Tell whether a schema asks for one of some texts and nothing else."""
    values = schema.get("enum")
    if not isinstance(values, list) or not schema.keys() <= _WORDS_OF_LISTS:
        return False
    typed = schema.get("type", "string") == "string"
    return typed and bool(values) and all(isinstance(each, str) for each in values)


def _atoms(types: frozenset[str]) -> frozenset[str]:
    """Return the types with numbers divided into whole and others."""
    if "number" in types:
        return (types - {"number", "integer"}) | NUMBERS
    if "integer" in types:
        return (types - {"integer"}) | {"whole"}
    return types


def _key(context: _Goal, fresh: _Goal) -> _Key:
    around = frozenset(each.tokens for each in context) if context else frozenset()
    return around, frozenset(each.tokens for each in fresh)
