"""What tasks write into labels and headers, read back whoever wrote it.

Headers are those of `evaluation.results.reader.open_run`, which has looked at their
shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Row


def number_in(row: Row, name: str, default: int) -> int:
    """Return a number in a row's label; the default where it is none."""
    value = row.label.get(name)
    return value if type(value) is int else default


def features_of(row: Row) -> tuple[str, ...]:
    """Return the features of a row's schema; none where the row does not say."""
    stated = row.label.get("features")
    return tuple(map(str, stated)) if isinstance(stated, list) else ()


def formats_of(row: Row) -> tuple[str, ...]:
    """Return the values of `format` in a row's schema; none if it does not say."""
    stated = row.label.get("formats")
    return tuple(map(str, stated)) if isinstance(stated, list) else ()


def participant_header(
    header: Mapping[str, UntypedJson], engine: str
) -> Mapping[str, UntypedJson]:
    """Return what a header says of the engine that rows call so; else nothing."""
    listed = header.get("engines") or ()
    return next((each for each in listed if each["engine"] == engine), {})


def engine_names(header: Mapping[str, UntypedJson]) -> dict[str, str]:
    """Return every engine's name without version, by its label in rows."""
    listed = header.get("engines") or ()
    return {each["engine"]: str(each["name"]) for each in listed if "name" in each}


def deadline_ns(limits: Mapping[str, UntypedJson], name: str) -> int | None:
    """Return a deadline of a header's limits in nanoseconds; None where it has none."""
    seconds = limits.get(name)
    return int(seconds * 1_000_000_000) if isinstance(seconds, int | float) else None
