"""SOB, the Structured Output Benchmark: settings and prompt."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

from curation.system.registry import imported_late
from evaluation.core.records import Message, Prompt, Record, RecordRequest, RecordSet
from evaluation.core.suite import Suite
from evaluation.suites.common import SAMPLE
from evaluation.suites.sob.metrics import (
    SobSettings,
)
from evaluation.suites.sob.records import (
    PUBLISHED,
    differing_counts,
    read_records,
    response_of_line,
    sample_records,
    sob_record,
    suite_record,
)
from evaluation.suites.sob.scorer import Mistake, sob_scorer


def suite_records(request: RecordRequest, _settings: SobSettings) -> RecordSet:
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
    records = [*map(suite_record, read)]
    return RecordSet(
        name=name, origin=origin, records=records, generated=request.data is None
    )


_SYSTEM: Final = (
    "Answer the question from the context alone. Return exactly one JSON object that "
    "follows the schema. No explanation, no markdown, no text around it. Use only the "
    "keys of the schema, with values of the right types, and include every one. Where "
    "the context does not hold an answer, the value is null."
)


def prompt_of(record: Record, settings: SobSettings) -> Prompt:
    """Return two messages, as the paper's section 5.2 describes them.

    They paraphrase the authors' messages. Like these they ask for
    null if the context has no answer, even if a schema does not allow null: then no
    answer can be right and valid.
    """
    fields = sob_record(record)
    schema = json.dumps(fields.json_schema, indent=2, ensure_ascii=False)
    parts = (
        f"Context:\n{fields.context}",
        f"Question:\n{fields.question}",
        f"Respond with JSON that matches this schema:\n{schema}",
    )
    messages = (
        Message(role="system", content=_SYSTEM),
        Message(role="user", content="\n\n".join(parts)),
    )
    return Prompt(messages=messages, budget=settings.max_tokens)


SUITE: Final = Suite(
    name="sob",
    summary="Are the values right that a model extracts, not only their shape?",
    settings=SobSettings,
    classes={kind.value: kind.explanation for kind in Mistake},
    records=suite_records,
    prompt=prompt_of,
    scorer=sob_scorer,
    tables=imported_late("evaluation.suites.sob.report", "tables"),
    published=PUBLISHED,
    paper={"reading": "paper"},
    published_response=response_of_line,
)
