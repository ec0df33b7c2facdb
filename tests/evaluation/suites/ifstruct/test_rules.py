"""The rules: golden vectors, two readings, and texts that must do no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evaluation.suites.ifstruct.scorer import parse_layout
from tests.evaluation.suites.ifstruct.rows import JSON, READINGS, list_failures
from tests.tables import table

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.rows import IfstructRecord

YAML = replace(JSON, output_format="yaml")
BAN = replace(JSON, require_no_commentary=True)
NUMBERS = {"items": {"properties": {"n": {"type": "number", "maximum": 2}}}}
_WANTED = {
    "JSON": JSON,
    "YAML": YAML,
    "BAN": BAN,
    "BOXED": replace(JSON, top_level_key="box", require_wrapper_key=True),
    "NUMBER": replace(JSON, json_schema=NUMBERS),
    "YAML_NUMBER": replace(YAML, json_schema=NUMBERS),
    "PAIR": replace(YAML, top_level_count=2, json_schema=NUMBERS),
}


def test_an_answer_has_the_failures_of_its_row(subtests: pytest.Subtests) -> None:
    """By both readings."""
    for row in table(__file__, "rules"):
        with subtests.test(row["claim"], text=row["text"]):
            wanted = _WANTED[row["wanted"]]
            if "fence" in row:
                wanted = replace(wanted, fence=row["fence"])
            for reading in READINGS:
                assert list_failures(row["text"], wanted, reading) == row[reading]


_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner, min_size=1),
    max_leaves=8,
)


@settings(max_examples=20)
@given(st.lists(_VALUES, min_size=1, max_size=3))
def test_yaml_is_read_as_the_safe_loader_does(value: object) -> None:
    """What PyYAML writes is read back as its own safe loader reads it."""
    text = yaml.safe_dump(value, default_flow_style=False, allow_unicode=True)
    open_list = replace(YAML, json_schema={}, top_level_count=(1, 3))
    failures = list_failures(text, open_list, "published")
    # An empty list is written in brackets, and `[]` as the whole is none of these.
    assert set(failures) <= {"wrong_format"} if "{}" in text else failures == []


def test_the_first_block_counts() -> None:
    """The first fence opens a block and the next one closes it.

    Without one, text is around the outer brackets of JSON.
    """
    layout = parse_layout("a\n```Json x\n1\n```py\n2\n```\nb", "json")
    assert layout == ("1", "a", "b", "json", 3)
    assert parse_layout("a ``` [b] c", "json") == ("a ``` [b] c", "a ```", "c", "", 0)
    assert parse_layout("a ``` [b] c", "yaml") == ("a ``` [b] c", "", "", "", 0)


def test_hostile_answers_have_a_class(subtests: pytest.Subtests) -> None:
    """Nothing is executed, nothing grows without bound, and each has its class."""
    for head, piece, times, tail, wanted, failure in table(__file__, "hostile"):
        with subtests.test(ascii(head[:40] + piece), times=times, wanted=wanted):
            text = head + piece * times + tail * times
            found = list_failures(text, _WANTED[wanted], "recommended")
            assert found[0] == failure


@pytest.mark.parametrize(("piece", "times"), table(__file__, "repeated"))
@pytest.mark.parametrize("wanted", [BAN, replace(YAML, require_no_commentary=True)])
@pytest.mark.slow
def test_nothing_hangs(piece: str, times: int, wanted: IfstructRecord) -> None:
    """The longest answers of one repeated piece are read to their end, and fail."""
    for reading in READINGS:
        assert list_failures(piece * times, wanted, reading)
