"""The loop's side of an engine process that constrains one text at a time."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from curation.workers import protocol
from curation.workers.outcomes import Ending
from curation.workers.process import Program
from curation.workers.worker import Worker
from evaluation.core.cases import Result
from evaluation.execution import engine_process
from evaluation.execution.row_builder import RESULTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from curation.workers.limits import Limits
    from curation.workers.outcomes import ProcessResult

_ENGINES = Path(engine_process.__file__)


class EngineEnded(Exception):  # noqa: N818 - an ending, told to the loop alone
    """The engine refused the schema or failed; the text is over."""

    def __init__(self, result: Result, detail: str) -> None:
        """Say how and why."""
        super().__init__(detail)
        self.result = result
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMask:
    """What may come next."""

    #: One boolean for each token of the engine's vocabulary.
    allowed: np.ndarray
    may_end: bool
    #: The engine's own time, in nanoseconds.
    ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledGrammar:
    """A grammar that is there."""

    #: Of the compile call alone, in nanoseconds.
    ns: int
    #: The tokens with which every text begins, taken already.
    forced: tuple[int, ...]


class EngineSession:
    """One engine process; what is asked is under way until it is waited for."""

    def __init__(
        self, program: Program, *, tokenizer: Mapping[str, UntypedJson], limits: Limits
    ) -> None:
        """Prepare; the process is started when first needed.

        `program.setup` is what `evaluation.execution.engine_process` is given: engine,
        options and tokenizer; `tokenizer` is that last part.
        """
        self._size = int(tokenizer["vocab_size"])
        self._limits = limits
        self._open = ExitStack()
        folder = self._open.enter_context(
            tempfile.TemporaryDirectory(prefix="csbdata-", dir=_memory_folder())
        )
        self._map = self._mapped(Path(folder) / "mask")
        self._worker = self._open.enter_context(
            Worker(_session_program(program, Path(folder)), limits)
        )
        self._answers: deque[Mapping[str, UntypedJson] | EngineEnded] = deque()
        self._asked = 0

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process and remove its files."""
        self.close()

    def close(self) -> None:
        """End the process and remove its files."""
        self._open.close()

    def _mapped(self, path: Path) -> mmap.mmap:
        size = (self._size + 7) // 8
        path.write_bytes(bytes(size))
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)

    def start(self) -> None:
        """Start the process and load the engine, so that no text waits for it.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        self._worker.start()

    def compile(self, schema: str, seconds: float, *, forced: int = 0) -> None:
        """Ask for a grammar, for what every text begins with, and for the next mask.

        `forced` is how many tokens may be taken that are the only way on.
        """
        opening = {"open": True, "forced": forced}
        self._ask([{"compile": schema}, opening, {"mask": True}], seconds)

    def compiled(self) -> CompiledGrammar:
        """Wait for the grammar.

        Raises:
            EngineEnded: there is none.
        """
        answer = self._next()
        if "refusal" in answer:
            raise EngineEnded(Result.COMPILE_ERROR, str(answer["refusal"]))
        opened = self._next()
        return CompiledGrammar(
            ns=int(answer["compile_ns"]), forced=tuple(opened["forced"])
        )

    def take(self, token: int, *, forced: int, seconds: float) -> tuple[int, ...]:
        """Commit a token and ask for the next mask; return what was forced after it.

        Raises:
            EngineEnded: the token was refused, though its mask allowed it.
        """
        self._ask([{"take": token, "forced": forced}, {"mask": True}], seconds)
        answer = self._next()
        if not answer.get("taken"):
            detail = f"token {token} was in the mask, and commit refuses it"
            raise EngineEnded(Result.ERROR, detail)
        return tuple(answer["forced"])

    def is_waiting(self, seconds: float = 0.0) -> bool:
        """Tell whether an answer is still to come, after looking for it so long."""
        if len(self._answers) < self._asked:
            self._collect(self._worker.wait(seconds))
        return len(self._answers) < self._asked

    def settle(self) -> None:
        """Wait until everything asked has been answered."""
        while len(self._answers) < self._asked:
            self._collect(self._worker.wait())

    def mask(self) -> TokenMask:
        """Wait for the mask asked for.

        Raises:
            EngineEnded: the engine failed.
        """
        answer = self._next()
        bits = np.unpackbits(
            np.frombuffer(self._map, dtype=np.uint8), bitorder="little"
        )
        return TokenMask(
            allowed=bits[: self._size].astype(bool),
            may_end=bool(answer["may_end"]),
            ns=int(answer["mask_ns"]),
        )

    def _ask(self, questions: Sequence[UntypedJson], seconds: float) -> None:
        self.settle()
        self._answers.clear()
        self._worker.start()
        self._worker.begin(questions, seconds)
        self._asked = len(questions)
        # The question is on its way only when the pipe has been served once.
        self._collect(self._worker.wait(0.0))

    def _next(self) -> Mapping[str, UntypedJson]:
        while not self._answers:
            self._collect(self._worker.wait())
        self._asked -= 1
        answer = self._answers.popleft()
        if isinstance(answer, EngineEnded):
            raise answer
        if answer.get("closed"):
            raise EngineEnded(Result.ERROR, "commit refuses a token that was forced")
        return answer

    def _collect(self, outcomes: Sequence[ProcessResult]) -> None:
        for outcome in outcomes:
            if outcome.ending is Ending.OK:
                self._answers.append(outcome.answer)
            else:
                self._answers.append(_ended(outcome))
                # Of a dead process nothing more comes; one that only raised goes on.
                if outcome.ending is not Ending.ERROR:
                    self._asked = len(self._answers)


def _ended(outcome: ProcessResult) -> EngineEnded:
    detail = outcome.detail
    if outcome.stderr:
        detail = f"{detail}: {outcome.stderr.strip()[-500:]}"
    return EngineEnded(RESULTS[outcome.ending], detail)


def _memory_folder() -> str | None:
    """Return a folder that is kept in memory, where the system has one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a private folder is made inside


def _session_program(program: Program, folder: Path) -> Program:
    setup = program.setup
    if not isinstance(setup, dict):
        raise TypeError
    return Program(
        file=_ENGINES,
        setup={**setup, "mask": str(folder / "mask")},
        interpreter=program.interpreter,
        arguments=(
            str(Path(protocol.__file__)),
            str(folder / "printed"),
            str(_ENGINES.with_name("generation_session.py")),
        ),
        environment=program.environment,
    )
