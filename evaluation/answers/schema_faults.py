"""The assertions of a schema that a value fails, with their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.json.pointer import member, pointer
from curation.schema.dialects import BY_NAME
from curation.system.words import shortened
from curation.validation.metaschemas import whole_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import jsonschema_rs

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

#: Keywords that refuse undeclared members.
_ON_UNDECLARED: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
#: Keywords of all drafts; other tokens of a path are names and indexes.
_KEYWORDS: Final = frozenset().union(
    *(dialect.effective for dialect in BY_NAME.values())
)
#: Characters of a message.
_SHOWN: Final = 200
#: Maximum number of faults examined in one answer.
_EXAMINED: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFault:
    """One assertion that an answer fails."""

    message: str
    keyword: str
    #: JSON pointers into the answer and into the schema.
    instance_path: str
    schema_path: str
    #: Whether it refuses an undeclared member.
    undeclared: bool

    def as_json(self) -> dict[str, Json]:
        """Return it as in results."""
        return {
            "message": self.message,
            "keyword": self.keyword,
            "instance_path": self.instance_path,
            "schema_path": self.schema_path,
        }

    @property
    def reason(self) -> str:
        """One line for people, and for a model that repairs its answer."""
        location = self.instance_path or "(root)"
        return f"{location}: {self.message} [{self.keyword}]"


def answer_faults(
    validator: jsonschema_rs.Validator, schema: Json, value: Json
) -> tuple[SchemaFault, ...]:
    """Return the faults of an answer, branches of `anyOf` and `oneOf` included.

    Only one branch counts: the one that only rejects undeclared members, otherwise the
    one whose failures reach deepest into the value, otherwise the one with the fewest.

    Args:
        validator: The schema's validator.
        schema: The schema.
        value: An answer that it refuses.
    """
    faults: list[SchemaFault] = []
    places = whole_places(validator, value)
    for error in validator.iter_errors(value):
        faults += _faults_of(error, schema, places)
        if len(faults) >= _EXAMINED:
            break
    return tuple(faults)


def _faults_of(
    error: jsonschema_rs.ValidationError,
    schema: Json,
    places: Callable[[Tokens], set[Tokens]],
) -> Iterator[SchemaFault]:
    contexts = [list(branch) for branch in getattr(error.kind, "context", None) or ()]
    branches = [
        [fault for inner in context for fault in _faults_of(inner, schema, places)]
        for context in contexts
    ]
    # A branch without a fault: the value is valid under too many of `oneOf`.
    if branches and all(branches):
        yield from min(branches, key=_distance)
        return
    path = [str(token) for token in error.schema_path]
    keyword = _keyword(error, path)
    yield SchemaFault(
        message=shortened(error.message, _SHOWN),
        keyword=keyword,
        instance_path=pointer(min(places(tuple(map(str, error.instance_path))))),
        schema_path=pointer(tuple(path)),
        undeclared=keyword in _ON_UNDECLARED
        or (keyword == "propertyNames" and _name_is_undeclared(error, path, schema)),
    )


def _keyword(error: jsonschema_rs.ValidationError, path: Sequence[str]) -> str:
    """Return the keyword that fails; that with a `false` schema for it."""
    kind = type(error.kind).__name__
    if kind.endswith("PropertyNames"):
        return "propertyNames"
    if not kind.endswith("FalseSchema"):
        return path[-1]
    return next((token for token in reversed(path) if token in _KEYWORDS), "")


def _name_is_undeclared(
    error: jsonschema_rs.ValidationError, path: Sequence[str], schema: Json
) -> bool:
    """Return whether `propertyNames` refuses a name that `properties` lacks too."""
    refused = getattr(error.kind, "error", None)
    name = getattr(refused, "instance", None)
    holder: Json = schema
    try:
        for token in path[: path.index("propertyNames")]:
            holder = member(holder, token)
    except (LookupError, ValueError):
        return True
    properties = holder.get("properties") if isinstance(holder, dict) else None
    return not isinstance(properties, dict) or name not in properties


def _distance(branch: Sequence[SchemaFault]) -> tuple[bool, int, int]:
    wrong = [fault for fault in branch if not fault.undeclared]
    deepest = max((fault.instance_path.count("/") for fault in wrong), default=0)
    return bool(wrong), -deepest, len(branch)
