"""Exact paths of jsonschema-rs's errors.

`iter_errors` gives paths in which a name of digits is a number (`"007"` is 7, `"+5"`
is 5) and an empty name is missing. `evaluate` has them whole, as JSON pointers.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from curation.json.pointer import Tokens, tokens_of

if TYPE_CHECKING:
    import jsonschema_rs

    from curation.core.json_types import Json

#: What jsonschema-rs reads as a number, and what does not come back as it was.
_NUMERAL: Final = re.compile(r"\+?[0-9]+")
_LOST: Final = re.compile(rb'"(?:|\+[0-9]+|0[0-9]+)":')


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
    return [_exact(plain_paths(error), nodes) for error in errors]


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
                tokens_of(node["evaluationPath"]), tokens_of(node["instanceLocation"])
            )


def _exact(plain: ErrorPaths, nodes: dict[ErrorPaths, deque[ErrorPaths]]) -> ErrorPaths:
    """Return the paths of the node that an error is about; plain ones without one."""
    lossy = _without_names(plain)
    matches = nodes.get(lossy)
    if matches:
        # Two names may look alike: each error takes the next.
        return matches.popleft() if len(matches) > 1 else matches[0]
    # Keywords of one schema share a node; the schema itself always has one.
    around = nodes.get(ErrorPaths(lossy.evaluation[:-1], lossy.instance))
    if around:
        # `properties` and the schema of the empty name in it look alike without names:
        # what holds a keyword is the inner one.
        holder = max(around, key=lambda node: len(node.evaluation))
        return ErrorPaths((*holder.evaluation, *plain.evaluation[-1:]), holder.instance)
    return plain


def _without_names(paths: ErrorPaths) -> ErrorPaths:
    return ErrorPaths(_lossy(paths.evaluation), _lossy(paths.instance))


def _lossy(tokens: Tokens) -> Tokens:
    return tuple(
        (token.lstrip("+0") or "0") if _NUMERAL.fullmatch(token) else token
        for token in tokens
        if token
    )
