"""Probes of arrays.

Sources: JSON Schema core 2020-12, sections 10.3.1 and 11.2, validation, section 6.4,
and the same sections of the earlier drafts.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from evaluation.tasks.probe.probes.base import UNTYPED, Probe, keyword_probe

if TYPE_CHECKING:
    from curation.core.json_types import Json

_INTEGER: Final[dict[str, Json]] = {"type": "integer"}
_STRING: Final[dict[str, Json]] = {"type": "string"}
_ITEMS, _CONTAINED = "@minmaxItems", "@minmaxContains"

_array = partial(keyword_probe, "array")

PROBES: Final = (
    _array("items", {"items": _INTEGER}, [1], ["a"]),
    _array("items", {"items": False}, [], [1], "false", since="draft-06"),
    _array(
        "items",
        {"items": [_INTEGER, _STRING]},
        [1, "a"],
        ["a"],
        "list",
        until="2019-09",
    ),
    _array(
        "items",
        {"prefixItems": [_INTEGER], "items": _STRING},
        [1, "a"],
        [1, 2],
        "after prefixItems",
        since="2020-12",
    ),
    _array(
        "prefixItems",
        {"prefixItems": [_INTEGER, _STRING]},
        [1, "a"],
        ["a"],
        since="2020-12",
    ),
    _array(
        "additionalItems",
        {"items": [_INTEGER], "additionalItems": False},
        [1],
        [1, 2],
        "false",
        until="2019-09",
    ),
    _array(
        "additionalItems",
        {"items": [_INTEGER], "additionalItems": _STRING},
        [1, "a"],
        [1, 2],
        "schema",
        until="2019-09",
    ),
    _array("minItems", {"items": _INTEGER, "minItems": 2}, [1, 2], [1], "", _ITEMS),
    _array("maxItems", {"items": _INTEGER, "maxItems": 1}, [1], [1, 2], "", _ITEMS),
    _array("uniqueItems", {"items": _INTEGER, "uniqueItems": True}, [1, 2], [1, 1]),
    _array("contains", {"contains": _STRING}, [1, "a"], [1, 2], since="draft-06"),
    _array(
        "minContains",
        {"contains": _STRING, "minContains": 2},
        ["a", "b"],
        ["a", 1],
        feature=_CONTAINED,
        since="2019-09",
    ),
    _array(
        "maxContains",
        {"contains": _STRING, "maxContains": 1},
        ["a", 1],
        ["a", "b"],
        feature=_CONTAINED,
        since="2019-09",
    ),
    _array(
        "unevaluatedItems",
        {"items": [_INTEGER], "unevaluatedItems": False},
        [1],
        [1, 2],
        "after items",
        since="2019-09",
        until="2019-09",
    ),
    _array(
        "unevaluatedItems",
        {"prefixItems": [_INTEGER], "unevaluatedItems": False},
        [1],
        [1, 2],
        since="2020-12",
    ),
    Probe(
        name="items (without type)",
        keyword="items",
        schema={"items": _INTEGER},
        valid=[1],
        violating=["a"],
        contexts=UNTYPED,
    ),
)
