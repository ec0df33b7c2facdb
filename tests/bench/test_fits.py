"""What targets take of an edition's records is measured once, and goes on if killed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import msgspec

from bench.data.fit import FitRecord
from bench.edition import fits as module
from curation.fit.profile import load_profile, profile_names
from curation.packaging.rewritten_fits import DIGITS
from evaluation.results.edition import SAMPLE
from evaluation.results.fits import FitRow

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _rows(record: FitRecord) -> list[FitRow]:
    row = FitRow(
        config="c",
        id=record.name.removeprefix("c/"),
        schema=record.sha256[:DIGITS],
        target="",
        taken="as it stands",
    )
    return [
        msgspec.structs.replace(row, target=name, profile=load_profile(name).digest)
        for name in profile_names()
    ]


def _line(name: str, rows: list[FitRow]) -> bytes:
    return msgspec.json.encode({"name": name, "rows": rows})


def test_what_was_kept_counts_for_the_same_schema_and_profiles_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other records are measured again, and the one whose line a kill has torn."""
    names = ("c/profile", "c/schema", "c/target", "c/kept", "c/torn")
    records = [FitRecord(name, "{}", "2020-12", "a" * 64, [], []) for name in names]
    rows = {record.name: _rows(record) for record in records}
    kept, build = tmp_path / "kept.jsonl", tmp_path / "build"
    old = [msgspec.structs.replace(row, profile="old") for row in rows["c/profile"]]
    other = [msgspec.structs.replace(row, schema="b") for row in rows["c/schema"]]
    lines = [
        _line("c/profile", old),
        _line("c/schema", other),
        _line("c/target", rows["c/target"][1:]),
        _line("c/kept", rows["c/kept"]),
        _line("c/of another build", rows["c/kept"]),
        _line("c/torn", rows["c/torn"])[:-9],
    ]
    kept.write_bytes(b"\n".join(lines))
    (tmp_path / SAMPLE).write_text("c/torn\n")
    asked: list[str] = []

    def measured(record: FitRecord) -> list[FitRow]:
        asked.append(record.name)
        return rows[record.name]

    monkeypatch.setattr(module, "read_records", lambda _build: records)
    monkeypatch.setattr(module, "rows_of", measured)
    monkeypatch.setattr(module, "ProcessPoolExecutor", ThreadPoolExecutor)
    found = module.measure(build, tmp_path, kept, 1)
    assert asked == ["c/torn", "c/profile", "c/schema", "c/target"]
    assert [row.id for row in found if row.sampled] == ["torn"] * len(rows["c/torn"])
    assert {row.id for row in found} == {name.removeprefix("c/") for name in names}
    assert {(row.schema, row.profile == "old") for row in found} == {
        ("a" * DIGITS, False)
    }
    assert module.measure(build, tmp_path, kept, 1) == found
    assert len(asked) == 4
