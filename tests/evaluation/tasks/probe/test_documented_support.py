"""The facts of `support.toml`, and what they add up to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.setup.engine_files import engine_paths
from evaluation.tasks.probe.outcomes import Support, coverage, declarations, features

LEVELS = st.sampled_from(Support)


def test_the_papers_figure_4_is_whole() -> None:
    """Six systems, 29 features, each either supported or not."""
    paper = [each for each in declarations() if each.paper]
    assert len(features()) == len(set(features())) == 29
    assert len(paper) == 6
    for each in paper:
        assert set(each.features) == set(features())
        assert set(each.features.values()) <= {Support.YES, Support.NO}


@pytest.mark.parametrize(
    ("name", "supported"),
    [
        ("llguidance", 18),
        ("llama_cpp", 16),
        ("outlines_core", 14),
        ("xgrammar", 13),
        ("openai", 6),
        ("gemini", 6),
    ],
)
def test_so_many_features_does_figure_4_mark(name: str, supported: int) -> None:
    """Counted by hand in the figure."""
    (said,) = [e for e in declarations() if e.paper and name in e.engines]
    assert list(said.features.values()).count(Support.YES) == supported


def test_every_declaration_has_its_document() -> None:
    """With known features only, and engines that exist but for the closed ones."""
    for each in declarations():
        assert each.document
        assert set(each.features) <= set(features())
        assert set(each.engines) <= {*engine_paths(), "openai", "gemini"}


def test_every_engine_here_has_a_declaration_of_today() -> None:
    """If only that its documents say nothing."""
    said = {name for each in declarations() if not each.paper for name in each.engines}
    assert set(engine_paths()) - {"none"} <= said


def test_what_no_document_says_is_unknown() -> None:
    """And it does not cover a schema."""
    (silent,) = [
        e for e in declarations() if not e.paper and "outlines_core" in e.engines
    ]
    assert silent.of("required") is Support.UNKNOWN
    assert coverage(["required"], silent.features) is Support.NO


def test_a_feature_is_found_under_its_other_names() -> None:
    """Figure 4 has no `then`, but what has `if` has it."""
    (today,) = [e for e in declarations() if not e.paper and "llama_cpp" in e.engines]
    assert today.of("then") is today.of("if") is Support.NO


@given(st.dictionaries(st.sampled_from(features()), LEVELS), st.data())
def test_more_features_never_cover_better(
    support: dict[str, Support], data: st.DataObject
) -> None:
    """Coverage of a schema is that of its worst feature."""
    order = [Support.NO, Support.PARTLY, Support.YES]
    used = data.draw(st.lists(st.sampled_from(features())))
    more = data.draw(st.lists(st.sampled_from(features())))
    little, much = coverage(used, support), coverage([*used, *more], support)
    assert order.index(much) <= order.index(little)
    assert coverage([], support) is Support.YES
