"""The cache slots and captured steps of one model, and their failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

from evaluation.models.abilities import distance, feed_two_texts, tolerated
from evaluation.models.kept_step import SlotCache, SlotRows, StepKind, place_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.models.abilities import CacheAbilities
    from evaluation.models.forward import ForwardPass

#: What computes attention under a mask that is given to it.
_ATTENTION: Final = ("sdpa", "eager")
#: Sizes of batches whose places are kept: that of a batch, and of a text alone.
_SLOT_CACHES: Final = 2


class KeptSteps:
    """The caches of fixed size of one model, made when they are first wanted."""

    def __init__(
        self,
        forward: ForwardPass,
        abilities: CacheAbilities,
        kind: StepKind,
        trial: Sequence[int],
    ) -> None:
        """Look whether the model's steps can be kept: a trial must come out the same.

        Args:
            forward: The model's forward pass.
            abilities: What its cache can be trusted with.
            kind: How steps are to be kept.
            trial: A text of eight tokens or more.
        """
        self._forward = forward
        self._slots: dict[tuple[int, int], SlotCache] = {}
        self._reported: set[str] = set()
        #: Why there are no places of some size.
        self._lacking: list[str] = []
        #: Why steps are not kept although that was asked; empty where they are.
        self.refused = ""
        if kind is not StepKind.NONE:
            why = _why_not(forward, abilities, trial)
            self.refused = f"steps are not kept ({why})" if why else ""
        self.kind = StepKind.NONE if self.refused else kind

    @property
    def warm_up(self) -> str:
        """What was run before any text, so that its times count nowhere."""
        first = "passes over a trial text when the model is loaded"
        if self.kind is StepKind.NONE:
            return first
        return f"{first}; a step of each size before the first text of that size"

    def places(self, texts: int, tokens: int) -> SlotCache | None:
        """Return places for so many texts of so many tokens, warmed up.

        None where no steps are kept, or where there is no memory for the places: then
        caches grow with their texts.
        """
        if self.kind is StepKind.NONE:
            return None
        shape = texts, place_size(tokens)
        slots = self._slots.pop(shape, None)
        if slots is None:
            while len(self._slots) >= _SLOT_CACHES:
                del self._slots[next(iter(self._slots))]
            slots = SlotCache(self._forward, *shape, self.kind)
            try:
                slots.warm_up()
            except torch.OutOfMemoryError:
                size = f"{shape[0]} places of {shape[1]:,} tokens"
                self._lacking.append(f"no memory for {size}")
                return None
        self._slots[shape] = slots
        return slots

    def troubles(self) -> Sequence[str]:
        """Return why steps are not kept although they were to be, each reason once."""
        troubles = [slots.step.trouble for slots in self._slots.values()]
        reasons = dict.fromkeys(filter(None, [*troubles, *self._lacking]))
        new = [reason for reason in reasons if reason not in self._reported]
        self._reported.update(new)
        return [f"CUDA graphs / torch.compile: off ({reason})" for reason in new]

    def forget(self) -> None:
        """Give all memory back."""
        self._slots.clear()


def _why_not(
    forward: ForwardPass, abilities: CacheAbilities, trial: Sequence[int]
) -> str:
    """Return why a model has no steps that can be kept; empty if it has."""
    if not abilities.batch:
        return abilities.why
    attention = str(forward.module.config._attn_implementation)  # noqa: SLF001 - nothing public says it
    if attention not in _ATTENTION:
        return f"attention by {attention} takes no mask"
    try:
        logits, expected = _tried(forward, trial)
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        return f"{type(error).__name__} with a cache of fixed size"
    same = distance(logits, expected) <= tolerated(expected, forward.module.dtype)
    return "" if same else "with a cache of fixed size a text comes out differently"


def _tried(
    forward: ForwardPass, trial: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits of two texts beside each other, and what they should be."""
    rows = SlotRows(SlotCache(forward, 2, place_size(len(trial)), StepKind.NONE))
    first = feed_two_texts(forward, rows, trial)
    second = rows.feed([trial[4:5], trial[5:6]])
    everywhere = forward.everywhere(trial)
    return torch.cat([first, second]), everywhere[[3, 4, 4, 5]]
