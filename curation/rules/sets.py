"""The rule sets, as data: which rules, in which order, with which parameters.

A rule is found because its file stands in `curation.rules`, or because an
installed package names it in the entry point group `csbdata.stages`. It says
itself to which sets it belongs and where, so nothing here lists rules.
"""

from __future__ import annotations

import difflib
import pkgutil
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from curation import rules
from curation.core.rule import BenchmarkRule, Rule
from curation.json.text import Policy

if TYPE_CHECKING:
    from types import ModuleType

#: Entry point group through which other packages add rules.
GROUP = "csbdata.stages"
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
    #: Rules of one document, in the order in which they apply.
    rules: tuple[Rule, ...] = ()
    #: Rules of all records together, applied after those.
    benchmark_rules: tuple[BenchmarkRule, ...] = ()

    @property
    def all_rules(self) -> tuple[AnyRule, ...]:
        """Every rule of the set, document rules first."""
        return (*self.rules, *self.benchmark_rules)


PAPER = RuleSet(
    name="paper",
    summary="The rules that rebuild the published benchmark, defects included.",
    policy=Policy(last_key_counts=True),
    bundles=False,
    subset_by_raw_file=True,
)
CLEAN = RuleSet(
    name="clean",
    summary="The same benchmark without the defects of the published one.",
    policy=Policy(),
)
_BARE = {each.name: each for each in (CLEAN, PAPER)}
NAMES = tuple(_BARE)


class RuleConflictError(ValueError):
    """Two rules of one set have the same name or the same position."""


def discover(package: ModuleType = rules, group: str = GROUP) -> tuple[AnyRule, ...]:
    """Return the `RULE` of every module of a package and of every entry point.

    An entry point leads to a rule or to a module that holds one as `RULE`.

    Raises:
        ImportError: a module cannot be imported.
        TypeError: an entry point leads to something else.
    """
    found: list[AnyRule] = []
    prefix = f"{package.__name__}."
    for each in pkgutil.walk_packages(package.__path__, prefix):
        module = import_module(each.name)
        rule = getattr(module, "RULE", None)
        if rule is not None:
            found.append(_checked(rule, module.__name__))
    for point in sorted(entry_points(group=group), key=lambda one: one.name):
        loaded = point.load()
        found.append(_checked(getattr(loaded, "RULE", loaded), point.value))
    return tuple(found)


def _checked(rule: object, where: str) -> AnyRule:
    if isinstance(rule, Rule | BenchmarkRule):
        return rule
    raise TypeError(f"{where} holds no rule but {type(rule).__name__}")


def assembled(bare: RuleSet, found: tuple[AnyRule, ...]) -> RuleSet:
    """Return the rule set with its rules out of `found`, in their order.

    Raises:
        RuleConflictError: a name or a position of the set is taken twice.
    """
    own = [each for each in found if bare.name in each.positions]
    own.sort(key=lambda each: (each.positions[bare.name], each.name))
    names: set[str] = set()
    positions: dict[int, str] = {}
    for each in own:
        position = each.positions[bare.name]
        if each.name in names:
            raise RuleConflictError(f"two rules of {bare.name} are named {each.name}")
        if position in positions:
            raise RuleConflictError(
                f"{positions[position]} and {each.name} both stand at "
                f"position {position} of {bare.name}"
            )
        names.add(each.name)
        positions[position] = each.name
    return replace(
        bare,
        rules=tuple(each for each in own if isinstance(each, Rule)),
        benchmark_rules=tuple(each for each in own if isinstance(each, BenchmarkRule)),
    )


@cache
def rule_set(name: str) -> RuleSet:
    """Return a rule set by its name, assembled once for each process.

    Raises:
        LookupError: no set has this name; the message offers the nearest.
        RuleConflictError: a name or a position of the set is taken twice.
    """
    bare = _BARE.get(name)
    if bare is None:
        near = difflib.get_close_matches(name, NAMES, n=1) or list(NAMES)
        raise LookupError(f"no rule set {name!r}; did you mean {' or '.join(near)}?")
    return assembled(bare, discover())
