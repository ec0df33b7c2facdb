"""An engine process with a session for each text of a batch."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from curation.workers import protocol
from curation.workers.process import Program
from curation.workers.shared_memory import SharedMemory
from evaluation.generation.engine_pipe import EnginePipe
from evaluation.generation.engine_session import EngineSession
from evaluation.walking import engine_process

if TYPE_CHECKING:
    from curation.workers.limits import Limits

_ENGINES: Final = Path(engine_process.__file__)


class EngineProcess:
    """One engine process that constrains as many texts at a time as it has sessions.

    A question is under way until it is waited for. Where several texts are under way,
    grammars are compiled beside the masks of the others. A process that dies takes
    only that text with it on which it died: the others are brought back in a new one.

    Example:
        >>> with EngineProcess(program, 1, vocab_size=49152, limits=Limits()) as engine:
        ...     (session,) = engine.sessions
        ...     session.compile('{"type": "null"}', seconds=40.0)
        ...     session.compiled()
        ...     np.unpackbits(session.mask().allowed).sum()
    """

    def __init__(
        self,
        program: Program,
        texts: int,
        *,
        vocab_size: int,
        limits: Limits,
        mask_threads: int = 1,
    ) -> None:
        """Prepare; the process is started when first needed.

        Args:
            program: The engine's interpreter, and as its setup what
                `evaluation.walking.engine_process` is given: engine, options and
                tokenizer.
            texts: How many texts may be under way.
            vocab_size: The number of ids that a mask covers.
            limits: What the process may use.
            mask_threads: How many masks may be computed at a time, where the engine
                allows it.
        """
        self._open = ExitStack()
        size = (vocab_size + 7) // 8
        masks = self._open.enter_context(SharedMemory(size * texts))
        printed = self._open.enter_context(SharedMemory(0))
        self._pipe = EnginePipe(
            _session_program(program, masks, printed, texts, mask_threads), limits
        )
        self._open.callback(self._pipe.close)
        self.sessions = tuple(
            EngineSession(self._pipe, place, masks, vocab_size, beside_others=texts > 1)
            for place in range(texts)
        )
        self._pipe.serve_for(self.sessions)

    def __enter__(self) -> Self:
        """Return the process."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def close(self) -> None:
        """End the process."""
        self._open.close()

    def start(self) -> None:
        """Start the process and load the engine, so that no text waits for it.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        self._pipe.start()


def _session_program(
    program: Program,
    masks: SharedMemory,
    printed: SharedMemory,
    texts: int,
    mask_threads: int,
) -> Program:
    setup = program.setup
    if not isinstance(setup, dict):
        raise TypeError
    return Program(
        file=_ENGINES,
        setup={
            **setup,
            "masks": masks.path,
            "texts": texts,
            "mask_threads": mask_threads,
        },
        interpreter=program.interpreter,
        arguments=(
            str(Path(protocol.__file__)),
            printed.path,
            str(_ENGINES.with_name("generation_session.py")),
        ),
        environment=program.environment,
    )
