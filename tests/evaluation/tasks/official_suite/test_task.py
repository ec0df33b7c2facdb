"""The task `test-suite`: what it asks, and the tables that it ends in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration
from evaluation.core.run_header import TaskSettings
from evaluation.reporting.printing import as_markdown
from evaluation.results.reader import open_run
from evaluation.tasks.official_suite.task import TASK, describe_suite, draft_cases
from evaluation.tasks.registry import task_named
from tests.evaluation import measuring, policies
from tests.evaluation.made_runs import write_run
from tests.evaluation.tasks.official_suite.test_archives import miniature, suite_case

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.core.cases import Case, Row
    from evaluation.reporting.tables import Table

GOLDEN = Path(__file__).parents[2] / "golden"
#: The schema that accepts everything.
ANYTHING = True
FILES = {
    "draft2020-12/allOf.json": [
        suite_case(
            {"$schema": "https://json-schema.org/draft/2020-12/schema"}, (1, True)
        ),
        suite_case({"allOf": [False]}, (1, False), ("é", False)),
    ],
    "draft2020-12/const.json": [
        suite_case({"const": 1}, (1, True), (1.0, True), (2, False))
    ],
    "draft2020-12/not.json": [
        suite_case({"not": {}}, (1, False)),
        suite_case({"not": False}, (1, True)),
    ],
    "draft2020-12/format.json": [suite_case({"format": "date"}, ("", True))],
    "draft2020-12/refRemote.json": [
        suite_case({"$ref": "http://localhost:1234/integer.json"}, (1, True))
    ],
}


@pytest.fixture
def cases(tmp_path: Path) -> list[Case]:
    """Return the cases of a miniature suite."""
    suite = miniature(tmp_path / "packs", FILES)
    return list(draft_cases(suite, "2020-12", optional=False))


def test_it_is_a_task() -> None:
    """By its name, without any data."""
    assert task_named("test-suite") is TASK
    assert not TASK.needs_data


def test_texts_are_written_as_the_papers_harness_does(cases: list[Case]) -> None:
    """`json.dumps` with its defaults: escapes, and a number's own spelling."""
    walks = {each.id: [walk.text for walk in each.walks] for each in cases}
    assert walks["allOf/1"] == ["1", '"\\u00e9"']
    assert walks["const/0"] == ["1", "1.0", "2"]


def test_format_and_remote_documents_are_left_out(cases: list[Case]) -> None:
    """As the paper leaves them out."""
    assert {each.label["category"] for each in cases} == {"allOf", "const", "not"}


def test_a_schema_says_its_draft_wherever_it_can(tmp_path: Path) -> None:
    """The suite's own are silent up to draft-07; an engine could not know."""
    suite = miniature(
        tmp_path, {"draft7/a.json": [suite_case({"a": 1}), suite_case(ANYTHING)]}
    )
    said, boolean = draft_cases(suite, "7", optional=False)
    assert json.loads(said.schema) == {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "a": 1,
    }
    assert boolean.schema == "true"


def test_a_draft_that_is_none_is_refused_before_anything_is_fetched(
    tmp_path: Path,
) -> None:
    """Exit code 2."""
    task = TASK.prepared(FetchSettings(cache=tmp_path, offline=True), print)
    with pytest.raises(BadConfiguration, match="draft '5'"):
        next(task.cases((), TaskSettings(values={"drafts": ["5"]})))


def _rows(cases: list[Case]) -> list[Row]:
    rules: dict[str, Callable[..., Row]] = {
        "accept-all": lambda each, name: policies.answered(
            each, policies.accepts_all, name
        ),
        "crash": policies.died,
        "liar": lambda each, name: policies.answered(each, policies.lies, name),
        "perfect": lambda each, name: policies.answered(each, policies.knows_all, name),
        "refuse-all": policies.refused,
    }
    return [rule(each, name) for name, rule in rules.items() for each in cases]


def _cells(table: Table) -> dict[str, tuple[object, ...]]:
    return {str(row[0]): row[1:] for row in table.rows}


def test_the_tables_of_miniature_engines_are_exact(
    cases: list[Case], tmp_path: Path
) -> None:
    """Accepting all fails on what is invalid; refusing all passes only its absence."""
    run = open_run(write_run(tmp_path / "run", _rows(cases)))
    _, failing, level, _ = TASK.report(run).tables
    assert failing.columns == (
        "engine",
        "categories",
        "compile error",
        "over constrained",
        "under constrained",
        "died",
        "engine error",
        "lied",
        "contradicted",
    )
    assert _cells(failing) == {
        "accept-all": (3, 0, 0, 3, 0, 0, 0, 0),
        "crash": (3, 0, 0, 0, 3, 0, 0, 0),
        "liar": (3, 0, 0, 0, 0, 0, 3, 0),
        "perfect": (3, 0, 0, 0, 0, 0, 0, 0),
        "refuse-all": (3, 3, 0, 0, 0, 0, 0, 0),
    }
    assert _cells(level) == {
        "accept-all": (3, 2, 2, 0, 0, 0, 0, 0),
        "crash": (3, 0, 0, 0, 0, 0, 0, 0),
        "liar": (3, 0, 0, 0, 0, 0, 0, 0),
        "perfect": (3, 3, 3, 3, 3, 3, 3, 3),
        "refuse-all": (3, 2, 2, 0, 0, 0, 0, 0),
    }


def test_the_report_reads_as_it_did(
    cases: list[Case], tmp_path: Path, compare_golden: Callable[[Path, str], None]
) -> None:
    """Cases, Table 5, Table 6 and Figure 6, as Markdown."""
    run = open_run(write_run(tmp_path / "run", _rows(cases)))
    text = "\n".join(as_markdown(each) for each in TASK.report(run).tables)
    compare_golden(GOLDEN / "test-suite.md", text)


def test_figure_6_is_drawn_for_every_draft(cases: list[Case], tmp_path: Path) -> None:
    """One picture each, named after it."""
    run = open_run(write_run(tmp_path / "run", _rows(cases)))
    (plot,) = TASK.report(run).plots
    assert plot.name == "suite-2020-12"


def test_miniature_engines_end_in_the_same_tables_through_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers, masks and rows between; the header says which suite it was."""
    suite = miniature(tmp_path / "packs", FILES)
    monkeypatch.setattr(
        "evaluation.tasks.official_suite.task.acquire_suite", lambda *_: suite
    )
    engines = [measuring.miniature(name) for name in ("accept_all", "refuse_all")]
    request = measuring.request_of(tmp_path, (), tasks=("test-suite",))
    totals, run = measuring.measured(tmp_path, engines, request)
    assert totals.ran == 2 * 5
    assert run.raw_header["sources"] == {"test-suite": describe_suite(suite)}
    _, failing, level, _ = TASK.report(run).tables
    assert [row[1:] for row in failing.rows] == [
        (3, 0, 0, 3, 0, 0, 0, 0),
        (3, 3, 0, 0, 0, 0, 0, 0),
    ]
    assert [row[1:] for row in level.rows] == [(3, 2, 2, 0, 0, 0, 2, 0)] * 2


@pytest.mark.parametrize("value", ["no", "False", 0])
def test_a_text_for_a_truth_value_is_refused_before_anything_is_fetched(
    value: str | int, tmp_path: Path
) -> None:
    """`optional=no` would ask the optional tests."""
    task = TASK.prepared(FetchSettings(cache=tmp_path, offline=True), print)
    with pytest.raises(BadConfiguration, match="neither true nor false"):
        next(task.cases((), TaskSettings(values={"optional": value})))
