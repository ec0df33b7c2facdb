"""A step of decoding that is kept: captured as a graph, or compiled, or neither.

A step of a small model is some hundred kernels, and launching them one by one takes
longer than they do. A captured graph launches them all at once. What cannot be kept is
run as it is, and says why.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import torch

from curation.system.errors import BadConfiguration

if TYPE_CHECKING:
    from collections.abc import Callable

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


def choose_step_kind(wanted: str, device: torch.device) -> StepKind:
    """Return how steps are kept: `auto` is graphs on a GPU, and none elsewhere.

    Raises:
        BadConfiguration: there is no such kind, or none on this device.
    """
    if wanted == "auto":
        return StepKind.GRAPHS if device.type == "cuda" else StepKind.NONE
    if wanted not in set(StepKind):
        message = f"--compile {wanted}: no such kind; say auto, {', '.join(StepKind)}"
        raise BadConfiguration(message)
    if wanted == StepKind.GRAPHS and device.type != "cuda":
        raise BadConfiguration(
            f"--compile graphs: graphs are captured on a CUDA device, not on {device}",
            then="say --compile none, or --compile compile",
        )
    return StepKind(wanted)


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
        self._found: torch.Tensor | None = None
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
        if self._graph is not None and self._found is not None:
            self._graph.replay()
            return self._found
        return self._step()

    def _first(self) -> torch.Tensor:
        """Compile and capture; where that fails, go on without."""
        try:
            if self._is_captured:
                self._capture()
            return self._step()
        except torch.OutOfMemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - compilers and captures raise anything
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            self.trouble = f"{type(error).__name__}: {said[:200]}"
            self._step, self._graph = self._plain, None
            return self._plain()

    def _capture(self) -> None:
        """Keep the step as a graph."""
        # A capture that fails leaves its own stream behind as the present one.
        with torch.cuda.stream(torch.cuda.current_stream()):
            self._captured()

    def _captured(self) -> None:
        """Run the step as often as torch asks for, and capture it."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch's own
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARMING):
                self._step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._found = self._step()
        self._graph = graph
