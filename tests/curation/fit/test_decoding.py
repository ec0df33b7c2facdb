"""Answers that have not the shape that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.fit.answers import decode, fit_schema
from curation.fit.decoding import UndecodableError, _listed
from curation.system.errors import BadData
from tests.curation.fit.test_rewriting import _STRING, OPENAI, _object

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.fit.relation import Comparer


@pytest.mark.parametrize("key", [[], 5, None])
def test_keys_that_are_no_texts_are_refused(key: Json, comparer: Comparer) -> None:
    """Answers are anybody's."""
    schema = _object(m={"type": "object", "additionalProperties": _STRING})
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    with pytest.raises(BadData, match="texts as keys"):
        decode({"m": [{"key": key, "value": "a"}]}, fit)


@pytest.mark.parametrize("more", [None, 5, "ab", {}])
def test_further_items_that_are_no_array_are_refused(more: Json) -> None:
    """A text has elements too, and is none."""
    with pytest.raises(UndecodableError, match="an array expected"):
        _listed({"item1": 1, "more": more}, 1)
