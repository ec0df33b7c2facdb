"""Documents to which references between a user's own files lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.sources.neighbours import base_uri_of, neighbour_library, neighbours_of

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
