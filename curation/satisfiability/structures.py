"""Objects and arrays that no value can be, by what they must hold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from curation.json.pointer import pointer
from curation.lint.contradictions import named_types
from curation.satisfiability.bounds import number, sizes
from curation.satisfiability.schema_view import Node, key, matches
from curation.satisfiability.state import Proof
from curation.satisfiability.values import Judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.json.pointer import Tokens
    from curation.satisfiability.search import Search
    from curation.satisfiability.state import State

#: Items looked at one by one.
_MOST_ITEMS = 16
#: Patterns that one name is tried on; with more, none of them is minded.
_MOST_PATTERNS = 50
#: Names that ask for names, one after another.
_MOST_ROUNDS = 20
#: The types of which there are few values.
_COUNTS = {"null": 1, "boolean": 2}
_OBJECT, _ARRAY = frozenset({"object"}), frozenset({"array"})
_DEPENDENT = ("dependencies", "dependentRequired", "dependentSchemas")
_ARRAY_WORDS = frozenset({"minItems", "contains"})
_OBJECT_WORDS = frozenset({"required", "minProperties"})


@dataclass(frozen=True, slots=True)
class Structures:
    """Drops the types of one goal whose members or items are refuted."""

    search: Search

    def apply(self, state: State) -> None:
        """Drop `object` and `array` where they are refuted."""
        words = frozenset[str]().union(*(each.schema.keys() for each in state.nodes))
        if "object" in state.left and not words.isdisjoint(_OBJECT_WORDS):
            proof = self._object(state.nodes)
            if proof is not None:
                state.drop(_OBJECT, proof)
        if "array" in state.left and not words.isdisjoint(_ARRAY_WORDS):
            proof = self._array(state.nodes)
            if proof is not None:
                state.drop(_ARRAY, proof)

    def _object(self, nodes: list[Node]) -> Proof | None:
        nodes, names = self._demanded(nodes)
        (least, by), most = sizes(nodes, "Properties")
        if len(names) > most:
            where = next(e for e in nodes if "required" in e.schema)
            why = f"{len(names)} members are required, {most} allowed"
            return _proof("too-many-required", where, "required", why)
        if by is not None and least > min(most, self._most_names(nodes)):
            why = "there cannot be as many members"
            return _proof("bounds-crossed", by, "minProperties", why)
        for name, node in names.items():
            proof = self._member(nodes, name, node)
            if proof is not None:
                return proof
        return None

    def _demanded(self, nodes: list[Node]) -> tuple[list[Node], dict[str, Node]]:
        """Return all that applies to an object, and the names it must have."""
        nodes, names = list(nodes), dict[str, Node]()
        seen = {each.tokens for each in nodes}
        pending = nodes
        for _ in range(_MOST_ROUNDS):
            if not pending:
                break
            for node in pending:
                required = node.schema.get("required")
                for name in required if isinstance(required, list) else ():
                    if isinstance(name, str):
                        names.setdefault(name, node)
            pending = []
            for tokens, node in self._dependent(nodes, names):
                if tokens not in seen:
                    seen.add(tokens)
                    pending.extend(self.search.parts((node,)).nodes)
            nodes = [*nodes, *pending]
        return nodes, names

    def _dependent(
        self, nodes: list[Node], names: Iterable[str]
    ) -> Iterator[tuple[Tokens, Node]]:
        """Yield what applies to an object because it has these members."""
        ground = self.search.ground
        words = [each for each in _DEPENDENT if each in ground.effective]
        for node, word in product(nodes, words):
            table = node.schema.get(word)
            if not isinstance(table, dict):
                continue
            for name in names:
                if name not in table:
                    continue
                tokens, value = (*node.tokens, word, name), table[name]
                if isinstance(value, list):
                    yield tokens, Node(tokens, {"required": value}, node.base)
                elif isinstance(value, dict):
                    yield tokens, ground.child(node, word, name)

    def _most_names(self, nodes: list[Node]) -> float:
        """Return how many names there can be at most."""
        most = float("inf")
        for node in nodes:
            schema = node.schema
            closed = schema.get("additionalProperties") is False
            if closed and not schema.get("patternProperties"):
                known = schema.get("properties")
                known = known.values() if isinstance(known, dict) else ()
                most = min(most, sum(each is not False for each in known))
            names = schema.get("propertyNames")
            if "propertyNames" in self.search.ground.effective:
                if names is False:
                    most = 0
                elif isinstance(names, dict) and isinstance(names.get("enum"), list):
                    hidden = self.search.ground.hides_siblings and "$ref" in names
                    most = most if hidden else min(most, len(names["enum"]))
        return most

    def _member(self, nodes: list[Node], name: str, by: Node) -> Proof | None:
        """Return a proof that no value can be the member of that name."""
        ground = self.search.ground
        goal: list[Node] = []
        self.search.tries -= len(nodes)
        if self.search.tries < 0:
            return None
        for node in nodes:
            if "propertyNames" in node.schema and "propertyNames" in ground.effective:
                names = ground.child(node, "propertyNames")
                if Judge(ground).accepts(name, names) is False:
                    why = f"the name {name!r} is required and refused"
                    return _proof("name-refused", node, "propertyNames", why)
            goal.extend(self._members(node, name))
        for child in goal:
            if child.schema is False:
                why = f"{name!r} is required and forbidden"
                return Proof(
                    name="required-forbidden",
                    pointer=pointer(by.tokens),
                    why=why,
                )
        return self.search.inner(tuple(goal))

    def _members(self, node: Node, name: str) -> Iterator[Node]:
        """Yield what one schema surely asks of the member of a name."""
        ground, schema = self.search.ground, node.schema
        properties = schema.get("properties")
        other = True
        if isinstance(properties, dict) and name in properties:
            yield ground.child(node, "properties", name)
            other = False
        patterns = schema.get("patternProperties") or {}
        self.search.tries -= len(patterns)
        if len(patterns) > _MOST_PATTERNS or self.search.tries < 0:
            return
        for pattern in patterns:
            found = matches(pattern, name)
            if found:
                yield ground.child(node, "patternProperties", pattern)
            other = other and found is False
        if other and "additionalProperties" in schema:
            yield ground.child(node, "additionalProperties")

    def _array(self, nodes: list[Node]) -> Proof | None:
        (least, by), most = sizes(nodes, "Items")
        for node in nodes:
            if "contains" in node.schema and "contains" in self.search.ground.effective:
                proof = self._contains(node, nodes)
                if proof is not None:
                    return proof
                fewest = _fewest(node, self.search)
                if fewest > least:
                    least, by = fewest, node
        if by is None:
            return None
        if least > most:
            return _proof("bounds-crossed", by, "minItems", "no length is left")
        return self._first_items(nodes, least) or self._unique(nodes, least, by)

    def _first_items(self, nodes: list[Node], least: float) -> Proof | None:
        """Return a proof that one of the items that must be there cannot."""
        longest = max((self._tuple(each) for each in nodes), default=0)
        for index in range(int(min(least, longest + 1, _MOST_ITEMS))):
            goal = tuple(e for node in nodes for e in self._items(node, index))
            proof = self.search.inner(goal)
            if proof is not None:
                return proof
        return None

    def _unique(self, nodes: list[Node], least: float, by: Node) -> Proof | None:
        """Return a proof that there are not as many distinct items."""
        if not any(each.schema.get("uniqueItems") is True for each in nodes):
            return None
        if all(least <= self._distinct(each) for each in nodes):
            return None
        why = "fewer distinct items exist than are asked for"
        return _proof("too-few-distinct", by, "minItems", why)

    def _tuple(self, node: Node) -> int:
        first = node.schema.get(self.search.ground.tuples)
        return len(first) if isinstance(first, list) else 0

    def _items(self, node: Node, index: int | None) -> Iterator[Node]:
        """Yield what one schema asks of an item; of every item, for None."""
        ground, schema = self.search.ground, node.schema
        word, length = ground.tuples, self._tuple(node)
        if index is not None and index < length:
            yield ground.child(node, word, str(index))
            return
        if index is None and length:
            return
        rest = "items"
        if word == "items" and isinstance(schema.get("items"), list):
            rest = "additionalItems"
        if isinstance(schema.get(rest), dict | bool):
            yield ground.child(node, rest)

    def _contains(self, node: Node, nodes: list[Node]) -> Proof | None:
        fewest = _fewest(node, self.search)
        if fewest <= 0:
            return None
        most = number(node.schema.get("maxContains"))
        bounded = "maxContains" in self.search.ground.effective
        if most is not None and bounded and fewest > most:
            why = "the bounds leave no count"
            return _proof("bounds-crossed", node, "maxContains", why)
        wanted = self.search.ground.child(node, "contains")
        every = (e for each in nodes for e in self._items(each, None))
        goal = (wanted, *every)
        inner = self.search.inner(goal)
        if inner is None:
            return None
        why = f"no item can be what is asked for: {inner}"
        return _proof("contains-refuted", node, "contains", why)

    def _distinct(self, node: Node) -> float:
        """Return how many distinct items there can be, at most."""
        fewest = float("inf")
        for item in self._items(node, None):
            for part in self.search.parts((item,)).nodes:
                schema = part.schema
                if isinstance(schema.get("enum"), list):
                    fewest = min(fewest, len({key(e) for e in schema["enum"]}))
                if "const" in schema and "const" in self.search.ground.effective:
                    fewest = min(fewest, 1)
                types = named_types(schema)
                if types and types <= _COUNTS.keys():
                    fewest = min(fewest, sum(_COUNTS[each] for each in types))
        return fewest


def _fewest(node: Node, search: Search) -> int | float:
    """Return how many items must be what `contains` asks for."""
    fewest = number(node.schema.get("minContains"))
    if fewest is None or "minContains" not in search.ground.effective:
        return 1
    return fewest


def _proof(name: str, node: Node, word: str, why: str) -> Proof:
    return Proof(name=name, pointer=pointer((*node.tokens, word)), why=why)
