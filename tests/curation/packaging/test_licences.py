"""Licences by their SPDX identifiers, and the texts that go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import load_pins
from curation.packaging.licences import (
    OWN,
    identifiers,
    shipped_text,
    text_name,
    write_texts,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", ["MIT"]),
        ("NOASSERTION", []),
        ("(MIT OR Apache-2.0) AND NOASSERTION", ["MIT", "Apache-2.0"]),
        (
            "GPL-2.0-only WITH Classpath-exception-2.0",
            ["GPL-2.0-only", "Classpath-exception-2.0"],
        ),
        ("", []),
    ],
)
def test_an_expression_names_its_licences(expression: str, expected: list[str]) -> None:
    """Operators, brackets and SPDX's word for "nobody says" are no licences."""
    assert identifiers(expression) == expected


def test_every_pinned_licence_has_its_text() -> None:
    """A new source whose licence has no text here is noticed."""
    pins = load_pins().values()
    named = {
        one
        for pin in pins
        for expression in (pin.licence, pin.file_licence)
        for one in identifiers(expression)
    }
    assert named
    assert [each for each in {*named, OWN} if shipped_text(each) is None] == []


@pytest.mark.parametrize("name", ["../README.md", "..", "", "/etc/passwd", "MIT.txt"])
def test_a_name_that_is_no_licence_leads_nowhere(tmp_path: Path, name: str) -> None:
    """A row's licence is foreign text: it never becomes a path."""
    assert shipped_text(name) is None
    assert text_name(name) is None
    assert write_texts([name], tmp_path) == []
    assert list((tmp_path / "LICENSES").iterdir()) == []
