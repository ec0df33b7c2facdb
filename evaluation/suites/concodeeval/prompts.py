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
    TEXTS,
    write_sample,
)
from evaluation.suites.concodeeval.settings import (
    ConcodeSettings,
    Output,
    RecordFields,
    SuiteReading,
    TaskName,
    fields_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The seed of examples drawn by errors, which no records have, and draws for each.
_SHOT_SEED: Final = -1
_SHOT_DRAWS: Final = 20
#: The open fence at the end of a base form.
_OPEN_FENCE: Final = "```\n"
_ARTICLES: Final = {Output.JSON: "a JSON", Output.YAML: "a YAML", Output.XML: "an XML"}


def prompt(record: Record, settings: ConcodeSettings) -> Prompt:
    """Return the prompt of one record."""
    fields = fields_of(record)
    if fields.task is TaskName.GENERATION:
        return _generation_prompt(fields, settings)
    return _validation_prompt(fields, settings)


def _generation_prompt(fields: RecordFields, settings: ConcodeSettings) -> Prompt:
    schema: Json = json.loads(fields.schema)
    body = (
        _few_shot(schema, fields, settings)
        if settings.few_shot
        else _zero_shot(schema, fields, settings)
    )
    return _suite_prompt(body, _sample_line(fields), settings.budget, settings.form)


def _zero_shot(schema: Json, fields: RecordFields, settings: ConcodeSettings) -> str:
    text = _schema_text(schema, fields)
    fence = _fence_line(fields, settings)
    if fields.representation == "nl":
        return f"{text}\n\n{_sentence('generation', 'described', fields)}{fence}"
    return f"{_sentence('generation', 'common', fields)}{fence}\n\n{text}"


def _few_shot(schema: Json, fields: RecordFields, settings: ConcodeSettings) -> str:
    title = REPRESENTATIONS[fields.representation].title
    task = _sentence("few_shot", "task", fields)
    blocks = [f"{task}\n{_sentence('few_shot', 'examples', fields)}"]
    for shot_schema, shot_sample in shots(settings.reading, settings.errors):
        sample = write_sample(shot_sample, fields.output)
        blocks += [
            f"{title} format schema:\n{_schema_text(shot_schema, fields)}",
            f"{_sample_line(fields)}\n```\n{sample}\n```",
        ]
    blocks.append(f"{title} format schema:\n{_schema_text(schema, fields)}")
    fence = _fence_line(fields, settings).strip()
    return "\n\n".join([*blocks, fence] if fence else blocks)


def _sample_line(fields: RecordFields) -> str:
    return f"{fields.output.upper()} sample:"


def _fence_line(fields: RecordFields, settings: ConcodeSettings) -> str:
    """Return the request for a fence, if the prompt does not open one itself."""
    if settings.form == "chat":
        return f" {_sentence('generation', 'fence', fields)}"
    return ""


def _schema_text(schema: Json, fields: RecordFields) -> str:
    return REPRESENTATIONS[fields.representation].write(schema)


@cache
def shots(reading: SuiteReading, errors: str = "") -> tuple[tuple[Json, Json], ...]:
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
        compiled = CompiledSchema.from_json(schema, reading.dialect)
        if not compiled.is_valid(sample):
            raise ValueError(f"{sample_text} does not satisfy {schema_text}")
        examples.append((schema, sample))
    return tuple(examples)


def _mined_shots(run: str, reading: SuiteReading) -> Iterator[tuple[str, str]]:
    """Yield an example for each of the most frequent errors of a run's task 1.

    It is of the family of the schema, has the keyword that was violated, where there is
    one, and is drawn apart from all records.
    """
    from evaluation.results.reader import open_run  # noqa: PLC0415 - heavy
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 - heavy
    from evaluation.suites.concodeeval.schemas import FAMILIES, generate_schema  # noqa: PLC0415 - heavy

    errors = Counter[tuple[str, str]]()
    for answers in scored_run(open_run(run), "concodeeval").by_label.values():
        for answer in answers:
            facts = answer.verdict.details
            if facts.get("task") == TaskName.GENERATION and not answer.verdict.passed:
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


def _validation_prompt(fields: RecordFields, settings: ConcodeSettings) -> Prompt:
    schema: Json = json.loads(fields.schema)
    sample: Json = json.loads(fields.sample)
    body = _question(schema, sample, fields)
    if settings.few_shot:
        shots = {name: json.loads(text) for name, text in TEXTS["answered"].items()}
        questions = {
            label: _question(shots["schema"], shots[label], fields)
            for label in ("yes", "no")
        }
        examples = [
            f"Question:\n{question}\n\nAnswer:\n```\n{label}\n```"
            for label, question in questions.items()
        ]
        body = "\n\n".join([*examples, f"Question:\n{body}"])
    elif settings.form == "base":
        body = f"Question:\n{body}"
    return _suite_prompt(body, "Answer:", settings.verdict_budget, settings.form)


def _question(schema: Json, sample: Json, fields: RecordFields) -> str:
    text = REPRESENTATIONS[fields.representation].write(schema)
    return "\n".join(
        (
            _sentence("validation", "ask", fields),
            write_sample(sample, fields.output),
            _sentence("validation", "adhere", fields),
            text,
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


def _suite_prompt(body: str, tail: str, budget: int, form: str) -> Prompt:
    """Return a prompt in one form.

    Args:
        body: The question.
        tail: The end of a base form, before the open fence.
        budget: Most tokens of the answer.
        form: `chat` or `base`.
    """
    text = body if form == "chat" else f"{body}\n\n{tail}\n{_OPEN_FENCE}"
    return Prompt(messages=(Message(role="user", content=text),), budget=budget)
