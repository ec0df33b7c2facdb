"""What documents declare to be supported: facts with their sources (`support.toml`).

A schema is *theoretically covered* if all its features are declared to be supported
(the paper, definition C.1). What no document says is unknown, and does not count.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curation.core.json_types import UntypedJson

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
    #: ISO 8601; `unknown` where nobody knows.
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
    return tuple(map(_declaration, _read()["support"]))


@cache
def features() -> tuple[str, ...]:
    """Return the features of the paper's Figure 4, in its order."""
    return tuple(_read()["features"])


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


def _read() -> dict[str, UntypedJson]:
    return tomllib.loads(_TABLE.read_text("utf-8"))


def _declaration(table: Mapping[str, UntypedJson]) -> Declaration:
    said = {
        feature: level
        for level in (Support.YES, Support.PARTLY, Support.NO)
        for feature in table.get(level.value, ())
    }
    return Declaration(
        engines=tuple(table["engines"]),
        version=table["version"],
        date=table["date"],
        document=table["document"],
        paper=table.get("paper", False),
        features=MappingProxyType(said),
        notes=" ".join(table.get("notes", "").split()),
    )
