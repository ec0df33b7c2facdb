"""How a record is asked: two messages, as the paper's section 5.2 describes them.

The authors' own wording is not quoted here; these words say the same. They ask for
null where the context has no answer even where a schema does not allow null, as the
authors' do: then no answer can be right and valid.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.core.messages import Message
from evaluation.core.suite_records import SuitePrompt

if TYPE_CHECKING:
    from evaluation.suites.sob.record import SobRecord

_SYSTEM: Final = (
    "Answer the question from the context alone. Return exactly one JSON object{form}. "
    "No explanation, no markdown, no text around it. Use only the keys {keys}, with "
    "values of the right types, and include every required field. Where the context "
    "does not hold an answer, the value is null."
)


def ask(record: SobRecord, *, schema_in_prompt: bool, max_tokens: int) -> SuitePrompt:
    """Return how a record is asked.

    Args:
        record: The record.
        schema_in_prompt: Whether the schema is shown, as in the paper.
        max_tokens: Most tokens of the answer.
    """
    parts = [f"Context:\n{record.context}", f"Question:\n{record.question}"]
    if schema_in_prompt:
        shown = json.dumps(record.json_schema, indent=2, ensure_ascii=False)
        parts.append(f"Respond with JSON that matches this schema:\n{shown}")
        system = _SYSTEM.format(form=" that follows the schema", keys="of the schema")
    else:
        parts.append("Respond with one JSON object.")
        system = _SYSTEM.format(form="", keys="that the question asks for")
    messages = (
        Message(role="system", content=system),
        Message(role="user", content="\n\n".join(parts)),
    )
    return SuitePrompt(messages=messages, budget=max_tokens)
