"""Known answers for `suite selftest`: right ones, and some for each class."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from curation.json.pointer import at, replaced
from evaluation.core.suite import KnownAnswer
from evaluation.suites.sob.metrics.leaves import all_leaves, pointer_of
from evaluation.suites.sob.mistakes.classes import Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.leaves import Path
    from evaluation.suites.sob.record import SobRecord


def known_answers(record: SobRecord) -> Iterator[KnownAnswer]:
    """Yield answers to a generated record; both readings agree on them."""
    truth = record.ground_truth
    text = json.dumps(truth, ensure_ascii=False)
    yield KnownAnswer(kind="reference", text=text)
    yield KnownAnswer(kind="indented", text=json.dumps(truth, indent=2))
    yield KnownAnswer(kind="no answer", text=None, expected=Mistake.NO_ANSWER)
    unparsed = {
        "truncated": text[:-1],
        "text before": f"Here it is: {text}",
        "code fence": f"```json\n{text}\n```",
        "scalar root": "42",
    }
    for kind, answer in unparsed.items():
        yield KnownAnswer(kind=kind, text=answer, expected=Mistake.PARSE)
    refused: dict[str, Json] = {
        "in an array": [truth],
        "under a key": {"answer": truth},
        "empty": {},
    }
    for kind, value in refused.items():
        yield _wrong(kind, value, Mistake.SCHEMA, "refused by the schema")
    for kind, (path, other, mistake) in _wrong_leaves(record).items():
        yield _wrong(kind, _with(truth, path, other), mistake, pointer_of(path))


def _wrong_leaves(record: SobRecord) -> dict[str, tuple[Path, Json, Mistake]]:
    """Return changes that the schema accepts: by kind, where, to what, and the class.

    Of each kind the last place in the truth is changed.
    """
    changes: dict[str, tuple[Path, Json, Mistake]] = {}
    for path, value in all_leaves(record.ground_truth).items():
        if isinstance(value, bool):
            changes["boolean negated"] = (path, not value, Mistake.VALUE)
        elif isinstance(value, int):
            changes["number off by one"] = (path, value + 1, Mistake.VALUE)
        elif value is None and len(path) == 1 and _is_optional_text(record, path[0]):
            changes["null as a text"] = (path, "null", Mistake.TYPE)
    members = record.ground_truth
    for name, items in members.items() if isinstance(members, dict) else ():
        if isinstance(items, list) and len(items) > 1:
            repeated = [*items, items[-1]]
            changes["item missing"] = ((name,), items[:-1], Mistake.MISSING_PATH)
            changes["item repeated"] = ((name,), repeated, Mistake.SPURIOUS_PATH)
    return changes


def _is_optional_text(record: SobRecord, name: str | int) -> bool:
    schema = at(record.json_schema, ("properties", str(name), "type"))
    return schema == ["string", "null"]


def _with(truth: Json, path: Path, value: Json) -> Json:
    return replaced(truth, tuple(map(str, path)), value)


def _wrong(kind: str, value: Json, mistake: Mistake, because: str) -> KnownAnswer:
    text = json.dumps(value, ensure_ascii=False)
    return KnownAnswer(kind=kind, text=text, expected=mistake, because=because)
