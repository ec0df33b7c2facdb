"""The fields that `ifstruct-ext` adds to a row, for rules that were never published.

The kinds of rules are those that the authors list as not enforced yet: patterns, dates
and addresses, lengths, uniqueness, conditions, and scalars that YAML reads as something
else than text. Names that stand twice, and numbers that are none, count in every row.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.suites.ifstruct.core.fields import Field

if TYPE_CHECKING:
    from random import Random

_FILE: Final = Path(__file__).with_name("extended.toml")
_FEWEST, _MOST = 2, 4


class FieldGroup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields that are asked for together, and the rule that they are there for."""

    #: `pattern`, `format`, `length`, `unique`, `coercion` or `condition`.
    rule: str
    fields: tuple[Field, ...]


class _GroupFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    group: tuple[FieldGroup, ...]


@cache
def field_groups() -> tuple[FieldGroup, ...]:
    """Return every group, in the order of the file."""
    return msgspec.toml.decode(_FILE.read_bytes(), type=_GroupFile).group


def extend_fields(fields: tuple[Field, ...], draw: Random) -> tuple[Field, ...]:
    """Return the fields of a row with two to four groups after them."""
    groups = draw.sample(field_groups(), draw.randint(_FEWEST, _MOST))
    return (*fields, *(field for group in groups for field in group.fields))
