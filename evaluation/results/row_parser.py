"""One line of a run's results, read back: a `Row`, or the reason why it is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

_LARGEST = (1 << 63) - 1


class NotARow(ValueError):  # noqa: N818 # it says what the line is
    """A line that is no row, with the reason."""


def row_of(line: bytes) -> Row:
    """Return the row of one line; fields that it does not know are left alone.

    Raises:
        NotARow: the line is not JSON, or a field is missing or of another type.
    """
    try:
        given = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise NotARow(f"not JSON ({error})") from None
    if not isinstance(given, dict):
        raise NotARow("not an object")
    try:
        return _row(given)
    except KeyError as error:
        raise NotARow(f"no field {error}") from None
    except (TypeError, ValueError) as error:
        raise NotARow(str(error)) from None


def _row(given: Mapping[str, UntypedJson]) -> Row:
    return Row(
        engine=_text(given, "engine"),
        task=_text(given, "task"),
        id=_text(given, "id"),
        config=_text(given, "config"),
        result=Result(given["result"]),
        phase=_text(given, "phase", ""),
        detail=_text(given, "detail", ""),
        warnings=_texts(given, "warnings"),
        compile_ns=_whole(given, "compile_ns"),
        first_mask_ns=_whole(given, "first_mask_ns"),
        rss_bytes=_whole(given, "rss_bytes"),
        quiet=_truth(given, "quiet"),
        walks=tuple(map(_walked, _list(given, "walks"))),
        label=_object(given, "label"),
        fingerprint=_text(given, "fingerprint", ""),
    )


def _walked(given: Mapping[str, UntypedJson]) -> InstanceResult:
    if not isinstance(given, dict):
        raise TypeError("a walk is not an object")
    valid, tokens = _truth(given, "valid"), _whole(given, "tokens")
    if valid is None or tokens is None:
        raise TypeError("a walk says not whether it is valid, or how long")
    return InstanceResult(
        verdict=WalkVerdict(given["verdict"]),
        valid=valid,
        tokens=tokens,
        at=_whole(given, "at"),
        mask_ns=_wholes(given, "mask_ns"),
        commit_ns=_wholes(given, "commit_ns"),
        forced=_whole(given, "forced"),
        detail=_text(given, "detail", ""),
        label=_object(given, "label"),
    )


def _text(
    given: Mapping[str, UntypedJson], name: str, default: str | None = None
) -> str:
    value = given[name] if default is None else given.get(name, default)
    if not isinstance(value, str):
        raise TypeError(f"{name} is not text")
    return value


def _texts(given: Mapping[str, UntypedJson], name: str) -> tuple[str, ...]:
    values = _list(given, name)
    if not all(isinstance(each, str) for each in values):
        raise TypeError(f"{name} is not a list of texts")
    return tuple(values)


def _whole(given: Mapping[str, UntypedJson], name: str) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    # A bool is an int to Python; a larger one than int64 no table can hold.
    if type(value) is not int or not 0 <= value <= _LARGEST:
        raise TypeError(f"{name} is not a whole number from 0 to 2^63 - 1")
    return value


def _wholes(given: Mapping[str, UntypedJson], name: str) -> tuple[int, ...]:
    values = _list(given, name)
    if not set(map(type, values)) <= {int} or (
        values and not 0 <= min(values) <= max(values) <= _LARGEST
    ):
        raise TypeError(f"{name} is not a list of whole numbers")
    return tuple(values)


def _truth(given: Mapping[str, UntypedJson], name: str) -> bool | None:
    value = given.get(name)
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"{name} is not true or false")
    return value


def _list(given: Mapping[str, UntypedJson], name: str) -> list[Any]:
    value = given.get(name, [])
    if not isinstance(value, list):
        raise TypeError(f"{name} is not a list")
    return value


def _object(given: Mapping[str, UntypedJson], name: str) -> dict[str, UntypedJson]:
    value = given.get(name, {})
    if not isinstance(value, dict):
        raise TypeError(f"{name} is not an object")
    return value
