"""Rule sets: listed in their order, and open to rules from elsewhere."""

from __future__ import annotations

import importlib.metadata
import pkgutil
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from curation import rules as rules_package
from curation.core.documents import Reason
from curation.core.rule import BenchmarkRule, Rule
from curation.rules.sets import (
    CLEAN,
    NAMES,
    PAPER,
    assembled,
    built_in,
    rule_set,
    third_party,
)
from curation.system.errors import BadConfiguration, BadUsage

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.documents import Document
    from curation.core.rule import Context


def _keep(document: Document, _context: Context) -> Document:
    return document


def rule(name: str, after: str = "references") -> Rule:
    """Return a rule of `clean` that keeps everything."""
    return Rule(
        name=name,
        summary="Keep everything.",
        source="Made for this test.",
        after={"clean": after},
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
        after={"clean": "references"},
        apply=apply,
    )
    '''
)


@pytest.mark.parametrize("name", NAMES)
def test_each_list_reads_from_top_to_bottom(name: str) -> None:
    """Numbers rise down the list, and rules apply in its order, each name once."""
    found = rule_set(name)
    numbers = [number for number, _ in found.order]
    assert numbers == sorted(set(numbers))
    names = [each.name for each in found.all_rules]
    assert names == [built_in(module).name for _, module in found.order]
    assert [found.numbers[each] for each in names] == numbers
    assert len(names) == len(set(names))
    assert found is rule_set(name)


def test_every_file_with_a_rule_is_listed() -> None:
    """No file of `curation.rules` holds a rule that no set applies."""
    listed = {module for rules in (CLEAN, PAPER) for _, module in rules.order}
    prefix = f"{rules_package.__name__}."
    there = {
        each.name.removeprefix(prefix)
        for each in pkgutil.walk_packages(rules_package.__path__, prefix)
        if not each.ispkg and each.name.count(".") > prefix.count(".")
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
    with pytest.raises(BadUsage, match="clean or clean-minimal or paper"):
        rule_set("zzz")


def test_a_name_stands_once_in_a_set() -> None:
    """Two rules of one name are refused, be the first ours or not."""
    with pytest.raises(BadConfiguration, match="named same"):
        assembled(CLEAN, (rule("same"), rule("same", "lints")))
    with pytest.raises(BadConfiguration, match="named dialect"):
        assembled(CLEAN, (rule("dialect"),))


def test_a_position_is_taken_once_in_a_set() -> None:
    """Two rules after the same one are refused, and both are named."""
    with pytest.raises(BadConfiguration, match="one and two both stand at"):
        assembled(CLEAN, (rule("one"), rule("two")))


def test_a_rule_comes_after_one_that_is_there() -> None:
    """Another one is named in the refusal."""
    with pytest.raises(BadConfiguration, match="lost comes after nowhere, which is"):
        assembled(CLEAN, (rule("lost", "nowhere"),))


def test_rules_from_elsewhere_follow_each_other() -> None:
    """In whichever order they are found, each stands where it says."""
    found = assembled(CLEAN, (rule("third", "second"), rule("second")))
    names = [each.name for each in found.rules]
    start = names.index("references")
    following = ["references", "second", "third", "patterns"]
    assert names[start : start + 4] == following
    assert (found.numbers["second"], found.numbers["third"]) == (701, 702)


def test_rules_of_other_sets_are_left_out() -> None:
    """A rule stands only in the sets that it names."""
    elsewhere = replace(rule("other"), after={"paper": "paper-template"})
    names = {each.name for each in assembled(CLEAN, (elsewhere, rule("own"))).all_rules}
    assert "own" in names
    assert "other" not in names


def test_document_rules_and_benchmark_rules_are_told_apart() -> None:
    """Rules of one document come before rules of all records."""
    last = BenchmarkRule(
        name="all",
        summary="Keep everything.",
        source="Made for this test.",
        after={"clean": "references"},
        judge=lambda _candidates: {},
    )
    found = assembled(CLEAN, (last, rule("one", "lints")))
    assert found.rules[-1].name == "one"
    assert [each.name for each in found.benchmark_rules] == [
        "all",
        "quota",
        "duplicates",
    ]


def test_an_installed_package_adds_a_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an entry point of the group, and nothing edited."""
    (tmp_path / "elsewhere_rules.py").write_text(FOREIGN, encoding="utf-8")
    record = tmp_path / "elsewhere-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Name: elsewhere\nVersion: 1.0\n", "utf-8")
    (record / "entry_points.txt").write_text(
        "[csbdata.rules]\nforeign = elsewhere_rules\n", "utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    names = [each.name for each in assembled(CLEAN, third_party()).rules]
    assert names[names.index("foreign") - 1] == "references"
    assert [each for each in names if each != "foreign"] == [
        each.name for each in assembled(CLEAN).rules
    ]
    sys.modules.pop("elsewhere_rules", None)


def test_an_entry_point_that_holds_no_rule_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is no rule is named, not silently left out."""
    point = EntryPoint(name="bad", value="json:dumps", group="csbdata.rules")
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda group: [point] if group == point.group else [],
    )
    with pytest.raises(BadConfiguration, match="'bad' is no rule"):
        third_party()


def test_a_listed_module_must_hold_a_rule() -> None:
    """A line of a list that leads to none is named."""
    with pytest.raises(TypeError, match=r"curation\.rules\.sets holds"):
        assembled(replace(CLEAN, order=((1, "sets"),)))
