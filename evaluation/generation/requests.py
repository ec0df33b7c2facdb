"""What a model is asked for: one text for a sample, with prompt, budget and seed."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.cases import Sample
    from evaluation.core.messages import Message
    from evaluation.generation.text_generation import Generation
    from evaluation.prompts import Template, WorkedExample

#: Tokens of a text whose schema has no witness.
UNKNOWN_BUDGET: Final = 512
_SPARE: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One text that a model is asked for."""

    #: The schema that the text is to satisfy.
    sample: Sample
    #: The conversation that asks for it.
    messages: tuple[Message, ...]
    #: Most tokens of the text.
    budget: int
    #: Which of the texts for this sample it is, from 0.
    repeat: int = 0
    #: Seed of the draw, where the temperature is not 0.
    seed: int = 0
    #: 0 is greedy decoding.
    temperature: float = 0.0


class TextWriter(Protocol):
    """What writes texts: a model here under an engine, or one behind a server.

    Example:
        >>> writer = LocalWriter(model, engine, tokenizer, LoopOptions())
        >>> (generation,) = writer.write([request])
        >>> generation.text
        '{"depth": 3}'
    """

    @property
    def label(self) -> str:
        """Its name in rows and tables."""

    @property
    def identity(self) -> str:
        """Fingerprint of everything about it that decides its texts."""

    def write(
        self,
        requests: Sequence[GenerationRequest],
        ended: Callable[[int, Generation], None] = ...,
    ) -> Sequence[Generation]:
        """Write texts; return what came of each request, in order.

        Args:
            requests: The texts that are wanted.
            ended: Called as soon as a text has ended, with its place among the
                requests.
        """

    def close(self) -> None:
        """End its processes and connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBuilder:
    """How a sample becomes requests; all of it is part of a run's header."""

    template: Template
    shots: tuple[WorkedExample, ...]
    #: Counts the tokens of a text, by the model's tokenizer.
    count: Callable[[str], int]
    #: Texts for each sample.
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    #: Tokens for every text; None: from the schema's own witnesses.
    budget: int | None = None

    def requests(self, sample: Sample) -> tuple[GenerationRequest, ...]:
        """Return the requests for one sample, `samples` of them."""
        messages = self.template.fill(sample.schema, self.shots)
        budget = self.budget_for(sample)
        return tuple(
            GenerationRequest(
                sample=sample,
                messages=messages,
                budget=budget,
                repeat=repeat,
                seed=_seed(self.seed, sample, repeat),
                temperature=self.temperature,
            )
            for repeat in range(self.samples)
        )

    def budget_for(self, sample: Sample) -> int:
        """Return the most tokens that a text for a sample may have.

        Twice what the schema's longest witness needs, and a few to spare: a text that
        is longer is not on the way to its end. `UNKNOWN_BUDGET` where there is no
        witness.
        """
        if self.budget is not None:
            return self.budget
        witnesses = [instance.text for instance in sample.instances if instance.valid]
        if not witnesses:
            return UNKNOWN_BUDGET
        return 2 * max(map(self.count, witnesses)) + _SPARE

    def header(self) -> Mapping[str, Json]:
        """Return its entry in a run's header."""
        return {
            "prompt": self.template.name,
            "prompt_text": self.template.text,
            "shots": [[shot.schema, shot.output] for shot in self.shots],
            "samples": self.samples,
            "temperature": self.temperature,
            "seed": self.seed,
            "budget": self.budget,
        }


def _seed(seed: int, sample: Sample, repeat: int) -> int:
    named = f"{seed} {sample.config} {sample.id} {repeat}".encode()
    return int.from_bytes(sha256(named).digest()[:6], "big")
