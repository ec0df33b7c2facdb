"""The text of a file, read by its suffix: JSON, JSON with comments, or YAML."""

from __future__ import annotations

import re

from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.json.text import parse

#: Suffixes of files read as YAML.
YAML_SUFFIXES = (".yaml", ".yml")
#: The suffix of files read as JSON with comments and trailing commas.
COMMENTS_SUFFIX = ".jsonc"


def parse_named(name: str, content: bytes) -> Json | Rejected:
    """Return the value of a file: JSON, or by its name JSON with comments or YAML.

    Of a file with such a name that is neither, the reason is YAML's.
    """
    if name.endswith(COMMENTS_SUFFIX):
        text = content.decode("utf-8", "surrogateescape")
        content = without_comments(text).encode("utf-8", "surrogateescape")
    value = parse(content)
    if not (isinstance(value, Rejected) and name.endswith(YAML_SUFFIXES)):
        return value
    from curation.json.yaml_reader import parse_yaml  # noqa: PLC0415 - takes 20 ms

    return parse_yaml(content)


#: A string, or an extension of JSON with comments.
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/', re.DOTALL)
_TRAILING = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)


def without_comments(text: str) -> str:
    """Return JSON with comments as JSON, every character at its place.

    Example:
        >>> without_comments('{"a": 1, // x')
        '{"a": 1,     '
    """

    def blank(match: re.Match[str]) -> str:
        piece = match[0]
        return piece if piece.startswith('"') else re.sub(r"[^\n]", " ", piece)

    return _TRAILING.sub(blank, _COMMENT.sub(blank, text))
