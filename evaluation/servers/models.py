"""What hosted models cannot do: a dated table by provider and model."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

_TABLE: Final = Path(__file__).with_name("models.toml")
#: The end of vendors' model names: the day of a version.
DATED: Final = re.compile(r"-(?:[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|latest)\Z")


class ModelFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of one model."""

    #: Its levels of reasoning; None if that is not known.
    efforts: tuple[str, ...] | None = None
    #: Whether a tool can be forced.
    forced_tool: bool = True
    #: Whether it accepts a temperature.
    sampling: bool = True
    #: The day on which it is shut down; empty if none is announced.
    end: str = ""


class ModelTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table, with the day on which it was made."""

    date: str
    source: str
    #: By provider and name.
    models: dict[str, dict[str, ModelFacts]]

    def facts(self, providers: tuple[str, ...], model: str) -> ModelFacts:
        """Return the facts on a model, or on its unversioned name."""
        names = (model, DATED.sub("", model))
        tables = [self.models.get(provider, {}) for provider in providers]
        found = (table[name] for table in tables for name in names if name in table)
        return next(found, ModelFacts())


@cache
def model_table() -> ModelTable:
    """Return the table that comes with csbdata."""
    return msgspec.convert(tomllib.loads(_TABLE.read_text("utf-8")), ModelTable)
