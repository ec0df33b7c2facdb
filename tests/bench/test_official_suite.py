"""The second loop over the official suite is judged by the paper's criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bench.engine.official_suite import compare, judge

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize(
    ("answer", "valid", "wanted"),
    [
        ({"written": [True, False]}, [True, False], "passed"),
        ({"written": [False, False]}, [True, False], "over_constrained"),
        ({"written": [True, True]}, [True, False], "under_constrained"),
        (
            {"written": [False, True]},
            [True, False],
            "over_constrained+under_constrained",
        ),
        ({"refused": "no"}, [True, False], "compile_error"),
        ({"refused": "no"}, [False], "passed"),
        ({"died": True}, [False], "died"),
    ],
)
def test_a_case_is_what_the_paper_says(
    answer: dict[str, Any], valid: Sequence[bool], wanted: str
) -> None:
    """A refusal passes only a case without valid instances; a death passes nothing."""
    assert judge(answer, valid) == wanted


def test_every_difference_is_named() -> None:
    """A case that one side lacks is a difference, too."""
    found = compare({"a": "passed", "b": "died"}, {"a": "passed", "b": "x", "c": "y"})
    assert (found["equal"], found["of"]) == (1, 3)
    assert found["different"] == {
        "b": {"csbdata": "died", "loop": "x"},
        "c": {"csbdata": "no row", "loop": "y"},
    }
