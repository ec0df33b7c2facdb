"""The cache slots and captured steps of one model, and their failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

from evaluation.models.kept_step import FORCED_WIDTHS, SlotCache, StepKind, place_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.models.abilities import CacheAbilities
    from evaluation.models.forward import ForwardPass

#: Sizes of batches whose places are kept: that of a batch, and of a text alone.
_SLOT_CACHES: Final = 2


class KeptSteps:
    """The caches of fixed size of one model, made when they are first wanted."""

    def __init__(
        self, forward: ForwardPass, abilities: CacheAbilities, kind: StepKind
    ) -> None:
        """Keep steps where texts can share passes.

        Args:
            forward: The model's forward pass.
            abilities: What its cache can be trusted with.
            kind: How steps are to be kept.
        """
        self._forward = forward
        self._slots: dict[tuple[int, int, bool], SlotCache] = {}
        self._reported: set[str] = set()
        #: Why there are no places of some size.
        self._lacking: list[str] = []
        self.kind = kind if abilities.batch else StepKind.NONE

    @property
    def warm_up(self) -> str:
        """What was run before any text, so that its times count nowhere."""
        first = "passes over a trial text when the model is loaded"
        if self.kind is StepKind.NONE:
            return first
        return f"{first}; a step of each size before the first text of that size"

    def places(self, texts: int, tokens: int | None, *, forced: bool) -> SlotCache:
        """Return places for so many texts of so many tokens, warmed up.

        They grow with their texts where no steps are kept, where it is not known how
        long texts become, or where there is no memory for all at once.
        """
        if self.kind is StepKind.NONE or tokens is None:
            return SlotCache(self._forward, texts, place_size(0), StepKind.NONE)
        shape = texts, place_size(tokens), forced
        slots = self._slots.pop(shape, None)
        if slots is None:
            while len(self._slots) >= _SLOT_CACHES:
                del self._slots[next(iter(self._slots))]
            widths = FORCED_WIDTHS if forced else FORCED_WIDTHS[:1]
            slots = SlotCache(self._forward, *shape[:2], self.kind, widths)
            try:
                slots.warm_up()
            except torch.OutOfMemoryError:
                size = f"{shape[0]} places of {shape[1]:,} tokens"
                self._lacking.append(f"no memory for {size}")
                return SlotCache(self._forward, texts, place_size(0), StepKind.NONE)
        self._slots[shape] = slots
        return slots

    def troubles(self) -> Sequence[str]:
        """Return why steps are not kept although they were to be, each reason once."""
        found = [each for slots in self._slots.values() for each in slots.troubles]
        reasons = dict.fromkeys([*found, *self._lacking])
        new = [reason for reason in reasons if reason not in self._reported]
        self._reported.update(new)
        return [f"CUDA graphs / torch.compile: off ({reason})" for reason in new]

    def forget(self) -> None:
        """Give all memory back."""
        self._slots.clear()
