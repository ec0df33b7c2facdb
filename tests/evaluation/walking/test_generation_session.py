"""Texts that follow each other in one place of a batch."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest

from evaluation.walking.generation_session import _TextUnderWay


def test_what_is_compiled_for_a_text_given_up_constrains_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A model that fails frees the place while its grammar is still compiled."""
    begun, may_end = Event(), Event()

    class Engine:
        started: Any = None

        def start(self, grammar: object) -> object:
            self.started = grammar
            return object()

    def compiled(_engine: object, schema: str) -> tuple[object, dict[str, object]]:
        if schema == "slow":
            begun.set()
            may_end.wait(60)
        return f"grammar of {schema}", {"compile_ns": 1}

    module = "evaluation.walking.generation_session"
    monkeypatch.setattr(f"{module}.compile_schema", compiled)
    monkeypatch.setattr(f"{module}.engine_warnings", lambda *_: [])
    engine, printed = Engine(), type("Printed", (), {"take": lambda _self: ""})()
    text = _TextUnderWay(engine, printed, memoryview(bytearray(1)), 1, [])  # type: ignore[arg-type]  # parts of them
    assert text.answer({"compile": "slow", "beside": True}) == {"running": True}
    slow = text._thread
    assert begun.wait(60)
    text.answer({"compile": "fast", "beside": True})
    assert text.answer({"compiled": 60.0})["compile_ns"] == 1
    may_end.set()
    assert slow is not None
    slow.join(60)
    text.answer({"open": True, "forced": 0})
    assert engine.started == "grammar of fast"


def test_what_a_compile_beside_others_raises_is_raised_for_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not lost in its thread: the text would be blamed for a token that was forced."""

    def fails(*_: object) -> None:
        raise ValueError("no warnings")

    module = "evaluation.walking.generation_session"
    monkeypatch.setattr(f"{module}.compile_schema", lambda *_: ("grammar", {}))
    monkeypatch.setattr(f"{module}.engine_warnings", fails)
    text = _TextUnderWay(None, None, memoryview(bytearray(1)), 1, [])  # type: ignore[arg-type]  # parts of them
    assert text.answer({"compile": "{}", "beside": True}) == {"running": True}
    with pytest.raises(ValueError, match="no warnings"):
        text.answer({"compiled": 60.0})
    assert text.answer({"open": True, "forced": 0}) == {"closed": True}
