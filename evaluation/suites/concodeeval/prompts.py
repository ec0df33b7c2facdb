"""Prompts of both tasks, as a conversation or as one text."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from curation.system.errors import BadData
from evaluation.core.records import Message, Prompt, Record
from evaluation.suites.concodeeval.representations import REPRESENTATIONS, write_sample
from evaluation.suites.concodeeval.suite import (
    TEXTS,
    ConcodeSettings,
    Reading,
    RecordFields,
    fields_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The seed of examples drawn by errors, which no records have, and draws for each.
_SHOT_SEED: Final = -1
_SHOT_DRAWS: Final = 20
_ARTICLES: Final = {"json": "a JSON", "yaml": "a YAML", "xml": "an XML"}


def prompt(record: Record, settings: ConcodeSettings) -> Prompt:
    """Return the prompt of one record; a base form ends with an open fence."""
    fields = fields_of(record)
    if fields.task == "validation":
        body = _validation(fields, settings)
        tail = "Answer:"
        budget = settings.verdict_budget
    else:
        body = (_few_shot if settings.few_shot else _zero_shot)(fields, settings)
        tail = _sample_line(fields)
        budget = settings.budget
    if settings.form == "base":
        body = f"{body}\n\n{tail}\n```\n"
    return Prompt(messages=(Message(role="user", content=body),), budget=budget)


def _zero_shot(fields: RecordFields, settings: ConcodeSettings) -> str:
    schema = _schema(fields.schema, fields)
    fence = f" {_sentence('fence', fields)}" if settings.form == "chat" else ""
    if fields.representation == "nl":
        return f"{schema}\n\n{_sentence('described', fields)}{fence}"
    return f"{_sentence('common', fields)}{fence}\n\n{schema}"


def _few_shot(fields: RecordFields, settings: ConcodeSettings) -> str:
    heading = f"{REPRESENTATIONS[fields.representation].title} format schema:"
    blocks = [f"{_sentence('task', fields)}\n{_sentence('examples', fields)}"]
    for schema, sample in shots(settings.reading, settings.errors):
        text = write_sample(json.loads(sample), fields.output)
        blocks.append(f"{heading}\n{_schema(schema, fields)}")
        blocks.append(f"{_sample_line(fields)}\n```\n{text}\n```")
    blocks.append(f"{heading}\n{_schema(fields.schema, fields)}")
    if settings.form == "chat":
        blocks.append(_sentence("fence", fields))
    return "\n\n".join(blocks)


def _validation(fields: RecordFields, settings: ConcodeSettings) -> str:
    questions = [_question(fields.schema, fields.sample, fields)]
    if settings.few_shot:
        texts = TEXTS["answered"]
        questions[:0] = [
            f"{_question(texts['schema'], texts[label], fields)}\n\n"
            f"Answer:\n```\n{label}\n```"
            for label in ("yes", "no")
        ]
    elif settings.form == "chat":
        return questions[0]
    return "\n\n".join(f"Question:\n{question}" for question in questions)


def _question(schema: str, sample: str, fields: RecordFields) -> str:
    lines = (
        _sentence("ask", fields),
        write_sample(json.loads(sample), fields.output),
        _sentence("adhere", fields),
        _schema(schema, fields),
        _sentence("respond", fields),
    )
    return "\n".join(lines)


def _sample_line(fields: RecordFields) -> str:
    return f"{fields.output.upper()} sample:"


def _schema(text: str, fields: RecordFields) -> str:
    return REPRESENTATIONS[fields.representation].write(json.loads(text))


def _sentence(name: str, fields: RecordFields) -> str:
    """Return one sentence about the formats of a record."""
    text: str = TEXTS["sentences"][name]
    return text.format(
        output=_ARTICLES[fields.output],
        format=fields.output.upper(),
        input=REPRESENTATIONS[fields.representation].title,
    )


@cache
def shots(reading: Reading, errors: str = "") -> list[tuple[str, str]]:
    """Return schemas with a valid sample each, as JSON.

    Args:
        reading: The dialect of the schemas.
        errors: A run whose errors choose them; fixed ones follow if it has too few.

    Raises:
        NoInput: missing run.
        BadData: it holds no failed answer of task 1 to one of the suite's schemas.
    """
    fixed = [(shot["schema"], shot["sample"]) for shot in TEXTS["shots"]]
    mined = _mined_shots(errors, reading) if errors else ()
    return list(islice(chain(mined, fixed), len(fixed)))


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
            facts: Mapping[str, Any] = answer.verdict.details
            if facts.get("task") == "generation" and not answer.verdict.passed:
                keyword = next(iter(facts.get("keywords", ())), "")
                errors[facts["family"], keyword] += 1
    known = [error for error, _ in errors.most_common() if error[0] in FAMILIES]
    if not known:
        hint = "name a run of concodeeval on its own schemas"
        raise BadData("no answer of task 1 in it that failed", run, hint)
    for place, (family, keyword) in enumerate(known):
        first = place * _SHOT_DRAWS
        for number in range(first, first + _SHOT_DRAWS):
            record = generate_schema(family, number, _SHOT_SEED, reading)
            samples = [it.text for it in record.instances if it.valid]
            if samples and f'"{keyword}' in record.constraint:
                yield record.constraint, min(samples, key=len)
                break
