"""Reading a file of the user's that is one JSON or YAML document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Rejected
from curation.json.text import parse
from curation.json.yaml_reader import SUFFIXES, parse_yaml
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json


def read_document(path: Path) -> Json:
    """Return the value of a file: YAML by its name (`.yaml`, `.yml`), else JSON.

    Raises:
        NoInput: it cannot be read (exit 66).
        BadData: it is neither JSON nor YAML (exit 65).
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise NoInput(f"cannot be read ({why})", str(path)) from error
    value = parse_yaml(content) if path.suffix in SUFFIXES else parse(content)
    if isinstance(value, Rejected):
        raise BadData(value.detail, str(path))
    return value
