"""What a validator holds against a value, and whether only undeclared members are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.json.pointer import pointer
from curation.system.escaping import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import jsonschema_rs

    from curation.core.json_types import Json

#: Keywords that refuse a member for its name.
_ON_NAMES: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "propertyNames"}
)
_SHOWN: Final = 200
#: Most errors that are looked at, and that are kept of one answer.
_LOOKED_AT: Final = 200
KEPT: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFault:
    """One failed assertion."""

    message: str
    keyword: str
    instance_path: str
    schema_path: str
    #: Whether it refuses a member only because nothing declares its name.
    undeclared: bool

    def as_json(self) -> dict[str, Json]:
        """Return it as results record it."""
        return {
            "message": self.message,
            "keyword": self.keyword,
            "instance_path": self.instance_path,
            "schema_path": self.schema_path,
        }

    @property
    def reason(self) -> str:
        """One line for people, and for the model that is to repair its answer."""
        place = self.instance_path or "(root)"
        return f"{place}: {self.message} [{self.keyword}]"


def violations(
    validator: jsonschema_rs.Validator, value: Json
) -> tuple[AnswerFault, ...]:
    """Return what fails, the branches of `anyOf` and `oneOf` looked into.

    Of several branches the one counts whose failures reach deepest into the value, or
    else the one with the fewest.
    """
    found: list[AnswerFault] = []
    for error in validator.iter_errors(value):
        found += _of(error)
        if len(found) >= _LOOKED_AT:
            break
    return tuple(found)


def _of(error: jsonschema_rs.ValidationError) -> Iterator[AnswerFault]:
    branches = [list(branch) for branch in getattr(error.kind, "context", None) or ()]
    if any(branches):
        for inner in min((branch for branch in branches if branch), key=_distance):
            yield from _of(inner)
        return
    keyword = _keyword(error)
    yield AnswerFault(
        message=shortened(error.message, _SHOWN),
        keyword=keyword,
        instance_path=pointer(tuple(map(str, error.instance_path))),
        schema_path=pointer(tuple(map(str, error.schema_path))),
        undeclared=keyword in _ON_NAMES,
    )


def _keyword(error: jsonschema_rs.ValidationError) -> str:
    """Return the keyword that fails; a `false` schema is named by what holds it."""
    name = type(error.kind).__name__.rpartition("_")[2]
    if name == "PropertyNames":
        return "propertyNames"
    path = [str(token) for token in error.schema_path]
    return path[-1] if path else ""


def _distance(branch: Iterable[jsonschema_rs.ValidationError]) -> tuple[int, int, int]:
    """Return how far a value is from a branch; less is nearer."""
    errors = list(branch)
    wrong = sum(_keyword(error) not in _ON_NAMES for error in errors)
    deepest = max(len(error.instance_path) for error in errors)
    return (int(wrong > 0), -deepest if wrong else 0, wrong)
