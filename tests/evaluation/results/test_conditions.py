"""Runs are compared and published only where their figures mean something together."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from curation.system.errors import BadConfiguration
from evaluation.analysis.compare_runs import objections
from evaluation.results.conditions import check_participants
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, finished, many, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.results.reader import RecordedRun

_ENGINES = [
    {
        "engine": "alpha 1.0",
        "name": "alpha",
        "version": "1.0",
        "options": {},
        "interpreter": "/home/a/.venv/bin/python",
    }
]
_WHOLE: dict[str, Any] = {
    **HEAD,
    "engines": _ENGINES,
    "command": ["csbdata", "eval", "--engine", "alpha"],
    "plan": "p",
    "code": "c0ffee",
    "writing": "beef",
    "data": {"name": "/a/x", "sha256": "1", "splits": [], "instances": "given"},
    "sources": {"test-suite": {"name": "a", "sha256": "s"}},
    "tokenizer": {"name": "t", "sha256": "2", "vocab_size": 9},
    "limits": {"compile_seconds": 40.0, "run_seconds": 40.0, "memory_mb": 4096},
    "settings": {"seed": 0, "orders": 0, "values": {}},
    "limit": None,
    "only": [],
    "models": {
        "model": "owner/small",
        "revision": "r1",
        "dtype": "bfloat16",
        "device": "cuda:0",
        "budget": 4,
        "temperature": 0.0,
        "prompt_text": "x" * 500,
        "prices": None,
    },
    "suite": {"suite": "s", "repairs": 0, "data": "/a/r.jsonl", "models": []},
    "machine": {
        "processor": "CPU of 2026",
        "cores": 2,
        "memory_bytes": 8_000_000_000,
        "platform": "Linux x86_64",
        "python": "3.11.9",
    },
}


def _changed(path: str, value: UntypedJson) -> dict[str, Any]:
    """Return the header with the member at a path (`models.dtype`) replaced."""
    head = deepcopy(_WHOLE)
    *parents, last = path.split(".")
    inner: dict[str, Any] = head
    for name in parents:
        inner = inner[name]
    inner[last] = value
    return head


#: A member of the header, another value of it, and what the refusal calls it.
_MATTERS = [
    ("csbdata", "0.2.0", "version of csbdata (0.2.0, not 0.1.0)"),
    ("code", "decade", "measuring code (decade, not c0ffee)"),
    ("writing", "feed", "code that writes and judges feed, not beef"),
    ("data.sha256", "9", "data (content 9, not 1)"),
    ("data.splits", ["test"], "data (splits ['test'], not none)"),
    ("data.instances", "made", "data (instances made, not given)"),
    ("sources", {"test-suite": {"sha256": "t"}}, "sources of tasks (test-suite: "),
    ("tokenizer.sha256", "3", "tokenizer (content 3, not 2)"),
    ("limits.memory_mb", 512, "limits (memory_mb 512, not 4096)"),
    ("limits.compile_seconds", 1.0, "compile_seconds 1.0, not 40.0"),
    ("settings.seed", 1, "settings (seed 1, not 0)"),
    ("settings.values", {"drafts": ["7"]}, "settings (values "),
    ("limit", 5, "--limit (5, not none)"),
    ("only", ["A/b"], "--id (['A/b'], not none)"),
    ("models.model", "owner/large", "model (model owner/large, not owner/small)"),
    ("models.revision", "r2", "model (revision r2, not r1)"),
    ("models.dtype", "float32", "dtype float32, not bfloat16"),
    ("models.budget", 64, "budget 64, not 4"),
    ("models.temperature", 0.9, "temperature 0.9, not 0.0"),
    ("models.device", "cpu", "device cpu, not cuda"),
    ("models.prompt_text", "y" * 500, "another prompt_text"),
    ("suite.repairs", 2, "suite (repairs 2, not 0)"),
    ("machine.processor", "CPU of 2020", "machine (processor CPU of 2020"),
    ("machine.cores", 64, "machine (cores 64, not 2)"),
    ("machine.python", "3.11.7", "machine (python 3.11.7, not 3.11.9)"),
]
#: What may differ: it decides neither what is asked nor what comes of it.
_DOES_NOT = [
    ("machine.memory_bytes", 8_000_004_096),
    ("data.name", "/b/x"),
    ("tokenizer.name", "/b/t"),
    ("models.device", "cuda:1"),
    ("models.prices", {"prompt": 1.0, "output": 2.0}),
    ("models", {}),
    ("suite.data", "/b/records.jsonl"),
    ("suite.models", [{"model": "other"}]),
    ("data", {}),
    ("sources", {"other-task": {"sha256": "o"}}),
    ("command", ["csbdata", "eval", "--jobs", "9"]),
    ("jobs", 9),
    ("governor", "powersave"),
    ("timer_ns", 99),
    ("engines", [{**_ENGINES[0], "interpreter": "/home/b/python"}]),
]


def _short(value: object) -> str:
    return str(value)[:25]


def _two(folder: Path, other: dict[str, Any]) -> list[RecordedRun]:
    folders = (
        write_run(folder / "a", [row()], _WHOLE),
        write_run(folder / "b", [row(id="o2")], other),
    )
    return [open_run(path) for path in folders]


@pytest.mark.parametrize(("path", "value", "words"), _MATTERS, ids=_short)
def test_f55_what_was_made_otherwise_is_objected_to(
    path: str, value: UntypedJson, words: str, tmp_path: Path
) -> None:
    """One line that names the part, what it is and what it should be."""
    (objection,) = objections(_two(tmp_path, _changed(path, value)))
    assert words in objection
    assert "\n" not in objection


@pytest.mark.parametrize(("path", "value"), _DOES_NOT, ids=_short)
def test_what_decides_nothing_may_differ(
    path: str, value: UntypedJson, tmp_path: Path
) -> None:
    """Two hosts are not two machines for 4 KiB of memory or another path."""
    runs = _two(tmp_path, _changed(path, value))
    assert objections(runs) == []
    check_participants(runs)


def test_settings_of_tasks_that_only_one_run_has_may_differ(tmp_path: Path) -> None:
    """What task probe was told says nothing of the masks beside it."""
    other = {**_changed("settings.values", {"drafts": "7"}), "tasks": ["probe"]}
    assert objections(_two(tmp_path, other)) == []


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("options", {"strict": True}),
        ("version", "2.0"),
        ("sha256", "other"),
        ("server", "http://127.0.0.1:1/v1"),
    ],
)
def test_an_engine_run_otherwise_is_refused(
    member: str, value: UntypedJson, tmp_path: Path
) -> None:
    """One label cannot stand for two ways of running an engine."""
    head = {**_WHOLE, "engines": [{**_ENGINES[0], member: value}]}
    with pytest.raises(
        BadConfiguration, match=rf"another alpha 1\.0.*({member}|content)"
    ):
        check_participants(_two(tmp_path, head))


def test_a_run_that_was_killed_is_objected_to(tmp_path: Path) -> None:
    """What is lost is the end."""
    head = {**_WHOLE, "finished": None, "rows": 20}
    killed = write_run(tmp_path / "a", many("alpha 1.0", 13), head)
    assert objections([open_run(killed)]) == ["a: not finished: 13 rows of 20"]


def test_a_run_that_has_lost_rows_is_objected_to(tmp_path: Path) -> None:
    """Of 20 rows 13 are left: somebody cut the file."""
    rows = many("alpha 1.0", 20)
    cut = write_run(tmp_path / "a", rows[:13], {**_WHOLE, "finished": finished(rows)})
    (objection,) = objections([open_run(cut)])
    assert "alpha 1.0 has 13 of 20 rows of task masks" in objection
