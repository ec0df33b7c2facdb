"""The generated texts of a run, by participant and config, for reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from curation.core.benchmark import in_benchmark_order
from evaluation.core.cases import Result
from evaluation.core.suite import SCORING_CLASSES, ScoredResponse, ScoredRun
from evaluation.generation.text_generation import (
    Generation,
    TextEnding,
)
from evaluation.setup.engine_files import UNCONSTRAINED
from evaluation.suites.coverage.scorer import Judgement, TextClass, TextVerdict

if TYPE_CHECKING:
    from evaluation.core.records import Verdict

#: The line over all configs.
ALL: Final = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedText:
    """A scored response of suite coverage, with how its text was written."""

    scored: ScoredResponse
    generation: Generation
    #: None without a text to judge.
    judgement: Judgement | None
    outcome: TextClass

    @property
    def declared(self) -> bool:
        """Whether the schema was taken (Definition 5.1 of arXiv 2501.10868).

        It was compiled, and nothing crashed or raised at any time. A deadline that
        passed while the text was written is not a refusal; one that passed before shows
        no schema taken. From a server, any answer shows that it was, and
        silence shows nothing (`is_declaration_known`).
        """
        generation = self.generation
        begun = (
            generation.compile_ns is not None
            or generation.ttft_ns is not None
            or bool(generation.reasoning)
        )
        by_model = generation.ending in (TextEnding.MODEL, TextEnding.LOGITS)
        if by_model or generation.result is Result.TIMEOUT:
            return begun
        return generation.result is Result.OK

    @property
    def is_declaration_known(self) -> bool:
        """Whether anything shows that the schema was taken, or that it was not.

        Nothing does if no byte of a server's answer came in time.
        """
        late = self.generation.result is Result.TIMEOUT
        return self.declared or self.generation.pieces is None or not late

    @property
    def schema_key(self) -> tuple[str, str]:
        """What texts for the same schema share: they are not independent."""
        return self.scored.group, self.scored.record

    @property
    def timed(self) -> bool:
        """Whether its times are valid: it was written, or a deadline cut it off."""
        return self.generation.generated or self.generation.result is Result.TIMEOUT

    @property
    def compliant(self) -> bool:
        """Whether the text is valid under the record's own dialect."""
        return self.outcome is TextClass.COMPLIANT

    def accepted_by(self, reading: str) -> bool:
        """Whether it is valid by a reading: a field of `Judgement`."""
        return getattr(self.judgement, reading, None) is TextVerdict.VALID


def to_text(scored: ScoredResponse) -> GeneratedText:
    """Return the text of a scored response of suite coverage.

    Raises:
        TypeError, ValueError: it is of another suite.
    """
    if scored.writing is None:
        raise TypeError(scored)
    verdict = scored.verdict
    return GeneratedText(
        scored=scored,
        generation=msgspec.convert(scored.writing, Generation),
        judgement=read_judgement(verdict),
        outcome=name_class(verdict),
    )


def read_judgement(verdict: Verdict) -> Judgement | None:
    """Return the readings of a text; None without a text to judge."""
    if verdict.failure_class in SCORING_CLASSES:
        undecided = TextVerdict.UNDECIDED
        return Judgement(
            is_json=True, own=undecided, paper=undecided, published=undecided
        )
    return msgspec.convert(verdict.details.get("judgement"), Judgement | None)


def name_class(verdict: Verdict) -> TextClass:
    """Return the class of a text; scoring that failed leaves it undecided."""
    if verdict.passed:
        return TextClass.COMPLIANT
    if verdict.failure_class in SCORING_CLASSES:
        return TextClass.UNDECIDED
    return TextClass(verdict.failure_class)


def texts_by_engine(run: ScoredRun) -> dict[str, list[GeneratedText]]:
    """Return every participant's texts, in the order of the header."""
    return {
        label: [*map(to_text, responses)] for label, responses in run.by_label.items()
    }


def configs_of_texts(sides: Mapping[str, Sequence[GeneratedText]]) -> list[str]:
    """Return the configs of all engines, in the benchmark's order, and `all`."""
    names = {text.scored.group for side in sides.values() for text in side}
    ordered = list(in_benchmark_order(names))
    return [*ordered, ALL] if len(ordered) > 1 else ordered


def is_unconstrained(engine: str) -> bool:
    """Return whether a participant's label is the unconstrained model's."""
    return engine.partition(" ")[0] == UNCONSTRAINED


class CommonTexts(NamedTuple):
    """The texts for the samples that every participant has one for."""

    #: By participant; each list has the same samples in the same order.
    sides: Mapping[str, Sequence[GeneratedText]]
    #: Participants that have no text at all: they would leave nothing for the others.
    left_out: tuple[str, ...]


def on_common_samples(sides: Mapping[str, Sequence[GeneratedText]]) -> CommonTexts:
    """Return each participant's texts for the samples that all have one for.

    The paper compares times on the intersection of covered instances (its section
    4.1): an engine that only takes easy schemas looks no faster for it. What a
    deadline cut off is a text whose times are lower bounds.
    """
    timed = {
        engine: {text_key(text): text for text in side if text.timed}
        for engine, side in sides.items()
    }
    taking_part = {engine: texts for engine, texts in timed.items() if texts}
    common = set.intersection(*map(set, taking_part.values())) if taking_part else set()
    return CommonTexts(
        sides={
            engine: [texts[key] for key in sorted(common)]
            for engine, texts in taking_part.items()
        },
        left_out=tuple(engine for engine, texts in timed.items() if not texts),
    )


def text_key(text: GeneratedText) -> tuple[str, str, int]:
    """Return what texts of different participants for the same request share."""
    return *text.schema_key, text.scored.repeat


def texts_of_config(
    texts: Iterable[GeneratedText], config: str
) -> Iterator[GeneratedText]:
    """Yield the texts of one config, or of all."""
    return (text for text in texts if config in (ALL, text.scored.group))
