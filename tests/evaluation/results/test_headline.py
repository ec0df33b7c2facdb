"""The headline is fair: what counts, of which schemas, and what stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from bench.edition.figures import headline_differences
from evaluation.reporting.tables import Duration, MissingFigure, to_text
from evaluation.results.edition import COLUMNS, is_cut
from evaluation.results.headline import (
    ALL,
    headline,
    outcomes_table,
    shared_schemas,
    times_table,
)
from tests.evaluation.site.made_editions import line
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluation.results.edition import Line

_SCHEMA = {name: kind for name, (kind, _) in COLUMNS.items()}


def _frame(lines: Sequence[Line]) -> pl.DataFrame:
    return pl.DataFrame(list(lines), schema=_SCHEMA)


def _of(lines: Sequence[Line], engine: str = "a") -> dict[str, Any]:
    return headline(_frame(lines)).filter(config=ALL, engine=engine).to_dicts()[0]


@pytest.mark.parametrize(("outcome", "columns", "counted"), table(__file__, "counted"))
def test_an_outcome_counts_where_the_rule_says(
    outcome: str, columns: dict[str, Any], counted: list[str]
) -> None:
    """Each schema is in one column of outcomes, and in what it would be without."""
    found = _of([line("a", "o1", outcome, **columns)])
    names = {
        *("passed", "without_limits", "without_formats", "refused", "warned"),
        *("accepts_invalid", "blocks_valid", "limited", "failed"),
    }
    assert {name for name in names if found[name]} == {*counted}
    assert found["tested"] == (columns.get("passed", 0) is not None)


@pytest.mark.parametrize(
    ("outcome", "compiled", "cut"),
    [("timeout", False, True), ("timeout", True, False), ("crash", False, False)],
)
def test_a_deadline_cuts_off_only_what_was_compiling(
    outcome: str, *, compiled: bool, cut: bool
) -> None:
    """A mask that comes late is no long compile call."""
    assert is_cut(line("a", "o1", outcome, compiled=compiled)) is cut


def test_warnings_that_were_not_recorded_are_not_measured() -> None:
    """A gap is silent only if it is known that the engine said nothing."""
    lines = headline(_frame([line("a", "o1", "under_constrained")]))
    table = outcomes_table(lines.filter(config=ALL), "")
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert cells["warned"] == MissingFigure("not measured")


def test_only_records_that_every_engine_was_asked_count() -> None:
    """An engine that was asked more is no better for it."""
    lines = [line("a", "o1"), line("a", "o2"), line("b", "o2")]
    assert _of(lines)["asked"] == 1


def _compiling(engine: str, count: int) -> list[Line]:
    """Return lines of 20 schemas of which an engine compiles the first ones."""
    return [
        line(engine, f"o{n}")
        if n < count
        else line(engine, f"o{n}", "compile_error", first_mask_ns=None)
        for n in range(20)
    ]


@pytest.mark.parametrize(
    ("compiled", "shared", "apart"),
    [
        ({"a": 20, "b": 16, "c": 12}, 12, []),
        ({"a": 20, "b": 16, "c": 8}, 8, []),
        ({"a": 20, "b": 16, "c": 7}, 16, ["c"]),
        ({"a": 20, "b": 7, "c": 3}, 20, ["c", "b"]),
        ({"a": 20}, 20, []),
        ({"a": 0, "b": 0}, 0, []),
    ],
)
def test_times_are_of_the_schemas_that_all_shown_compile(
    compiled: dict[str, int], shared: int, apart: list[str]
) -> None:
    """An engine with less than half of what the others share is apart."""
    lines = [it for name, count in compiled.items() for it in _compiling(name, count)]
    masks = _frame(lines).with_columns(key=pl.col("id"))
    keys, found = shared_schemas(masks)
    assert (len(keys), found) == (shared, apart)


def test_easy_schemas_and_time_outs_are_in_no_median() -> None:
    """Who compiles only what is quick looks no faster; no limit is a time."""
    slow = {"compile_ns": 10_000_000_000, "first_mask_ns": None, "between_ns": None}
    lines = [
        *(line("a", name, compile_ns=1_000) for name in ("easy", "same")),
        line("a", "hard", compile_ns=9_000),
        line("a", "cut", compile_ns=5_000),
        *(
            line("b", name, compile_ns=2_000, first_mask_ns=500)
            for name in ("easy", "same")
        ),
        line("b", "hard", "compile_error", first_mask_ns=None),
        line("b", "cut", "timeout", compiled=False, **slow),
    ]
    a, b = _of(lines), _of(lines, "b")
    assert (a["schemas"], a["compile_median"], a["limited"]) == (2, 1_000, 0)
    assert (b["schemas"], b["compile_median"], b["limited"]) == (2, 2_000, 1)
    assert (b["first_median"], b["mask_mean"], b["compile_p99"]) == (2_500, 9_000, None)


def test_masks_are_weighted_in_their_mean_alone() -> None:
    """A schema of many masks counts for them in the mean, once in the median."""
    lines = [
        line("a", "o1", between_ns=10, tokens=1),
        line("a", "o2", between_ns=20, tokens=1),
        line("a", "o3", "timeout", between_ns=100, tokens=8, compiled=True),
    ]
    found = _of(lines)
    assert (found["mask_median"], found["mask_mean"]) == (20, 83)
    assert found["cut_off"] == 1


def test_engines_apart_come_last_and_are_named() -> None:
    """Their own times are of what they compile; the title counts what all do."""
    lines = [*_compiling("a", 20), *_compiling("b", 16), *_compiling("c", 4)]
    lines[40:44] = [line("c", f"o{n}", compile_ns=7) for n in range(4)]
    table = times_table(headline(_frame(lines)).filter(config=ALL))
    assert table.title == "Times, of the 16 schemas that all compile"
    assert table.columns[:4] == ("time", "engine", "schemas", "median")
    assert [row[:4] for row in table.rows if row[0] == "compile"] == [
        ("compile", "a", 16, Duration(1_000_000)),
        ("compile", "b", 16, Duration(1_000_000)),
        ("compile", "c", 4, Duration(7)),
    ]
    assert "half of what the others share: c." in table.note


def test_a_config_has_its_own_lines() -> None:
    """All configs first; a config in which nothing was timed has no times."""
    lines = [
        line("a", "o1", config="Kubernetes"),
        line("a", "o2", "compile_error", first_mask_ns=None, config="Github_hard"),
    ]
    found = headline(_frame(lines))
    assert found["config"].to_list() == [ALL, "Github_hard", "Kubernetes"]
    assert found["schemas"].to_list() == [1, None, 1]
    configs = [to_text(row[1]) for row in times_table(found).rows]
    assert configs == [*"-", "Github_hard", "Kubernetes"] * 3


@pytest.mark.parametrize("name", ["passed", "without_limits", "first_p99", "apart"])
def test_the_second_script_notices_another_figure(name: str, tmp_path: Path) -> None:
    """It computes the file from the rule: one changed cell is named."""
    rows = _frame([line("a", f"o{n}", compile_ns=n) for n in range(100)])
    path = tmp_path / "headline.csv"
    headline(rows).write_csv(path)
    assert headline_differences(tmp_path, rows.to_dicts()) == []
    table = pl.read_csv(path, infer_schema=False)
    first = pl.int_range(pl.len()) == 0
    other = pl.lit("true" if name == "apart" else "1")
    table.with_columns(
        pl.when(first).then(other).otherwise(name).alias(name)
    ).write_csv(path)
    (found,) = headline_differences(tmp_path, rows.to_dicts())
    assert name in found
