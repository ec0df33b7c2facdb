"""A generated text as a row of a run, and back.

A row of the task `coverage` is one text: what the driver's rows say of compile and
ending is said in the same columns, everything else stands in `label`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.core.cases import Result, Row
from evaluation.generation.judgement import Judgement, TextClass, TextVerdict, classify
from evaluation.generation.text_generation import DecodingStep, Generation, TextEnding
from evaluation.results.outcomes import WRITTEN

if TYPE_CHECKING:
    from evaluation.generation.requests import GenerationRequest

#: Members of a generation that stand in columns of its row.
_ROW_COLUMNS: Final = ("id", "result", "detail", "warnings", "compile_ns")
#: What rows of generations have as their task; `efficiency` reads them too.
TASK = "coverage"


class _StepColumns(msgspec.Struct):
    """The steps of a generation, a list for each of their figures."""

    fed: list[int]
    forward_ns: list[int]
    mask_ns: list[int | None]
    wait_ns: list[int | None]
    loop_ns: list[int]

    def steps(self) -> tuple[DecodingStep, ...]:
        return tuple(
            DecodingStep(
                fed=fed, forward_ns=forward, mask_ns=mask, wait_ns=wait, loop_ns=own
            )
            for fed, forward, mask, wait, own in zip(
                self.fed,
                self.forward_ns,
                self.mask_ns,
                self.wait_ns,
                self.loop_ns,
                strict=True,
            )
        )


class _TextLabel(msgspec.Struct):
    """The label of a text's row, but for its generation."""

    subject: str
    sample: int
    budget: int
    written: TextClass = msgspec.field(name=WRITTEN)
    judgement: Judgement | None
    class_in_batch: TextClass | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedText:
    """One generated text with its generation, judgement and class."""

    engine: str
    #: The id of the sample that it was written for, and its config.
    subject: str
    config: str
    #: Which of the texts for this sample it is, from 0.
    sample: int
    budget: int
    generation: Generation
    #: None where there is no text to judge.
    judgement: Judgement | None
    outcome: TextClass
    #: The class of the text that was written beside others where it is another text.
    class_in_batch: TextClass | None = None

    @property
    def declared(self) -> bool:
        """Whether the schema was taken (Definition 5.1 of arXiv 2501.10868).

        It was compiled, and nothing crashed or raised at any time. A deadline that
        passed while the text was written is no refusal; one that passed before shows
        no schema taken. Of a server, whatever is answered shows that it was.
        """
        found = self.generation
        begun = (
            found.compile_ns is not None
            or found.ttft_ns is not None
            or bool(found.reasoning)
        )
        by_model = found.ending in (TextEnding.MODEL, TextEnding.LOGITS)
        if by_model or found.result is Result.TIMEOUT:
            return begun
        return found.result is Result.OK

    @property
    def schema_key(self) -> tuple[str, str]:
        """What texts for the same schema share: they are not independent."""
        return self.config, self.subject

    @property
    def timed(self) -> bool:
        """Whether its times say something: it was written, or a deadline cut it off."""
        return self.generation.generated or self.generation.result is Result.TIMEOUT

    @property
    def compliant(self) -> bool:
        """Whether the text is valid under the record's own dialect."""
        return self.outcome is TextClass.COMPLIANT

    @property
    def compliant_by_listing_10(self) -> bool:
        """Whether the paper's Listing 10 takes it for valid."""
        judgement = self.judgement
        return judgement is not None and judgement.paper is TextVerdict.VALID

    @property
    def compliant_as_published(self) -> bool:
        """Whether the paper's published code takes it for valid."""
        judgement = self.judgement
        return judgement is not None and judgement.published is TextVerdict.VALID


def row_from_generation(  # noqa: PLR0913 - the parts of a row
    generation: Generation,
    request: GenerationRequest,
    *,
    engine: str,
    judgement: Judgement | None,
    fingerprint: str,
    class_in_batch: TextClass | None = None,
) -> Row:
    """Return the row of one text."""
    outcome = classify(generation, judgement)
    sample = request.sample
    figures = asdict(generation)
    steps = figures.pop("steps")
    for name in _ROW_COLUMNS:
        figures.pop(name)
    columns = ("fed", "forward_ns", "mask_ns", "wait_ns", "loop_ns")
    figures["steps"] = {name: [step[name] for step in steps] for name in columns}
    return Row(
        engine=engine,
        task=TASK,
        id=sample.id if not request.repeat else f"{sample.id}#{request.repeat}",
        config=sample.config,
        result=generation.result,
        phase="" if generation.result is Result.OK else _phase(generation),
        detail=generation.detail,
        warnings=generation.warnings,
        compile_ns=generation.compile_ns,
        label={
            "subject": sample.id,
            "sample": request.repeat,
            "budget": request.budget,
            WRITTEN: outcome.value,
            "judgement": None if judgement is None else asdict(judgement),
            "class_in_batch": class_in_batch,
            "generation": figures,
        },
        fingerprint=fingerprint,
    )


def _phase(generation: Generation) -> str:
    return "compile" if generation.compile_ns is None else "generate"


def text_from_row(row: Row) -> GeneratedText:
    """Return the text of a row that `row_from_generation` made.

    Raises:
        KeyError, TypeError, ValueError: the row is not such a one.
    """
    label = msgspec.convert(row.label, _TextLabel)
    figures = row.label["generation"]
    if not isinstance(figures, dict):
        raise TypeError(figures)
    columns = msgspec.convert(figures["steps"], _StepColumns)
    from_row = {name: getattr(row, name) for name in _ROW_COLUMNS}
    generation = msgspec.convert({**figures, "steps": (), **from_row}, Generation)
    return GeneratedText(
        engine=row.engine,
        subject=label.subject,
        config=row.config,
        sample=label.sample,
        budget=label.budget,
        generation=replace(generation, steps=columns.steps()),
        judgement=label.judgement,
        outcome=label.written,
        class_in_batch=label.class_in_batch,
    )
