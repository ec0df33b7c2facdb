"""Two answers after the same tokens are found from tokens and verdicts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cases import WalkVerdict
from evaluation.walking.rows import WalkedText, find_contradictions

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXTS = st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=6)


def _walked(verdict: WalkVerdict, at: int | None = None) -> WalkedText:
    return WalkedText(verdict, at, (), (), None, "")


def _walk(tokens: list[int], allows: Callable[[tuple[int, ...]], bool]) -> WalkedText:
    """Walk as an engine does that judges each beginning by itself; -1 is the end."""
    for index in range(len(tokens)):
        if not allows(tuple(tokens[: index + 1])):
            return _walked(WalkVerdict.BLOCKED, index)
    ends = allows((*tokens, -1))
    return _walked(WalkVerdict.ACCEPTED if ends else WalkVerdict.UNFINISHED)


@given(_TEXTS, st.sets(st.lists(st.integers(-1, 2), max_size=5).map(tuple)))
def test_one_answer_to_each_beginning_is_no_contradiction(
    texts: list[list[int]], blocked: set[tuple[int, ...]]
) -> None:
    """Whatever a grammar allows: no order of texts makes it contradict itself."""

    def allows(beginning: tuple[int, ...]) -> bool:
        return beginning not in blocked

    walked = [_walk(tokens, allows) for tokens in texts]
    assert find_contradictions(texts, walked) == {}


@given(_TEXTS.filter(any), st.data())
def test_an_answer_taken_back_is_found(
    texts: list[list[int]], data: st.DataObject
) -> None:
    """A text walked again and blocked anywhere contradicts the first walk of it."""
    again = data.draw(st.sampled_from([text for text in texts if text]))
    at = data.draw(st.integers(0, len(again) - 1))
    walked = [_walk(tokens, lambda _: True) for tokens in texts]
    walked.append(_walked(WalkVerdict.BLOCKED, at))
    found = find_contradictions([*texts, again], walked)
    assert list(found) == [len(texts)]
    assert texts[found[len(texts)]][: at + 1] == again[: at + 1]


def test_the_end_is_an_answer_too() -> None:
    """The same text may end here and not there."""
    walked = [_walked(WalkVerdict.UNFINISHED), _walked(WalkVerdict.ACCEPTED)]
    assert find_contradictions([[1, 2], [1, 2]], walked) == {0: 1}
    assert find_contradictions([[1, 2], [1, 2, 3]], walked) == {}


def test_what_was_walked_before_a_failure_counts() -> None:
    """Tokens taken before the engine failed, or before it lied, were let through."""
    for verdict in (WalkVerdict.ENGINE_ERROR, WalkVerdict.LIED, WalkVerdict.BLOCKED):
        walked = [_walked(verdict, 2), _walked(WalkVerdict.BLOCKED, 1)]
        assert find_contradictions([[1, 2, 3], [1, 2]], walked) == {1: 0}
        assert find_contradictions([[1, 9, 3], [1, 2]], walked) == {}


def test_texts_without_tokens_or_answers_say_nothing() -> None:
    """None of them was walked."""
    walked = [_walked(WalkVerdict.NOT_RUN), _walked(WalkVerdict.BLOCKED, 0)]
    assert find_contradictions([None, [1], [1]], walked) == {}


def test_a_text_without_tokens_moves_no_other() -> None:
    """Walks and texts stay together behind it."""
    walked = [
        _walked(WalkVerdict.NOT_RUN),
        _walked(WalkVerdict.ACCEPTED),
        _walked(WalkVerdict.BLOCKED, 1),
    ]
    assert find_contradictions([None, [1, 2], [1, 2]], walked) == {2: 1}
