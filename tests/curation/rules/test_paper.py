"""The rules of set `paper`: filters, repairs, and the root."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Document
from curation.json.pointer import at, parse_tokens
from curation.rules.paper import (
    constrains,
    entries,
    pattern_text,
    wrap,
)
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


DRAFT_04 = "http://json-schema.org/draft-04/schema#"


def mended(pattern: str) -> str:
    """Return what the rule makes of one pattern."""
    left = pattern_text.apply(document({"pattern": pattern}), CONTEXT)
    assert isinstance(left, Document)
    return str(left.schema["pattern"])


@given(st.text(alphabet="[]{}0,29\\a^-", max_size=12))
def test_mending_a_pattern_twice_changes_nothing_more(pattern: str) -> None:
    """A mended pattern is in order, wherever its brackets then balance."""
    once = mended(pattern)
    bare = re.sub(r"\\.", "", once, flags=re.DOTALL)
    if bare.count("[") == bare.count("]"):
        assert mended(once) == once


LIBRARIES = st.dictionaries(
    st.sampled_from(["a", "b/c", "d~e", "definitions", "type", "properties"]),
    st.recursive(
        st.sampled_from(["object", "string", 7, None, {"minimum": 1}]),
        lambda inner: st.dictionaries(
            st.sampled_from(["a", "definitions", "title", "x/y", "~1", "enum"]), inner
        ),
        max_leaves=12,
    ),
)


@given(LIBRARIES)
def test_every_entry_stands_where_its_pointer_says(
    root: dict[str, UntypedJson],
) -> None:
    """Entries are objects of the root, none inside another, in file order."""
    found = list(entries(root))
    assert all(isinstance(at(root, tokens), dict) for tokens in found)
    assert not any(
        one != other and other[: len(one)] == one for one in found for other in found
    )


@given(LIBRARIES)
def test_a_wrap_makes_a_root_that_constrains(root: dict[str, UntypedJson]) -> None:
    """A document is wrapped once: then its root asks something, and all resolves."""
    made = document({"$schema": DRAFT_04, **root})
    left = wrap.apply(made, CONTEXT)
    assert isinstance(left, Document)
    if left is made:
        return
    assert constrains(left.schema)
    assert wrap.apply(left, CONTEXT) is left
    for each in left.schema["properties"].values():
        assert isinstance(at(made.schema, parse_tokens(each["$ref"][1:])), dict)
