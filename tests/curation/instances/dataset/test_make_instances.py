"""What is made of a schema follows from the schema, and from nothing else."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from curation.instances.dataset import make_instances as module
from curation.instances.dataset.make_instances import make_instances

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.dataset.make_instances import SchemaInstances

_DRAFT = "draft-07"
_AGAIN = {"$ref": "#/definitions/text"}


def _one_of_many(pattern: str) -> UntypedJson:
    return {
        "type": "object",
        "patternProperties": {pattern: _AGAIN},
        "additionalProperties": False,
        "minProperties": 1,
    }


#: A text, or a choice between texts, each of them maybe another choice: a search in it
#: goes deep before it ends.
_DEEP = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {
        "text": {
            "oneOf": [{"$ref": "#/definitions/plain"}, {"$ref": "#/definitions/choice"}]
        },
        "choice": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"ios": _AGAIN, "web": _AGAIN},
                    "required": ["ios", "web"],
                    "additionalProperties": False,
                },
                _one_of_many("^[0-9]x$"),
                _one_of_many("^[a-z]{2}$"),
            ]
        },
        "plain": {
            "anyOf": [
                {
                    "type": "object",
                    "required": ["type"],
                    "properties": {"type": {"const": "t"}, "text": _AGAIN},
                }
            ]
        },
    },
    "type": "object",
    "patternProperties": {"^[a-z]+$": _AGAIN},
    "additionalProperties": False,
}


def _made_inside(frames: int) -> SchemaInstances:
    if frames:
        return _made_inside(frames - 1)
    return make_instances(json.dumps(_DEEP), _DRAFT)


@pytest.mark.slow
def test_the_depth_of_the_caller_decides_nothing() -> None:
    """What is made a few frames deep, in a thread, is made among more of them."""
    with ThreadPoolExecutor(1) as threads:
        made = [threads.submit(_made_inside, frames).result() for frames in (0, 9, 18)]
    assert made[0].instances
    assert made == made[:1] * 3


@pytest.mark.slow
def test_a_search_ends_at_a_level_and_never_for_want_of_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three quarters of them are enough, whatever is cached or imported by then.

    Where frames ran out, the record before it in the same process decided.
    """
    made = _made_inside(0)
    monkeypatch.setattr(module, "_FRAMES", module._FRAMES * 3 // 4)
    assert _made_inside(0) == made


def test_the_interpreters_limit_is_the_callers_again() -> None:
    """After a call, whatever it was before."""
    before = sys.getrecursionlimit()
    make_instances("{}", _DRAFT)
    assert sys.getrecursionlimit() == before
