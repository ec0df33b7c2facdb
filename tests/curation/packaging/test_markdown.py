"""Foreign text stays text, and code spans hold whatever they are given."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curation.packaging.markdown import code, escape_markdown, link, sentence


@given(st.text())
def test_text_holds_no_markup(value: str) -> None:
    """No bare bracket, backtick, pipe, angle, line end or control character is left."""
    escaped = escape_markdown(value)
    bare = re.sub(r"\\[\\`*_{}\[\]()#+!|~$]", "", escaped)
    assert not set(bare) & set("`*_[]()|<>\n\r\x1b")


@given(st.text(min_size=1))
@example("a`b``c")
def test_a_code_span_ends_where_it_shall(value: str) -> None:
    """The fence is longer than any run of backticks inside."""
    span = code(value)
    fence = re.match("`+", span)
    assert fence is not None
    inside = span[len(fence[0]) : -len(fence[0])]
    runs = {len(run) for run in re.findall("`+", inside)}
    assert len(fence[0]) not in runs
    assert "|" not in inside.replace("\\|", "")


@given(st.lists(st.sampled_from(["`", "a", " ", "|", "<b>", "\\", "*", "\n", "["])))
def test_of_a_sentence_only_code_spans_are_markup(parts: list[str]) -> None:
    """Every span is a single backtick, some text without one, and a backtick."""
    escaped = sentence("".join(parts))
    bare = re.sub(r"\\[\\`*_{}\[\]()#+!|~$]|`[^`]+`", "", escaped)
    assert not set(bare) & set("`*_[]()|<>\n")


def test_a_command_in_a_sentence_is_a_code_span() -> None:
    """What stands around it is text, whoever wrote it."""
    found = sentence("2 of 5_000; `csbdata fetch *` gets <b>")
    assert found == r"2 of 5\_000; `csbdata fetch *` gets &lt;b&gt;"


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "https://x> <b>", "http://plain.example", "", "a|b"],
)
def test_only_plain_addresses_become_links(address: str) -> None:
    """Whatever is no plain https address is left out."""
    assert link(address) == ""


def test_an_address_becomes_a_link() -> None:
    """A pin's home is a link that Markdown knows."""
    address = "https://github.com/owner/name"
    assert link(address) == f"<{address}>"
