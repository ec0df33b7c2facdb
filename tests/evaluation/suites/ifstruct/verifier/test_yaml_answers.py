"""YAML is read as the safe loader of PyYAML reads it."""

from __future__ import annotations

from dataclasses import replace

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.suites.ifstruct.settings import Failure, RuleReading
from tests.evaluation.suites.ifstruct.verifier.judged import (
    ITEM,
    YAML,
    failures_of,
    judge,
)


def test_merge_keys_are_those_of_pyyaml() -> None:
    """`<<` takes the members of another mapping over, as the safe loader does."""
    text = "- &a\n  id: 1\n- <<: *a\n  t: x"
    wanted = replace(YAML, least=2, most=2, schema={"items": ITEM})
    assert judge(text, wanted).findings == ()


_PLAIN_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=20)
@given(st.lists(_PLAIN_VALUES, min_size=1, max_size=3))
def test_yaml_is_read_as_the_safe_loader_does(value: object) -> None:
    """What PyYAML writes is read back as its own safe loader reads it."""
    text = yaml.safe_dump(value, default_flow_style=False, allow_unicode=True)
    open_list = replace(YAML, schema={}, least=1, most=3)
    failures = failures_of(text, open_list, RuleReading.BOTH)
    # An empty list is written in brackets, and `[]` as the whole is none of these.
    assert set(failures) <= {Failure.WRONG_FORMAT} if "{}" in text else failures == []
