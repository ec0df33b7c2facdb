"""The task `declared`: coverage, reasons, and the keyword that unlocks the most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evaluation.core.cases import Result
from evaluation.core.records import Record
from evaluation.core.run_header import TaskSettings
from evaluation.reporting.printing import as_markdown
from evaluation.reporting.tables import Rate
from evaluation.results.reader import open_run
from evaluation.tasks.declared import TASK
from evaluation.tasks.registry import task_named
from tests.evaluation import measuring
from tests.evaluation.made_runs import row, write_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Row
    from evaluation.reporting.tables import Table
    from evaluation.results.reader import RecordedRun

GOLDEN = Path(__file__).parents[1] / "golden"
HEAD: Mapping[str, UntypedJson] = {
    "engines": [{"engine": "llguidance==1.9.1 faithful", "name": "llguidance"}]
}
ENGINE = "llguidance==1.9.1 faithful"


def _row(number: int, detail: str = "", *features: str, **given: UntypedJson) -> Row:
    result = Result.COMPILE_ERROR if detail else Result.OK
    default = {
        "engine": ENGINE,
        "task": "declared",
        "id": f"o{number}",
        "config": "Github_easy" if number % 2 else "Snowplow",
        "result": result,
        "detail": detail,
        "walks": (),
        "label": {"features": list(features)},
    }
    return row(**(default | given))


ROWS = [
    _row(1, "", "required", "oneOf"),
    _row(2, "", "required", warnings=("multipleOf is not supported",)),
    _row(3, 'Unimplemented keys: ["not"]', "not", "required"),
    _row(4, 'Unimplemented keys: ["not"]', "not", "if"),
    _row(5, 'Unimplemented keys: ["not"]', "not", "oneOf"),
    _row(6, 'Unimplemented keys: ["if", "then"]', "if", "then"),
    _row(7, 'Unimplemented keys: ["if", "then", "else"]', "if", "then", "else"),
    _row(8, "oneOf constraints are not supported", "oneOf", "required"),
    _row(9, "Unknown format: byte", "format"),
    _row(10, 'Unimplemented keys: ["not", "if"]', "not", "if"),
    _row(11, "no idea"),
    _row(12, result=Result.TIMEOUT),
]


@pytest.fixture
def run(tmp_path: Path) -> RecordedRun:
    """Return a run of one engine over twelve schemas."""
    return open_run(write_run(tmp_path, ROWS, HEAD))


def _table(run: RecordedRun, name: str) -> Table:
    return next(each for each in TASK.report(run).tables if each.slug == name)


def test_it_asks_for_nothing_but_compiling() -> None:
    """One case a subject, without walks, and with its features."""
    sample = Record(
        id="o1", group="x", schema='{"not": {}}', dialect="2020-12", features=("not",)
    )
    (case,) = TASK.cases([sample], TaskSettings())
    assert task_named("declared") is TASK
    assert (case.schema, case.walks) == (sample.schema, ())
    assert case.label["features"] == ["not"]
    assert case.label["formats"] == []


@pytest.mark.parametrize(
    ("schema", "formats"),
    [
        ('{"items": {"format": "uri"}, "format": "date"}', ["date", "uri"]),
        ('{"properties": {"format": {"type": "string"}}}', []),
        ('{"format": ', []),
        ('{"format": "date", "format": "uri"}', []),
    ],
)
def test_formats_are_told_by_their_values(schema: str, formats: list[str]) -> None:
    """In keyword position; a schema that cannot be read says none."""
    sample = Record(
        id="o1", group="x", schema=schema, dialect="2020-12", features=("format",)
    )
    (case,) = TASK.cases([sample], TaskSettings())
    assert case.label["formats"] == formats


def test_declared_is_what_compiles_of_everything(run: RecordedRun) -> None:
    """A time-out is no refusal, but it is not declared either."""
    table = _table(run, "declared-coverage")
    assert table.columns[1:] == (
        "declared",
        "with a warning",
        "compile error",
        "timeout",
    )
    assert table.rows == ((ENGINE, Rate(2, 12), Rate(1, 2), 9, 1),)
    configs = _table(run, "declared-coverage-by-config")
    assert [each[2] for each in configs.rows] == [Rate(1, 6), Rate(1, 6)]


def test_a_keyword_unlocks_what_nothing_else_blocks(run: RecordedRun) -> None:
    """`not` is alone in three refusals, but one of these has `if` too.

    `oneOf` blocks nothing by itself: a schema with it compiles. `if`, `then` and
    `else` are one keyword here.
    """
    found = {row[1]: row[2:] for row in _table(run, "declared-keywords").rows}
    assert found == {
        "not": (4, 3, 2, Rate(4, 12)),
        "if": (3, 2, 2, Rate(4, 12)),
        "oneOf": (1, 1, 1, Rate(3, 12)),
        "format": (1, 1, 1, Rate(3, 12)),
    }


def test_what_no_pattern_matches_is_counted(run: RecordedRun) -> None:
    """As unmapped, with an example."""
    reasons = {row[1]: row[2:] for row in _table(run, "reasons-of-refusals").rows}
    assert reasons == {
        "keyword": (Rate(8, 9), 'Unimplemented keys: ["not"]'),
        "unmapped": (Rate(1, 9), "no idea"),
    }


def test_a_schema_that_compiles_passes() -> None:
    """For comparisons: there is nothing to walk."""
    assert TASK.passes is not None
    assert [TASK.passes(each) for each in (ROWS[0], ROWS[2])] == [True, False]


def test_the_report_reads_as_it_did(
    run: RecordedRun, compare_golden: Callable[[Path, str], None]
) -> None:
    """All tables, as Markdown."""
    text = "\n".join(as_markdown(each) for each in TASK.report(run).tables)
    compare_golden(GOLDEN / "declared.md", text)


def test_a_miniature_that_refuses_all_declares_nothing(tmp_path: Path) -> None:
    """Through workers and rows: its one message is nobody's, so unmapped."""
    samples = [measuring.sample("a"), measuring.sample("b")]
    engines = [measuring.miniature(each) for each in ("accept_all", "refuse_all")]
    request = measuring.request_of(tmp_path, samples, tasks=("declared",))
    _, run = measuring.measured(tmp_path, engines, request)
    assert [row[1] for row in _table(run, "declared-coverage").rows] == [
        Rate(2, 2),
        Rate(0, 2),
    ]
    (reason,) = _table(run, "reasons-of-refusals").rows
    assert reason[1:3] == ("unmapped", Rate(2, 2))


def test_an_engine_of_ones_own_has_the_table_of_keywords(tmp_path: Path) -> None:
    """What its `ABOUT` says of its messages decides, and stays with the run."""
    text = Path(measuring.miniature("refuse_all")).read_text("utf-8")
    refusals = [{"pattern": 'nothing: {"(?P<keyword>[a-z]+)"', "kind": "limit"}]
    path = tmp_path / "mine.py"
    path.write_text(text.replace('"summary"', f'"refusals": {refusals}, "summary"', 1))
    request = measuring.request_of(
        tmp_path, [measuring.sample("a")], tasks=("declared",)
    )
    _, run = measuring.measured(tmp_path, [str(path)], request)
    path.unlink()
    (reason,) = _table(run, "reasons-of-refusals").rows
    assert reason[1:3] == ("limit", Rate(1, 1))
    (unlocks,) = _table(run, "declared-keywords").rows
    assert unlocks[1:5] == ("title", 1, 1, 1)
