"""A generation as a row of a run, and back.

A row of the task `coverage` is one text: what the driver's rows say of compile and
ending is said in the same columns, everything else stands in `label`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evaluation.core.cases import Result, Row
from evaluation.generation.judgement import Judgement, TextClass, TextVerdict, classify
from evaluation.generation.text_generation import DecodingStep, Generation, TextEnding
from evaluation.results.outcomes import WRITTEN

if TYPE_CHECKING:
    from evaluation.core.cases import Sample

#: What rows of generations have as their task; `efficiency` reads them too.
TASK = "coverage"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedText:
    """One generated text with everything that is known of it."""

    engine: str
    #: The record that was asked for, and its config.
    subject: str
    config: str
    sample: int
    budget: int
    generation: Generation
    #: None where there is no text to judge.
    judgement: Judgement | None
    outcome: TextClass

    @property
    def declared(self) -> bool:
        """Whether the engine took the schema (Definition 5.1 of the paper)."""
        return self.generation.compile_ns is not None or (
            self.generation.ending not in {TextEnding.ENGINE, TextEnding.PROMPT}
        )

    @property
    def compliant(self) -> bool:
        """Whether the text is valid under the record's own dialect."""
        return self.outcome is TextClass.COMPLIANT

    @property
    def compliant_as_paper(self) -> bool:
        """Whether it is valid under 2020-12, as the paper counted (section 5.1)."""
        judged = self.judgement
        return judged is not None and judged.paper is TextVerdict.VALID


def row_from_generation(  # noqa: PLR0913 (what a row is made of)
    generation: Generation,
    *,
    engine: str,
    subject: Sample,
    sample: int,
    budget: int,
    judgement: Judgement | None,
    fingerprint: str,
) -> Row:
    """Return the row of one text."""
    outcome = classify(generation, judgement)
    told = asdict(generation)
    steps = told.pop("steps")
    for name in ("id", "result", "detail", "warnings", "compile_ns"):
        told.pop(name)
    columns = ("fed", "forward_ns", "mask_ns", "wait_ns")
    told["steps"] = {name: [step[name] for step in steps] for name in columns}
    return Row(
        engine=engine,
        task=TASK,
        id=subject.id if not sample else f"{subject.id}#{sample}",
        config=subject.config,
        result=generation.result,
        phase="" if generation.result is Result.OK else _phase(generation),
        detail=generation.detail,
        warnings=generation.warnings,
        compile_ns=generation.compile_ns,
        label={
            "subject": subject.id,
            "sample": sample,
            "budget": budget,
            WRITTEN: outcome.value,
            "judgement": None if judgement is None else asdict(judgement),
            "generation": told,
        },
        fingerprint=fingerprint,
    )


def _phase(generation: Generation) -> str:
    return "compile" if generation.compile_ns is None else "generate"


def text_from_row(row: Row) -> GeneratedText:
    """Return what `row_from_generation` made a row of.

    Raises:
        KeyError, TypeError, ValueError: the row is not such a one.
    """
    label: dict[str, Any] = dict(row.label)
    told = dict(label["generation"])
    columns = told.pop("steps")
    steps = tuple(
        DecodingStep(fed=fed, forward_ns=forward, mask_ns=mask, wait_ns=wait)
        for fed, forward, mask, wait in zip(
            columns["fed"],
            columns["forward_ns"],
            columns["mask_ns"],
            columns["wait_ns"],
            strict=True,
        )
    )
    told["ending"] = TextEnding(told["ending"])
    told["tokens"], told["edits"] = tuple(told["tokens"]), tuple(told["edits"])
    generation = Generation(
        id=row.id,
        result=row.result,
        detail=row.detail,
        warnings=row.warnings,
        compile_ns=row.compile_ns,
        steps=steps,
        **told,
    )
    judged = label["judgement"]
    return GeneratedText(
        engine=row.engine,
        subject=str(label["subject"]),
        config=row.config,
        sample=int(label["sample"]),
        budget=int(label["budget"]),
        generation=generation,
        judgement=None if judged is None else _judgement(judged),
        outcome=TextClass(label[WRITTEN]),
    )


def _judgement(told: dict[str, Any]) -> Judgement:
    verdicts: dict[str, Any] = {
        name: told[name] and TextVerdict(told[name])
        for name in ("own", "paper", "adapted")
    }
    return Judgement(**{**told, **verdicts})
