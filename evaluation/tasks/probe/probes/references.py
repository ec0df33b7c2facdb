"""Probes of references, identifiers and anchors.

Sources: JSON Schema core 2020-12, section 8.2, 2019-09, section 8.2.4.2, and the
earlier drafts. A `$ref` to a document elsewhere is nothing that an engine should
follow, and is not probed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.tasks.probe.probes.base import ROOT, Probe

if TYPE_CHECKING:
    from curation.core.json_types import Json

_INTEGER: Final[dict[str, Json]] = {"type": "integer"}
_HOME: Final = "https://example.com/probe"
_NODE: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"v": _INTEGER, "next": {"$ref": "#/$defs/node"}},
    "required": ["v"],
}
_CHAIN: Final[dict[str, Json]] = {"v": 1, "next": {"v": 2, "next": {"v": 3}}}
_BROKEN_CHAIN: Final[dict[str, Json]] = {"v": 1, "next": {"v": 2, "next": {"v": "x"}}}

PROBES: Final = (
    Probe(
        name="$ref",
        keyword="$ref",
        schema={"$ref": "#/$defs/whole"},
        definitions={"whole": _INTEGER},
        valid=1,
        violating="a",
    ),
    Probe(
        name="$ref (escaped pointer)",
        keyword="$ref",
        schema={"$ref": "#/$defs/a~1b%25"},
        definitions={"a/b%": _INTEGER},
        valid=1,
        violating="a",
    ),
    Probe(
        name="$ref (beside others)",
        keyword="$ref",
        schema={"$ref": "#/$defs/whole", "maximum": 5},
        definitions={"whole": {"type": "integer", "minimum": 3}},
        valid=4,
        violating=2,
        feature="@siblingKeys",
        since="2019-09",
    ),
    Probe(
        name="$ref (recursive)",
        keyword="$ref",
        schema={"$ref": "#/$defs/node"},
        definitions={"node": _NODE},
        valid=_CHAIN,
        violating=_BROKEN_CHAIN,
        feature="@recursiveSchemas",
    ),
    Probe(
        name="$ref (to the root)",
        keyword="$ref",
        schema={
            "type": "object",
            "properties": {"v": _INTEGER, "next": {"$ref": "#"}},
        },
        valid=_CHAIN,
        violating=_BROKEN_CHAIN,
        feature="@recursiveSchemas",
        contexts=(ROOT,),
    ),
    Probe(
        name="$id",
        keyword="$id",
        schema={"$ref": _HOME},
        definitions={"whole": {"$id": _HOME, "type": "integer"}},
        valid=1,
        violating="a",
        since="draft-06",
    ),
    Probe(
        name="id",
        keyword="id",
        schema={"$ref": _HOME},
        definitions={"whole": {"$id": _HOME, "type": "integer"}},
        valid=1,
        violating="a",
        until="draft-04",
    ),
    Probe(
        name="$anchor",
        keyword="$anchor",
        schema={"$ref": "#whole"},
        definitions={"whole": {"$anchor": "whole", "type": "integer"}},
        valid=1,
        violating="a",
        since="2019-09",
    ),
    Probe(
        name="$dynamicRef",
        keyword="$dynamicRef",
        schema={"$dynamicRef": "#whole"},
        definitions={"whole": {"$dynamicAnchor": "whole", "type": "integer"}},
        valid=1,
        violating="a",
        since="2020-12",
    ),
    Probe(
        name="$dynamicAnchor",
        keyword="$dynamicAnchor",
        schema={
            "$dynamicAnchor": "whole",
            "type": "object",
            "properties": {"v": _INTEGER, "next": {"$dynamicRef": "#whole"}},
        },
        valid=_CHAIN,
        violating=_BROKEN_CHAIN,
        since="2020-12",
        contexts=(ROOT,),
    ),
    Probe(
        name="$recursiveRef",
        keyword="$recursiveRef",
        schema={
            "type": "object",
            "properties": {"v": _INTEGER, "next": {"$recursiveRef": "#"}},
        },
        valid=_CHAIN,
        violating=_BROKEN_CHAIN,
        since="2019-09",
        until="2019-09",
        contexts=(ROOT,),
    ),
    Probe(
        name="$recursiveAnchor",
        keyword="$recursiveAnchor",
        schema={
            "$recursiveAnchor": True,
            "type": "object",
            "properties": {"v": _INTEGER, "next": {"$recursiveRef": "#"}},
        },
        valid=_CHAIN,
        violating=_BROKEN_CHAIN,
        since="2019-09",
        until="2019-09",
        contexts=(ROOT,),
    ),
)
