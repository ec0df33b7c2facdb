"""A session says what became of each text, in the words of its parent's rows."""

from __future__ import annotations

import os
from array import array
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from evaluation.masks import walk_session
from evaluation.masks.walk_session import WalkSession
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: The token of a letter: `a` to `c` are in the first byte of a mask, `d` in the next.
_IDS = {letter: number for number, letter in enumerate("abcd", start=5)}
_LETTERS = {number: letter for letter, number in _IDS.items()}
_NOTHING: dict[str, UntypedJson] = {"at": None, "forced": None, "detail": ""}


class _Engine:
    """Allows the beginnings of words, and does what a row of the table says."""

    def __init__(self, **does: UntypedJson) -> None:
        self.does = does
        self.begun = 0

    def compile(self, schema: str) -> str:
        if schema == "refused":
            raise ValueError(schema)
        return schema

    def start(self, _grammar: object) -> _Matcher:
        self.begun += 1
        return _Matcher(self.does)


class _Matcher:
    """One text: the letters that were taken, and which step was the last."""

    def __init__(self, does: dict[str, UntypedJson]) -> None:
        self.does, self.taken, self.step = does, "", ""
        for name, member in (("forced", self._forced), ("reason", self._reason)):
            if name in does:
                setattr(self, name, member)
        if "takes" in does:
            self.takes = lambda _token: does["takes"]

    def mask(self) -> object:
        self.step = "mask"
        bits = bytearray(self.does.get("size", 8))
        for letter, token in _IDS.items():
            if self._begins(self.taken + letter, "words"):
                bits[token >> 3] |= 1 << (token & 7)
        kind = self.does.get("mask")
        if kind == "list":
            return [*bits]
        return array(kind, bytes(bits)) if kind else bits

    def commit(self, token: int) -> object:
        self.step = "commit"
        text = self.taken + _LETTERS[token]
        if text in self.does.get("raises", ()):
            raise ValueError("lost")
        is_known = self._begins(text, "words") or self._begins(text, "more")
        if not is_known or text in self.does.get("refuses", ()):
            return False
        self.taken = text
        return self.does.get("answers", True)

    def may_end(self) -> bool:
        self.step = "end"
        return self.taken in (*self.does["words"], *self.does.get("more", ()))

    def error(self) -> str:
        failing = [self.step, self.taken] == self.does.get("errors")
        return "no fuel\nstate 7" * failing

    def _begins(self, text: str, which: str) -> bool:
        return any(word.startswith(text) for word in self.does.get(which, ()))

    def _forced(self) -> list[int] | None:
        letters = self.does["forced"].get(self.taken)
        return None if letters is None else [_IDS[letter] for letter in letters]

    def _reason(self) -> str:
        return str(self.does["reason"])


def _session(engine: _Engine, *, checks: bool = True) -> WalkSession:
    setup: Any = {
        "tokenizer": {"vocab_size": 64},
        "checks_commit": checks,
        "byte_ids": [_IDS.get(chr(byte), -1) for byte in range(256)],
    }
    printed: Any = SimpleNamespace(take=lambda: "said", too_much=False)
    session = WalkSession(engine, setup, printed)  # type: ignore[arg-type]  # a made one
    session.answer({"compile": "{}"})
    return session


def _text(tokens: str | None, **more: UntypedJson) -> dict[str, UntypedJson]:
    ids = None if tokens is None else [_IDS[letter] for letter in tokens]
    return {"tokens": ids, "text": None, "counts_forced": False, "last": False} | more


def _asked(*texts: UntypedJson, seconds: float = 60.0) -> dict[str, UntypedJson]:
    return {"walks": [*texts], "seconds": seconds, "wall_seconds": seconds}


_WALKS = {name: row for name, *row in table(__file__, "walks")}


@pytest.mark.parametrize("name", _WALKS)
def test_a_text_is_walked_to_its_verdict(name: str) -> None:
    """Each token has its mask; one that was taken has its commit."""
    does, tokens, expected, more = _WALKS[name]
    text = _text(tokens, text=more.get("text"), counts_forced=more.get("counts", False))
    session = _session(_Engine(**does), checks=more.get("checks", True))
    answer = session.answer(_asked(text))
    (record,) = answer["walks"]
    steps = len(record.pop("mask_ns")), len(record.pop("commit_ns"))
    del record["waited_ns"]
    assert record == {**_NOTHING, "byte": None} | expected
    verdict, at = expected["verdict"], expected.get("at", len(tokens or ""))
    masks = at + (at < len(tokens or ""))
    commits = at + (verdict == "lied" and "mask of" not in record["detail"])
    commits += does.get("errors", "")[:1] == ["commit"]
    assert steps == (masks, commits)
    assert (answer["first_mask_ns"] is not None) is bool(tokens)
    assert (answer["late"], answer["by_wall_clock"]) == ("", False)
    assert (answer["printed"], answer["printed_too_much"]) == ("said", False)


def test_the_first_mask_is_that_of_the_first_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the making of its matcher; a long text is walked last, and has none."""
    ticks = iter(range(0, 10_000, 10))
    monkeypatch.setattr(walk_session, "perf_counter_ns", lambda: next(ticks))
    session = _session(_Engine(words=["ab", "b"]))
    answer = session.answer(_asked(_text("ab", last=True), _text("b")))
    first, second = answer["walks"]
    assert answer["first_mask_ns"] == 20
    assert (first["mask_ns"], first["commit_ns"]) == ([10, 10], [10, 10])
    assert [walk["verdict"] for walk in (first, second)] == ["accepted"] * 2


def test_no_text_is_walked_after_the_deadline() -> None:
    """The one on its way says so; the others have not begun."""
    engine = _Engine(words=["ab"])
    answer = _session(engine).answer(_asked(_text("ab"), _text("a"), seconds=0.0))
    assert [(it["verdict"], it["detail"]) for it in answer["walks"]] == [
        ("not_run", "no time left"),
        ("not_run", ""),
    ]
    assert answer["late"] == "not finished within 0 s of processor time"
    assert answer["by_wall_clock"] is answer["for_want_of_core"] is False
    assert engine.begun == 1


def test_what_was_refused_has_no_walks() -> None:
    """Nor has a schema the grammar of the one before it."""
    session = _session(_Engine(words=["ab"]))
    assert "refusal" in session.answer({"compile": "refused"})
    assert session.answer(_asked(_text("ab")))["walks"] == []


def test_the_warm_up_comes_once_and_costs_no_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sixteen masks along the first token that each allows; its failure is none."""
    monkeypatch.setattr(walk_session, "freeze", lambda: None)
    engine = _Engine(words=["a" * 40])
    session = _session(engine)
    for _ in range(2):
        answer = session.answer({"compile": "{}", "warm_up": True})
        assert answer["compile_ns"] >= 0
    assert engine.begun == 1
    assert answer["quiet"] in {None, True, False}
    assert os.path.exists("/proc/self/statm") is (answer["rss_bytes"] is not None)  # noqa: PTH110 (as Linux has it)
