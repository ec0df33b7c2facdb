"""What the published verifier does not look at, and `ifstruct-ext` asks for.

Patterns, formats, lengths, uniqueness and conditions are JSON Schema's, so they are
left to a JSON Schema validator (`jsonschema_rs`, draft 2020-12, formats asserted),
compiled once a schema. Of its errors only these keywords count: all others are rules
of the walk, which reports them in its own words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import jsonschema_rs

from curation.system.escaping import shortened
from evaluation.suites.ifstruct.verifier.findings import Failure, StructureFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.core.json_types import UntypedJson

_FAILURES: Final = {
    "pattern": Failure.PATTERN,
    "format": Failure.BAD_FORMAT,
    "minLength": Failure.TOO_SHORT,
    "maxLength": Failure.TOO_LONG,
    "uniqueItems": Failure.NOT_UNIQUE,
}


class ExtendedRules:
    """The extended rules of one schema."""

    def __init__(self, schema: Mapping[str, UntypedJson]) -> None:
        """Compile a schema.

        Raises:
            ValueError: it is no schema, or refers to another document.
        """
        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                dict(schema), validate_formats=True, retriever=_never
            )
        except jsonschema_rs.ReferencingError as error:
            raise ValueError(str(error)) from None

    def findings(self, value: UntypedJson) -> Iterator[StructureFinding]:
        """Yield what is wrong with a list of items by the extended rules."""
        try:
            for error in self._validator.iter_errors(value):
                finding = _finding(error)
                if finding is not None:
                    yield finding
        except ValueError:
            # NaN, infinities and YAML's values that JSON has not: found by the walk.
            return


def _finding(error: jsonschema_rs.ValidationError) -> StructureFinding | None:
    path: Sequence[str | int] = error.schema_path
    keyword = str(path[-1]) if path else ""
    failure = _FAILURES.get(keyword)
    if failure is None and keyword == "required" and "then" in path:
        failure = Failure.CONDITION
    if failure is None:
        return None
    detail = shortened(error.message, 80)
    return StructureFinding(failure, detail, _place(error.instance_path))


def _place(path: Sequence[str | int]) -> str:
    return "".join(
        f"[{step}]" if isinstance(step, int) else f".{shortened(step, 40)}"
        for step in path
    )


def _never(uri: str) -> UntypedJson:
    """Refuse to fetch: a reference leads nowhere."""
    raise ValueError(f"a reference to {uri} is never followed")
