"""The hard core of an edition, the parts of the benchmark, and the README's program."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bench import __main__ as bench
from bench import stranger
from bench.__main__ import PARTS
from bench.edition import core as module
from bench.edition.core import choose, differ, families
from bench.stranger import Measurement, Shell, blocks, faults
from tests.programs import ended

_SIZE = 400


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNT", 150)
    monkeypatch.setattr(module, "SEEDS", 40)


def _outcomes() -> np.ndarray:
    """Return whether engines of several strengths pass records of all difficulties."""
    noise = np.random.default_rng(38)
    hard = noise.normal(size=(_SIZE, 1))
    strength = np.array([[-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]])
    return strength - hard + noise.normal(scale=0.5, size=(_SIZE, 7)) > 0


def test_the_core_estimates_the_sample_for_engines_that_chose_it() -> None:
    """Within a point; its records are distinct, and weigh as many as the sample has."""
    passed = _outcomes()
    keys = [(str(place % 5), str(place % 7), str(place)) for place in range(_SIZE)]
    core = choose(passed, list("abcdefg"), keys)
    assert len({*core.places}) == len(core.places) == pytest.approx(150, abs=1)
    assert core.weights.sum() == pytest.approx(_SIZE, rel=0.02)
    for engine in passed.T:
        assert core.score(engine) == pytest.approx(engine.mean(), abs=0.01)


def test_a_family_counts_once_in_a_difficulty() -> None:
    """Two versions of one engine that fail weigh as much as one of another."""
    passed = np.array([[False, False, True], [True, True, True]])
    names = ["xgrammar 0.1.6 faithful", "xgrammar 0.2.8 faithful", "guidance 0.3.1"]
    of = families(names)
    assert of == ["xgrammar", "xgrammar", "llguidance"]
    core = choose(passed, of, [("", "", "")] * 2)
    assert dict(zip(core.places, core.difficulty, strict=True)) == {0: 0.5, 1: 0.0}


def test_engines_are_told_apart_by_mcnemars_exact_test() -> None:
    """Six wins and no loss are significant (p = .031), five are not (p = .063)."""
    lost = np.zeros(10, dtype=bool)
    assert differ(np.arange(10) < 6, lost)
    assert not differ(np.arange(10) < 5, lost)
    assert not differ(lost, lost)


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


_ROOT = Path(__file__).parents[2]
_README = (_ROOT / "README.md").read_text("utf-8")


def test_each_block_of_the_readme_is_run() -> None:
    """No fenced block and no mark is overlooked."""
    found = blocks(_README)
    assert len(found) == _README.count("\n```") / 2
    marked = sum(block.is_loopback for block in found)
    assert marked == _README.count("<!-- loopback:") > 0


def test_the_table_is_that_of_the_readme() -> None:
    """Each command has a figure, and each figure a command."""
    commands = [each for block in blocks(_README) for each in block.commands]
    first_lines = [each.splitlines()[0] for each in commands]
    table = tomllib.loads(stranger.TABLE.read_text("utf-8"))
    assert list(table) == [stranger.ENVIRONMENT, *first_lines]


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("csbdata() { return 1; }; csbdata x", "exit code 1"),
        ("echo lost >&2; exit 4", "exit code 4\nlost"),
        ("false | true", "exit code 1"),
        ("echo 'Traceback (most recent call last):'", "a traceback"),
        ("sleep 30", "killed (its limit is 1 s)"),
    ],
)
def test_faults_are_named(
    command: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By exit code, by a traceback or by the limit, with the last output."""
    monkeypatch.setattr(stranger, "_LIMIT", 1)
    assert Shell(tmp_path).run(command).fault.startswith(fault)


def test_more_than_twice_the_figure_is_a_fault() -> None:
    """So is a command without a figure or a failed one; small figures count as 0.2."""
    ran = [
        Measurement("fine", 3.9, 1, ""),
        Measurement("slow", 4.1, 1, ""),
        Measurement("tiny", 0.7, 1, ""),
        Measurement("new", 0.1, 1, ""),
        Measurement("failed", 0.1, 1, "exit code 2"),
    ]
    found = faults(ran, 2.0, {"fine": 1, "slow": 1, "tiny": 0.01, "failed": 1})
    assert found == [
        "failed: exit code 2",
        "slow: 2.05 floors; stranger.toml: 1",
        "new: not in stranger.toml",
    ]


def test_a_step_of_ci_sees_a_clean_environment_and_names_itself(tmp_path: Path) -> None:
    """No mirror, an empty HOME; pip's configuration stays; a failure is named."""
    (tmp_path / "csbdata").mkdir()
    recipe = 'check:\n\t@echo "[$$HOME $$CSBDATA_MIRROR $$PIP_X]"; exit 3\n'
    (tmp_path / "csbdata" / "Makefile").write_text(recipe)
    given = {"CI_FOLDER": str(tmp_path), "CSBDATA_MIRROR": "/m", "PIP_X": "a b"}
    done = ended(_ROOT / ".ci" / "run", "check", env={**os.environ, **given})
    assert done.returncode == 1
    assert f"[{tmp_path}/home  a b]" in done.stdout
    assert "== check: FAILED with exit code 2" in done.stdout
