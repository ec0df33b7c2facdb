"""The outermost shape of an answer: a list, bare or under one key, of so many items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.system.escaping import shortened
from evaluation.suites.ifstruct.verifier.findings import (
    Failure,
    RuleReading,
    StructureFinding,
)
from evaluation.suites.ifstruct.verifier.schema_walk import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwrapped:
    """The value that should be the list of items, out of its wrapper."""

    value: UntypedJson
    #: Whether it stood as the only member of an object.
    wrapped: bool
    findings: tuple[StructureFinding, ...]


def unwrap(value: UntypedJson, key: str | None) -> Unwrapped:
    """Return the list of an answer, and what is wrong with its wrapper.

    An object with one member that is a list counts as wrapped, and the list is looked
    at in every case. An object with a second member is not unwrapped.

    Args:
        value: What was read.
        key: The key that is required; None: the list has to stand bare.
    """
    if isinstance(value, dict) and len(value) == 1:
        ((found, items),) = value.items()
        if isinstance(items, list):
            finding = _wrapper_finding(str(found), key)
            findings = () if finding is None else (finding,)
            return Unwrapped(value=items, wrapped=True, findings=findings)
    if isinstance(value, list):
        missing = (
            ()
            if key is None
            else (StructureFinding(Failure.NOT_WRAPPED, f"the key is {key}"),)
        )
        return Unwrapped(value=value, wrapped=False, findings=missing)
    return Unwrapped(value=value, wrapped=False, findings=())


def _wrapper_finding(found: str, key: str | None) -> StructureFinding | None:
    if key is None:
        return StructureFinding(Failure.WRAPPED, f"under {shortened(found, 40)}")
    if found != key:
        detail = f"{shortened(found, 40)} for {key}"
        return StructureFinding(Failure.WRONG_WRAPPER_KEY, detail)
    return None


def check_list(
    value: UntypedJson,
    least: int,
    most: int,
    schema_says_too: bool,  # noqa: FBT001 (one caller)
) -> Iterator[StructureFinding]:
    """Yield what is wrong with the list as a whole: it is none, or has a wrong length.

    Args:
        value: The list, out of its wrapper.
        least: The least number of items.
        most: The largest number of items.
        schema_says_too: Whether the schema of the list refuses this length as well.
            The published verifier books the one fault twice then.
    """
    if not isinstance(value, list):
        yield StructureFinding(Failure.NOT_A_LIST, f"it is {kind_of(value)}")
        return
    if not least <= len(value) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        detail = f"{len(value)} items, {wanted} are wanted"
        yield StructureFinding(Failure.ITEM_COUNT, detail)
    if schema_says_too:
        yield StructureFinding(
            Failure.ITEM_COUNT, "the schema's own bound", reading=RuleReading.PUBLISHED
        )
