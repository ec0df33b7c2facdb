"""Objects and arrays that no value can be, by what they must hold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Protocol

from curation.json.pointer import pointer
from curation.lint.contradictions import named_types
from curation.satisfiability.bounds import number, sizes
from curation.satisfiability.schema_view import equality_key, matches
from curation.satisfiability.state import Proof
from curation.satisfiability.values import ValueJudge
from curation.schema.locations import SchemaLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.json.pointer import Tokens
    from curation.satisfiability.schema_view import SchemaView
    from curation.satisfiability.state import Conjuncts, Goal, GoalState

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
_ARRAY_KEYWORDS = frozenset({"minItems", "contains"})
_OBJECT_KEYWORDS = frozenset({"required", "minProperties"})


class GoalSearch(Protocol):
    """What the search for a goal's types offers to the rules about structures."""

    view: SchemaView
    #: How often a name may still be tried on a schema or a pattern.
    name_checks_left: int

    def conjuncts(self, goal: Goal) -> Conjuncts:
        """Return what a goal comes to once `$ref` and `allOf` are followed."""

    def inner_proof(self, goal: Goal) -> Proof | None:
        """Return a proof that no member or item can satisfy all the schemas."""


@dataclass(frozen=True, slots=True)
class Structures:
    """Drops the types of one goal whose members or items are refuted."""

    search: GoalSearch

    def apply(self, state: GoalState) -> None:
        """Drop `object` and `array` where they are refuted."""
        keywords = frozenset[str]().union(
            *(location.schema.keys() for location in state.locations)
        )
        if "object" in state.left and not keywords.isdisjoint(_OBJECT_KEYWORDS):
            proof = self._object(state.locations)
            if proof is not None:
                state.drop(_OBJECT, proof)
        if "array" in state.left and not keywords.isdisjoint(_ARRAY_KEYWORDS):
            proof = self._array(state.locations)
            if proof is not None:
                state.drop(_ARRAY, proof)

    def _object(self, locations: list[SchemaLocation]) -> Proof | None:
        locations, names = self._demanded(locations)
        (least, by), most = sizes(locations, "Properties")
        if len(names) > most:
            where = next(
                location for location in locations if "required" in location.schema
            )
            why = f"{len(names)} members are required, {most} allowed"
            return _proof("too-many-required", where, "required", why)
        if by is not None and least > min(most, self._most_names(locations)):
            why = "there cannot be as many members"
            return _proof("bounds-crossed", by, "minProperties", why)
        for name, location in names.items():
            proof = self._member(locations, name, location)
            if proof is not None:
                return proof
        return None

    def _demanded(
        self, locations: list[SchemaLocation]
    ) -> tuple[list[SchemaLocation], dict[str, SchemaLocation]]:
        """Return all that applies to an object, and the names it must have."""
        locations, names = list(locations), dict[str, SchemaLocation]()
        seen = {location.tokens for location in locations}
        pending = locations
        for _ in range(_MOST_ROUNDS):
            if not pending:
                break
            for location in pending:
                required = location.schema.get("required")
                for name in required if isinstance(required, list) else ():
                    if isinstance(name, str):
                        names.setdefault(name, location)
            pending = []
            for tokens, location in self._dependent(locations, names):
                if tokens not in seen:
                    seen.add(tokens)
                    pending.extend(self.search.conjuncts((location,)).locations)
            locations = [*locations, *pending]
        return locations, names

    def _dependent(
        self, locations: list[SchemaLocation], names: Iterable[str]
    ) -> Iterator[tuple[Tokens, SchemaLocation]]:
        """Yield what applies to an object because it has these members."""
        view = self.search.view
        keywords = [keyword for keyword in _DEPENDENT if keyword in view.effective]
        for location, keyword in product(locations, keywords):
            table = location.schema.get(keyword)
            if not isinstance(table, dict):
                continue
            for name in names:
                if name not in table:
                    continue
                tokens, value = (*location.tokens, keyword, name), table[name]
                if isinstance(value, list):
                    yield (
                        tokens,
                        SchemaLocation(tokens, {"required": value}, location.base),
                    )
                elif isinstance(value, dict):
                    yield tokens, view.child(location, keyword, name)

    def _most_names(self, locations: list[SchemaLocation]) -> float:
        """Return how many names there can be at most."""
        most = float("inf")
        for location in locations:
            schema = location.schema
            closed = schema.get("additionalProperties") is False
            if closed and not schema.get("patternProperties"):
                known = schema.get("properties")
                known = known.values() if isinstance(known, dict) else ()
                most = min(most, sum(member is not False for member in known))
            names = schema.get("propertyNames")
            if "propertyNames" in self.search.view.effective:
                if names is False:
                    most = 0
                elif isinstance(names, dict) and isinstance(names.get("enum"), list):
                    hidden = self.search.view.hides_siblings and "$ref" in names
                    most = most if hidden else min(most, len(names["enum"]))
        return most

    def _member(
        self, locations: list[SchemaLocation], name: str, by: SchemaLocation
    ) -> Proof | None:
        """Return a proof that no value can be the member of that name."""
        view = self.search.view
        goal: list[SchemaLocation] = []
        self.search.name_checks_left -= len(locations)
        if self.search.name_checks_left < 0:
            return None
        for location in locations:
            if "propertyNames" in location.schema and "propertyNames" in view.effective:
                names = view.child(location, "propertyNames")
                if ValueJudge(view).accepts(name, names) is False:
                    why = f"the name {name!r} is required and refused"
                    return _proof("name-refused", location, "propertyNames", why)
            goal.extend(self._members(location, name))
        for child in goal:
            if child.schema is False:
                why = f"{name!r} is required and forbidden"
                return Proof(
                    name="required-forbidden",
                    pointer=pointer(by.tokens),
                    why=why,
                )
        return self.search.inner_proof(tuple(goal))

    def _members(self, location: SchemaLocation, name: str) -> Iterator[SchemaLocation]:
        """Yield what one schema surely asks of the member of a name."""
        view, schema = self.search.view, location.schema
        properties = schema.get("properties")
        other = True
        if isinstance(properties, dict) and name in properties:
            yield view.child(location, "properties", name)
            other = False
        patterns = schema.get("patternProperties") or {}
        self.search.name_checks_left -= len(patterns)
        if len(patterns) > _MOST_PATTERNS or self.search.name_checks_left < 0:
            return
        for pattern in patterns:
            found = matches(pattern, name)
            if found:
                yield view.child(location, "patternProperties", pattern)
            other = other and found is False
        if other and "additionalProperties" in schema:
            yield view.child(location, "additionalProperties")

    def _array(self, locations: list[SchemaLocation]) -> Proof | None:
        (least, by), most = sizes(locations, "Items")
        for location in locations:
            if (
                "contains" in location.schema
                and "contains" in self.search.view.effective
            ):
                proof = self._contains(location, locations)
                if proof is not None:
                    return proof
                fewest = _fewest(location, self.search)
                if fewest > least:
                    least, by = fewest, location
        if by is None:
            return None
        if least > most:
            return _proof("bounds-crossed", by, "minItems", "no length is left")
        return self._first_items(locations, least) or self._unique(locations, least, by)

    def _first_items(
        self, locations: list[SchemaLocation], least: float
    ) -> Proof | None:
        """Return a proof that one of the items that must be there cannot."""
        longest = max((self._tuple(location) for location in locations), default=0)
        for index in range(int(min(least, longest + 1, _MOST_ITEMS))):
            goal = tuple(
                e for location in locations for e in self._items(location, index)
            )
            proof = self.search.inner_proof(goal)
            if proof is not None:
                return proof
        return None

    def _unique(
        self, locations: list[SchemaLocation], least: float, by: SchemaLocation
    ) -> Proof | None:
        """Return a proof that there are not as many distinct items."""
        if not any(
            location.schema.get("uniqueItems") is True for location in locations
        ):
            return None
        if all(least <= self._distinct(location) for location in locations):
            return None
        why = "fewer distinct items exist than are asked for"
        return _proof("too-few-distinct", by, "minItems", why)

    def _tuple(self, location: SchemaLocation) -> int:
        first = location.schema.get(self.search.view.tuples)
        return len(first) if isinstance(first, list) else 0

    def _items(
        self, location: SchemaLocation, index: int | None
    ) -> Iterator[SchemaLocation]:
        """Yield what one schema asks of an item; of every item, for None."""
        view, schema = self.search.view, location.schema
        keyword, length = view.tuples, self._tuple(location)
        if index is not None and index < length:
            yield view.child(location, keyword, str(index))
            return
        if index is None and length:
            return
        rest = "items"
        if keyword == "items" and isinstance(schema.get("items"), list):
            rest = "additionalItems"
        if isinstance(schema.get(rest), dict | bool):
            yield view.child(location, rest)

    def _contains(
        self, location: SchemaLocation, locations: list[SchemaLocation]
    ) -> Proof | None:
        fewest = _fewest(location, self.search)
        if fewest <= 0:
            return None
        most = number(location.schema.get("maxContains"))
        bounded = "maxContains" in self.search.view.effective
        if most is not None and bounded and fewest > most:
            why = "the bounds leave no count"
            return _proof("bounds-crossed", location, "maxContains", why)
        wanted = self.search.view.child(location, "contains")
        every = (item for around in locations for item in self._items(around, None))
        goal = (wanted, *every)
        inner = self.search.inner_proof(goal)
        if inner is None:
            return None
        why = f"no item can be what is asked for: {inner}"
        return _proof("contains-refuted", location, "contains", why)

    def _distinct(self, location: SchemaLocation) -> float:
        """Return how many distinct items there can be, at most."""
        fewest = float("inf")
        for item in self._items(location, None):
            for conjunct in self.search.conjuncts((item,)).locations:
                schema = conjunct.schema
                if isinstance(schema.get("enum"), list):
                    fewest = min(
                        fewest, len({equality_key(value) for value in schema["enum"]})
                    )
                if "const" in schema and "const" in self.search.view.effective:
                    fewest = min(fewest, 1)
                types = named_types(schema)
                if types and types <= _COUNTS.keys():
                    fewest = min(fewest, sum(_COUNTS[type_name] for type_name in types))
        return fewest


def _fewest(location: SchemaLocation, search: GoalSearch) -> int | float:
    """Return how many items must be what `contains` asks for."""
    fewest = number(location.schema.get("minContains"))
    if fewest is None or "minContains" not in search.view.effective:
        return 1
    return fewest


def _proof(name: str, location: SchemaLocation, keyword: str, why: str) -> Proof:
    return Proof(name=name, pointer=pointer((*location.tokens, keyword)), why=why)
