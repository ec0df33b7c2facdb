"""What documents declare to be supported: facts with their sources (`support.toml`).

A schema is *theoretically covered* if all its features are declared to be supported
(the paper, definition C.1). What no document says is unknown, and does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_TABLE: Final = Path(__file__).with_name("support.toml")
#: What stands for a version that no document says.
_NOWHERE: Final = "unknown"
#: What a value of `format` begins with where values are told apart.
FORMAT: Final = "format:"
#: Features that Figure 4 has under another's name.
_SAME: Final = {
    "then": "if",
    "else": "if",
    "additionalItems:object": "additionalItems",
}


class Support(StrEnum):
    """How a feature is supported."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What one document says of one version of an engine."""

    engines: tuple[str, ...]
    #: As the document has it; `unknown` where it says none.
    version: str
    #: ISO 8601; `unknown` where the document has none.
    date: str
    document: str
    #: Whether the paper says so in its Figure 4.
    paper: bool
    features: Mapping[str, Support]
    notes: str

    def of(self, feature: str) -> Support:
        """Return what is declared of a feature, under any of its names."""
        return self.features.get(_SAME.get(feature, feature), Support.UNKNOWN)

    @property
    def title(self) -> str:
        """A heading for its column."""
        version = "" if self.version == _NOWHERE else f" {self.version}"
        return f"{self.engines[0]}{version}{' (paper)' if self.paper else ''}"


@cache
def declarations() -> tuple[Declaration, ...]:
    """Return all declarations, in the order of the file."""
    return tuple(table.declaration() for table in _read().support)


@cache
def features() -> tuple[str, ...]:
    """Return the features of the paper's Figure 4, in its order."""
    return _read().features


def coverage(used: Iterable[str], support: Mapping[str, Support]) -> Support:
    """Return how a schema is covered that uses these features.

    Yes if every feature is supported, partly if each is at least in part, else no.
    """
    found = {_support(feature, support) for feature in used}
    if found <= {Support.YES}:
        return Support.YES
    return Support.PARTLY if found <= {Support.YES, Support.PARTLY} else Support.NO


def _support(feature: str, support: Mapping[str, Support]) -> Support:
    """Return how a feature is supported; of a value of `format` as of `format`."""
    if feature in support:
        return support[feature]
    general = "format" if feature.startswith(FORMAT) else _SAME.get(feature, feature)
    return support.get(general, Support.UNKNOWN)


class _SupportTable(msgspec.Struct, frozen=True, kw_only=True):
    """One `[[support]]` of the file."""

    engines: tuple[str, ...]
    version: str
    date: str
    document: str
    paper: bool = False
    yes: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    notes: str = ""

    def declaration(self) -> Declaration:
        levels = {
            **dict.fromkeys(self.yes, Support.YES),
            **dict.fromkeys(self.partly, Support.PARTLY),
            **dict.fromkeys(self.no, Support.NO),
        }
        return Declaration(
            engines=self.engines,
            version=self.version,
            date=self.date,
            document=self.document,
            paper=self.paper,
            features=MappingProxyType(levels),
            notes=" ".join(self.notes.split()),
        )


class _SupportFile(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    features: tuple[str, ...]
    support: tuple[_SupportTable, ...]


def _read() -> _SupportFile:
    return msgspec.toml.decode(_TABLE.read_bytes(), type=_SupportFile)
