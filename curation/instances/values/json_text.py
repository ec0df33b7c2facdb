"""The JSON text of an instance."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from curation.core.json_types import Json

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def text_of(value: Json) -> str:
    """Return an instance's text with Python's default separators, not escaped.

    A text with half of a surrogate pair is escaped, since UTF-8 has no such character.

    Raises:
        ValueError: a number is not finite.
    """
    text = _ENCODER.encode(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text
