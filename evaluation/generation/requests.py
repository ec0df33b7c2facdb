"""What is asked of whoever writes: subject, prompt, budget, seed."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Sample
    from evaluation.generation.text_generation import Generation
    from evaluation.models.base import Message
    from evaluation.prompts import Template, WorkedExample

#: Tokens of a text whose schema has no witness.
UNKNOWN_BUDGET: Final = 512
_SPARE: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One text to write."""

    subject: Sample
    messages: tuple[Message, ...]
    #: Most tokens of the text.
    budget: int
    #: Number of this sample of the subject, from 0.
    sample: int = 0
    seed: int = 0
    temperature: float = 0.0


class TextWriter(Protocol):
    """Whoever writes texts: a model here under an engine, or one behind a server."""

    @property
    def label(self) -> str:
        """Return what rows and tables call it."""

    @property
    def identity(self) -> str:
        """Return the fingerprint of everything about it that decides its texts."""

    def write(self, asked: Sequence[GenerationRequest]) -> Sequence[Generation]:
        """Write a batch of texts; one outcome each, in order."""

    def close(self) -> None:
        """Let go of processes and connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBuilder:
    """How a subject becomes what is asked; all of it part of a run's header."""

    template: Template
    shots: tuple[WorkedExample, ...]
    #: Tokens of a text, by the model's tokenizer.
    count: Callable[[str], int]
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    #: Tokens for every text; None: from the schema's own witnesses.
    budget: int | None = None

    def asked(self, subject: Sample) -> tuple[GenerationRequest, ...]:
        """Return what is asked for one subject, one for each sample."""
        messages = self.template.filled(subject.schema, self.shots)
        budget = self.budget_of(subject)
        return tuple(
            GenerationRequest(
                subject=subject,
                messages=messages,
                budget=budget,
                sample=sample,
                seed=_seed(self.seed, subject, sample),
                temperature=self.temperature,
            )
            for sample in range(self.samples)
        )

    def budget_of(self, subject: Sample) -> int:
        """Return the tokens that a text may have.

        Twice what the schema's longest witness needs and a few to spare: who needs
        more is not on the way to an end. `UNKNOWN_BUDGET` where there is no witness.
        """
        if self.budget is not None:
            return self.budget
        witnesses = [each.text for each in subject.instances if each.valid]
        if not witnesses:
            return UNKNOWN_BUDGET
        return 2 * max(map(self.count, witnesses)) + _SPARE

    def header(self) -> Mapping[str, UntypedJson]:
        """Return what a run's header says of it."""
        return {
            "prompt": self.template.name,
            "prompt_text": self.template.text,
            "shots": [[each.schema, each.output] for each in self.shots],
            "samples": self.samples,
            "temperature": self.temperature,
            "seed": self.seed,
            "budget": self.budget,
        }


def _seed(seed: int, subject: Sample, sample: int) -> int:
    named = f"{seed} {subject.config} {subject.id} {sample}".encode()
    return int.from_bytes(sha256(named).digest()[:6], "big")
