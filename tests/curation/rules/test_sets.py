"""Rule sets: found, ordered, and open to rules from elsewhere."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from textwrap import dedent
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from curation import rules as stages
from curation.core.documents import Reason
from curation.core.rule import BenchmarkRule, Rule
from curation.rules import sets
from curation.rules.sets import (
    CLEAN,
    NAMES,
    RuleConflictError,
    assembled,
    discover,
    rule_set,
)

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.documents import Document
    from curation.core.rule import Context


def _keep(document: Document, _context: Context) -> Document:
    return document


def rule(name: str, position: int, **others: int) -> Rule:
    """Return a rule of `clean` that keeps everything."""
    return Rule(
        name=name,
        summary="Keep everything.",
        source="Made for this test.",
        positions={"clean": position, **others},
        apply=_keep,
    )


#: A rule as somebody else would write it, in a file of its own.
FOREIGN = dedent(
    '''
    """A rule from elsewhere."""

    from curation.core.rule import Rule


    def apply(document, context):
        """Keep everything."""
        return document


    RULE = Rule(
        name="foreign",
        summary="Keep everything.",
        source="Made for this test.",
        positions={"clean": 33},
        apply=apply,
    )
    '''
)


@pytest.mark.parametrize("name", NAMES)
def test_each_set_is_assembled_in_rising_positions(name: str) -> None:
    """Rules stand in the order of their positions, each name once."""
    found = rule_set(name)
    positions = [each.positions[name] for each in found.rules]
    assert positions == sorted(set(positions))
    names = [each.name for each in found.all_rules]
    assert len(names) == len(set(names))
    assert found is rule_set(name)


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
    with pytest.raises(LookupError, match="did you mean clean"):
        rule_set("claen")
    with pytest.raises(LookupError, match="clean or paper"):
        rule_set("zzz")


def test_a_name_stands_once_in_a_set() -> None:
    """Two rules of one name are refused."""
    with pytest.raises(RuleConflictError, match="named same"):
        assembled(CLEAN, (rule("same", 1), rule("same", 2)))


def test_a_position_is_taken_once_in_a_set() -> None:
    """Two rules at one position are refused, and both are named."""
    with pytest.raises(RuleConflictError, match="one and two"):
        assembled(CLEAN, (rule("two", 7), rule("one", 7)))


def test_rules_of_other_sets_are_left_out() -> None:
    """A rule stands only in the sets that it names."""
    elsewhere = replace(rule("other", 1), positions={"paper": 1})
    made = assembled(CLEAN, (elsewhere, rule("own", 9)))
    assert [each.name for each in made.all_rules] == ["own"]


def test_document_rules_and_benchmark_rules_are_told_apart() -> None:
    """Rules of one document come before rules of all records."""
    last = BenchmarkRule(
        name="all",
        summary="Keep everything.",
        source="Made for this test.",
        positions={"clean": 2},
        judge=lambda _candidates: {},
    )
    made = assembled(CLEAN, (last, rule("one", 1)))
    assert [each.name for each in made.rules] == ["one"]
    assert [each.name for each in made.benchmark_rules] == ["all"]


def test_a_file_in_another_folder_adds_a_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule is added by one file, in a folder of the user's, and nothing edited."""
    (tmp_path / "foreign_rule.py").write_text(FOREIGN, encoding="utf-8")
    monkeypatch.setattr(stages, "__path__", [*stages.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "curation.rules.foreign_rule", raising=False)
    made = assembled(CLEAN, discover())
    names = [each.name for each in made.rules]
    assert "foreign" in names
    assert [each for each in names if each != "foreign"] == [
        each.name for each in rule_set("clean").rules
    ]
    sys.modules.pop("curation.rules.foreign_rule", None)


def test_an_installed_package_adds_a_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point of the group leads to a rule, or to a module that holds one."""
    (tmp_path / "elsewhere_rules.py").write_text(FOREIGN, encoding="utf-8")
    record = tmp_path / "elsewhere-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Name: elsewhere\nVersion: 1.0\n", "utf-8")
    (record / "entry_points.txt").write_text(
        "[csbdata.stages]\nforeign = elsewhere_rules\n", "utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "foreign" in [each.name for each in discover()]
    sys.modules.pop("elsewhere_rules", None)


def test_an_entry_point_that_holds_no_rule_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is no rule is named, not silently left out."""
    point = EntryPoint(name="bad", value="json:dumps", group="csbdata.stages")
    monkeypatch.setattr(sets, "entry_points", lambda **_given: [point])
    with pytest.raises(TypeError, match="json:dumps holds no rule"):
        discover()


def test_a_module_without_a_rule_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A package may hold modules that several rules share."""
    package = ModuleType("empty_package")
    package.__path__ = []
    monkeypatch.setattr(sets, "entry_points", lambda **_given: [])
    assert discover(package) == ()
