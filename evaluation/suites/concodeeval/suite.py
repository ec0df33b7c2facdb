"""ConCodeEval, as `csbdata suite` runs it."""

from __future__ import annotations

from curation.system.registry import imported_late
from evaluation.core.suite import Suite
from evaluation.suites.concodeeval.settings import (
    AnswerClass,
    ConcodeSettings,
)

SUITE = Suite(
    name="concodeeval",
    summary="Does a model understand a schema written five ways?",
    settings=ConcodeSettings,
    classes={kind.value: kind.explanation for kind in AnswerClass},
    records=imported_late("evaluation.suites.concodeeval.records", "records"),
    prompt=imported_late("evaluation.suites.concodeeval.prompts", "prompt"),
    scorer=imported_late("evaluation.suites.concodeeval.scorer", "concode_scorer"),
    tables=imported_late("evaluation.suites.concodeeval.report", "tables"),
    generate=imported_late("evaluation.suites.concodeeval.records", "generate"),
    paper={"reading": "paper", "form": "base", "verdict_budget": 20},
)
