"""`csbdata results`: every command answers, in every form, with its exit code."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
import typer

from curation.system.errors import BadUsage, NoInput
from evaluation.commands.show_run import hold_gate
from evaluation.core.cases import Result
from evaluation.results import suite_rows
from evaluation.runner import verify_edition
from tests.evaluation.made_runs import HEAD, accepted, blocked, many, row, write_run
from tests.invoking import invoke
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.testing import Result as Answer

_GOLDEN = Path(__file__).parents[1] / "golden"
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
    "command": shlex.split(
        "csbdata eval --task=masks --data 'my schemas' --no-forced --limit 5 "
        "--engine alpha --seed=3 --set orders=2 --set compile_seconds=9"
    ),
    "limits": {"compile_seconds": 40.0, "run_seconds": 40.0, "memory_mb": 4096},
}


@pytest.mark.parametrize(
    ("holds", "not_asked", "exit_code"),
    [(True, [], 0), (False, [], 1), (True, ["alpha: gone"], 1)],
)
def test_a_verified_edition_decides_the_exit_code(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    holds: bool,  # noqa: FBT001 (a column)
    not_asked: list[str],
    exit_code: int,
) -> None:
    """Rows that differ, and rows that could not be asked; 200 by seed 0 are drawn."""
    verdict = SimpleNamespace(holds=holds, not_asked=not_asked, tables=list)
    verify = Mock(return_value=verdict)
    monkeypatch.setattr(verify_edition, "verify_edition", verify)
    answer = _ask("verify", tmp_path)
    assert verify.call_args.kwargs.items() >= {("count", 200), ("seed", 0)}
    assert answer.exit_code == exit_code
    assert answer.stderr.count("not asked: alpha: gone") == len(not_asked)


@pytest.mark.parametrize(
    ("tasks", "under", "said"),
    [
        (["quality"], [], ""),
        (["quality"], ["m: 3 %", "n: 4 %"], "the gate fails: m: 3 %; n: 4 %"),
        ([], [], "the gate fails: nothing was scored"),
    ],
)
def test_a_gate_fails_with_what_is_under_it(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tasks: list[str],
    under: list[str],
    said: str,
) -> None:
    """A run in which nothing was scored passes no gate."""
    monkeypatch.setattr(suite_rows, "passing_less", lambda *_: under)
    result: Any = SimpleNamespace(open=lambda: SimpleNamespace(tasks=tasks))
    hold_gate(result, None)
    with pytest.raises(typer.Exit) if said else nullcontext() as caught:
        hold_gate(result, 50.0)
    assert caught is None or caught.value.exit_code == 1
    assert capsys.readouterr().err.strip() == said


def _ask(*words: object) -> Answer:
    return invoke("results", *words, catch_exceptions=False)


def _tables(*words: object) -> list[dict[str, Any]]:
    """Return the tables that a command prints as JSON, which has no NaN."""
    told = _ask(*words, "--format", "json").stdout
    return list(json.loads(told, parse_constant=pytest.fail)["tables"])


def _run(folder: Path, broken: float = 0.1, head: dict[str, Any] = _HEAD) -> str:
    rows = many("alpha 1.0", 50, broken=broken) + many("beta 2.0", 50, broken=broken)
    return str(write_run(folder, rows, head))


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


def test_a_task_is_chosen_and_the_way_to_every_table_keeps_it(tmp_path: Path) -> None:
    """The command that was typed, with one word more; what was not run is named."""
    words = ("show", _run(tmp_path / "my run"), "--task", "masks")
    way = f"  csbdata results {shlex.join(words)} --table "
    lines = _ask(*words).stderr.splitlines()
    assert any(line.startswith(way) for line in lines)
    with pytest.raises(NoInput, match=r"probe.*masks"):
        _ask(*words[:-1], "probe")


def test_failures_come_worst_first_with_the_command(tmp_path: Path) -> None:
    """A crash before a wrong mask before a refusal; each can be typed again."""
    wrong = row(id="o 2", walks=(accepted(), accepted(valid=False)))
    refused = row(id="o3", result=Result.COMPILE_ERROR, detail="not", walks=())
    crashed = row(id="o4", result=Result.CRASH, detail="SIGSEGV", walks=())
    run = write_run(tmp_path / "run", [row(), refused, wrong, crashed], _HEAD)
    (table,) = _tables("show", run, "--failures")
    outcomes = [each["outcome"] for each in table["rows"]]
    assert outcomes == ["crash", "under constrained", "compile error"]
    assert table["rows"][1]["to see it again"] == (
        "csbdata eval --engine alpha@faithful --option strict=true "
        "--task masks --data 'my schemas' --no-forced --seed=3 --set orders=2 "
        "--id 'Github_easy/o 2' --set compile_seconds=40 --set run_seconds=40 "
        "--set memory=4096"
    )
    crashes = [
        replace(crashed, id=f"o{n % 3}", task=("masks", "probe")[n % 2])
        for n in range(6)
    ]
    run = write_run(tmp_path / "crashes", [*crashes, wrong], _HEAD)
    (table,) = _tables("show", run, "--failures")
    assert table["rows"][0]["seen"] == "SIGSEGV (5 more)"
    assert len(table["rows"]) == 2
    many_refused = [replace(refused, id=f"o{place}") for place in range(30)]
    cut = _ask("show", write_run(tmp_path / "many", many_refused, _HEAD), "--failures")
    assert "20 of 30" in cut.stdout
    assert "10 more: --format json" in cut.stdout


@pytest.mark.parametrize(
    ("more", "again"),
    [
        # Its data is found from any folder.
        ({"data": {"name": "data", "place": "/far/data"}}, "--data /far/data"),
        # A program asked for it: no command is made up, but the schema is named.
        ({"command": []}, ""),
    ],
)
def test_the_command_of_a_failure_is_that_of_its_run(
    more: dict[str, Any], again: str, tmp_path: Path
) -> None:
    """With the data where the run has found it."""
    wrong = row(id="o2", walks=(accepted(), accepted(valid=False)))
    run = write_run(tmp_path / "run", [wrong], {**_HEAD, **more})
    ((failure,),) = (table["rows"] for table in _tables("show", run, "--failures"))
    assert failure["schema"] == "Github_easy/o2"
    assert again in failure["to see it again"]
    assert "my schemas" not in failure["to see it again"]
    shown = _ask("show", run, "--failures").output
    assert ("csbdata eval" in shown) is bool(again)


def test_what_a_task_lets_pass_is_no_failure(tmp_path: Path) -> None:
    """The suite lets a refusal pass where nothing valid was asked."""
    label = {"category": "not", "tests": 1, "valid": 0}
    refused = row(task="test-suite", result=Result.COMPILE_ERROR, walks=(), label=label)
    run = write_run(tmp_path / "run", [refused], _HEAD)
    assert "0 of 0" in _ask("show", run, "--failures").stdout


def test_tables_of_several_tasks_are_told_apart(tmp_path: Path) -> None:
    """No two have one name, and none is without figures."""
    rows = many("alpha 1.0", 9) + many("beta 2.0", 9)
    rows += [
        replace(one, task="compiles", walks=(), first_mask_ns=None) for one in rows
    ]
    run = str(write_run(tmp_path / "run", rows, _HEAD))
    for command in ("compare", "show"):
        tables = [it for it in _tables(command, run) if it["name"] != "failures"]
        named = [(each["task"], each["name"]) for each in tables if each["task"]]
        assert len(named) == len(set(named))
        assert {task for task, _ in named} == {"compiles", "masks"}
        for table in tables:
            for column in table["columns"][1:]:
                cells = [each[column] for each in table["rows"]]
                rates = [each for each in cells if isinstance(each, dict)]
                empty = rates and all(each.get("of") == 0 for each in rates)
                assert not empty, (table["title"], column)
    shown = _ask("compare", run, "--all").stdout
    assert "compiles: What compiles, paired" in shown
    assert "masks: What compiles, paired" in shown
    assert "compiles: What passes" not in shown


@pytest.mark.parametrize("command", ["show", "compare"])
@pytest.mark.parametrize("width", first_fast(1, ["80", "200"]))
@pytest.mark.parametrize(("tasks", "cases"), first_fast(2, [(1, 40), (2, 5), (5, 5)]))
def test_a_run_is_one_screen_that_names_every_other_table(  # noqa: PLR0913, PLR0917 (a row of the table)
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tasks: int,
    cases: int,
    width: str,
    command: str,
) -> None:
    """At most 40 lines, each no wider than the screen; what is not shown is named."""
    monkeypatch.setenv("COLUMNS", width)
    rows = many("alpha 1.0", cases) + many("beta 2.0", cases)
    names = ["masks", "compiles", "probe", "more", "others"][:tasks]
    rows = [replace(one, task=name) for one in rows for name in names]
    run = str(write_run(tmp_path / "run", rows, _HEAD))
    answer = _ask(command, run)
    lines = (answer.stdout + answer.stderr).splitlines()
    assert len(lines) <= 40
    assert max(len(each) for each in lines if not each.startswith("  csb")) <= int(
        width
    )
    every = _tables(command, run)
    for table in every:
        shown = (
            f"{table['task']}: {table['title']}" if table["task"] else table["title"]
        )
        named = table["name"] in re.split(r"[,\s]+", answer.stderr)
        assert named or shown in answer.stdout.splitlines()
    first = [each["title"] for each in every if each["task"] in {None, "masks"}]
    assert first[0] == "What passes, paired"
    last = every[-1]["name"]
    assert {it["name"] for it in _tables(command, run, "--table", last)} == {last}
    with pytest.raises(BadUsage, match="no table 'no-such'"):
        _ask(command, run, "--table", "no-such")


@pytest.mark.parametrize("option", ["", "--failures"])
def test_a_run_is_shown_as_it_was(
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compare_golden: Callable[[Path, str], None],
) -> None:
    """What it lacks and what of it is sample first, then a line for each schema.

    On stderr the lines that are no row, and the way to every other table.
    """
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    rows = [
        row(),
        row(id="o2", result=Result.COMPILE_ERROR, detail="no", walks=()),
        row(id="o3", walks=(blocked(2, valid=True),)),
        row(engine="beta 2.0"),
        row(id="o2", engine="beta 2.0", walks=(accepted(valid=False),)),
    ]
    data = {"name": "x", "sha256": "1", "partial": ["the embedded sample: none"]}
    head = {**_HEAD, "data": data, "finished": None}
    write_run(Path("run"), rows, head, tail=b"{}\n")
    answer = _ask("show", "run", *option.split())
    text = f"{answer.stdout}--- stderr\n{answer.stderr}".replace(f"{tmp_path}/", "")
    lines = [f"{each.rstrip()}\n" for each in text.splitlines()]
    compare_golden(_GOLDEN / f"results-show{option}.txt", "".join(lines))


def test_by_schema_is_for_few_schemas(tmp_path: Path) -> None:
    """However often each was measured."""
    asked = [row(id=f"o{n}", repetition=again) for n in range(8) for again in range(3)]
    every = _ask("show", write_run(tmp_path / "again", asked, _HEAD), "--all")
    assert "By schema" in every.stdout
    assert "Conditions" in every.stdout
    assert "--all" not in every.stderr
    run = write_run(tmp_path / "many", many("alpha 1.0", 21), _HEAD)
    assert "By schema" not in _ask("show", run, "--all").stdout


def test_failures_are_chosen_by_engine_and_outcome(tmp_path: Path) -> None:
    """By name or label, and by outcome; the control stands apart unless it is named."""
    control = {"engine": "none", "name": "none", "spec": "none"}
    wrong = {"walks": (accepted(), accepted(valid=False))}
    crashed = {"result": Result.CRASH, "detail": "SIGSEGV", "walks": ()}
    rows = [
        row(id="o1", **wrong),
        row(id="o2", engine="beta 2.0", **wrong),
        row(id="o3", engine="beta 2.0", **crashed),
        row(id="o4", engine="none", **wrong),
    ]
    head = {**_HEAD, "engines": [*_ENGINES, control]}
    run = str(write_run(tmp_path / "run", rows, head))

    def found(*words: str) -> list[str]:
        (table, *_) = _tables("show", run, *words)
        return [each["schema"].partition("/")[2] for each in table["rows"]]

    assert found("--failures") == ["o3", "o1", "o2"]
    assert found("--failures", "--engine", "beta") == ["o3", "o2"]
    assert found("--engine", "beta 2.0") == ["o3", "o2"]
    assert found("--engine", "none") == ["o4"]
    assert "--engine none" in _ask("show", run, "--failures").stdout
    with pytest.raises(NoInput, match=r"'gamma'.*alpha 1\.0"):
        _ask("show", run, "--engine", "gamma")


@pytest.mark.parametrize(("broken", "code"), [(0.0, 0), (0.5, 1)])
def test_what_is_worse_decides_the_exit_code(
    broken: float, code: int, tmp_path: Path
) -> None:
    """0 where nothing is, 1 with the reason on stderr where something is."""
    old = _run(tmp_path / "old", broken=0.1)
    new = _run(tmp_path / "new", broken=broken)
    answer = _ask("compare", new, old, "--fail-on", "worse")
    assert answer.exit_code == code
    assert ("failed: alpha" in answer.stderr) == bool(code)
    assert "Beside the baseline" in answer.stdout


def _export(run: object, out: object) -> Answer:
    return _ask("export", run, "--format", "maskbench", "--out", out)


def test_a_url_is_no_folder_of_a_run(tmp_path: Path) -> None:
    """It would become a folder named `memory:`; the message says what is wanted."""
    shown = _ask("show", "memory://bucket/run")
    for answer in (shown, _export(_run(tmp_path / "run"), "memory://bucket/out")):
        assert answer.exit_code == BadUsage.exit_code
        assert "a path on this machine" in answer.stderr


def test_export_names_what_it_wrote(tmp_path: Path) -> None:
    """Each line of stdout is a path that is there.

    In a file of its own it says that its data are partial; none where they are whole.
    """
    line = "the embedded sample: none of its schemas is real"
    partial = {**_HEAD, "data": {"name": "x", "sha256": "1", "partial": [line]}}
    for name, head in (("partial", partial), ("whole", _HEAD)):
        answer = _export(_run(tmp_path / name, head=head), tmp_path / f"{name}-out")
        assert answer.exit_code == 0
        paths = {Path(each) for each in answer.stdout.splitlines()}
        assert {path for path in paths if path.exists()} == paths != set()
        notices = [path.read_text() for path in paths if path.name == "notice.txt"]
        assert [line in text for text in notices] == [True] * (head is partial)
