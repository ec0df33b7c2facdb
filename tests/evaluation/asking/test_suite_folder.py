"""A suite is one folder: the one of docs/suites.md runs from wherever it stands."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

import evaluation.suites
from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration, NoInput
from evaluation.analysis.run_report import reports
from evaluation.asking.records import records_of
from evaluation.asking.request import RunRequest, choose_suite
from evaluation.asking.run import score_file
from evaluation.asking.self_test import self_test
from evaluation.core.records import encode_records
from evaluation.core.suite import RecordRequest
from evaluation.suites.registry import suite_named, suites
from tests.distributions import lay_out_distribution
from tests.evaluation.asking.doubling import doubling_source, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look for suites anew, and leave nothing behind for other tests."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    suites.cache_clear()
    yield
    suites.cache_clear()
    for name in [name for name in sys.modules if "doubling" in name.split(".")]:
        del sys.modules[name]


def _request(tmp_path: Path, spec: str, limit: int = 4) -> RunRequest:
    fetch = FetchSettings(cache=tmp_path / "cache")
    return RunRequest(
        suite=choose_suite(spec),
        limit=limit,
        jobs=1,
        run_dir=tmp_path / "run",
        fetch=fetch,
    )


def test_a_suite_in_a_folder_anywhere_is_scored_and_reported(tmp_path: Path) -> None:
    """No file of ours is edited: responses in a file become a run with its tables."""
    spec = str(lay_out(tmp_path))
    request = _request(tmp_path, spec)
    lines = [
        {"record": "small/n0", "model": "mine", "text": '{"answer": 0}'},
        {"record": "n1", "model": "mine", "text": '<think>1</think>{"answer": 3}'},
        {"record": "n2", "model": "mine", "text": None, "error": "HTTP 500"},
    ]
    file = tmp_path / "responses.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    result = score_file(request, file)
    run = result.open()
    (report,) = reports(run).values()
    first, rates, classes, _, by_schema = report.tables
    assert (first.slug, by_schema.slug) == ("standings", "by-schema")
    assert [str(cell) for cell in rates.rows[-1]][:3] == ["all", "mine free", "3"]
    assert rates.rows[-1][3].count == 1  # type: ignore[union-attr] # a Rate
    assert classes.columns == ("model", "responses", "passed", "no_answer", "wrong")
    assert classes.rows == (("mine free", 3, 1, 1, 1),)
    assert result.problems == ("mine free has not answered 1 of 4 records",)


def test_a_folder_among_our_suites_is_found_because_it_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry lists it beside the others, by the name that it gives itself."""
    folder = lay_out(tmp_path)
    (folder / "__init__.py").write_text("", "utf-8")
    path = [*evaluation.suites.__path__, str(tmp_path)]
    monkeypatch.setattr(evaluation.suites, "__path__", path)
    assert {"doubling", "passrate"} <= set(suites())


def test_a_package_adds_a_suite_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed distribution that names one is enough."""
    lay_out_distribution(
        tmp_path,
        "their_doubling",
        doubling_source(),
        "csbdata.suites",
        "their_doubling:SUITE",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert suite_named("doubling").summary == "Can a model double a number?"


def test_the_example_passes_its_own_self_test(tmp_path: Path) -> None:
    """Every known answer of its records gets its class, for the reason intended."""
    request = _request(tmp_path, str(lay_out(tmp_path)))
    chosen = request.suite
    assert chosen is not None
    found = records_of(chosen, request.records())
    tested = self_test(chosen, found.records, jobs=1)
    assert len(tested) == 20
    assert all(answer.as_expected for answer in tested)


def test_records_of_a_file_are_read_for_every_suite(tmp_path: Path) -> None:
    """What `generate` writes, `--data` reads, and a limit draws from it."""
    request = _request(tmp_path, str(lay_out(tmp_path)))
    chosen = request.suite
    assert chosen is not None
    generate = chosen.suite.generate
    assert generate is not None
    made = generate(20, 3, chosen.settings)
    file = tmp_path / "made.jsonl"
    file.write_bytes(encode_records(made))
    wanted = RecordRequest(data=str(file), fetch=request.fetch, limit=7)
    found = records_of(chosen, wanted)
    assert (found.origin, len(found.records)) == ("file", 7)


@pytest.mark.parametrize(
    ("values", "compat", "said"),
    [
        ({"largst": 3}, "", "largest"),
        ({"largest": "many"}, "", "int"),
        ({}, "paper", "one reading only"),
        ({}, "other", "there is only paper"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    tmp_path: Path, values: dict[str, str], compat: str, said: str
) -> None:
    """The message names the setting that was meant, or what is wrong with the value."""
    spec = str(lay_out(tmp_path))
    with pytest.raises(BadConfiguration, match=said):
        choose_suite(spec, {**values}, compat)


def test_a_folder_without_a_suite_is_refused(tmp_path: Path) -> None:
    """The message says what is missing in it."""
    with pytest.raises(NoInput, match=r"no suite\.py in it"):
        suite_named(f"{tmp_path}/nothing")
