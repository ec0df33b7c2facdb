"""All records of our own, in turn from every family."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib.resources import files
from random import Random
from typing import TYPE_CHECKING, Final

from curation.json.text import canonical
from evaluation.suites.sob.generator.audio_families import (
    action_items,
    budget,
    incident,
)
from evaluation.suites.sob.generator.drafts import Draw
from evaluation.suites.sob.generator.facts import separated
from evaluation.suites.sob.generator.image_families import (
    data_sheet,
    invoice,
    water_report,
)
from evaluation.suites.sob.generator.text_families import (
    bridge_and_engineer,
    novel_and_adaptations,
    two_companies,
)
from evaluation.suites.sob.records import SobRecord, complexity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evaluation.suites.sob.generator.drafts import Draft
    from evaluation.suites.sob.records import Source

#: How many records the suite's own set has.
OWN_RECORDS: Final = 180
#: Families in the order in which they take turns: the three sources alternate.
_FAMILIES: Final[tuple[tuple[Source, Callable[[Draw], Draft]], ...]] = (
    ("text", two_companies),
    ("image", invoice),
    ("audio", action_items),
    ("text", bridge_and_engineer),
    ("image", water_report),
    ("audio", budget),
    ("text", novel_and_adaptations),
    ("image", data_sheet),
    ("audio", incident),
)


def generated_records(count: int = OWN_RECORDS, seed: int = 0) -> Iterator[SobRecord]:
    """Yield records; the same number and seed give the same bytes everywhere.

    The first of more records are the same as those of fewer.
    """
    for number in range(count):
        source, family = _FAMILIES[number % len(_FAMILIES)]
        draw = Draw(Random(f"{seed}/{number}"), vocabulary())  # noqa: S311 - made data
        yield _record(source, family.__name__, family(draw))


@cache
def vocabulary() -> Mapping[str, tuple[str, ...]]:
    """Return the lists of invented names, by kind."""
    text = files(__package__).joinpath("vocabulary.toml").read_text("utf-8")
    return {kind: tuple(words) for kind, words in tomllib.loads(text).items()}


def _record(source: Source, family: str, draft: Draft) -> SobRecord:
    truth, evidence = separated(draft.truth)
    content = canonical([draft.context, draft.question, draft.schema, truth])
    return SobRecord(
        record_id=hashlib.sha256(content).hexdigest(),
        source=source,
        context=draft.context,
        question=draft.question,
        json_schema=draft.schema,
        ground_truth=truth,
        schema_complexity=complexity_of(draft.schema),
        question_difficulty=draft.difficulty,
        family=family,
        evidence=evidence,
    )
