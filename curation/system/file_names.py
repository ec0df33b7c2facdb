"""Names of files that are named after data: engines, configs, records, models."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from pathlib import Path

#: Between split and id in the name of one of MaskBench's files.
MARK: Final = "---"
#: Names that stay as they are, but for blanks.
_PLAIN: Final = re.compile(r"[A-Za-z0-9$@_][A-Za-z0-9$@_.,= -]{0,99}")
_OTHER: Final = re.compile(r"[^A-Za-z0-9$@_.,=-]+")
_MAX_BEGINNING: Final = 60
_DIGEST: Final = 12


def safe_name(name: str) -> str:
    """Return a name as one part of a path or an address, another for each name.

    Blanks become `+`. A name with anything else that is not a letter, a digit or one of
    `$@_.,=-`, or that is too long, is shortened and ends with a digest.

    Args:
        name: Any text, such as an engine's label out of a stranger's run.

    Returns:
        A name that begins with neither a dot nor a hyphen, of 100 characters at most.

    Example:
        >>> safe_name("xgrammar 0.2.8"), safe_name("../../.bashrc")
        ('xgrammar+0.2.8', 'bashrc~1559504cfb83')
    """
    if _PLAIN.fullmatch(name):
        return name.replace(" ", "+")
    beginning = _OTHER.sub("-", name).strip(".-")[:_MAX_BEGINNING]
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{beginning}~{digest}"


def name_of(path: Path) -> tuple[str, str]:
    """Return a file's split (empty where its name has none) and its schema's id."""
    split, _, unique_id = path.stem.partition(MARK)
    return (unquote(split), unquote(unique_id)) if unique_id else ("", unquote(split))
