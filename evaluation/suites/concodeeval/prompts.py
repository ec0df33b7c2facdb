"""Prompts of both tasks, and their examples."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from curation.system.errors import BadData
from evaluation.core.records import Message, Prompt, Record
from evaluation.suites.concodeeval.records import generate_schema, is_writable
from evaluation.suites.concodeeval.representations import (
    REPRESENTATIONS,
    write_sample,
)
from evaluation.suites.concodeeval.suite import (
    TEXTS,
    ConcodeSettings,
    Reading,
    RecordFields,
    read_fields,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The seed of examples drawn by errors, which no records have, and draws for each.
_SHOT_SEED: Final = -1
_SHOT_DRAWS: Final = 20
_ARTICLES: Final = {"json": "a JSON", "yaml": "a YAML", "xml": "an XML"}


def prompt(record: Record, settings: ConcodeSettings) -> Prompt:
    """Return the prompt of one record; a base form ends with an open fence."""
    fields = read_fields(record)
    is_validation = fields.task == "validation"
    body = (_validation if is_validation else _generation)(fields, settings)
    if settings.form == "base":
        tail = "Answer:" if is_validation else f"{fields.output.upper()} sample:"
        body = f"{body}\n\n{tail}\n```\n"
    budget = settings.verdict_budget if is_validation else settings.budget
    return Prompt(messages=(Message(role="user", content=body),), budget=budget)


def _generation(fields: RecordFields, settings: ConcodeSettings) -> str:
    fence = f" {TEXTS['prompts']['fence']}" if settings.form == "chat" else ""
    if not settings.few_shot:
        name = "described" if fields.representation == "nl" else "common"
        return _filled(name, fields, fields.schema, fence=fence)
    blocks = [
        _filled("examples", fields, fields.schema),
        *(_filled("shot", fields, *shot) for shot in shots(settings)),
        _filled("asked", fields, fields.schema),
        fence.strip(),
    ]
    return "\n\n".join(filter(None, blocks))


def _validation(fields: RecordFields, settings: ConcodeSettings) -> str:
    question = _filled("question", fields, fields.schema, fields.sample)
    if settings.form == "chat" and not settings.few_shot:
        return question
    text = f"Question:\n{question}"
    shot = TEXTS["answered"]
    for label in ("no", "yes") if settings.few_shot else ():
        example = _filled("question", fields, shot["schema"], shot[label])
        text = f"Question:\n{example}\n\nAnswer:\n```\n{label}\n```\n\n{text}"
    return text


def _filled(
    name: str, fields: RecordFields, schema: str, sample: str = "null", fence: str = ""
) -> str:
    """Return a text with a schema and a sample as a record's cell writes them."""
    title, write = REPRESENTATIONS[fields.representation]
    text: str = TEXTS["prompts"][name]
    return text.format(
        output=_ARTICLES[fields.output],
        format=fields.output.upper(),
        input=title,
        schema=write(json.loads(schema)),
        sample=write_sample(json.loads(sample), fields.output),
        fence=fence,
    )


@cache
def shots(settings: ConcodeSettings) -> list[tuple[str, str]]:
    """Return schemas with a valid sample each, as JSON.

    They are like the most frequent errors of a run that the settings name; fixed ones
    follow if it has too few.

    Raises:
        NoInput: missing run.
        BadData: it holds no failed answer of task 1.
    """
    fixed = [(shot["schema"], shot["sample"]) for shot in TEXTS["shots"]]
    mined = _mined_shots(settings.errors, settings.reading) if settings.errors else ()
    return list(islice(chain(mined, fixed), len(fixed)))


def _mined_shots(run: str, reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield an example for each of the most frequent errors of a run's task 1.

    It is of the family of the schema, has the keyword that was violated, where there is
    one, and is drawn apart from all records.
    """
    from evaluation.results.reader import open_run  # noqa: PLC0415 - heavy
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 - heavy

    errors = Counter[tuple[str, str]]()
    for side in scored_run(open_run(run), "concodeeval").by_label.values():
        for answer in side:
            facts: Mapping[str, Any] = answer.verdict.details
            if facts.get("task") == "generation" and not answer.verdict.passed:
                keyword = next(iter(facts.get("keywords", ())), "")
                errors[facts["family"], keyword] += 1
    if not errors:
        raise BadData("no answer of task 1 in it that failed", run)
    for place, ((family, keyword), _) in enumerate(errors.most_common()):
        first = place * _SHOT_DRAWS
        for number in range(first, first + _SHOT_DRAWS):
            record = generate_schema(family, number, _SHOT_SEED, reading)
            valid = [it.text for it in record.instances if it.valid and is_writable(it)]
            if valid and f'"{keyword}' in record.constraint:
                yield record.constraint, min(valid, key=len)
                break
