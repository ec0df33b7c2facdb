"""YAML text read as JSON: what it cannot say in JSON is refused.

Words and numbers are those of YAML 1.2's core schema, so that a property may be named
`on` and a date stays text; PyYAML itself reads YAML 1.1. Equal keys are refused, and
so are aliases that unfold to more than a document may hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from curation.core.documents import Reason, Rejected
from curation.json.text import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Hashable

    from curation.core.json_types import Json

#: Values of a document, each alias counted with all that it stands for.
MOST_VALUES = 1_000_000
SUFFIXES = (".yaml", ".yml")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NULL = re.compile(r"~|null|Null|NULL|")
_BASES = {"0o": 8, "0x": 16}


class _NotJsonError(yaml.YAMLError):
    """Something that JSON cannot say."""


class _Loader(yaml.CSafeLoader):
    """The safe loader with the words of YAML 1.2 and without equal keys."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own attribute)

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 (PyYAML's own signature)
    ) -> dict[Hashable, Json]:
        """Return a mapping whose keys are texts, each once."""
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise _NotJsonError("a key that is no text")
            if key.value in seen:
                raise _NotJsonError(f"the key {key.value[:80]!r} stands twice")
            seen.add(key.value)
            key.tag = "tag:yaml.org,2002:str"
        mapping: dict[Hashable, Json] = super().construct_mapping(node, deep=deep)
        return mapping


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, _BASES.get(text[:2], 10))


def _number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(str(loader.construct_scalar(node)))


for _tag, _pattern, _first in (
    ("bool", _BOOL, "tTfF"),
    ("int", _INT, "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("null", _NULL, ["~", "n", "N", ""]),
    ("merge", re.compile("<<"), "<"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(f"(?:{_pattern.pattern})$"),
        list(_first),
    )
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)


def parse_yaml(content: bytes) -> Json | Rejected:
    """Return the JSON value of one YAML document, or why it is none.

    Example:
        >>> parse_yaml(b"on: yes")
        {'on': 'yes'}
    """
    try:
        text = content.decode()
        _refuse_deep(text)
        value: Json = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
        return _as_json(value)
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8"
        return Rejected(reason=Reason.BAD_ENCODING, detail=detail)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        detail = " ".join(str(error).split()) or "nested too deep"
        return Rejected(reason=Reason.NOT_JSON, detail=f"not JSON as YAML: {detail}")


def _refuse_deep(text: str) -> None:
    """Refuse a text nested so deep that libyaml's composer would overflow its stack.

    Raises:
        _NotJsonError: it is.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _NotJsonError(f"nested over {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _as_json(value: Json) -> Json:
    """Return the value, whose aliases unfold to a JSON value of bearable size.

    Raises:
        _NotJsonError: they do not, or it holds what JSON has not.
    """
    sizes: dict[int, int] = {}
    _size(value, sizes, frozenset())
    return value


def _size(value: Json, sizes: dict[int, int], above: frozenset[int]) -> int:
    """Return how many values a value holds, itself included."""
    if value is None or isinstance(value, str | int | float):
        return 1
    if not isinstance(value, dict | list):
        raise _NotJsonError(f"a {type(value).__name__}")
    place = id(value)
    if place in above:
        raise _NotJsonError("an alias inside what it stands for")
    if place not in sizes:
        inner = above | {place}
        members = value.values() if isinstance(value, dict) else value
        sizes[place] = 1 + sum(_size(member, sizes, inner) for member in members)
    if sizes[place] > MOST_VALUES:
        raise _NotJsonError(f"more than {MOST_VALUES:,} values")
    return sizes[place]
