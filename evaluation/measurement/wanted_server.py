"""Which program is to serve a run's model, as it is asked for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.system.errors import BadUsage
from evaluation.server_programs.registry import server_program
from evaluation.server_programs.running_server import ServerStart

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedServer:
    """Which program is to serve the model, as the command line says it."""

    #: Its name: `vllm`.
    program: str
    #: Arguments beyond the program's own, as a shell would read them.
    arguments: str = ""
    #: For how long it may take until it answers.
    seconds: float = 1800.0

    def start(self, model: str, options: Sequence[str]) -> ServerStart:
        """Return how the program is started.

        Args:
            model: What it serves.
            options: Engine options; `backend=NAME` is the program's.

        Raises:
            BadConfiguration: there is no such program.
            BadUsage: the model is behind a server already, or the arguments cannot
                be read.
        """
        if "://" in model:
            raise BadUsage(
                "--serve starts a server, and --model is the address of one",
                then="name the model alone, such as --model Qwen/Qwen3-0.6B",
            )
        try:
            more = tuple(shlex.split(self.arguments))
        except ValueError as error:
            raise BadUsage(f"--serve-args: {error}") from None
        told = [option.partition("=") for option in options]
        backends = [
            value for name, _, value in told if name.rpartition(".")[2] == "backend"
        ]
        return ServerStart(
            program=server_program(self.program),
            model=model,
            more=more,
            backend=backends[-1] if backends else "",
            seconds=self.seconds,
        )
