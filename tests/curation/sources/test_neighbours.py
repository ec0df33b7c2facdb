"""Documents to which references between a user's own files lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.sources.neighbours import (
    NeighbourLibrary,
    base_uri_of,
    neighbour_library,
    neighbours_of,
)

if TYPE_CHECKING:
    from pathlib import Path

OWN = "https://example.com/s/a.json"


@pytest.mark.parametrize(
    ("uri", "leads_to"),
    [
        (base_uri_of("b.yaml"), {"type": "integer"}),
        (base_uri_of("sub/c d.yml"), {"type": "integer"}),
        (base_uri_of("d.json"), {"type": "null"}),
        (base_uri_of("../out.json"), None),
        (base_uri_of("broken.yaml"), None),
        (base_uri_of("gone.json"), None),
        (OWN, {"$id": OWN}),
        ("http://example.com/s/a.json", {"$id": OWN}),
        ("https://example.com/s/b.yaml", {"type": "integer"}),
        ("http://example.com/s/d.json", {"type": "null"}),
        ("https://example.com/s/gone.json", None),
        ("https://example.com/d.json", None),
    ],
)
def test_a_reference_leads_to_the_files_of_a_folder(
    tmp_path: Path, uri: str, leads_to: object
) -> None:
    """JSON and YAML, by the place or the `$id`, by http as by https; none outside."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "out.json").write_text("{}")
    own = f'{{"$id": "{OWN}"}}'
    for name, text in {
        "a.json": own,
        "b.yaml": "type: integer",
        "sub/c d.yml": "type: integer",
        "d.json": '{"type": "null"}',
        "broken.yaml": "a: [1",
    }.items():
        (root / name).write_text(text)
    library = neighbour_library(neighbours_of(root, {"a.json": own.encode()}))
    assert library.get(uri) == leads_to


def test_a_missing_file_is_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many files beside it claim a URI in the same place."""
    claims = {
        f"https://example.com/s/{number}.json": f"{number}.json" for number in range(50)
    }
    library = NeighbourLibrary(tmp_path, claims)
    asked: list[str] = []
    monkeypatch.setattr(library, "_document", asked.append)
    for uri in ("https://example.com/s/gone.json", "http://example.com/s/gone.json"):
        assert library.get(uri) is None
    assert asked == ["gone.json"] * 2


def test_a_link_to_itself_is_no_document(tmp_path: Path) -> None:
    """Nor the end of the check in which a reference leads to it."""
    (tmp_path / "loop.json").symlink_to("loop.json")
    assert NeighbourLibrary(tmp_path, {}).get(base_uri_of("loop.json")) is None
