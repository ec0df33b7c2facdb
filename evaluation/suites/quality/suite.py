"""The suite `quality`."""

from __future__ import annotations

from typing import Final

from evaluation.core.suite import Suite
from evaluation.suites.quality.known_answers import known_answers
from evaluation.suites.quality.prompting import quality_prompt
from evaluation.suites.quality.records import own_records, quality_records
from evaluation.suites.quality.report import quality_report
from evaluation.suites.quality.scoring import CLASSES, quality_scorer
from evaluation.suites.quality.settings import QualitySettings, as_paper

SUITE: Final = Suite(
    name="quality",
    summary="Right answers with and without a constraint: Last Letter, Shuffle "
    "Objects and GSM8K, as section 6 of the JSONSchemaBench paper.",
    settings=QualitySettings,
    classes=CLASSES,
    records=quality_records,
    prompt=quality_prompt,
    scorer=quality_scorer,
    report=quality_report,
    known_answers=known_answers,
    generate=own_records,
    paper=as_paper,
)
