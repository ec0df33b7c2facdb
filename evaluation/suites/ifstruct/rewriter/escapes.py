"""What a text may need escaped: how it is asked for, and texts that have it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE: Final = Path(__file__).with_name("escapes.toml")


class Escape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of text that JSON and YAML cannot hold as it is."""

    #: Sentences that ask for it; `{field}` is the field's name.
    ask: tuple[str, ...]
    #: Texts that have it.
    texts: tuple[str, ...]


@cache
def escapes() -> Mapping[str, Escape]:
    """Return every kind by its name: `multiline`, `quotes`, `code`, ..."""
    kinds = msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, Escape])
    return MappingProxyType(kinds)
