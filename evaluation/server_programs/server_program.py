"""What a server program is: how it is installed, started and asked for its health."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _no_choice(_name: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProgram:
    """A program that serves a model over HTTP, as OpenAI's API defines it.

    Example:
        >>> ServerProgram(
        ...     name="vllm",
        ...     summary="vLLM",
        ...     distribution="vllm",
        ...     executable="vllm",
        ...     arguments=lambda model, port: ["serve", model, "--port", str(port)],
        ...     dialect="vllm",
        ... )
    """

    #: What `--serve` calls it.
    name: str
    #: One line for a list of all of them.
    summary: str
    #: What pip installs.
    distribution: str
    #: The file in the `bin` of its environment that is run.
    executable: str
    #: Takes the model's name and a port of 127.0.0.1; returns the arguments.
    arguments: Callable[[str, int], Sequence[str]]
    #: The server dialect in which it is asked, unless `--engine` names others.
    dialect: str
    #: Takes the name of the library that is to constrain texts; returns the arguments
    #: that choose it.
    backend: Callable[[str], Sequence[str]] = _no_choice
    #: Answers with a status below 300 once texts can be asked for.
    health: str = "/health"
    #: Environment variables that are set for it.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Beginnings of the names of our variables that it is handed.
    variables: tuple[str, ...] = ("HF_", "CUDA_", "NCCL_", "TORCH", "TRITON_")
