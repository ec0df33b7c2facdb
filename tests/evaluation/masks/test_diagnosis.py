"""What is wrong in a walk has a class, and contradictions are found from tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cases import InstanceResult, InstanceWalk, WalkVerdict, Why
from evaluation.masks.diagnosis import OTHER, diagnose, is_match
from evaluation.masks.engine_worker import WalkedText, find_contradictions
from tests.evaluation.known import known
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


_STRING = '{"type": "string", %s}'
_BOUNDED = _STRING % '"minLength": 1'
_TWO = '{"properties": {"a": {}, "b": {}}, "type": "object"}'
_INSIDE = '{"type": "object", "properties": {"a": {"type": "string"}}}'
_NAMED = '{"type": "object", "patternProperties": {"^x": {}}}'
_REF = '{"$ref": "#/$defs/a", "$defs": {"a": {"minimum": 3}}}'
_UNION = '{"anyOf": [{"properties": {"a": {"enum": ["xy"]}}}, {"type": "null"}]}'


def _blocked(text: str, byte: int | None) -> InstanceResult:
    verdict = WalkVerdict.UNFINISHED if byte is None else WalkVerdict.BLOCKED
    return InstanceResult(verdict=verdict, valid=True, tokens=len(text), byte=byte)


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    table(__file__, "blocked"),
)
def test_a_blocked_text_is_classed_by_its_place(
    schema: str, text: str, expected: str
) -> None:
    """What stands at the byte, the keyword that governs it, setting and context."""
    before, after = text.split("|")
    walk = InstanceWalk(text=before + after, valid=True)
    byte = len(before.encode()) if after else None
    why = known(diagnose(schema, walk, _blocked(before + after, byte)))
    found = (why.stands, why.keyword, why.setting, why.context)
    assert "/".join(found) == expected


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    table(__file__, "accepted"),
)
@pytest.mark.parametrize("labelled", [False, True])
def test_an_accepted_text_is_classed_by_what_it_violates(
    schema: str, text: str, expected: str, *, labelled: bool
) -> None:
    """The label's keyword if it has one, else the first that the validator names."""
    keyword, setting = expected.split("/")
    label = {"keyword": keyword} if labelled else {}
    walk = InstanceWalk(text=text, valid=False, label=label)
    walked = InstanceResult(verdict=WalkVerdict.ACCEPTED, valid=False, tokens=1)
    why = known(diagnose(schema, walk, walked))
    assert why.cause == ("accepted to its end", keyword, setting)


def test_what_went_right_has_no_class() -> None:
    """A valid text that was accepted, an invalid one that was blocked."""
    for verdict, valid in ((WalkVerdict.ACCEPTED, True), (WalkVerdict.BLOCKED, False)):
        walked = InstanceResult(verdict=verdict, valid=valid, tokens=1, at=0)
        assert diagnose("{}", InstanceWalk(text="1", valid=valid), walked) is None


def test_an_engine_s_failure_is_classed_by_its_message() -> None:
    """Two limits that differ in numbers alone are one class."""
    classes = {
        diagnose(
            "{}",
            InstanceWalk(text="1", valid=True),
            InstanceResult(
                verdict=WalkVerdict.ENGINE_ERROR, valid=True, tokens=1, detail=detail
            ),
        )
        for detail in ("250 states", "9 states")
    }
    assert [why and why.cause for why in classes] == [("engine error", "", "# states")]


@pytest.mark.parametrize("schema", ["[", "{}", '{"$ref": 7, "properties": []}'])
def test_what_cannot_be_read_is_other(schema: str) -> None:
    """A schema or a text that is no JSON raises nothing."""
    walk = InstanceWalk(text='{"', valid=True)
    assert known(diagnose(schema, walk, _blocked('{"', 1))).stands == OTHER


def test_a_reference_out_of_the_schema_is_not_followed(tmp_path: Path) -> None:
    """The class of a wrong walk depends on nothing but schema and text."""
    (tmp_path / "other.json").write_text('{"minimum": 3}')
    schema = f'{{"$ref": "{(tmp_path / "other.json").as_uri()}"}}'
    walk = InstanceWalk(text="1", valid=False)
    walked = InstanceResult(verdict=WalkVerdict.ACCEPTED, valid=False, tokens=1)
    assert diagnose(schema, walk, walked) == Why(stands=OTHER)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"^\p{L}$", "é", True),
        ("^(a+)+$", "a" * 60 + "!", False),
        ("^a{4294967296}$", "a", False),
        ("(", "(", False),
        ("a", "\ud800a", False),
    ],
)
def test_a_pattern_is_matched_as_a_validator_does(
    pattern: str, text: str, *, expected: bool
) -> None:
    """What Python cannot read, or reads for ever, ends no run."""
    assert is_match(pattern, text) is expected


_TEXTS = st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=6)


def _walked(verdict: WalkVerdict | str, at: int | None = None) -> WalkedText:
    return WalkedText(verdict=WalkVerdict(verdict), at=at)


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


_ENDED, _PASSED = _walked(WalkVerdict.UNFINISHED), _walked(WalkVerdict.ACCEPTED)
_LOST, _NOT_RUN = _walked(WalkVerdict.BLOCKED, 1), _walked(WalkVerdict.NOT_RUN)


@pytest.mark.parametrize(
    ("texts", "walked", "expected"),
    [
        # The end is an answer too: the same text may end here and not there.
        ([[1, 2], [1, 2]], [_ENDED, _PASSED], {0: 1}),
        ([[1, 2], [1, 2, 3]], [_ENDED, _PASSED], {}),
        ([[1, 2], [1, 2]], [_ENDED, _LOST], {1: 0}),
        # Tokens taken before the engine failed, or before it lied, were let through.
        *(
            (texts, [_walked(verdict, 2), _LOST], expected)
            for verdict in ("engine_error", "lied", "blocked")
            for texts, expected in (
                ([[1, 2, 3], [1, 2]], {1: 0}),
                ([[1, 9, 3], [1, 2]], {}),
            )
        ),
        # What was not walked says nothing, and moves no other.
        ([None, [1], [1]], [_NOT_RUN, _walked(WalkVerdict.BLOCKED, 0)], {}),
        ([None, [1, 2], [1, 2]], [_NOT_RUN, _PASSED, _LOST], {2: 1}),
    ],
)
def test_a_contradiction_is_between_two_texts(
    texts: list[list[int] | None], walked: list[WalkedText], expected: dict[int, int]
) -> None:
    """By what was let through once, and blocked after the same tokens."""
    assert find_contradictions(texts, walked) == expected
