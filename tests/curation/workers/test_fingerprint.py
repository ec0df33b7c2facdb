"""The fingerprint: equal exactly where everything that decides a result is equal."""

from __future__ import annotations

import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import curation
from curation.workers.fingerprint import code_digest, code_files, fingerprint, versions

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


def test_the_code_has_a_digest_that_is_cheap() -> None:
    """All of our own code enters it, in well under the time of a build."""
    code_digest.cache_clear()
    started = time.perf_counter()
    digest = code_digest()
    assert len(digest) == 64
    assert time.perf_counter() - started < 5.0


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
