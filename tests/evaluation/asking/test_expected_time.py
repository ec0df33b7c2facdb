"""How long writing takes is said before it begins."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest
import torch

from evaluation.asking.writers import seconds_a_text
from evaluation.models.base import (
    NO_WORK,
    ChosenToken,
    ChosenTokens,
    FedPass,
    Prefill,
    RowLogits,
    TokenQuestion,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from evaluation.core.records import Message
    from evaluation.models.base import LanguageModel


@dataclass
class _Slow:
    """A model whose prompts have 10 tokens; a clock counts its passes."""

    clock: float = 0.0
    fed: list[int] = field(default_factory=list)

    def prompt(self, _messages: Sequence[Message]) -> tuple[int, ...]:
        return tuple(range(10))

    def open(self) -> Self:
        return self

    def admit(self, prompt: Sequence[int]) -> Prefill:
        self.clock += 0.1 * len(prompt)
        logits = RowLogits(of=torch.tensor([[0.0, 1.0]]))
        return Prefill(logits=logits, reused=0, work=NO_WORK)

    def feed(self, rows: Sequence[Sequence[int]]) -> FedPass:
        self.clock += 2.0
        self.fed += rows[0]
        return FedPass(logits=torch.tensor([[0.0, 1.0]]), work=NO_WORK)

    def choose(self, asked: Sequence[TokenQuestion]) -> ChosenTokens:
        chosen = [int(one.logits.tensor().argmax()) for one in asked]
        tokens = [ChosenToken(token=token, best=1.0) for token in chosen]
        return ChosenTokens(tokens=tokens, work=NO_WORK)


def test_a_text_takes_its_prompt_and_its_whole_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One second for the prompt, two for each of thirty tokens."""
    model = _Slow()
    monkeypatch.setattr(time, "perf_counter", lambda: model.clock)
    asked = cast("LanguageModel", model)
    seconds = seconds_a_text(asked, [((), 20), ((), 40)])
    assert seconds == pytest.approx(1 + 30 * 2)
    assert set(model.fed) == {1}
    assert seconds_a_text(asked, []) == 0
