"""Shrink a failure: the smallest schema and texts that still fail in the same way."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import jsonschema_rs

from curation.system.errors import NoInput
from evaluation.masks.diagnosis import VARYING, make_validator
from evaluation.results.outcomes import Outcome, engine_is_wrong, read_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curation.core.json_types import Json
    from evaluation.core.cases import Case, InstanceWalk, Row

_T = TypeVar("_T")
#: Members of a root that a lifted subschema may refer to, or that define it.
_ROOT_MEMBERS: Final[tuple[str, ...]] = ("$schema", "$defs", "definitions")


def shrink(value: Json, still: Callable[[Json], bool], limit: int = 300) -> Json:
    """Return a smaller value for which `still` holds; `value` itself if nothing does.

    Args:
        value: Where it starts.
        still: Whether a value still shows the failure.
        limit: Maximum number of calls of it.
    """
    tried = {json.dumps(value)}
    again = True
    while again:
        again = False
        for candidate in _smaller_trees(value):
            text = json.dumps(candidate)
            if text in tried or len(text) >= len(json.dumps(value)):
                continue
            if len(tried) > limit:
                return value
            tried.add(text)
            if still(candidate):
                value = candidate
                again = True
                break
    return value


def _smaller_trees(root: Json) -> Iterator[Json]:
    """Yield subschemas in place of the root, then the root without some part."""
    if isinstance(root, dict):
        base = {name: root[name] for name in _ROOT_MEMBERS if name in root}
        inner = [part for part in _inner(root) if isinstance(part, dict)]
        for part in sorted(inner, key=lambda part: len(json.dumps(part))):
            yield {**base, **part}
            yield part
    yield from _less(root)


def _inner(value: Json) -> Iterator[Json]:
    """Yield every value inside another."""
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield member
            yield from _inner(member)


def _less(value: Json) -> Iterator[Json]:
    """Yield a value without halves, without single parts, then with less inside."""
    if isinstance(value, dict):
        members = [*value.items()]
        yield from map(dict, _without_spans(members))
        for name, member in members:
            # An empty `enum` or `anyOf` is not a schema: without it the rest is.
            yield from (
                {**value, name: smaller} for smaller in _less(member) if smaller != []
            )
    elif isinstance(value, list):
        yield from _without_spans(value)
        for index, item in enumerate(value):
            after = value[index + 1 :]
            yield from ([*value[:index], smaller, *after] for smaller in _less(item))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from (1, int(value / 10))


def _without_spans(items: list[_T]) -> Iterator[list[_T]]:
    size = (len(items) + 1) // 2
    while size:
        for start in range(0, len(items), size):
            yield items[:start] + items[start + size :]
        size //= 2


class ShrunkFailure(NamedTuple):
    """The smallest case that fails in the same way, and how it ended."""

    case: Case
    row: Row

    def as_json(self, description: str) -> Json:
        """Return it as a file in MaskBench's form."""
        tests = [
            {"valid": walk.valid, "text": walk.text, "data": json.loads(walk.text)}
            for walk in self.case.walks
        ]
        return {
            "description": f"{description} {self.row.detail}".strip(),
            "schema": json.loads(self.case.schema),
            "tests": tests,
        }


def shrink_failure(
    case: Case,
    ask: Callable[[Case], Row],
    ask_afresh: Callable[[Case], Row],
    *,
    until: float = inf,
) -> ShrunkFailure:
    """Return the smallest case that fails as a case does, seen in a new process.

    Texts that the failure does not need go. Under each smaller schema the others must
    be as valid as before, and the text that shows the failure must fail at the same
    token; an accepted one must violate nothing else.

    Args:
        case: The case that fails.
        ask: Puts a case to the engine (`recorded_cases.open_engine`).
        ask_afresh: Puts a case to the engine in a new process.
        until: The reading of the monotonic clock after which nothing more is tried.

    Raises:
        NoInput: the case does not fail (any more), or only sometimes.
    """
    row = ask(case)
    name = f"{case.config}/{case.id}"
    if read_outcome(row) in {Outcome.PASSED, Outcome.UNTESTED}:
        raise NoInput(f"{read_outcome(row)}: nothing fails here", name)
    wrong = [
        walk
        for walk, walked in zip(case.walks, row.walks, strict=False)
        if engine_is_wrong(walked)
    ]
    culprit = min(wrong, key=lambda walk: len(walk.text), default=None)
    failure = _failure(case, row, culprit)

    def fails(smaller: Case) -> bool:
        return _failure(smaller, ask(smaller), culprit) == failure

    def fails_under(schema: Json) -> bool:
        smaller = replace(small, schema=json.dumps(schema))
        return (
            monotonic() < until
            and _stays_judged(schema, small.walks)
            and _violations(smaller.schema, culprit)
            <= _violations(case.schema, culprit)
            and fails(smaller)
        )

    small = replace(case, walks=(culprit,) if culprit else ())
    if not fails(small):
        small = case
        for walk in case.walks:
            fewer = tuple(text for text in small.walks if text is not walk)
            if walk is not culprit and fails(replace(small, walks=fewer)):
                small = replace(small, walks=fewer)
    schema = json.dumps(shrink(json.loads(case.schema), fails_under))
    for candidate in (replace(small, schema=schema), small, case):
        failed_row = ask_afresh(candidate)
        if _failure(candidate, failed_row, culprit) == failure:
            return ShrunkFailure(case=candidate, row=failed_row)
    raise NoInput(f"{read_outcome(row)}, but not when asked in a new process", name)


def _failure(case: Case, row: Row, culprit: InstanceWalk | None) -> tuple[object, ...]:
    """Return what stays the same: how the case ended, and the text that shows it."""
    if culprit is None:
        return row.result, row.phase, VARYING.sub("", row.detail)
    for walk, walked in zip(case.walks, row.walks, strict=False):
        if walk is culprit:
            message = VARYING.sub("", walked.detail)
            return row.result, row.phase, walked.verdict, walked.at, message
    return row.result, row.phase


def _violations(
    schema: str, walk: InstanceWalk | None
) -> set[tuple[str, tuple[str | int, ...]]]:
    """Return keyword and place of an invalid text's violation."""
    if walk is None or walk.valid:
        return set()
    errors = make_validator(schema).iter_errors(json.loads(walk.text))
    return {(error.kind.name, tuple(error.instance_path)) for error in errors}


def _stays_judged(schema: Json, walks: Sequence[InstanceWalk]) -> bool:
    """Return whether it is a schema under which all texts keep their validity.

    By jsonschema-rs, formats on.
    """
    if not isinstance(schema, dict | bool):
        return False
    try:
        validator = make_validator(schema)
        return all(
            validator.is_valid(json.loads(walk.text)) is walk.valid for walk in walks
        )
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return False
