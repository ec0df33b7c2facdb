"""Rule sets in their order, and the rules that see all records at once."""

from __future__ import annotations

import hashlib
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation import rules as rules_package
from curation.core.documents import Reason
from curation.core.rule import BenchmarkRule, Candidate, Rule
from curation.rules.benchmark import judge_duplicates, judge_quota
from curation.rules.sets import CLEAN, NAMES, PAPER, rule_set
from curation.system.errors import BadUsage

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


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
    with pytest.raises(BadUsage, match="clean, paper"):
        rule_set("zzz")


def candidate(unique_id: str, content: str, **given: UntypedJson) -> Candidate:
    """Return a candidate whose digest is that of its content."""
    made = Candidate(
        config="Github_easy",
        unique_id=unique_id,
        sha256=hashlib.sha256(content.encode()).hexdigest(),
        field_count=20,
        quota=None,
        least_fields=0,
        extra=False,
    )
    return made._replace(**given)


contents = st.lists(st.sampled_from("abcdefg"), max_size=30)


@given(contents)
def test_exactly_one_of_equal_records_survives(drawn: list[str]) -> None:
    """What is left holds every content once, and it is the first of its kind."""
    candidates = [candidate(f"o{i}", each) for i, each in enumerate(drawn)]
    rejected = judge_duplicates(candidates)
    left = [each for i, each in enumerate(candidates) if i not in rejected]
    assert [each.sha256 for each in left] == list(
        dict.fromkeys(each.sha256 for each in candidates)
    )
    # To remove copies twice removes no more.
    assert judge_duplicates(left) == {}


def test_the_detail_names_the_survivor() -> None:
    """A duplicate says of which record it is one."""
    copies = [candidate("o1", "a"), candidate("kb_7", "a", config="Kubernetes")]
    (rejected,) = judge_duplicates(copies).values()
    assert rejected.reason is Reason.DUPLICATE
    assert rejected.detail == "Github_easy/o1"


def test_an_extra_never_costs_another_extra_a_record() -> None:
    """Extras are held against the ten and themselves, not against each other."""
    ten = [candidate("o1", "a")]
    corpus = [candidate("pp_1", "a", config="GithubCorpus", extra=True)]
    corpus += [candidate("pp_2", "b", config="GithubCorpus", extra=True)]
    corpus += [candidate("pp_3", "b", config="GithubCorpus", extra=True)]
    own = [candidate("x", "b", config="Acme", extra=True)]
    assert set(judge_duplicates([*ten, *corpus, *own])) == {1, 3}


@given(contents, st.integers(min_value=0, max_value=8), st.randoms())
def test_the_quota_is_a_draw_by_digest_alone(
    drawn: list[str], quota: int, random: object
) -> None:
    """Whatever the order, the same distinct contents are taken, never too many."""
    candidates = [candidate(f"g{i}", each, quota=quota) for i, each in enumerate(drawn)]
    kept = _kept(candidates)
    assert len(kept) == min(quota, len(set(drawn)))
    assert kept == _kept(candidates[::-1])


def _kept(candidates: list[Candidate]) -> set[str]:
    rejected = judge_quota(candidates)
    left = [each.sha256 for i, each in enumerate(candidates) if i not in rejected]
    assert len(left) == len(set(left))
    return set(left)


def test_too_few_fields_do_not_count_towards_the_quota() -> None:
    """What is below the least field count is out before the draw."""
    small = candidate("g1", "a", field_count=3, quota=1, least_fields=15)
    large = candidate("g2", "b", field_count=15, quota=1, least_fields=15)
    rejected = judge_quota([small, large])
    assert {i: each.reason for i, each in rejected.items()} == {
        0: Reason.TOO_FEW_FIELDS
    }


def test_sources_without_a_quota_are_left_alone() -> None:
    """The rule touches nothing of a source that sets no bounds."""
    copies = [candidate("o1", "a"), candidate("o2", "a")]
    assert judge_quota(copies) == {}
