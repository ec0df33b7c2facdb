"""Suite coverage: texts that a model writes for schemas, under each engine.

Sources: sections 4 and 5 of arXiv 2501.10868. The same texts are read by task
efficiency (`evaluation.suites.coverage.efficiency`).
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from curation.system.registry import imported_late
from evaluation.core.records import Prompt, Record, RecordRequest, RecordSet
from evaluation.core.suite import Scorer, Suite
from evaluation.suites.common import schema_records
from evaluation.suites.coverage.scorer import TextClass, coverage_scorer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.prompts import Template, WorkedExample

#: Tokens of a text whose schema has no witness.
UNKNOWN_BUDGET: Final = 512


class CoverageSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The prompt, and the dialect by which texts are judged."""

    #: `sections` as Figure 3 of the paper, `chat` for turns, or a template's file.
    prompt: str = "sections"
    #: Worked examples.
    shots: int = 2
    #: The dialect for every schema; empty for its own.
    dialect: str = ""
    #: Under `paper`, the paper's Listing 10 decides, of the whole text.
    reading: Literal["recommended", "paper"] = "recommended"


def records(request: RecordRequest, settings: CoverageSettings) -> RecordSet:
    """Return the schemas of any data, with their valid instances as witnesses."""
    return schema_records(request, dialect=settings.dialect, witnesses=True)


@cache
def _template(prompt: str, shots: int) -> tuple[Template, tuple[WorkedExample, ...]]:
    from evaluation.prompts import read_template, worked_examples  # noqa: PLC0415 - heavy

    return read_template(prompt), worked_examples(shots)


def prompt(record: Record, settings: CoverageSettings) -> Prompt:
    """Return the conversation that asks for an instance of a record's schema.

    Raises:
        CsbdataError: unknown template, or there are fewer worked examples.
    """
    template, shots = _template(settings.prompt, settings.shots)
    witnesses = record.fields.get("witnesses") or ()
    return Prompt(
        messages=template.fill(record.constraint, shots),
        budget=UNKNOWN_BUDGET,
        witnesses=tuple(map(str, witnesses)) if isinstance(witnesses, list) else (),
    )


def _facts(settings: CoverageSettings) -> Mapping[str, Json]:
    template, shots = _template(settings.prompt, settings.shots)
    return {
        "prompt": template.name,
        "prompt_text": template.text,
        "shots": [[shot.schema, shot.output] for shot in shots],
        "dialect": settings.dialect,
    }


def _scorer(settings: CoverageSettings, *, published: bool = True) -> Scorer:
    return coverage_scorer(published=published, as_paper=settings.reading == "paper")


SUITE = Suite(
    name="coverage",
    summary="Does what a model writes under an engine satisfy its schema (Table 4)?",
    settings=CoverageSettings,
    classes={
        kind.value: kind.explanation
        for kind in TextClass
        if kind is not TextClass.COMPLIANT
    },
    records=records,
    prompt=prompt,
    scorer=_scorer,
    tables=imported_late("evaluation.suites.coverage.report", "tables"),
    # Its prompt, and every schema read as 2020-12.
    paper={
        "prompt": "sections",
        "shots": 2,
        "dialect": "2020-12",
        "reading": "paper",
    },
    keeps_writing=True,
    scoring_seconds=40.0,
    fallback=partial(_scorer, published=False),
    facts=_facts,
)
