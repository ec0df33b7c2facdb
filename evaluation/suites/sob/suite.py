"""SOB, the Structured Output Benchmark: settings, prompt and self-test."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from curation.core.json_types import Json
from curation.json.pointer import replaced
from curation.json.text import plain
from curation.system.registry import imported_late
from evaluation.core.records import Message, Prompt, Record, RecordRequest, RecordSet
from evaluation.core.suite import KnownAnswer, Suite
from evaluation.suites.common import SAMPLE
from evaluation.suites.sob.metrics import (
    Path,
    SobSettings,
    all_leaves,
    pointer_of,
)
from evaluation.suites.sob.records import (
    PUBLISHED,
    SobRecord,
    differing_counts,
    read_records,
    response_of_line,
    sample_records,
    sob_record,
    suite_record,
)
from evaluation.suites.sob.schemas import compile_schema
from evaluation.suites.sob.scorer import Mistake, sob_scorer


def suite_records(request: RecordRequest, settings: SobSettings) -> RecordSet:
    """Return the records of a run: its data's, otherwise the sample.

    Raises:
        NoInput: missing file, folder, dataset or revision.
        BadData: a row of it is not a record.
        Unavailable: the Hub cannot be reached.
    """
    if request.data is None:
        name = "sob-sample"
        origin = SAMPLE
        read = sample_records()
    else:
        name = request.data
        origin, read = read_records(request.data, request.splits)
        if request.data.startswith(PUBLISHED) and not request.splits:
            origin += differing_counts(Counter(record.source for record in read))
    any_object = settings.constraint == "object"
    records = [suite_record(record, any_object=any_object) for record in read]
    return RecordSet(
        name=name, origin=origin, records=records, generated=request.data is None
    )


_SYSTEM: Final = (
    "Answer the question from the context alone. Return exactly one JSON object{form}. "
    "No explanation, no markdown, no text around it. Use only the keys {keys}, with "
    "values of the right types, and include every one. Where the context does not hold "
    "an answer, the value is null."
)


def prompt_of(record: Record, settings: SobSettings) -> Prompt:
    """Return two messages, as the paper's section 5.2 describes them.

    They paraphrase the authors' messages. Like these they ask for
    null if the context has no answer, even if a schema does not allow null: then no
    answer can be right and valid.
    """
    fields = sob_record(record)
    parts = [f"Context:\n{fields.context}", f"Question:\n{fields.question}"]
    if settings.schema_in_prompt:
        schema = json.dumps(fields.json_schema, indent=2, ensure_ascii=False)
        parts.append(f"Respond with JSON that matches this schema:\n{schema}")
        system = _SYSTEM.format(form=" that follows the schema", keys="of the schema")
    else:
        parts.append("Respond with one JSON object.")
        system = _SYSTEM.format(form="", keys="that the question asks for")
    messages = (
        Message(role="system", content=system),
        Message(role="user", content="\n\n".join(parts)),
    )
    return Prompt(messages=messages, budget=settings.max_tokens)


def known_answers(record: Record, _settings: SobSettings) -> Iterator[KnownAnswer]:
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
    target = compile_schema(fields.json_schema, None)
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
        yield kind, changed, mistake, pointer_of(path)


def as_published(settings: SobSettings) -> SobSettings:
    """Return the settings of the published reading."""
    return replace(settings, reading="paper")


SUITE: Final = Suite(
    name="sob",
    summary="Are the values right that a model extracts, not only their shape?",
    settings=SobSettings,
    classes={kind.value: kind.explanation for kind in Mistake},
    records=suite_records,
    prompt=prompt_of,
    scorer=sob_scorer,
    tables=imported_late("evaluation.suites.sob.report", "tables"),
    known_answers=known_answers,
    published=PUBLISHED,
    paper=as_published,
    published_response=response_of_line,
)
