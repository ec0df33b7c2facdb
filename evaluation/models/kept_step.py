"""A decoding step captured once and replayed, over slots of a cache.

Captured by CUDA graphs or torch.compile.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import torch
from transformers import Cache, DynamicCache
from transformers.cache_utils import CacheLayerMixin, DynamicLayer

from curation.system.errors import BadConfiguration, BadUsage
from evaluation.models.forward import ForwardPass, cached_tokens, grouped_queries
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
        raise BadUsage(message)
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
#: about one length share what was captured.
_SMALLEST: Final = 512
#: Of a place so many tokens are read, or a multiple of them: enough for its texts.
_READ: Final = 256
#: Into at most so many lengths that are read a place is cut.
_CUTS: Final = 8
#: Tokens a text of the steps that are captured where tokens may be forced.
FORCED_WIDTHS: Final = (1, 2, 4, 8)


def place_size(tokens: int) -> int:
    """Return the tokens of a place that holds so many, and one beyond them."""
    size = _SMALLEST
    while size <= tokens:
        size *= 2
    return size


class _Read:
    """What the present pass reads: of which texts, and where in their places."""

    def __init__(self) -> None:
        #: Where each text has the tokens that are read now, of shape (texts, tokens).
        self.now = torch.zeros((0, 1), dtype=torch.long)
        #: Texts by number, of shape (texts, 1).
        self.rows = self.now
        #: Tokens that are looked at of each place, from its beginning.
        self.length = 0


class _SlotLayer(CacheLayerMixin):
    """Keys and values of one layer, of shape (places, heads, tokens, size)."""

    def __init__(self, read: _Read) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's own lack
        self._read = read
        #: Places, and the tokens of each.
        self.size = 0, 0

    def lazy_initialization(
        self, key_states: torch.Tensor, value_states: torch.Tensor
    ) -> None:
        """Take the memory; the first keys and values say of which heads and type."""
        self.keys, self.values = self._grown(key_states), self._grown(value_states)
        self.is_initialized = True

    def _grown(
        self, like: torch.Tensor, held: torch.Tensor | None = None
    ) -> torch.Tensor:
        slots, length = self.size
        new = like.new_zeros((slots, like.shape[1], length, like.shape[3]))
        if held is not None:
            new[: held.shape[0], :, : held.shape[2]] = held
        return new

    def resize(self, slots: int, length: int) -> None:
        """Take more memory, and keep what is held."""
        self.size = slots, length
        if self.is_initialized:
            keys, values = cached_tokens(self)
            self.keys, self.values = (
                self._grown(keys, keys),
                self._grown(values, values),
            )

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *_args: object,
        **_named: object,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write new keys and values where they belong; return what is looked at."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        keys, values = cached_tokens(self)
        rows, now, length = self._read.rows, self._read.now, self._read.length
        keys[rows, :, now] = key_states.transpose(1, 2)
        values[rows, :, now] = value_states.transpose(1, 2)
        texts = now.shape[0]
        return keys[:texts, :, :length], values[:texts, :, :length]

    def write(self, slot: int, layer: DynamicLayer) -> None:
        """Copy what another layer holds of one text to the beginning of a place."""
        new_keys, new_values = cached_tokens(layer)
        if not self.is_initialized:
            self.lazy_initialization(new_keys, new_values)
        keys, values = cached_tokens(self)
        length = new_keys.shape[2]
        keys[slot, :, :length] = new_keys[0]
        values[slot, :, :length] = new_values[0]

    def move(self, slot: int, target: int, length: int) -> None:
        """Copy what one place holds to another."""
        for held in cached_tokens(self):
            held[target, :, :length] = held[slot, :, :length]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the tokens that are looked at, and at which they begin."""
        del query_length
        return self._read.length, 0

    def get_seq_length(self) -> int:
        """Return 0: each text has a length of its own, and positions are told."""
        return 0

    def get_max_length(self) -> int:
        """Return the tokens of a place."""
        return self.size[1]


class SlotCache:
    """Places for texts, and the passes over all of them at once.

    Steps that are kept are over all places, and read a length out of few; others are
    over the places that are taken, and read what is there.
    """

    def __init__(
        self,
        forward: ForwardPass,
        slots: int,
        length: int,
        kind: StepKind,
        widths: Sequence[int] = (1,),
    ) -> None:
        """Prepare; the memory is taken by `warm_up`, or when the first text comes.

        Args:
            forward: The model's forward pass.
            slots: How many texts there may be; more come where steps are not kept.
            length: Tokens of a place; `place_size` says which sizes there are.
            kind: How steps are kept.
            widths: For how many tokens a text they are kept.
        """
        self._forward = forward
        self._kind = kind
        self._read = _Read()
        count = len(DynamicCache(config=forward.module.config).layers)
        self._layers = [_SlotLayer(self._read) for _ in range(count)]
        self._cache = Cache(layers=list(self._layers))
        self._widths = () if kind is StepKind.NONE else tuple(widths)
        #: What captured steps read, by their width: tokens, and where they are.
        self._inputs: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        #: By their width, and the length that they read.
        self._steps: dict[tuple[int, int], KeptStep] = {}
        self._resize(slots, length)

    def _resize(self, slots: int, length: int) -> None:
        self._inputs.clear()
        self._steps.clear()
        for layer in self._layers:
            layer.resize(slots, length)
        # Not before all of them have the memory.
        self.slots, self.length = slots, length
        device = self._forward.device
        self._columns = torch.arange(length, device=device)
        self._all_rows = torch.arange(slots, device=device)[:, None]

    def _reserve(self, slots: int, tokens: int) -> None:
        """Have room for so many texts of so many tokens."""
        if slots > self.slots or tokens >= self.length:
            most = max(self.slots, 1 << (slots - 1).bit_length())
            self._resize(most, max(self.length, place_size(tokens)))

    @property
    def troubles(self) -> Sequence[str]:
        """Why steps are not kept although that was asked."""
        return [step.trouble for step in self._steps.values() if step.trouble]

    def is_captured(self, width: int) -> bool:
        """Return whether passes of so many tokens a text are launched at once."""
        steps = [step for (own, _), step in self._steps.items() if own >= width]
        return bool(steps) and all(step.is_captured for step in steps)

    @torch.inference_mode()
    def warm_up(self) -> None:
        """Allocate, compile and capture before the first text.

        What the steps write is overwritten by the texts.
        """
        for width in self._widths:
            for length in self._lengths():
                self._run([[0] * width] * self.slots, [0] * self.slots, length)

    def _lengths(self) -> Sequence[int]:
        """Return the lengths that are read; compilers are given one alone."""
        if self._kind is StepKind.COMPILE:
            return (self.length,)
        step = max(_READ, self.length // _CUTS)
        return range(step, self.length + 1, step)

    @torch.inference_mode()
    def write(self, slot: int, cache: DynamicCache) -> None:
        """Copy a text's keys and values to the beginning of a place."""
        self._reserve(slot + 1, cache.get_seq_length())
        dynamic = [layer for layer in cache.layers if isinstance(layer, DynamicLayer)]
        for own, new in zip(self._layers, dynamic, strict=True):
            own.write(slot, new)

    @torch.inference_mode()
    def move(self, slot: int, target: int, length: int) -> None:
        """Copy a text of so many tokens from one place to another."""
        for layer in self._layers:
            layer.move(slot, target, length)

    @torch.inference_mode()
    def read(
        self, tokens: Sequence[Sequence[int]], starts: Sequence[int]
    ) -> torch.Tensor:
        """Read tokens of the first places; return the logits after the last of each.

        Args:
            tokens: Of each place; those of one that has no more to read may be empty,
                and what is returned for it has no meaning.
            starts: The tokens that each holds already.

        Returns:
            float32, shape (places, vocabulary); it holds until the next reading.
        """
        pairs = list(zip(starts, tokens, strict=True))
        reach = max(start + len(row) for start, row in pairs)
        self._reserve(len(tokens), reach)
        width = max(map(len, tokens))
        width = next((kept for kept in self._widths if kept >= width), width)
        length = reach
        if self._widths:
            length = next(each for each in self._lengths() if each >= reach)
            missing = self.slots - len(tokens)
            tokens, starts = [*tokens, *[()] * missing], [*starts, *[0] * missing]
        rows = [[*row, *[0] * (width - len(row))] for row in tokens]
        logits = self._run(rows, starts, length)[: len(pairs)]
        if logits.shape[1] == 1:
            return logits[:, 0].float()
        ends = torch.tensor([max(len(row), 1) - 1 for _, row in pairs])
        ends = to_device(ends, logits.device)
        return logits[self._all_rows[: len(pairs), 0], ends].float()

    def _run(
        self, rows: Sequence[Sequence[int]], starts: Sequence[int], length: int
    ) -> torch.Tensor:
        """Return the logits of a pass, shape (places, tokens, vocabulary)."""
        width, device = len(rows[0]), self._forward.device
        # What is beyond a text is written beyond it, and its text writes over it.
        last = self.length - 1
        places = [
            [min(start + token, last) for token in range(width)] for start in starts
        ]
        now = to_device(torch.tensor(places), device)
        fed = to_device(torch.tensor(rows), device)
        self._read.rows = self._all_rows[: len(rows)]
        self._read.length = length
        with grouped_queries():
            if width not in self._widths:
                return self._pass(fed, now)
            held, held_now = self._inputs.setdefault(width, (fed, now))
            held.copy_(fed)
            held_now.copy_(now)
            step = self._steps.get((width, length))
            if step is None:
                step = KeptStep(self._kind, device, lambda: self._pass(held, held_now))
                self._steps[width, length] = step
            return step.run()

    def _pass(self, tokens: torch.Tensor, now: torch.Tensor) -> torch.Tensor:
        self._read.now = now
        columns = self._columns[: self._read.length]
        visible = columns[None, None, None, :] <= now[:, None, :, None]
        keep = 1 if tokens.shape[1] == 1 else 0
        return self._forward.over_places(tokens, self._cache, now, visible, keep)


class SlotRows:
    """Texts that share every pass over places of their own.

    The first places are taken: where a text ends the last one moves to its place.
    """

    def __init__(self, cache: SlotCache) -> None:
        """Begin with no text."""
        self._cache = cache
        #: The place of each row, and the tokens that each place holds.
        self._slots: list[int] = []
        self._lengths: list[int] = []

    def is_captured(self, width: int) -> bool:
        """Return whether a pass of so many tokens a text is handed over at once."""
        return self._cache.is_captured(width)

    def admit(self, cache: DynamicCache) -> None:
        """Take in a text by the cache that holds its prompt."""
        slot = len(self._slots)
        self._cache.write(slot, cache)
        self._lengths.append(cache.get_seq_length())
        self._slots.append(slot)

    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run one forward pass; see `evaluation.models.base.Decoding`."""
        tokens: list[Sequence[int]] = [()] * len(self._slots)
        for slot, row in zip(self._slots, rows, strict=True):
            tokens[slot] = row
        logits = self._cache.read(tokens, self._lengths)
        for slot, row in enumerate(tokens):
            self._lengths[slot] += len(row)
        if self._slots == list(range(len(logits))):
            return logits
        return logits[to_device(torch.tensor(self._slots), logits.device)]

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these texts only; the places of others are free."""
        going = [self._slots[row] for row in rows]
        free = [slot for slot in range(len(going)) if slot not in going]
        for row, slot in enumerate(going):
            if slot >= len(going):
                target = free.pop()
                self._cache.move(slot, target, self._lengths[slot])
                self._lengths[target] = self._lengths[slot]
                going[row] = target
        self._slots, self._lengths = going, self._lengths[: len(going)]
