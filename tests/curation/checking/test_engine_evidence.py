"""What an edition measured of engines is said of schemas like a user's."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.checking import engine_evidence
from curation.checking.engine_evidence import Head, Likes, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.core.json_types import UntypedJson

_FEATURES = [
    *("items", "minimum in items", "type array in root", "type integer in items"),
    *("pattern in root", *(f"x{number}" for number in range(9))),
]
_LIKES = [
    Likes([0, 1, 2, 3], {0: {"passed": 40, "compile_error": 16}}),
    Likes([0, 1, 2, 3, 4], {0: {"passed": 1}}),
    Likes([*range(14)], {0: {"crash": 100}}),
]


@pytest.fixture(autouse=True)
def _edition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    lines = [Head("2026.11", ["e 1.0"], _FEATURES), *_LIKES]
    (tmp_path / "2026.11").mkdir()
    file = tmp_path / "2026.11" / engine_evidence.ENGINES
    file.write_bytes(gzip.compress(b"\n".join(map(msgspec.json.encode, lines))))
    monkeypatch.setattr(engine_evidence, "results_folder", lambda: tmp_path)
    engine_evidence._table.cache_clear()
    yield
    engine_evidence._table.cache_clear()


_ITEM: UntypedJson = {"type": "integer", "minimum": 1}


@pytest.mark.parametrize(
    ("engine", "schema", "sentence"),
    [
        ("e 1.0", {"type": "array", "items": _ITEM}, "right on 41 of 57"),
        ("e 1.0", {"type": "array", "items": _ITEM}, "these places, rejected 16"),
        ("e 1.0", {"pattern": "a"}, "right on 1 of 101"),
        ("e 1.0", {"pattern": "a"}, "and many others, did not end 100"),
        ("e 1.0", {"maximum": 1}, "not measured on real schemas"),
        ("f 1.0", {"type": "array"}, "not measured on real schemas"),
    ],
)
def test_outcomes_are_of_schemas_like_it(
    engine: str, schema: UntypedJson, sentence: str
) -> None:
    """With all of its features and few others; else with many others."""
    assert sentence in evidence_of(schema, engine)
