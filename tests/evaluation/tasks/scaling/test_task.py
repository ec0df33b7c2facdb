"""Task `scaling`: families whose texts are what they say, curves, what is cut off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from matplotlib.figure import Figure

from curation.system.errors import BadConfiguration
from evaluation.core.cases import InstanceResult, Result, WalkVerdict
from evaluation.core.run_header import TaskSettings
from evaluation.reporting.printing import as_markdown
from evaluation.reporting.tables import Duration
from evaluation.results.reader import open_run
from evaluation.tasks.registry import task_named
from evaluation.tasks.scaling.families import families
from evaluation.walking.engine_worker import Bounds
from tests.evaluation.made_runs import row, write_run
from tests.evaluation.measuring import measured, miniature, request_of

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.cases import Row
    from evaluation.reporting.report import Report
    from evaluation.reporting.tables import Table

TASK = task_named("scaling")
HEAD = {"limits": {"compile_seconds": 40.0, "run_seconds": 20.0}}


@pytest.mark.parametrize("name", families())
def test_every_text_is_what_it_says(name: str) -> None:
    """The witness is valid, the near miss is not, at every size; sizes grow."""
    family = families()[name]
    assert list(family.sizes) == sorted(set(family.sizes))
    # The validator reads no deeper than 255 levels.
    for size in family.sizes[: 7 if name == "depth" else None]:
        sized = family.sized_schema(size)
        validator = jsonschema_rs.validator_for(json.loads(sized.schema))
        assert validator.is_valid(json.loads(sized.valid))
        if sized.invalid is not None:
            assert not validator.is_valid(json.loads(sized.invalid))
        assert len(sized.valid) < 5_000


def test_only_what_grows_differs() -> None:
    """Schemas of a family have a length that grows with n and nothing else."""
    for family in families().values():
        lengths = [len(family.sized_schema(size).schema) for size in family.sizes]
        assert lengths == sorted(lengths)


def _cases(**values: Any) -> list[str]:  # noqa: ANN401 (whatever a person writes)
    return [each.id for each in TASK.cases((), TaskSettings(values=values))]


def test_settings_choose_families_sizes_and_repetitions() -> None:
    """Small sizes come first, a repetition is a case of its own."""
    assert _cases(families=["enum"], largest=16, repeats=2) == [
        "enum-000001-1",
        "enum-000004-1",
        "enum-000016-1",
        "enum-000001-2",
        "enum-000004-2",
        "enum-000016-2",
    ]
    every = _cases()
    assert len(every) == len(set(every)) == 3 * len(_cases(repeats=1))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"families": ["enumm"]}, "no 'enumm': known: depth, enum"),
        ({"families": "enum"}, "not a list"),
        ({"repeats": 0}, "repeats=N takes a number from 1, not 0"),
        ({"largest": "many"}, "not 'many'"),
    ],
)
def test_settings_that_make_no_sense_are_said(
    values: dict[str, object], said: str
) -> None:
    """A wrong setting is named, with what there is."""
    with pytest.raises(BadConfiguration, match=said):
        _cases(**values)


def _row(size: int, repetition: int = 1, **given: Any) -> Row:  # noqa: ANN401 (fields)
    walk = InstanceResult(
        verdict=WalkVerdict.ACCEPTED,
        valid=True,
        tokens=3,
        mask_ns=(9_000, 2_000 * size, 4_000 * size),
        commit_ns=(1, 1, 1),
    )
    default = {
        "task": "scaling",
        "id": f"enum-{size:06}-{repetition}",
        "config": "enum",
        "label": {"family": "enum", "size": size, "repetition": repetition},
        "compile_ns": 1_000_000 * size * size,
        "walks": (walk,),
    }
    return row(**(default | given))


def _late(size: int, phase: str) -> Row:
    return _row(size, result=Result.TIMEOUT, phase=phase, compile_ns=None, walks=())


def _report(folder: Path, rows: list[Row]) -> Report:
    return TASK.report(open_run(write_run(folder, rows, HEAD)))


def _table(report: Report, name: str) -> Table:
    return next(each for each in report.tables if each.slug == name)


def test_curves_and_exponents_are_told(tmp_path: Path) -> None:
    """The exponent is that of the least of the repetitions, size by size."""
    rows = [_row(2**power) for power in range(7)]
    disturbed = [
        _row(2**power, 2, compile_ns=10**11, walks=()) for power in range(0, 7, 2)
    ]
    report = _report(tmp_path, rows + disturbed)
    (line,) = _table(report, "scaling-exponents").rows
    texts = [str(cell) for cell in line[1:4]]
    assert texts == ["enum", "2.00 [2.00, 2.00]", "1.00 [1.00, 1.00]"]
    curve = _table(report, "scaling-curves").rows[2]
    assert curve[2:7] == (
        4,
        Duration(16_000_000),
        Duration(70_000),
        Duration(12_000),
        Duration(16_000),
    )


def test_what_the_deadline_cut_off_is_censored(tmp_path: Path) -> None:
    """It is shown as at least the deadline of its phase, and is in no fit."""
    rows = [*(_row(2**power) for power in range(4)), _late(16, "compile")]
    rows.append(_late(32, "walk"))
    report = _report(tmp_path, rows)
    found = {each[2]: each for each in _table(report, "scaling-curves").rows}
    assert found[16][3] == Duration(40e9, at_least=True)
    assert found[16][-1] == "deadline (compile)"
    assert found[32][5] == Duration(20e9, at_least=True)
    (line,) = _table(report, "scaling-exponents").rows
    assert str(line[2]) == "2.00 [2.00, 2.00]"
    assert line[4:] == (8, 16, "deadline (compile)")
    assert "≥ 40.0 s" in as_markdown(_table(report, "scaling-curves"))


def test_an_engine_that_ignores_what_grows_is_told(tmp_path: Path) -> None:
    """A near miss that is accepted ends the sizes up to which all was right."""
    accepted = InstanceResult(
        verdict=WalkVerdict.ACCEPTED, valid=False, tokens=1, mask_ns=(1,)
    )
    wrong = _row(2, walks=(*_row(2).walks, accepted))
    report = _report(tmp_path, [_row(1), wrong, _row(4)])
    (line,) = _table(report, "scaling-exponents").rows
    assert line[4:] == (1, 2, "under constrained")


def test_plots_draw_points_and_what_was_cut_off(tmp_path: Path) -> None:
    """Every family has a plot of both costs, even if an engine never came through."""
    rows = [*(_row(2**power) for power in range(4)), _late(16, "compile")]
    rows.append(_row(1, engine="beta", result=Result.TIMEOUT, phase="compile"))
    report = _report(tmp_path, rows)
    assert [each.name for each in report.plots] == [
        "scaling-enum-compile",
        "scaling-enum-mean-mask",
    ]
    figure = Figure()
    report.plots[0].draw(figure)
    (axes,) = figure.axes
    marks = {line.get_marker(): len(line.get_xdata()) for line in axes.lines}  # type: ignore[arg-type] # arrays
    assert marks["^"] == 1
    assert axes.get_xlabel() == "values of an enum"


def test_a_run_of_a_real_worker_is_reported(tmp_path: Path) -> None:
    """Units go through a worker like any other, and come back as curves."""
    values: dict[str, Json] = {"families": ["enum"], "largest": 16, "repeats": 1}
    request = request_of(
        tmp_path, (), tasks=("scaling",), settings=TaskSettings(values=values)
    )
    totals, run = measured(tmp_path, [miniature("accept_all")], request)
    assert totals.ran == 3
    lines = _table(TASK.report(run), "scaling-curves").rows
    assert [line[2] for line in lines] == [1, 4, 16]
    assert all(isinstance(line[3], Duration) for line in lines)
    assert {line[-1] for line in lines} == {"under constrained"}


SLOW_ENGINE = """
import pathlib, time

class Engine:
    version = "1"
    def compile(self, schema):
        with open({log!r}, "a") as file:
            file.write(str(len(schema)) + "\\n")
        if len(schema) > 100:
            time.sleep(60)
        raise ValueError("no")

def load(tokenizer, options):
    return Engine()
"""


@pytest.mark.slow
def test_what_ended_at_its_deadline_is_not_repeated_for_ever(tmp_path: Path) -> None:
    """Later repetitions get the row of an earlier one; every case has its row."""
    log = tmp_path / "asked"
    engine = tmp_path / "slow.py"
    engine.write_text(SLOW_ENGINE.format(log=str(log)))
    values: dict[str, Json] = {"families": ["enum"], "largest": 16, "repeats": 20}
    request = request_of(
        tmp_path,
        (),
        tasks=("scaling",),
        settings=TaskSettings(values=values),
        bounds=Bounds(compile_seconds=0.2, run_seconds=0.2, memory_mb=192),
    )
    totals, run = measured(tmp_path, [str(engine)], request)
    late = [each for each in run.rows() if each.result is Result.TIMEOUT]
    assert totals.ran == 60
    assert len(late) == 20
    assert len({each.fingerprint for each in late}) == 20
    assert {each.label["repetition"] for each in late} == set(range(1, 21))
    asked = [int(line) for line in log.read_text().split()]
    assert sum(length > 100 for length in asked) < len(late)


def test_a_family_that_is_no_name_is_refused() -> None:
    """A list in the list of families, too."""
    settings = TaskSettings(values={"families": [["a"]]})
    with pytest.raises(BadConfiguration, match=r"no \['a'\]"):
        next(iter(TASK.cases((), settings)))


def test_a_family_that_is_named_twice_is_asked_once() -> None:
    """Two cases of one name would be two rows of it."""
    values: dict[str, Json] = {"families": ["enum", "enum"], "largest": 4, "repeats": 1}
    ids = [case.id for case in TASK.cases((), TaskSettings(values=values))]
    assert ids == ["enum-000001-1", "enum-000004-1"]
