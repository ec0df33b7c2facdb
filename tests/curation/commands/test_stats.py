"""`csbdata stats`: tables of an edition, sample rows aside, raw files where known."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.stats import stats
from curation.core.benchmark import CONFIGS
from curation.dataset.features import features, formats
from curation.dataset.ledger import write_ledger
from curation.dataset.paper_tables import raw_figures
from curation.schema.dialects import DRAFT_07
from curation.system.errors import BadUsage, NoInput
from tests.builds import write_build
from tests.made import entry, record
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.records import BenchmarkRecord

APP = typer.Typer()
APP.command()(stats)
SMALL = '{"$schema": "http://json-schema.org/draft-07/schema#", "minLength": 1}'
LARGE = '{"properties": {"a": {"format": "uri", "enum": ["x"]}}, "required": ["a"]}'


def _of(unique_id: str, schema: str, **given: str) -> BenchmarkRecord:
    """Return a record of a schema, with the features and formats that it has."""
    parsed = json.loads(schema)
    return record(
        unique_id,
        json_schema=schema,
        features=features(parsed, DRAFT_07),
        formats=formats(parsed, DRAFT_07),
        **given,
    )


ROWS = [
    ("Github_easy", _of("o1", SMALL)),
    ("Github_easy", _of("o2", LARGE)),
    ("Github_easy", _of("o3", LARGE)),
    ("mine", _of("m1", LARGE, origin="local")),
    ("Kubernetes", _of("k1", SMALL, origin="sample")),
]


def run(*arguments: str) -> str:
    """Run the command; return its stdout."""
    result = CliRunner().invoke(APP, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def as_json(folder: Path) -> Any:  # noqa: ANN401 - a JSON value
    """Return the tables of a folder."""
    return json.loads(run(str(folder), "--format", "json"))


def test_the_tables_of_a_build(tmp_path: Path) -> None:
    """Counts, measures, drafts and features come from the records' texts."""
    found = as_json(write_build(tmp_path, ROWS, []))
    assert found["table_1"] == {"Github_easy": 3, "mine": 1}
    assert found["table_8_of"] == "records"
    assert found["table_8"]["Github_easy"]["field_count"]["median"] == 5
    assert found["table_9"]["Github_easy"]["draft-07"] == 1
    assert found["table_9"]["Github_easy"]["unknown"] == 2
    assert found["figure_2"]["features"]["@minmaxLength"] == 1
    assert found["figure_2"]["formats"] == {"uri": 3}


def test_sample_rows_are_left_out_where_there_are_others(tmp_path: Path) -> None:
    """A partial build's figures are about real records; a sample's about its own."""
    (tmp_path / "mixed").mkdir()
    (tmp_path / "sample").mkdir()
    assert (
        "Kubernetes"
        not in as_json(write_build(tmp_path / "mixed", ROWS, []))["table_1"]
    )
    sample = as_json(write_build(tmp_path / "sample", ROWS[-1:], []))
    assert sample["table_1"] == {"Kubernetes": 1}


def test_totals_count_the_ten(tmp_path: Path) -> None:
    """What the user adds stands below the total, and is not in it."""
    lines = run(str(write_build(tmp_path, ROWS, []))).splitlines()
    table = lines[: next(i for i, line in enumerate(lines) if "Table 8" in line)]
    total, mine = (
        next(i for i, line in enumerate(table) if line.split()[:1] == [word])
        for word in ("total", "mine")
    )
    assert total < mine
    assert table[total].split() == ["total", "3"]


def test_raw_files_are_measured_where_the_ledger_knows_them(tmp_path: Path) -> None:
    """Table 8 is of the raw files then, and so is Table 9 for Kubernetes."""
    folder = write_build(tmp_path, [*ROWS[:2], ("Kubernetes", ROWS[4][1])], [])
    figures = asdict(raw_figures({"a": {"b": {"c": {}}}}))
    entries = [
        replace(entry(each, config), **figures)
        for config, each in (*ROWS[:2], ("Kubernetes", record("k1")))
    ]
    gone = replace(entries[-1], unique_id="k2", outcome="empty", split="")
    write_ledger([*entries, gone], folder)
    found = as_json(folder)
    assert found["table_8_of"] == "raw files"
    assert found["table_8"]["Github_easy"]["schema_depth"]["most"] == 4
    assert found["table_9"]["Kubernetes"]["unknown"] == 2


def test_hostile_formats_are_shown_harmlessly(tmp_path: Path) -> None:
    """A format is any text: no escape reaches the terminal, no name fills the page."""
    names = ["\x1b[31m", "\u202e", "x" * 10_000, "\u6f22\n$a_b$", "[bold]"]
    rows = [
        ("mine", _of(f"m{at}", json.dumps({"format": name})))
        for at, name in enumerate(names)
    ]
    folder = write_build(tmp_path, rows, [])
    out = run(str(folder))
    assert not any(character in out for character in "\x1b\u202e")
    assert "[bold]" in out
    assert max(map(len, out.splitlines())) < 200


def test_a_folder_without_schemas_is_a_fault(tmp_path: Path) -> None:
    """Exit code 66."""
    with pytest.raises(NoInput):
        run(str(tmp_path))


@pytest.mark.parametrize("width", first_fast(1, ["80", "200"]))
def test_an_edition_is_one_screen_that_names_every_other_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    """At most 40 lines; the rest comes by name, or all at once."""
    monkeypatch.setenv("COLUMNS", width)
    records = [record(config, json_schema=LARGE) for config in CONFIGS]
    folder = str(write_build(tmp_path, [*zip(CONFIGS, records, strict=True)], []))
    answer = CliRunner().invoke(APP, [folder])
    assert len(answer.output.splitlines()) <= 40
    *_, names = answer.stderr.splitlines()
    hidden = names.split(", ")
    assert "table-9" in hidden
    every = run(folder, "--all")
    for name in hidden:
        shown = run(folder, "--table", name)
        assert shown in every
        assert shown.splitlines()[0] not in answer.stdout
    with pytest.raises(BadUsage, match="no table 'x'"):
        run(folder, "--table", "x")
