"""Rule sets: listed in their order."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

from curation import rules as rules_package
from curation.core.documents import Reason
from curation.core.rule import BenchmarkRule, Rule
from curation.rules.sets import CLEAN, NAMES, PAPER, rule_set
from curation.system.errors import BadUsage


@pytest.mark.parametrize("name", NAMES)
def test_each_list_reads_from_top_to_bottom(name: str) -> None:
    """Numbers rise down the list, and rules apply in its order, each name once."""
    found = rule_set(name)
    numbers = [number for number, _ in found.order]
    assert numbers == sorted(set(numbers))
    names = [each.name for each in found.all_rules]
    assert [found.numbers[each] for each in names] == numbers
    assert len(names) == len(set(names))
    assert found is rule_set(name)


def test_every_rule_is_listed() -> None:
    """No module of `curation.rules` holds a rule that no set applies."""
    listed = {place for rules in (CLEAN, PAPER) for _, place in rules.order}
    there = {
        f"{each.name}.{name}"
        for each in pkgutil.iter_modules(rules_package.__path__)
        for name, value in vars(
            import_module(f"{rules_package.__name__}.{each.name}")
        ).items()
        if isinstance(value, Rule | BenchmarkRule)
    }
    assert there == listed


def test_the_sets_differ_where_they_should() -> None:
    """`paper` reads as the original did and divides GitHub by the raw file."""
    paper, clean = rule_set("paper"), rule_set("clean")
    assert paper.policy.last_key_counts
    assert not clean.policy.last_key_counts
    assert (paper.subset_by_raw_file, clean.subset_by_raw_file) == (True, False)


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_documents_itself(name: str) -> None:
    """A rule has a sentence, a source, and reasons that the enum knows."""
    for each in rule_set(name).all_rules:
        assert each.summary.endswith(".")
        assert each.source
        assert all(isinstance(reason, Reason) for reason in each.reasons)


def test_an_unknown_set_gets_the_nearest_name() -> None:
    """A misspelt name is refused with what may have been meant."""
    with pytest.raises(BadUsage, match="did you mean clean"):
        rule_set("claen")
    with pytest.raises(BadUsage, match="clean or paper"):
        rule_set("zzz")
