"""The rule sets, as data: which rules, in which order, with which parameters.

`CLEAN` and `PAPER` list the rules that ship with csbdata; the lists read from top to
bottom. An installed package adds a rule of its own by an entry point of the group
`csbdata.rules`; the rule says itself after which one it comes (`Rule.after`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from curation.core.rule import BenchmarkRule, Rule
from curation.json.text import Policy
from curation.system.errors import BadUsage
from curation.system.registry import Registry, closest_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.metadata import EntryPoint

#: Entry point group through which other packages add rules, and its former name.
GROUP = "csbdata.rules"
FORMER_GROUP = "csbdata.stages"
AnyRule = Rule | BenchmarkRule


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """An ordered list of rules, and how its documents are read and divided."""

    name: str
    #: One sentence: what the set is for.
    summary: str
    #: What the reader of JSON text tolerates.
    policy: Policy
    #: Whether its rules look at the other documents of a source.
    bundles: bool = True
    #: Whether GitHub's subset follows the file as read, not the final schema.
    subset_by_raw_file: bool = False
    #: The rules that ship with csbdata: the number that `csbdata rules` prints, and
    #: the module of `curation.rules` that holds the rule. They apply top to bottom.
    order: tuple[tuple[int, str], ...]
    #: Rules of one document, in the order in which they apply; `rule_set` loads them.
    rules: tuple[Rule, ...] = ()
    #: Rules of all records together, applied after those.
    benchmark_rules: tuple[BenchmarkRule, ...] = ()
    #: A rule's name to the number that `csbdata rules` prints.
    numbers: Mapping[str, int] = field(default_factory=dict)

    @property
    def all_rules(self) -> tuple[AnyRule, ...]:
        """Every rule of the set, document rules first."""
        return (*self.rules, *self.benchmark_rules)


CLEAN = RuleSet(
    name="clean",
    summary="The same benchmark without the defects of the published one.",
    policy=Policy(),
    order=(
        (5, "clean.array_root"),
        (10, "clean.template"),
        (15, "clean.dead_keywords"),
        (20, "clean.secret"),
        (30, "clean.promote"),
        (40, "clean.wrap"),
        (45, "clean.empty"),
        (50, "clean.dialect"),
        (60, "clean.metaschema"),
        (65, "clean.identifiers"),
        (70, "clean.references"),
        (80, "clean.patterns"),
        (85, "clean.unsatisfiable"),
        (90, "clean.validators_agree"),
        (95, "clean.lints"),
        (100, "benchmark.quota"),
        (110, "benchmark.duplicates"),
    ),
)
PAPER = RuleSet(
    name="paper",
    summary="The rules that rebuild the published benchmark, defects included.",
    policy=Policy(last_key_counts=True),
    bundles=False,
    subset_by_raw_file=True,
    order=(
        (10, "paper.template"),
        (20, "paper.metaschema"),
        (30, "paper.promote"),
        (40, "paper.wrap"),
        (45, "paper.empty"),
        (50, "paper.schema_uri"),
        (60, "paper.array_type"),
        (70, "paper.pattern_text"),
        (80, "paper.rebuild"),
        (90, "paper.remote_reference"),
        (95, "paper.bad_identifier"),
        (100, "benchmark.quota"),
    ),
)
_BY_NAME = {rule_set.name: rule_set for rule_set in (CLEAN, PAPER)}
NAMES = tuple(_BY_NAME)


class RuleConflictError(ValueError):
    """A rule has no place of its own in a set: its name or its number is taken."""


@dataclass(frozen=True, kw_only=True)
class _Rules(Registry[AnyRule]):
    """The registry of rules; a rule set loads its own by their modules."""

    def wrong_class(self, point: EntryPoint, value: object) -> TypeError:
        """Return the error for an entry point that names no rule."""
        return TypeError(f"{point.value} holds no rule but {type(value).__name__}")


_REGISTRY = _Rules(
    noun="rule",
    classes=(Rule, BenchmarkRule),
    attribute="RULE",
    groups=(GROUP, FORMER_GROUP),
)


def built_in(module: str) -> AnyRule:
    """Return the `RULE` of a module of `curation.rules`, such as `clean.empty`.

    Raises:
        ImportError: there is no such module.
        TypeError: it holds no rule.
    """
    found = _REGISTRY.in_module(f"{__package__}.{module}")
    if found is None:
        raise TypeError(f"{__package__}.{module} holds no rule")
    return found.value


def third_party() -> tuple[AnyRule, ...]:
    """Return the rules of other packages, in order of their entry points' names.

    An entry point names a rule, or a module that holds one as `RULE`.

    Raises:
        TypeError: an entry point names something else.
    """
    return tuple(plugin.value for plugin in _REGISTRY.third_party())


def assembled(listed: RuleSet, others: Sequence[AnyRule] = ()) -> RuleSet:
    """Return a rule set with its rules loaded, and those of others in their places.

    Args:
        listed: The set, with its list.
        others: Rules of other packages; those that do not name the set are left out.

    Raises:
        RuleConflictError: a name or a number of the set is taken twice, or a rule
            comes after one that is not there.
    """
    rules: dict[int, AnyRule] = {}
    numbers: dict[str, int] = {}

    def add(number: int, rule: AnyRule) -> None:
        if rule.name in numbers:
            raise RuleConflictError(f"two rules of {listed.name} are named {rule.name}")
        if number in rules:
            raise RuleConflictError(
                f"{rules[number].name} and {rule.name} both stand at "
                f"position {number} of {listed.name}"
            )
        rules[number] = rule
        numbers[rule.name] = number

    for number, module in listed.order:
        add(number, built_in(module))
    waiting = [rule for rule in others if listed.name in (*rule.after, *rule.positions)]
    while waiting:
        placed = [rule for rule in waiting if _number(rule, listed.name, numbers)]
        if not placed:
            raise RuleConflictError(
                f"{waiting[0].name} comes after {waiting[0].after[listed.name]}, "
                f"which is no rule of {listed.name}"
            )
        for rule in placed:
            add(_number(rule, listed.name, numbers), rule)
            waiting.remove(rule)
    in_order = [rule for _, rule in sorted(rules.items(), key=lambda item: item[0])]
    return replace(
        listed,
        rules=tuple(rule for rule in in_order if isinstance(rule, Rule)),
        benchmark_rules=tuple(
            rule for rule in in_order if isinstance(rule, BenchmarkRule)
        ),
        numbers=MappingProxyType(numbers),
    )


def _number(rule: AnyRule, rule_set_name: str, numbers: Mapping[str, int]) -> int:
    """Return the number of another package's rule; 0 if none precedes it yet."""
    if rule_set_name not in rule.after:
        return rule.positions[rule_set_name]
    before = numbers.get(rule.after[rule_set_name])
    return 0 if before is None else before + 1


@cache
def rule_set(name: str) -> RuleSet:
    """Return a rule set by its name, assembled once for each process.

    Raises:
        BadUsage: no set has this name; the message offers the nearest.
        RuleConflictError: a rule has no place of its own in the set.

    Example:
        >>> [rule.name for rule in rule_set("clean").rules][:2]
        ['array-root', 'template']
    """
    listed = _BY_NAME.get(name)
    if listed is None:
        near = closest_names(name, NAMES, most=1) or list(NAMES)
        then = f"did you mean {' or '.join(near)}?"
        raise BadUsage(f"there is no rule set {name!r}", then=then)
    return assembled(listed, third_party())
