"""`python -m bench`: part by part, one JSON object."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from bench import __main__ as bench
from bench.__main__ import PARTS

if TYPE_CHECKING:
    import pytest


def _part(measure: object) -> ModuleType:
    module = ModuleType("part")
    vars(module).update(measure=measure, add_options=lambda _parser: None)
    return module


def _fail(_options: argparse.Namespace) -> None:
    raise SystemExit("no archive at hand")


def test_no_two_parts_have_an_option_of_one_name() -> None:
    """All of them are options of one command."""
    parser = argparse.ArgumentParser()
    for name in PARTS:
        import_module(PARTS[name]).add_options(parser.add_argument_group(name))
    assert parser.parse_args(["--minutes", "3"]).minutes == 3


def test_a_part_that_cannot_be_measured_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others have their figures; it is one object, and the exit code is 1."""
    monkeypatch.setattr(bench, "PARTS", {"one": "bench.one", "two": "bench.two"})
    monkeypatch.setattr(sys, "argv", ["bench"])
    monkeypatch.setitem(sys.modules, "bench.one", _part(_fail))
    monkeypatch.setitem(sys.modules, "bench.two", _part(lambda _: {"seconds": 1.5}))
    assert bench.main() == 1
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["machine", "one", "two"]
    assert found["one"] == {"not_measured": "SystemExit: no archive at hand"}
    assert found["two"] == {"seconds": 1.5}


def test_only_the_parts_asked_for_are_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where one part is to be measured, what only others need may be missing."""
    monkeypatch.setattr(bench, "PARTS", {"one": "bench.no_such", "two": "bench.two"})
    monkeypatch.setattr(sys, "argv", ["bench", "two"])
    monkeypatch.setitem(sys.modules, "bench.two", _part(lambda _: {}))
    assert bench.main() == 0
    assert "two" in json.loads(capsys.readouterr().out)
