"""Rule sets as data: rules, their order, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from operator import attrgetter
from types import MappingProxyType

from curation.core.rule import BenchmarkRule, Rule
from curation.json.text import Policy
from curation.system.registry import unknown_name

AnyRule = Rule | BenchmarkRule


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """An ordered list of rules, and how its documents are read and divided."""

    name: str
    #: One sentence: the purpose of the set.
    summary: str
    #: What the reader of JSON text tolerates.
    policy: Policy
    #: Whether its rules look at the other documents of a source.
    bundles: bool = True
    #: Whether GitHub's subset follows the file as read, not the final schema.
    subset_by_raw_file: bool = False
    #: Whether near-duplicates shall share a split: it follows from the min-hash of the
    #: shingles, otherwise from the digest of the skeleton alone.
    split_by_shingles: bool = True
    #: The number that `csbdata explain` prints, and the rule inside `curation.rules`,
    #: top to bottom as they apply.
    order: tuple[tuple[int, str], ...]
    #: Rules of one document, in the order in which they apply; `rule_set` loads them.
    rules: tuple[Rule, ...] = ()
    #: Rules of all records together, applied after those.
    benchmark_rules: tuple[BenchmarkRule, ...] = ()
    #: A rule's name to the number that `csbdata explain` prints.
    numbers: Mapping[str, int] = field(default_factory=dict)

    @property
    def all_rules(self) -> tuple[AnyRule, ...]:
        """Every rule of the set, document rules first."""
        return (*self.rules, *self.benchmark_rules)


CLEAN = RuleSet(
    name="clean",
    summary="The same benchmark without the defects of the published one.",
    policy=Policy(merge_equal_members=True),
    order=(
        (50, "clean.array_root"),
        (60, "lossless.equal_members"),
        (70, "mechanical.apply_patches"),
        (100, "clean.template"),
        (150, "clean.dead_keywords"),
        (200, "clean.secret"),
        (300, "clean.promote"),
        (320, "lossless.empty_lists"),
        (325, "lossless.repeated_values"),
        (330, "lossless.exclusive_bounds"),
        (335, "mechanical.quoted_values"),
        (340, "mechanical.misplaced_keywords"),
        (345, "mechanical.schema_as_type"),
        (350, "mechanical.type_as_schema"),
        (355, "mechanical.misspelt_types"),
        (360, "mechanical.boolean_required"),
        (400, "clean.wrap"),
        (450, "clean.empty"),
        (500, "clean.decide_dialect"),
        (550, "lossless.fitting_draft"),
        (600, "clean.check_metaschema"),
        (650, "clean.identifiers"),
        (660, "lossless.shadowing_identifiers"),
        (670, "lossless.dead_references"),
        (700, "clean.references"),
        (800, "clean.patterns"),
        (850, "clean.unsatisfiable"),
        (900, "clean.validators_agree"),
        (950, "clean.flag_lints"),
        (1000, "benchmark.quota"),
        (1100, "benchmark.duplicates"),
    ),
)
PAPER = RuleSet(
    name="paper",
    summary="The rules that rebuild the published benchmark, defects included.",
    policy=Policy(last_key_counts=True, large_integers_are_floats=True),
    bundles=False,
    subset_by_raw_file=True,
    # The published splits were drawn record by record.
    split_by_shingles=False,
    order=(
        (10, "paper.template"),
        (20, "paper.check_schema"),
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


@cache
def rule_set(name: str) -> RuleSet:
    """Return a rule set by its name, loaded once for each process.

    Raises:
        BadUsage: no set has this name; the message offers the nearest.

    Example:
        >>> [rule.name for rule in rule_set("clean").rules][:2]
        ['array-root', 'equal-members']
    """
    base = _BY_NAME.get(name)
    if base is None:
        raise unknown_name("rule set", name, NAMES)
    rules: dict[int, AnyRule] = {
        number: attrgetter(name)(import_module(f"{__package__}.{module}"))
        for number, (module, name) in ((n, at.split(".")) for n, at in base.order)
    }
    return replace(
        base,
        rules=tuple(rule for rule in rules.values() if isinstance(rule, Rule)),
        benchmark_rules=tuple(
            rule for rule in rules.values() if isinstance(rule, BenchmarkRule)
        ),
        numbers=MappingProxyType({rule.name: n for n, rule in rules.items()}),
    )
