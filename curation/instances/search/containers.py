"""Build arrays and objects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.instances.constraints.conjunction import (
    Conjunction,
    ExtraConstraint,
    Goals,
    Negation,
    conjoin,
)
from curation.instances.constraints.minimal_depth import minimal_depth
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
MAX_ITEMS = 100_000
#: Elements made one by one; where more are required, they are repeated.
_MADE = 40
#: Share of arrays with a bound that are as long as it allows, and the longest of them.
_AT_BOUND = 0.15
_LONGEST_AT_BOUND = 12
#: Elements that an array, or properties that one pattern, may get for what is to be
#: reached.
_SIBLINGS = 12
#: From this allowance on an array gets two elements.
_ROOM_FOR_TWO = 8
#: More properties than this are not made for a `minProperties`.
MAX_PROPERTIES = 10_000
_NAMES = ("key", "item", "entry", "name", "value", "other")
#: Names drawn for one more property.
_DRAWS = 12
_A_STRING = ExtraConstraint(types=("string",))


def build_array(
    builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
) -> Json | Nothing:
    """Return an array that meets a conjunction, or NOTHING."""
    if conjunction.counts.get("minItems", 0) > MAX_ITEMS:
        detail = f"{conjunction.counts['minItems']} items are required"
        return builder.record_failure(SearchFailure.TOO_LARGE, detail)
    return _ArrayBuilder(builder, conjunction, context).run()


def build_object(
    builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
) -> Json | Nothing:
    """Return an object that meets a conjunction, or NOTHING."""
    if conjunction.counts.get("minProperties", 0) > MAX_PROPERTIES:
        detail = f"{conjunction.counts['minProperties']} properties are required"
        return builder.record_failure(SearchFailure.TOO_LARGE, detail)
    return _ObjectBuilder(builder, conjunction, context).run()


class _ContainerBuilder:
    def __init__(
        self, builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
    ) -> None:
        self.builder, self.conjunction, self.context = builder, conjunction, context
        self.values_before = builder.values_made

    def share(self, remaining: int) -> float:
        """Return the allowance of the next of the members that remain."""
        spent = self.builder.values_made - self.values_before
        return max((self.context.allowance - spent) / remaining - 1, 0)

    def affords(self, guide: Guide) -> bool:
        """Return whether there may be more members than are required."""
        return guide.affords(self.builder.values_made, self.conjunction.locations)

    def claim(self, step: str | int) -> None:
        """Take what a member reaches for reached."""
        if self.builder.guide:
            self.builder.guide.claim(self.conjunction.member_sites(step))


class _ArrayBuilder(_ContainerBuilder):
    def __init__(
        self, builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
    ) -> None:
        super().__init__(builder, conjunction, context)
        self.prefix_length = conjunction.prefix_length()
        self.items: list[Json] = []
        self.identities: set[bytes] = set()
        #: Schemas of `contains` that further elements must meet.
        self.needed = [
            rule.location
            for rule in conjunction.contains
            for _ in range(min(rule.least, _MADE))
        ]

    def run(self) -> Json | Nothing:
        conjunction, guide = self.conjunction, self.builder.guide
        least = max(
            conjunction.counts.get("minItems", 0),
            len(self.needed),
            2 * conjunction.duplicate,
        )
        count = self._count(least)
        if guide:
            guide.expand(conjunction.locations)
        individual = self.prefix_length + len(conjunction.contains)
        for index in range(count):
            if index >= max(_MADE, individual) and not conjunction.unique:
                free = self.items[individual:] or self.items[-1:]
                while len(self.items) < least:
                    self.items.append(free[len(self.items) % len(free)])
                break
            if not self._add(index, self.share(count - index)):
                break
        if guide:
            self._add_wanted(guide)
        if len(self.items) < least or self.needed:
            return NOTHING
        return self.items

    def _count(self, least: int) -> int:
        builder, allowance = self.builder, self.context.allowance
        count = least
        if allowance >= 1 and builder.kind is InstanceKind.RANDOM:
            count += builder.rng.randint(0, 2)
        elif allowance >= 1:
            few = 2 if allowance >= _ROOM_FOR_TWO else 1
            count = max(least, self.prefix_length or few)
        most = self.conjunction.counts.get("maxItems")
        if most is None:
            return count
        is_long = least < count < most <= _LONGEST_AT_BOUND
        return (
            most if is_long and builder.rng.random() < _AT_BOUND else min(count, most)
        )

    def _add(self, index: int, allowance: float) -> bool:
        conjunction, builder = self.conjunction, self.builder
        goals = conjunction.member_goals(index)
        if goals is None:
            return False
        if index == 1 and conjunction.duplicate:
            self.items.append(self.items[0])
            return True
        context = self.context.member(index, allowance, self.identities)
        full = tuple(
            Negation(rule.location)
            for rule in conjunction.contains
            if rule.most is not None and rule.location not in self.needed
        )
        extras: list[Goals] = [(self.needed[0],), full] if self.needed else [full]
        for extra in extras:
            value = builder.value((*goals, *extra), context)
            if value is not NOTHING:
                break
        else:
            return False
        for location in dict.fromkeys(self.needed):
            if builder.compiled.accepts(location, value):
                self.needed.remove(location)
        self.claim(index)
        self.items.append(value)
        if conjunction.unique:
            self.identities.add(identity(value))
        return True

    def _add_wanted(self, guide: Guide) -> None:
        """Add elements that lead to an open target."""
        sites = self.conjunction.member_sites
        for _ in range(self.prefix_length + _SIBLINGS):
            index, most = len(self.items), self.conjunction.counts.get("maxItems")
            if most is not None and index >= most:
                return
            # Those before the last of a prefix have to be there for those after; what
            # the elements before have chosen leaves other branches for this one.
            is_useful = any(
                guide.wants_any(sites(at))
                for at in range(index, max(self.prefix_length, index) + 1)
            ) or guide.expand_again(sites(index))
            if not (is_useful and self.affords(guide) and self._add(index, 0)):
                return


class _ObjectBuilder(_ContainerBuilder):
    def __init__(
        self, builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
    ) -> None:
        super().__init__(builder, conjunction, context)
        self.members: dict[str, Json] = {}
        self.failed: set[str] = set()
        self.declared = conjunction.named_members("properties")

    def run(self) -> Json | Nothing:
        conjunction, guide = self.conjunction, self.builder.guide
        if guide:
            guide.expand(conjunction.locations)
            if guide.is_reversed:
                self._add_wanted(guide)
        self.values_before = self.builder.values_made
        names = [*conjunction.required, *self._optional()]
        for index, name in enumerate(names):
            is_required = name in conjunction.required
            if not is_required and not self._pays(name):
                continue
            if not self._add(name, self.share(len(names) - index)) and is_required:
                return NOTHING
        if not all(
            map(
                self._add_named,
                (extra.extra_name for extra in conjunction.extras if extra.extra_name),
            )
        ):
            return NOTHING
        if guide:
            self._add_wanted(guide)
        elif self.context.allowance >= 1:
            self._add_undeclared()
        if not self._fill(conjunction.counts.get("minProperties", 0)):
            return NOTHING
        order = dict.fromkeys((*self.declared, *self.members))
        return {name: self.members[name] for name in order if name in self.members}

    def _pays(self, name: str) -> bool:
        """Return whether an optional property is still wanted, if there is a guide."""
        guide, sites = self.builder.guide, self.conjunction.member_sites(name)
        return not guide or (self.affords(guide) and guide.wants_any(sites))

    def _optional(self) -> list[str]:
        builder, context, guide = self.builder, self.context, self.builder.guide
        required = self.conjunction.required
        names = [name for name in self.declared if name not in required]
        if not guide and context.allowance < 1:
            return []
        if not guide and builder.varies(context):
            names = [name for name in names if builder.flip_coin()]
        names = [
            name for name in names if (*context.path, name) not in builder.refused_paths
        ]
        if guide:
            sites = self.conjunction.member_sites
            names = [name for name in names if guide.wants_any(sites(name))]
            if guide.is_reversed:
                names.reverse()
        elif context.path:
            names = names[: int(context.allowance)]
        return names[: self._room(len(required))]

    def _room(self, used: int) -> int:
        most = self.conjunction.counts.get("maxProperties")
        return MAX_PROPERTIES if most is None else max(0, most - used)

    def _add(self, name: str, allowance: float) -> bool:
        if name in self.failed:
            return False
        goals = self.conjunction.member_goals(name)
        if goals is None or not self.conjunction.allows_name(name):
            return False
        value = self.builder.value(goals, self.context.member(name, allowance))
        if value is NOTHING:
            self.failed.add(name)
            return False
        self.members[name] = value
        self.claim(name)
        return True

    def _add_undeclared(self) -> None:
        builder = self.builder
        if builder.kind is InstanceKind.RANDOM and builder.flip_coin():
            return
        patterns = list(self.conjunction.named_members("patternProperties"))
        if self.conjunction.is_map():
            patterns.append("")
        for pattern in patterns:
            if self._room(len(self.members)) > 0:
                self._add_new(pattern)

    def _add_wanted(self, guide: Guide) -> None:
        """Add properties with undeclared names that lead to an open target."""
        for part in self.conjunction.locations:
            for site in guide.graph.steps(part).properties:
                keyword, *names = site.tokens[len(part.tokens) :]
                if keyword == "properties":
                    continue
                for _ in range(_SIBLINGS):
                    missing = self.conjunction.required.keys() - self.members.keys()
                    room = self._room(len(self.members) + len(missing)) > 0
                    if not (room and guide.wants(site) and self.affords(guide)):
                        break
                    if not self._add_new(names[0] if names else ""):
                        break

    def _fill(self, least: int) -> bool:
        """Add properties until there are enough; return whether there are."""
        if len(self.members) >= least:
            return True
        for name in sorted(self.declared, key=self._depth):
            if name not in self.members and len(self.members) < least:
                self._add(name, 0)
        for pattern in ("", *self.conjunction.named_members("patternProperties")):
            while len(self.members) < least and self._add_new(pattern):
                pass
        return len(self.members) >= least

    def _depth(self, name: str) -> float:
        sites = self.conjunction.member_sites(name)
        compiled = self.builder.compiled
        return max(
            (minimal_depth(compiled, site, hinted=True) for site in sites), default=0
        )

    def _add_new(self, pattern: str) -> bool:
        """Add a property whose name a pattern matches, or any if it is empty."""
        share = self.context.allowance / 8
        for draw in range(_DRAWS):
            name = self._new_name(pattern, draw)
            if name is None:
                return False
            is_new = name not in self.members and name not in self.declared
            if is_new and self._add(name, share if share >= 1 else 0):
                return True
        return False

    def _add_named(self, goals: Goals) -> bool:
        """Add a property whose name meets goals."""
        for _ in range(_DRAWS):
            name = self.builder.value(
                (*goals, *self.conjunction.name_locations, _A_STRING),
                self.context.member("", 0),
            )
            if name is NOTHING:
                return False
            if isinstance(name, str) and self._add(name, 0):
                return True
        return False

    def _new_name(self, pattern: str, draw: int) -> str | None:
        goals = tuple(self.conjunction.name_locations)
        if not goals and not pattern:
            number = len(self.members) + draw
            stem = _NAMES[number % len(_NAMES)]
            return stem if draw == 0 else f"{stem}{number}"
        constraints = strings.StringConstraints(patterns=(pattern,) if pattern else ())
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
            patterns = (*constraints.patterns, *text.patterns)
            constraints = replace(text, patterns=patterns)
        name = strings.make_string(constraints, self.builder.rng)
        if name is None:
            detail = f"property name {constraints}"
            self.builder.record_failure(SearchFailure.PATTERN, detail)
        return name
