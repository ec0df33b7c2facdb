"""Build arrays and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.constraints.conjunction import (
    Conjunction,
    ExtraConstraint,
    Goals,
    Negation,
    conjoin,
)
from curation.instances.constraints.minimal_depth import likely_depth
from curation.instances.search.context import (
    NOTHING,
    BuildContext,
    Nothing,
    ValueBuilder,
)
from curation.instances.values import strings
from curation.instances.values.model import InstanceKind, SearchFailure
from curation.json.values import identity

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.search.reach import Guide

#: More elements than this are not made for a `minItems`.
MOST_ITEMS = 100_000
#: Elements made one by one; where more are required, they are repeated.
_MADE = 40
#: Share of arrays with a bound that are as long as it allows, and the longest of them.
_AT_BOUND = 0.15
_MOST_AT_BOUND = 12
#: Elements that an array may get for what is to be reached.
_SIBLINGS = 12


def build_array(
    builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
) -> Json | Nothing:
    """Return an array that meets a conjunction, or NOTHING."""
    if conjunction.min_items > MOST_ITEMS:
        return builder.record_failure(
            SearchFailure.TOO_LARGE, f"{conjunction.min_items} items are required"
        )
    return _ArrayBuilder(builder, conjunction, context).run()


class _ArrayBuilder:
    def __init__(
        self, builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
    ) -> None:
        self.builder, self.conjunction, self.context = builder, conjunction, context
        self.items: list[Json] = []
        self.identities: set[bytes] = set()
        self.needed = [
            rule.location
            for rule in conjunction.contains
            for _ in range(min(rule.least, _MADE))
        ]
        self.capped = [rule for rule in conjunction.contains if rule.most is not None]

    def run(self) -> Json | Nothing:
        conjunction = self.conjunction
        least = max(
            int(conjunction.min_items), len(self.needed), 2 * conjunction.duplicate
        )
        count = self._count(least)
        start = self.builder.values_made
        index = 0
        if self.builder.guide:
            self.builder.guide.expand(conjunction.locations)
        while index < count:
            if (
                index >= _MADE
                and not conjunction.unique
                and index >= self._individual()
            ):
                self._repeat(least)
                break
            spent = self.builder.values_made - start
            share = (self.context.allowance - spent) / (count - index) - 1
            if not self._add(index, max(share, 0)):
                break
            index += 1
        if self.builder.guide:
            self._add_wanted(self.builder.guide)
        if len(self.items) < least or self.needed:
            return NOTHING
        return self.items

    def _add_wanted(self, guide: Guide) -> None:
        """Add elements that lead to an open target."""
        for _ in range(self.conjunction.prefix_length() + _SIBLINGS):
            index, most = len(self.items), self.conjunction.max_items
            if most is not None and index >= most:
                return
            # Those before the last of a prefix have to be there for those after.
            ahead = range(index, max(self.conjunction.prefix_length(), index) + 1)
            is_useful = any(
                guide.wants_any(self.conjunction.member_sites(at)) for at in ahead
            )
            # What the elements before have chosen leaves other branches for this one.
            is_useful = is_useful or guide.expand_again(
                self.conjunction.member_sites(index)
            )
            affordable = guide.affords(
                self.builder.values_made, self.conjunction.locations
            )
            if not (is_useful and affordable and self._add(index, 0)):
                return

    def _individual(self) -> int:
        return self.conjunction.prefix_length() + len(self.conjunction.contains)

    def _count(self, least: int) -> int:
        conjunction, builder = self.conjunction, self.builder
        count = least
        if self.context.allowance >= 1:
            target = max(least, conjunction.prefix_length(), 1)
            if builder.kind is InstanceKind.RANDOM:
                target = least + builder.rng.randint(0, 2)
            elif not conjunction.prefix_length():
                target = max(target, 2 if self.context.allowance >= 8 else 1)  # noqa: PLR2004 (room for two)
            count = target
        if conjunction.max_items is not None:
            most = int(conjunction.max_items)
            is_long = count > least and count < most <= _MOST_AT_BOUND
            count = min(count, most)
            if is_long and builder.rng.random() < _AT_BOUND:
                count = most
        if (*self.context.path, "*") in builder.refused_paths:
            count = least
        return max(count, least) if conjunction.max_items is None else count

    def _add(self, index: int, allowance: float) -> bool:
        goals = self.conjunction.member_goals(index)
        if goals is None:
            return False
        if index == 1 and self.conjunction.duplicate:
            self.items.append(self.items[0])
            return True
        context = self.context.member(index, allowance, self.identities)
        value: Json | Nothing = NOTHING
        for extra in self._extras():
            value = self.builder.value((*goals, *extra), context)
            if value is not NOTHING:
                break
        if value is NOTHING:
            return False
        self._drop_met_needs(value)
        if self.builder.guide:
            self.builder.guide.claim(self.conjunction.member_sites(index))
        self.items.append(value)
        if self.conjunction.unique:
            self.identities.add(identity(value))
        return True

    def _extras(self) -> list[Goals]:
        """Return the further goals that the next element is tried with, in turn."""
        refused = tuple(
            Negation(rule.location)
            for rule in self.capped
            if rule.location not in self.needed
        )
        if not self.needed:
            return [refused]
        return [(self.needed[0],), refused]

    def _drop_met_needs(self, value: Json) -> None:
        accepts = self.builder.compiled.accepts
        for location in dict.fromkeys(self.needed):
            if accepts(location, value):
                self.needed.remove(location)

    def _repeat(self, least: int) -> None:
        free = self.items[self._individual() :] or self.items[-1:]
        while len(self.items) < least:
            self.items.append(free[len(self.items) % len(free)])


#: More properties than this are not made for a `minProperties`.
MOST_PROPERTIES = 10_000
_NAMES = ("key", "item", "entry", "name", "value", "other")
#: Names drawn for one more property.
_DRAWS = 12
#: Properties that one pattern may get for what is to be reached.
_NAMED_SIBLINGS = 12
_A_STRING = ExtraConstraint(types=("string",))


def build_object(
    builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
) -> Json | Nothing:
    """Return an object that meets a conjunction, or NOTHING."""
    if conjunction.min_properties > MOST_PROPERTIES:
        detail = f"{conjunction.min_properties} properties are required"
        return builder.record_failure(SearchFailure.TOO_LARGE, detail)
    return _ObjectBuilder(builder, conjunction, context).run()


class _ObjectBuilder:
    def __init__(
        self, builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
    ) -> None:
        self.builder, self.conjunction, self.context = builder, conjunction, context
        self.members: dict[str, Json] = {}
        self.failed: set[str] = set()
        self.declared = conjunction.named_members("properties")

    def run(self) -> Json | Nothing:
        self._expand()
        start = self.builder.values_made
        required = list(self.conjunction.required)
        optional = self._optional()
        count = len(required) + len(optional)
        for index, name in enumerate([*required, *optional]):
            if name not in self.conjunction.required and not self._pays(name):
                continue
            spent = self.builder.values_made - start
            share = (self.context.allowance - spent) / (count - index) - 1
            if not self._add(name, max(share, 0)) and name in self.conjunction.required:
                return NOTHING
        for goals in self.conjunction.extra_names:
            if not self._add_named(goals):
                return NOTHING
        if self.builder.guide:
            self._add_wanted(self.builder.guide)
        elif self.context.allowance >= 1:
            self._add_what_is_open()
        if not self._fill():
            return NOTHING
        return self._ordered()

    def _expand(self) -> None:
        """Tell the guide that members are chosen; begin with undeclared ones if so."""
        guide = self.builder.guide
        if guide:
            guide.expand(self.conjunction.locations)
            if guide.is_reversed:
                self._add_wanted(guide)

    def _optional(self) -> list[str]:
        conjunction, builder, context = self.conjunction, self.builder, self.context
        if builder.guide:
            return self._names_towards(builder.guide)
        if context.allowance < 1:
            return []
        names = [name for name in self.declared if name not in conjunction.required]
        if builder.varies(context):
            names = [name for name in names if builder.flip_coin()]
        names = [
            name for name in names if (*context.path, name) not in builder.refused_paths
        ]
        if context.path:
            names = names[: int(context.allowance)]
        return names[: self._room(len(conjunction.required))]

    def _names_towards(self, guide: Guide) -> list[str]:
        names = [
            name
            for name in self.declared
            if name not in self.conjunction.required
            and (*self.context.path, name) not in self.builder.refused_paths
            and guide.wants_any(self.conjunction.member_sites(name))
        ]
        if guide.is_reversed:
            names.reverse()
        return names[: self._room(len(self.conjunction.required))]

    def _room(self, used: int) -> int:
        most = self.conjunction.max_properties
        return MOST_PROPERTIES if most is None else max(0, int(most) - used)

    def _add(self, name: str, allowance: float) -> bool:
        goals = self._allowed(name)
        if goals is None:
            return False
        value = self.builder.value(goals, self.context.member(name, allowance))
        if value is NOTHING:
            self.failed.add(name)
            return False
        self.members[name] = value
        if self.builder.guide:
            self.builder.guide.claim(self.conjunction.member_sites(name))
        return True

    def _allowed(self, name: str) -> Goals | None:
        if name in self.failed or name in self.conjunction.forbidden:
            return None
        goals = self.conjunction.member_goals(name)
        if goals is None:
            return None
        accepts = self.builder.compiled.accepts
        if not all(
            accepts(location, name) for location in self.conjunction.name_locations
        ):
            return None
        return goals

    def _add_what_is_open(self) -> None:
        builder = self.builder
        if builder.kind is InstanceKind.RANDOM and builder.flip_coin():
            return
        for pattern in self.conjunction.named_members("patternProperties"):
            if self._room(len(self.members)) > 0:
                self._add_new(pattern)
        if self.conjunction.is_map() and self._room(len(self.members)) > 0:
            self._add_new("")

    def _pays(self, name: str) -> bool:
        """Return whether an optional property is still wanted, if a guide is asked."""
        guide = self.builder.guide
        return not guide or (
            self._affordable(guide)
            and guide.wants_any(self.conjunction.member_sites(name))
        )

    def _affordable(self, guide: Guide) -> bool:
        return guide.affords(self.builder.values_made, self.conjunction.locations)

    def _add_wanted(self, guide: Guide) -> None:
        """Add properties with undeclared names that lead to an open target."""
        for part in self.conjunction.locations:
            for site in guide.graph.steps(part).properties:
                keyword, *names = site.tokens[len(part.tokens) :]
                if keyword == "properties":
                    continue
                pattern = names[0] if names else ""
                for _ in range(_NAMED_SIBLINGS):
                    missing = self.conjunction.required.keys() - self.members.keys()
                    room = self._room(len(self.members) + len(missing)) > 0
                    if not (room and guide.wants(site) and self._affordable(guide)):
                        break
                    if not self._add_new(pattern):
                        break

    def _fill(self) -> bool:
        least = int(self.conjunction.min_properties)
        if len(self.members) >= least:
            return True
        for name in sorted(self.declared, key=self._depth):
            if name not in self.members and len(self.members) < least:
                self._add(name, 0)
        for pattern in ("", *self.conjunction.named_members("patternProperties")):
            while len(self.members) < least:
                if not self._add_new(pattern):
                    break
        return len(self.members) >= least

    def _depth(self, name: str) -> float:
        sites = self.conjunction.member_sites(name)
        compiled = self.builder.compiled
        return max((likely_depth(compiled, site) for site in sites), default=0)

    def _add_new(self, pattern: str) -> bool:
        for draw in range(_DRAWS):
            name = self._new_name(pattern, draw)
            if name is None:
                return False
            if name not in self.members and name not in self.declared:
                share = self.context.allowance / 8
                if self._add(name, share if share >= 1 else 0):
                    return True
        return False

    def _add_named(self, goals: Goals) -> bool:
        place = self.context.member("", 0)
        for _ in range(_DRAWS):
            name_goals = (*goals, *self.conjunction.name_locations, _A_STRING)
            name = self.builder.value(name_goals, place)
            if name is NOTHING:
                return False
            if isinstance(name, str) and self._add(name, 0):
                return True
        return False

    def _new_name(self, pattern: str, draw: int) -> str | None:
        patterns = [pattern] if pattern else []
        goals = tuple(self.conjunction.name_locations)
        if not goals and not pattern:
            stem = _NAMES[(len(self.members) + draw) % len(_NAMES)]
            return stem if draw == 0 else f"{stem}{len(self.members) + draw}"
        if goals:
            names = conjoin(self.builder.compiled, (*goals, _A_STRING))
            if names.values is not None:
                unused = [
                    value
                    for value in names.values
                    if isinstance(value, str) and value not in self.members
                ]
                return unused[draw] if draw < len(unused) else None
            text = names.string("")
            patterns += text.patterns
            constraints = strings.StringConstraints(
                min_length=text.min_length,
                max_length=text.max_length,
                patterns=tuple(patterns),
                formats=text.formats,
                not_patterns=text.not_patterns,
            )
        else:
            constraints = strings.StringConstraints(patterns=tuple(patterns))
        name = strings.make_string(constraints, self.builder.rng)
        if name is None:
            self.builder.record_failure(
                SearchFailure.PATTERN, f"property name {constraints}"
            )
        return name

    def _ordered(self) -> dict[str, Json]:
        """Return the members in the order of `properties`, others after."""
        order = [name for name in self.declared if name in self.members]
        undeclared = [name for name in self.members if name not in self.declared]
        return {name: self.members[name] for name in (*order, *undeclared)}
