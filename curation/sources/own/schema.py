"""What every form of the user's own schemas comes to: schemas with names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.json import text as jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json

_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_ID = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSchema:
    """One schema of the user's."""

    #: What it is called there: a function, a model, an operation.
    name: str
    schema: Json


def as_rows(schemas: Iterable[OwnSchema]) -> bytes:
    r"""Return schemas as the rows of a JSONL file, which the source `local` reads.

    Example:
        >>> as_rows([OwnSchema(name="get weather", schema=True)])
        b'{"unique_id": "get_weather", "json_schema": true}\n'
    """
    lines = [
        jsontext.write({"unique_id": plain_id(own.name), "json_schema": own.schema})
        for own in schemas
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def plain_id(name: str) -> str:
    """Return a name with what is no letter, digit, `_`, `.` or `-` as `_`."""
    return _NOT_IN_IDS.sub("_", name).strip("_")[:_LONGEST_ID] or "unnamed"
