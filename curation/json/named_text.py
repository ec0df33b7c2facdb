"""The text of a file, read as its name says: JSON or YAML."""

from __future__ import annotations

from typing import Final

from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.json.text import parse

#: Suffixes of files that are read as YAML.
YAML_SUFFIXES: Final = (".yaml", ".yml")


def parse_named(name: str, content: bytes) -> Json | Rejected:
    """Return the value of a file: JSON, or by its name (`.yaml`, `.yml`) YAML.

    Of a file with such a name that is neither, the reason is YAML's.
    """
    value = parse(content)
    if not (isinstance(value, Rejected) and name.endswith(YAML_SUFFIXES)):
        return value
    from curation.json.yaml_reader import parse_yaml  # noqa: PLC0415 - takes 20 ms

    return parse_yaml(content)
