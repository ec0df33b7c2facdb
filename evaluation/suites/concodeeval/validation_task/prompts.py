"""How task 2 is asked: does this sample adhere to all constraints of this schema?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.suites.concodeeval.prompt_texts import sentence, suite_prompt
from evaluation.suites.concodeeval.representations.registry import REPRESENTATIONS
from evaluation.suites.concodeeval.representations.samples import write_sample

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuitePrompt
    from evaluation.suites.concodeeval.fields import RecordFields
    from evaluation.suites.concodeeval.settings import ConcodeSettings

#: A schema, a sample that it accepts and one that it refuses; ours.
SHOT_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"lantern": {"type": "number", "maximum": 20.5}, "reef": {}},
    "additionalProperties": True,
    "required": ["lantern"],
}
SHOT_SAMPLES: Final[tuple[tuple[Json, str], ...]] = (
    ({"lantern": 12.25, "reef": None}, "yes"),
    ({"lantern": 31.5, "reef": None}, "no"),
)


def validation_prompt(fields: RecordFields, settings: ConcodeSettings) -> SuitePrompt:
    """Return how a record of task 2 is asked."""
    schema: Json = json.loads(fields.schema)
    sample: Json = json.loads(fields.sample)
    body = _question(schema, sample, fields)
    if settings.few_shot:
        shown = [
            f"Question:\n{_question(SHOT_SCHEMA, value, fields)}\n\n"
            f"Answer:\n```\n{label}\n```"
            for value, label in SHOT_SAMPLES
        ]
        body = "\n\n".join([*shown, f"Question:\n{body}"])
    elif settings.form == "base" and settings.template == "common":
        body = f"Question:\n{body}"
    return suite_prompt(body, "Answer:", settings.verdict_budget, fields, settings)


def _question(schema: Json, sample: Json, fields: RecordFields) -> str:
    text = REPRESENTATIONS[fields.representation].write(schema)
    return "\n".join(
        (
            sentence("validation", "ask", fields),
            write_sample(sample, fields.output),
            sentence("validation", "adhere", fields),
            str(text),
            sentence("validation", "respond", fields),
        )
    )
