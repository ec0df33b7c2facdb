"""What a value fails of a schema and where, by errors of jsonschema-rs.

`iter_errors` gives paths in which a name of digits is a number (`"007"` is 7, `"+5"`
is 5) and an empty name is missing. `evaluate` has them whole (`exact_paths`).
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from curation.json.pointer import Tokens, parse_tokens, pointer
from curation.schema.dialects import BY_NAME

if TYPE_CHECKING:
    import jsonschema_rs

    from curation.core.json_types import Json

#: What jsonschema-rs reads as a number, and what does not come back as it was.
_NUMERAL = re.compile(r"\+?[0-9]+")
_LOST = re.compile(rb'"(?:|\+[0-9]+|0[0-9]+)":')


class ErrorPaths(NamedTuple):
    """Location of an error: the applied keywords, and the path to the value."""

    evaluation: Tokens
    instance: Tokens


def may_lose_names(value: Json) -> bool:
    """Return whether a value has a name that paths of errors lose.

    Example:
        >>> [may_lose_names({name: 1}) for name in ("007", "", "7")]
        [True, True, False]
    """
    try:
        return _LOST.search(orjson.dumps(value)) is not None
    except TypeError:
        # An integer beyond 64 bits: looked at more closely.
        return True


def plain_paths(error: jsonschema_rs.ValidationError) -> ErrorPaths:
    """Return the paths of an error as `iter_errors` gives them."""
    return ErrorPaths(
        tuple(map(str, error.evaluation_path)), tuple(map(str, error.instance_path))
    )


def exact_paths(
    validator: jsonschema_rs.Validator,
    value: Json,
    errors: Sequence[jsonschema_rs.ValidationError],
) -> list[ErrorPaths]:
    """Return the paths of errors with their names whole, in the order of the errors.

    Args:
        validator: The validator.
        value: The instance.
        errors: The errors that it lists.

    Example:
        >>> import jsonschema_rs
        >>> schema = {"properties": {"": {"type": "null"}}}
        >>> validator = jsonschema_rs.validator_for(schema)
        >>> errors = list(validator.iter_errors({"": 1}))
        >>> exact_paths(validator, {"": 1}, errors)[0].instance
        ('',)
    """
    nodes: dict[ErrorPaths, deque[ErrorPaths]] = defaultdict(deque)
    for paths in _failing(validator, value):
        nodes[_without_names(paths)].append(paths)
    exact = []
    for error in errors:
        paths = plain_paths(error)
        lossy = _without_names(paths)
        matches = nodes.get(lossy)
        # Keywords of one schema share a node; the schema itself always has one.
        around = nodes.get(ErrorPaths(lossy.evaluation[:-1], lossy.instance))
        if matches:
            # Two names may look alike: each error takes the next.
            paths = matches.popleft() if len(matches) > 1 else matches[0]
        elif around:
            # `properties` and the schema of the empty name in it look alike without
            # names: what holds a keyword is the inner one.
            holder = max(around, key=lambda node: len(node.evaluation))
            evaluation = (*holder.evaluation, *paths.evaluation[-1:])
            paths = ErrorPaths(evaluation, holder.instance)
        exact.append(paths)
    return exact


def whole_places(
    validator: jsonschema_rs.Validator, value: Json
) -> Callable[[Tokens], set[Tokens]]:
    """Return a function from the place of an error to those that it may represent.

    Args:
        validator: The validator.
        value: The instance with the errors.
    """
    named: dict[Tokens, set[Tokens]] = defaultdict(set)
    for _, path in _failing(validator, value) if may_lose_names(value) else ():
        named[_lossy(path)].add(path)

    def places(path: Tokens) -> set[Tokens]:
        candidates = named.get(_lossy(path), {path})
        # An empty name looks like what holds it: the innermost counts.
        return {
            candidate
            for candidate in candidates
            if not any(o[: len(candidate)] == candidate != o for o in candidates)
        }

    return places


def _failing(validator: jsonschema_rs.Validator, value: Json) -> Iterator[ErrorPaths]:
    """Yield the paths of all failing values in one or more errors."""
    for node in validator.evaluate(value).list()["details"]:
        if not node["valid"]:
            yield ErrorPaths(
                parse_tokens(node["evaluationPath"]),
                parse_tokens(node["instanceLocation"]),
            )


def _without_names(paths: ErrorPaths) -> ErrorPaths:
    return ErrorPaths(_lossy(paths.evaluation), _lossy(paths.instance))


def _lossy(tokens: Tokens) -> Tokens:
    return tuple(
        (token.lstrip("+0") or "0") if _NUMERAL.fullmatch(token) else token
        for token in tokens
        if token
    )


#: Keywords that refuse undeclared members.
_ON_UNDECLARED: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "propertyNames"}
)
#: Keywords of all drafts; other tokens of a path are names and indexes.
_KEYWORDS: Final = frozenset().union(
    *(dialect.effective for dialect in BY_NAME.values())
)
#: Characters of a message.
_SHOWN: Final = 200
#: Maximum number of faults examined in one answer.
_EXAMINED: Final = 200


class SchemaFault(NamedTuple):
    """One assertion that a value fails."""

    message: str
    keyword: str
    #: Paths into the value and into the schema.
    instance: Tokens
    schema: Tokens

    @property
    def instance_path(self) -> str:
        """The JSON pointer into the value."""
        return pointer(self.instance)

    @property
    def schema_path(self) -> str:
        """The JSON pointer into the schema."""
        return pointer(self.schema)

    @property
    def undeclared(self) -> bool:
        """Whether it refuses an undeclared member."""
        return self.keyword in _ON_UNDECLARED

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
    validator: jsonschema_rs.Validator, value: Json
) -> tuple[SchemaFault, ...]:
    """Return the faults of a value, branches of `anyOf` and `oneOf` included.

    Only one branch counts: the one that only rejects undeclared members, otherwise the
    one whose failures reach deepest into the value, otherwise the one with the fewest.

    Args:
        validator: The schema's validator.
        value: A value that it refuses.
    """
    faults: list[SchemaFault] = []
    places = whole_places(validator, value)
    for error in validator.iter_errors(value):
        faults += _list_faults(error, places)
        if len(faults) >= _EXAMINED:
            break
    return tuple(faults)


def _list_faults(
    error: jsonschema_rs.ValidationError,
    places: Callable[[Tokens], set[Tokens]],
) -> Iterator[SchemaFault]:
    contexts = [list(branch) for branch in getattr(error.kind, "context", None) or ()]
    branches = [
        [fault for inner in context for fault in _list_faults(inner, places)]
        for context in contexts
    ]
    # A branch without a fault: the value is valid under too many of `oneOf`.
    if branches and all(branches):
        yield from min(branches, key=_distance)
        return
    path = [str(token) for token in error.schema_path]
    keyword = _keyword(error, path)
    yield SchemaFault(
        message=error.message[:_SHOWN],
        keyword=keyword,
        instance=min(places(tuple(map(str, error.instance_path)))),
        schema=tuple(path),
    )


def _keyword(error: jsonschema_rs.ValidationError, path: Sequence[str]) -> str:
    """Return the keyword that fails; that with a `false` schema for it."""
    kind = type(error.kind).__name__
    if kind.endswith("PropertyNames"):
        return "propertyNames"
    if not kind.endswith("FalseSchema"):
        return path[-1]
    return next((token for token in reversed(path) if token in _KEYWORDS), "")


def _distance(branch: Sequence[SchemaFault]) -> tuple[bool, int, int]:
    wrong = [fault for fault in branch if not fault.undeclared]
    deepest = max((len(fault.instance) for fault in wrong), default=0)
    return bool(wrong), -deepest, len(branch)
