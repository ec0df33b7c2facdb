"""`csbdata results`: every command answers, in every form, with its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from curation.system.errors import BadData, NoInput
from evaluation.commands.results import app
from evaluation.core.cases import Result
from tests.evaluation.made_runs import HEAD, accepted, blocked, many, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result as Answer

_ENGINES = [
    {
        "engine": f"{name} {version}",
        "name": name,
        "spec": name,
        "version": version,
        "preset": "faithful",
        "options": {"strict": True},
        "assigned": {"strict": "true"},
    }
    for name, version in (("alpha", "1.0"), ("beta", "2.0"))
]
_HEAD = {
    **HEAD,
    "engines": _ENGINES,
    "tokenizer": {"name": "smollm2"},
    "command": [
        "csbdata",
        "eval",
        "--task=masks",
        "--data",
        "my schemas",
        "--no-forced",
        "--limit",
        "5",
        "--engine",
        "alpha",
        "--seed=3",
    ],
    "limits": {"compile_seconds": 40.0, "run_seconds": 40.0, "memory_mb": 4096},
}


def _ask(*words: str) -> Answer:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def _run(folder: Path, broken: float = 0.1) -> str:
    rows = many("alpha 1.0", 50, broken=broken) + many("beta 2.0", 50, broken=broken)
    return str(write_run(folder, rows, _HEAD))


@pytest.mark.parametrize("form", ["auto", "json", "markdown", "csv"])
def test_show_has_the_same_figures_in_every_form(form: str, tmp_path: Path) -> None:
    """Each form holds the outcomes; JSON is JSON, without NaN."""
    answer = _ask("show", _run(tmp_path / "run"), "--format", form)
    assert answer.exit_code == 0
    assert "alpha 1.0" in answer.stdout
    assert "Passed" in answer.stdout or "passed" in answer.stdout
    if form == "json":
        told = json.loads(answer.stdout, parse_constant=pytest.fail)
        assert told["header"]["seed"] == 0
        assert told["tables"]


def test_show_tells_what_is_no_row(tmp_path: Path) -> None:
    """On stderr, with file and line; the figures are those of the rows."""
    write_run(tmp_path / "run", [row()], _HEAD, tail=b"{}\n")
    answer = _ask("show", str(tmp_path / "run"))
    assert "units-0.jsonl:2" in answer.stderr
    assert "units-0.jsonl:2" not in answer.stdout


def test_show_of_a_task_that_was_not_run_says_which_were(tmp_path: Path) -> None:
    """The fault names the tasks of the run."""
    with pytest.raises(NoInput, match=r"probe.*masks"):
        _ask("show", _run(tmp_path / "run"), "--task", "probe")


def test_failures_come_worst_first_with_the_command(tmp_path: Path) -> None:
    """A crash before a wrong mask before a refusal; each can be typed again."""
    wrong = row(id="o 2", walks=(accepted(), accepted(valid=False)))
    refused = row(id="o3", result=Result.COMPILE_ERROR, detail="not", walks=())
    crashed = row(id="o4", result=Result.CRASH, detail="SIGSEGV", walks=())
    write_run(tmp_path / "run", [row(), refused, wrong, crashed], _HEAD)
    answer = _ask("show", str(tmp_path / "run"), "--failures", "--format", "json")
    (table,) = json.loads(answer.stdout)["tables"]
    assert [each["outcome"] for each in table["rows"]] == [
        "crash", "under constrained", "compile error",
    ]  # fmt: skip
    assert table["rows"][1]["to see it again"] == (
        "csbdata eval --engine alpha --preset faithful --option strict=true "
        "--tokenizer smollm2 --task masks --data 'my schemas' --no-forced --seed=3 "
        "--id 'Github_easy/o 2' --compile-seconds 40 --run-seconds 40 --memory 4096"
    )
    cut = _ask("show", str(tmp_path / "run"), "--failures", "--limit", "1")
    assert "1 of 3" in cut.stdout
    assert "--limit 3" in cut.stdout


def test_what_a_task_lets_pass_is_no_failure(tmp_path: Path) -> None:
    """The suite lets a refusal pass where nothing valid was asked."""
    label = {"category": "not", "tests": 1, "valid": 0}
    refused = row(task="test-suite", result=Result.COMPILE_ERROR, walks=(), label=label)
    write_run(tmp_path / "run", [refused], _HEAD)
    answer = _ask("show", str(tmp_path / "run"), "--failures")
    assert "0 of 0" in answer.stdout


def test_failures_say_where_a_text_went_wrong(tmp_path: Path) -> None:
    """Which text, of what kind, at which token."""
    write_run(tmp_path / "run", [row(walks=(blocked(2, valid=True),))], _HEAD)
    answer = _ask("show", str(tmp_path / "run"), "--failures")
    assert "valid text blocked at token 3 of 4" in answer.stdout


def test_compare_prints_pairs(tmp_path: Path) -> None:
    """Engines of one run; every table has its title."""
    answer = _ask("compare", _run(tmp_path / "run"))
    assert answer.exit_code == 0
    for title in ("Coverage", "What passes, paired", "Times, paired"):
        assert title in answer.stdout


@pytest.mark.parametrize(("broken", "code"), [(0.0, 0), (0.5, 1)])
def test_the_gate_decides_the_exit_code(
    broken: float, code: int, tmp_path: Path
) -> None:
    """0 where it holds, 1 with the reason on stderr where it fails."""
    old = _run(tmp_path / "old", broken=0.1)
    new = _run(tmp_path / "new", broken=broken)
    answer = _ask("compare", new, "--baseline", old, "--fail-under", "100")
    assert answer.exit_code == code
    assert ("the gate fails" in answer.stderr) == bool(code)
    assert "Regression gate" in answer.stdout


def test_a_gate_without_a_baseline_is_wrong_usage(tmp_path: Path) -> None:
    """Exit 2: there is nothing to be under."""
    assert _ask("compare", _run(tmp_path / "a"), "--fail-under", "9").exit_code == 2


def test_merge_says_what_it_made(tmp_path: Path) -> None:
    """All units of all shards; without one of them nothing is made."""
    rows = many("alpha 1.0", 6)
    folders = [
        str(
            write_run(
                tmp_path / str(part),
                rows[part - 1 :: 3],
                {**_HEAD, "shard": f"{part}/3"},
            )
        )
        for part in (1, 2, 3)
    ]
    answer = _ask("merge", *folders, "--out", str(tmp_path / "out"))
    assert answer.exit_code == 0
    assert "6 units" in answer.stderr
    with pytest.raises(BadData, match="no shard 3/3"):
        _ask("merge", *folders[:2], "--out", str(tmp_path / "less"))


@pytest.mark.parametrize("form", ["html", "plots", "csv", "parquet", "maskbench"])
def test_export_names_what_it_wrote(form: str, tmp_path: Path) -> None:
    """Each line of stdout is a path that is there."""
    pytest.importorskip("matplotlib")
    run, out = _run(tmp_path / "run"), str(tmp_path / "out")
    answer = _ask("export", run, "--as", form, "--out", out)
    assert answer.exit_code == 0
    paths = answer.stdout.splitlines()
    assert paths
    assert all((tmp_path / each).exists() for each in paths)
