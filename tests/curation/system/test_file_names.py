"""Names of files that are named after data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.system.file_names import safe_name

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("xgrammar 0.2.8 faithful", "xgrammar+0.2.8+faithful"),
        ("llama_cpp 0.3.36 n=1", "llama_cpp+0.3.36+n=1"),
        ("gpt-4o", "gpt-4o"),
        ("2020-12 optional", "2020-12+optional"),
        ("$dynamicRef", "$dynamicRef"),
        ("a" * 100, "a" * 100),
    ],
)
def test_ordinary_names_stay_readable(name: str, kept: str) -> None:
    """Labels, models, drafts and keywords have no digest; blanks become `+`."""
    assert safe_name(name) == kept


#: Each would leave its folder, be no name, or be the name of another.
_FOREIGN = [
    *("", ".", "..", "../x", "../../x", "/x", "//x", "x/", "x\0", "x\n", "x", "-x"),
    *("\\x", "x=-1", "x=1", "x=[ ]?", "x=[ ]*", "x~", "a~b", "a-b~c8687a08aa5d"),
    *("a b", "a-b", "a+b", "a/b", "a\tb", " a b", "caf\u00e9", "cafe\u0301", "\u202e"),
    *("\ud800", "\udfff", "a" * 100, "a" * 101, "a" * 300, "a" * 299 + "b"),
]


def test_no_two_names_are_one_file(tmp_path: Path) -> None:
    """Each is a file of the folder itself, whatever the name, and no other's."""
    for name in _FOREIGN:
        (tmp_path / f"{safe_name(name)}.json").open("x").close()
    assert len([*tmp_path.iterdir()]) == len(set(_FOREIGN)) == len(_FOREIGN)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".", "-"))]
