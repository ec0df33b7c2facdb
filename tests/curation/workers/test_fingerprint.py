"""The fingerprint: equal exactly where everything that decides a result is equal."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import curation
from curation.workers.fingerprint import (
    code_digest,
    code_files,
    digest_of_files,
    fingerprint,
    versions,
)

CONTENTS = st.dictionaries(
    st.sampled_from("abc"), st.integers() | st.text(), max_size=3
)


@given(CONTENTS, CONTENTS)
def test_fingerprints_are_equal_exactly_where_their_parts_are(
    one: dict[str, object], other: dict[str, object]
) -> None:
    """Nothing that decides a result can change without the fingerprint."""
    assert (fingerprint(**one) == fingerprint(**other)) is (one == other)


def test_the_fingerprint_does_not_depend_on_order() -> None:
    """Parts are named; the order in which they are given says nothing."""
    assert fingerprint(a=1, b=[2]) == fingerprint(b=[2], a=1)


def test_another_byte_of_the_code_is_another_digest(tmp_path: Path) -> None:
    """Content, name and number of the files count; where they lie does not."""
    files = [(root, path) for root, path in code_files()][::20]
    copies = [_copied(files, tmp_path / name) for name in ("one", "two")]
    one = digest_of_files(copies[0])
    assert digest_of_files(files) == one == digest_of_files(copies[1])
    for root, path in copies[1]:
        before = path.read_bytes()
        path.write_bytes(before + b"#")
        assert digest_of_files(copies[1]) != one
        path.write_bytes(before)
        other = path.with_name("renamed")
        path.rename(other)
        renamed = [(root, other if found == path else found) for _, found in copies[1]]
        assert digest_of_files(renamed) != one
        other.rename(path)
    assert digest_of_files(copies[1][1:]) != one


def test_the_digest_of_the_code_is_that_of_its_files() -> None:
    """Nothing less enters than what `code_files` lists."""
    assert code_digest() == digest_of_files(code_files())


def _copied(files: list[tuple[Path, Path]], folder: Path) -> list[tuple[Path, Path]]:
    found = []
    for root, path in files:
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        found.append((folder, copy))
    return found


def test_the_code_is_every_module_of_ours() -> None:
    """A change anywhere in the package, or in what ships with it, is another code."""
    files = {path for _, path in code_files()}
    package = Path(curation.__file__).parent
    assert set(package.rglob("*.py")) <= files
    assert {"sources.toml", "README.md.j2"} <= {path.name for path in files}
    assert not any(
        "sample" in path.relative_to(root).parts for root, path in code_files()
    )


def test_the_versions_name_what_decides() -> None:
    """Both validators and Python itself are among them."""
    assert {"python", "jsonschema", "jsonschema-rs", "orjson"} <= versions().keys()
