"""Answers to records of suite sob; both readings agree on them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from curation.json.pointer import replaced
from curation.json.text import plain
from evaluation.suites.sob.metrics import (
    Path,
    SobSettings,
    all_leaves,
    compile_schema,
    path_text,
)
from evaluation.suites.sob.records import SobRecord, sob_record
from evaluation.suites.sob.suite import Mistake
from tests.evaluation.suites.known_answers import KnownAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.core.records import Record


def known_answers(record: Record, _settings: object) -> Iterator[KnownAnswer]:
    """Yield answers to a record; both readings agree on them."""
    fields = sob_record(record)
    truth = fields.ground_truth
    text = json.dumps(truth, ensure_ascii=False)
    yield KnownAnswer(kind="reference", text=text)
    yield KnownAnswer(kind="indented", text=json.dumps(truth, indent=2))
    yield KnownAnswer(kind="text before", text=f"Here it is: {text}")
    yield KnownAnswer(kind="code fence", text=f"```json\n{text}\n```")
    yield KnownAnswer(kind="no answer", text=None, expected=Mistake.NO_ANSWER)
    for kind, answer in {"truncated": text[:-1], "scalar root": "42"}.items():
        yield KnownAnswer(kind=kind, text=answer, expected=Mistake.PARSE)
    target = compile_schema(fields.json_schema, SobSettings())
    for kind, value, mistake, because in _wrong_values(fields):
        is_refused = target.refusal(plain(value)) is not None
        if is_refused is (mistake is Mistake.SCHEMA):
            answer = json.dumps(value, ensure_ascii=False)
            yield KnownAnswer(kind=kind, text=answer, expected=mistake, because=because)


def _wrong_values(record: SobRecord) -> Iterator[tuple[str, Json, Mistake, str]]:
    """Yield wrong answers: kind, value, class and reason, if the schema decides so.

    Of each kind the last place in the truth is changed.
    """
    truth = record.ground_truth
    for kind, value in ("in an array", [truth]), ("under a key", {"answer": truth}):
        yield kind, value, Mistake.SCHEMA, "refused by the schema"
    changes: dict[str, tuple[Path, Json, Mistake]] = {}
    for path, leaf in all_leaves(truth).items():
        if isinstance(leaf, bool):
            changes["boolean negated"] = (path, not leaf, Mistake.VALUE)
        elif isinstance(leaf, int):
            changes["number off by one"] = (path, leaf + 1, Mistake.VALUE)
        elif leaf is None:
            changes["null as a text"] = (path, "null", Mistake.TYPE)
    members = truth
    for name, items in members.items() if isinstance(members, dict) else ():
        if isinstance(items, list) and len(items) > 1:
            repeated = [*items, items[-1]]
            changes["item missing"] = ((name,), items[:-1], Mistake.MISSING_PATH)
            changes["item repeated"] = ((name,), repeated, Mistake.SPURIOUS_PATH)
    for kind, (path, replacement, mistake) in changes.items():
        changed = replaced(truth, tuple(map(str, path)), replacement)
        yield kind, changed, mistake, path_text(path)
