"""A decoding step captured once and replayed, over slots of a cache.

Captured by CUDA graphs or torch.compile.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import torch
from transformers import Cache, DynamicCache
from transformers.cache_utils import CacheLayerMixin, DynamicLayer

from curation.system.errors import BadConfiguration
from evaluation.models.forward import ForwardPass, cached_tokens
from evaluation.models.hardware import to_device

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Runs of a step before it is captured, as torch asks for.
_WARMING: Final = 3


class StepKind(StrEnum):
    """How a step is kept."""

    NONE = "none"
    """Not at all; every cache grows with its text."""
    GRAPHS = "graphs"
    """Captured as a CUDA graph."""
    COMPILE = "compile"
    """Compiled by `torch.compile`, and on a GPU captured as well."""


def choose_step_kind(kind: str, device: torch.device) -> StepKind:
    """Return how steps are kept: `auto` is graphs on a GPU, and none elsewhere.

    Raises:
        BadConfiguration: there is no such kind, or none on this device.
    """
    if kind == "auto":
        return StepKind.GRAPHS if device.type == "cuda" else StepKind.NONE
    if kind not in set(StepKind):
        message = f"--set compile={kind}: no such kind; say auto, {', '.join(StepKind)}"
        raise BadConfiguration(message)
    if kind == StepKind.GRAPHS and device.type != "cuda":
        raise BadConfiguration(
            f"--set compile=graphs: it needs a CUDA device, not {device}",
            then="use --set compile=none, or compile=compile",
        )
    return StepKind(kind)


class KeptStep:
    """Runs a step again and again over the same memory."""

    def __init__(
        self, kind: StepKind, device: torch.device, step: Callable[[], torch.Tensor]
    ) -> None:
        """Prepare; the step is compiled and captured when it is first run.

        Args:
            kind: How it is kept.
            device: Where it runs.
            step: Reads memory that does not move, and returns logits; to do it twice
                is to do it once.
        """
        self._plain = step
        self._step: Callable[[], torch.Tensor] = step
        if kind is StepKind.COMPILE:
            self._step = torch.compile(step, dynamic=False)
        self._is_captured = kind is not StepKind.NONE and device.type == "cuda"
        self._is_first = kind is not StepKind.NONE
        self._graph: torch.cuda.CUDAGraph | None = None
        self._output: torch.Tensor | None = None
        #: Why it is not kept although that was asked; empty where it is.
        self.trouble = ""

    @property
    def is_captured(self) -> bool:
        """Whether it is launched at once, and goes on behind the processor's back."""
        return self._graph is not None

    def run(self) -> torch.Tensor:
        """Run the step; what is returned holds until the next run.

        Raises:
            Exception: what a model's code may raise.
        """
        if self._is_first:
            self._is_first = False
            return self._first()
        if self._graph is not None and self._output is not None:
            self._graph.replay()
            return self._output
        return self._step()

    def _first(self) -> torch.Tensor:
        """Compile and capture; where that fails, go on without."""
        try:
            if self._is_captured:
                # One that fails leaves its own stream behind as the present one.
                with torch.cuda.stream(torch.cuda.current_stream()):
                    self._capture()
            return self._step()
        except torch.OutOfMemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - compilers and captures raise anything
            message = (str(error).strip() or type(error).__name__).splitlines()[0]
            self.trouble = f"{type(error).__name__}: {message[:200]}"
            self._step, self._graph = self._plain, None
            return self._plain()

    def _capture(self) -> None:
        """Run the step as often as torch asks for, and capture it."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch's own
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARMING):
                self._step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._output = self._step()
        self._graph = graph


#: Tokens of the smallest place. Others are this times a power of two, so that texts of
#: about one length have the same sums, and share what was captured.
_SMALLEST: Final = 512


def place_size(tokens: int) -> int:
    """Return the tokens of a place that holds so many, and one beyond them."""
    size = _SMALLEST
    while size <= tokens:
        size *= 2
    return size


class _Positions:
    """Where in its place each text has the tokens that are read now."""

    def __init__(self, slots: int, device: torch.device) -> None:
        #: Shape (places, tokens of the pass).
        self.now = torch.zeros((slots, 1), dtype=torch.long, device=device)
        self.rows = torch.arange(slots, device=device)[:, None]


class _SlotLayer(CacheLayerMixin):
    """Keys and values of one layer, of shape (places, heads, tokens, size)."""

    def __init__(self, slots: int, length: int, positions: _Positions) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's own lack
        self._slots, self._length = slots, length
        self._positions = positions

    def lazy_initialization(
        self, key_states: torch.Tensor, value_states: torch.Tensor
    ) -> None:
        """Take the memory; the first keys and values say of which heads and type."""

        def empty(like: torch.Tensor) -> torch.Tensor:
            heads, size = like.shape[1], like.shape[3]
            return like.new_zeros((self._slots, heads, self._length, size))

        self.keys, self.values = empty(key_states), empty(value_states)
        self.is_initialized = True

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *_args: object,
        **_named: object,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write new keys and values where they belong; return all places.

        Raises:
            TypeError: there is no memory.
        """
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        keys, values = cached_tokens(self)
        rows, now = self._positions.rows, self._positions.now
        keys[rows, :, now] = key_states.transpose(1, 2)
        values[rows, :, now] = value_states.transpose(1, 2)
        return keys, values

    def write(self, slot: int, layer: DynamicLayer) -> None:
        """Copy what another layer holds of one text to the beginning of a place.

        Raises:
            TypeError: it holds nothing.
        """
        new_keys, new_values = cached_tokens(layer)
        if not self.is_initialized:
            self.lazy_initialization(new_keys, new_values)
        keys, values = cached_tokens(self)
        length = new_keys.shape[2]
        keys[slot, :, :length] = new_keys[0]
        values[slot, :, :length] = new_values[0]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the tokens that are looked at, and at which they begin."""
        del query_length
        return self._length, 0

    def get_seq_length(self) -> int:
        """Return 0: each text has a length of its own, and positions are told."""
        return 0

    def get_max_length(self) -> int:
        """Return the tokens of a place."""
        return self._length


class SlotCache:
    """Places for texts, and the passes over all of them at once."""

    def __init__(
        self, forward: ForwardPass, slots: int, length: int, kind: StepKind
    ) -> None:
        """Prepare; the memory is taken by `warm_up`, or when the first text comes.

        Args:
            forward: The model's forward pass.
            slots: How many texts there may be.
            length: Tokens of a place; `place_size` says which sizes there are.
            kind: How the step of one token a text is kept.
        """
        self._forward = forward
        self.slots, self.length = slots, length
        device = forward.device
        self._positions = _Positions(slots, device)
        self._columns = torch.arange(length, device=device)
        count = len(DynamicCache(config=forward.module.config).layers)
        self._layers = [
            _SlotLayer(slots, length, self._positions) for _ in range(count)
        ]
        self._cache = Cache(layers=list(self._layers))
        self._tokens = torch.zeros((slots, 1), dtype=torch.long, device=device)
        #: A pass over one token of each text.
        self.step = KeptStep(kind, device, self._one_token)

    @torch.inference_mode()
    def warm_up(self) -> None:
        """Allocate, compile and capture before the first text.

        What the step writes is overwritten by the texts.
        """
        self._pass(self._tokens, keep=1)
        self.step.run()

    @torch.inference_mode()
    def write(self, slot: int, cache: DynamicCache) -> None:
        """Copy a text's keys and values to the beginning of a place."""
        dynamic = [layer for layer in cache.layers if isinstance(layer, DynamicLayer)]
        for own, new in zip(self._layers, dynamic, strict=True):
            own.write(slot, new)

    @torch.inference_mode()
    def read(
        self, tokens: Sequence[Sequence[int]], starts: Sequence[int]
    ) -> torch.Tensor:
        """Read tokens of every place; return the logits after the last of each.

        Args:
            tokens: Of each place; those of one that has no more to read may be empty,
                and what is returned for it has no meaning.
            starts: The tokens that each holds already.

        Returns:
            float32, shape (places, vocabulary); it holds until the next reading.
        """
        width = max(map(len, tokens))
        device = self._forward.device
        rows = [[*row, *[0] * (width - len(row))] for row in tokens]
        # What is beyond a text is written beyond it, and its text writes over it.
        last = self.length - 1
        places = [
            [min(start + token, last) for token in range(width)] for start in starts
        ]
        now = to_device(torch.tensor(places), device)
        fed = to_device(torch.tensor(rows), device)
        if width == 1:
            self._tokens.copy_(fed)
            self._positions.now.copy_(now)
            return self.step.run()
        positions, self._positions.now = self._positions.now, now
        try:
            logits = self._pass(fed, keep=0)
        finally:
            self._positions.now = positions
        ends = to_device(torch.tensor([max(len(row), 1) - 1 for row in tokens]), device)
        return logits[self._positions.rows[:, 0], ends].float()

    def _one_token(self) -> torch.Tensor:
        return self._pass(self._tokens, keep=1)[:, -1].float()

    def _pass(self, tokens: torch.Tensor, keep: int) -> torch.Tensor:
        """Return the logits of a pass, shape (places, tokens, vocabulary)."""
        now = self._positions.now
        visible = self._columns[None, None, None, :] <= now[:, None, :, None]
        return self._forward.over_places(tokens, self._cache, now, visible, keep)


class SlotRows:
    """Texts that share every pass over places of their own."""

    def __init__(self, cache: SlotCache) -> None:
        """Begin with no text."""
        self._cache = cache
        self._free = list(range(cache.slots))
        #: The place of each row, and the tokens that each place holds.
        self._slots: list[int] = []
        self._lengths = [0] * cache.slots

    @property
    def is_kept(self) -> bool:
        """Whether a step of one token a text is handed over at once."""
        return self._cache.step.is_captured

    def admit(self, cache: DynamicCache) -> None:
        """Take in a text by the cache that holds its prompt."""
        slot = self._free[0]
        self._cache.write(slot, cache)
        del self._free[0]
        self._lengths[slot] = cache.get_seq_length()
        self._slots.append(slot)

    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run one forward pass; see `evaluation.models.base.Decoding`."""
        tokens: list[Sequence[int]] = [()] * self._cache.slots
        for slot, row in zip(self._slots, rows, strict=True):
            tokens[slot] = row
        logits = self._cache.read(tokens, self._lengths)
        for slot, row in zip(self._slots, rows, strict=True):
            self._lengths[slot] += len(row)
        if self._slots == list(range(self._cache.slots)):
            return logits
        return logits[to_device(torch.tensor(self._slots), logits.device)]

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these texts only; the places of others are free."""
        going = [self._slots[row] for row in rows]
        for slot in self._slots:
            if slot not in going:
                self._free.append(slot)
                self._lengths[slot] = 0
        self._slots = going
