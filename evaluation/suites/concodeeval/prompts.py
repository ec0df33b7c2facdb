"""Prompts of both tasks, as a conversation or as one text."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.system.errors import BadData
from evaluation.core.records import Message, Prompt, Record
from evaluation.suites.concodeeval.representations import (
    REPRESENTATIONS,
    write_sample,
)
from evaluation.suites.concodeeval.suite import (
    DIALECTS,
    TEXTS,
    ConcodeSettings,
    Reading,
    RecordFields,
    fields_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The seed of examples drawn by errors, which no records have, and draws for each.
_SHOT_SEED: Final = -1
_SHOT_DRAWS: Final = 20
#: The open fence at the end of a base form.
_OPEN_FENCE: Final = "```\n"
_ARTICLES: Final = {"json": "a JSON", "yaml": "a YAML", "xml": "an XML"}


def prompt(record: Record, settings: ConcodeSettings) -> Prompt:
    """Return the prompt of one record."""
    fields = fields_of(record)
    if fields.task == "validation":
        body = _validation_body(fields, settings)
        tail, budget = "Answer:", settings.verdict_budget
    else:
        body = (_few_shot if settings.few_shot else _zero_shot)(fields, settings)
        tail, budget = _sample_line(fields), settings.budget
    if settings.form == "base":
        body = f"{body}\n\n{tail}\n{_OPEN_FENCE}"
    return Prompt(messages=(Message(role="user", content=body),), budget=budget)


def _zero_shot(fields: RecordFields, settings: ConcodeSettings) -> str:
    text = _schema_text(json.loads(fields.schema), fields)
    fence = _fence_line(fields, settings)
    if fields.representation == "nl":
        return f"{text}\n\n{_sentence('generation', 'described', fields)}{fence}"
    return f"{_sentence('generation', 'common', fields)}{fence}\n\n{text}"


def _few_shot(fields: RecordFields, settings: ConcodeSettings) -> str:
    heading = f"{REPRESENTATIONS[fields.representation].title} format schema:"
    task = _sentence("few_shot", "task", fields)
    blocks = [f"{task}\n{_sentence('few_shot', 'examples', fields)}"]
    for shot_schema, shot_sample in shots(settings.reading, settings.errors):
        sample = write_sample(shot_sample, fields.output)
        blocks += [
            f"{heading}\n{_schema_text(shot_schema, fields)}",
            f"{_sample_line(fields)}\n```\n{sample}\n```",
        ]
    blocks.append(f"{heading}\n{_schema_text(json.loads(fields.schema), fields)}")
    fence = _fence_line(fields, settings).strip()
    return "\n\n".join([*blocks, fence] if fence else blocks)


def _sample_line(fields: RecordFields) -> str:
    return f"{fields.output.upper()} sample:"


def _fence_line(fields: RecordFields, settings: ConcodeSettings) -> str:
    """Return the request for a fence, if the prompt does not open one itself."""
    is_chat = settings.form == "chat"
    return f" {_sentence('generation', 'fence', fields)}" if is_chat else ""


def _schema_text(schema: Json, fields: RecordFields) -> str:
    return REPRESENTATIONS[fields.representation].write(schema)


@cache
def shots(reading: Reading, errors: str = "") -> tuple[tuple[Json, Json], ...]:
    """Return schemas with a sample each, validated with formats asserted.

    Args:
        reading: The dialect of the schemas.
        errors: A run whose errors choose them; fixed ones follow if it has too few.

    Raises:
        NoInput: missing run.
        BadData: it holds no failed answer of task 1 to one of the suite's schemas.
        ValueError: a sample is refused; a defect of an example here.
    """
    examples: list[tuple[Json, Json]] = []
    mined = _mined_shots(errors, reading) if errors else ()
    fixed = [(shot["schema"], shot["sample"]) for shot in TEXTS["shots"]]
    for schema_text, sample_text in islice(chain(mined, fixed), len(fixed)):
        schema = json.loads(schema_text)
        sample = json.loads(sample_text)
        compiled = CompiledSchema.from_json(schema, DIALECTS[reading])
        if not compiled.is_valid(sample):
            raise ValueError(f"{sample_text} does not satisfy {schema_text}")
        examples.append((schema, sample))
    return tuple(examples)


def _mined_shots(run: str, reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield an example for each of the most frequent errors of a run's task 1.

    It is of the family of the schema, has the keyword that was violated, where there is
    one, and is drawn apart from all records.
    """
    from evaluation.results.reader import open_run  # noqa: PLC0415 - heavy
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 - heavy
    from evaluation.suites.concodeeval.records import FAMILIES, generate_schema  # noqa: PLC0415 - heavy

    errors = Counter[tuple[str, str]]()
    for answers in scored_run(open_run(run), "concodeeval").by_label.values():
        for answer in answers:
            facts = answer.verdict.details
            if facts.get("task") == "generation" and not answer.verdict.passed:
                keywords = facts.get("keywords")
                violated = (
                    next(iter(keywords), "") if isinstance(keywords, dict) else ""
                )
                errors[str(facts["family"]), violated] += 1
    families = {family.name: family for family in FAMILIES}
    known = [error for error, _ in errors.most_common() if error[0] in families]
    if not known:
        then = "name a run of concodeeval on its own schemas"
        raise BadData("no answer of task 1 in it that failed", run, then)
    for place, (name, keyword) in enumerate(known):
        first = place * _SHOT_DRAWS
        for number in range(first, first + _SHOT_DRAWS):
            record = generate_schema(families[name], number, _SHOT_SEED, reading)
            samples = [it.text for it in record.instances if it.valid]
            if samples and f'"{keyword}' in record.constraint:
                yield record.constraint, min(samples, key=len)
                break


def _validation_body(fields: RecordFields, settings: ConcodeSettings) -> str:
    body = _question(fields.schema, fields.sample, fields)
    if settings.few_shot:
        shots = TEXTS["answered"]
        examples = [
            f"{_question(shots['schema'], shots[label], fields)}\n\n"
            f"Answer:\n```\n{label}\n```"
            for label in ("yes", "no")
        ]
        return "\n\n".join(f"Question:\n{question}" for question in [*examples, body])
    return f"Question:\n{body}" if settings.form == "base" else body


def _question(schema: str, sample: str, fields: RecordFields) -> str:
    return "\n".join(
        (
            _sentence("validation", "ask", fields),
            write_sample(json.loads(sample), fields.output),
            _sentence("validation", "adhere", fields),
            _schema_text(json.loads(schema), fields),
            _sentence("validation", "respond", fields),
        )
    )


def _sentence(section: str, name: str, fields: RecordFields) -> str:
    """Return one sentence about the formats of a record.

    Placeholders represent names of formats only, not parts of a schema.

    Args:
        section: The table of the file.
        name: The sentence in it.
        fields: The record.
    """
    text = str(TEXTS[section][name]).replace("{output}", _ARTICLES[fields.output])
    text = text.replace("{format}", fields.output.upper())
    return text.replace("{input}", REPRESENTATIONS[fields.representation].title)
