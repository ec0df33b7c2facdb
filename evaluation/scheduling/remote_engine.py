"""One engine on a node of a cluster: found there, seen to be the same, and asked."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curation.download.acquire import FetchSettings
from curation.system.errors import CsbdataError
from curation.workers.process import exchange
from curation.workers.worker import WorkerDidNotStart
from evaluation.execution.engine_worker import EngineWorker
from evaluation.scheduling.lanes import timed_cores
from evaluation.setup.machine import machine, usable_cores
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers.files import read_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.cases import Row
    from evaluation.execution.engine_worker import Bounds, PendingCase
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class SentEngine:
    """An engine, as a node is told of it."""

    label: str
    identity: str
    spec: str
    preset: str
    assigned: Mapping[str, str]
    #: Contents of its file and those beside it, by name, the engine's first; empty for
    #: one that csbdata brings.
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, participant: EngineUnderTest) -> SentEngine:
        """Return what a node is told of an engine."""
        file = participant.file
        own = (file.path, *file.beside) if file.spec.endswith(".py") else ()
        return cls(
            label=participant.label,
            identity=participant.identity,
            spec=file.spec,
            preset=participant.preset,
            assigned=dict(participant.assigned),
            files={path.name: path.read_bytes() for path in own},
        )

    def find_here(self, folder: Path) -> EngineUnderTest:
        """Return the engine where this is called.

        Args:
            folder: Where its files are put, if it has any.

        Raises:
            CsbdataError: it is not here, or another version of it; says why.
        """
        spec = self.spec
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        if self.files:
            spec = str(folder / next(iter(self.files)))
        cache = FetchSettings.from_environment().cache
        assigned = [f"{name}={text}" for name, text in self.assigned.items()]
        (found,) = select_engines(cache, [spec], self.preset, assigned)
        if found.unavailable:
            raise WorkerDidNotStart(found.unavailable)
        if found.identity != self.identity:
            raise WorkerDidNotStart(f"it has {found.label}, or another file of it")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteEngineSetup:
    """What a lane of one engine is made of."""

    engine: SentEngine
    tokenizer_name: str
    #: Contents of the tokenizer's files, by name.
    tokenizer: Mapping[str, bytes]
    bounds: Bounds
    #: Which of the node's workers it is, where times are taken; None elsewhere.
    timed_place: int | None


class RemoteEngine:
    """An engine's worker on a node, over the cases of its lane."""

    def __init__(self, setup: RemoteEngineSetup) -> None:
        """Find the engine, and prepare its worker.

        Raises:
            WorkerDidNotStart: the engine is not on this node.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="csbdata-lane-")
        folder = Path(self._folder.name)
        engine = setup.engine.find_here(folder)
        place = setup.timed_place
        cores = () if place is None else timed_cores(usable_cores(), engine, place)
        self._worker = EngineWorker(
            engine, _unpacked(setup, folder / "tokenizer"), setup.bounds, cores
        )

    def answer(self, task: Sequence[PendingCase]) -> list[Row]:
        """Return the rows of cases, in order; of none, the worker is started.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        if not task:
            self._worker.start()
            return []
        rows: list[Row] = []
        self._worker.give(task)
        while not self._worker.idle:
            child = self._worker.child
            exchange([] if child is None else [child], self._worker.patience())
            rows += (row for _, row in self._worker.collect())
        return rows

    def close(self) -> None:
        """Kill the worker, and remove its files."""
        self._worker.close()
        self._folder.cleanup()


def packed(tokenizer: TokenizerFiles) -> dict[str, bytes]:
    """Return the contents of a tokenizer's files, by name."""
    return {path.name: path.read_bytes() for path in tokenizer.folder.iterdir()}


def _unpacked(setup: RemoteEngineSetup, folder: Path) -> TokenizerFiles:
    """Return the tokenizer, its files put into a new folder.

    Raises:
        WorkerDidNotStart: they are not whole.
    """
    folder.mkdir()
    for name, content in setup.tokenizer.items():
        (folder / name).write_bytes(content)
    found = read_files(folder, setup.tokenizer_name)
    if found is None:
        raise WorkerDidNotStart("its tokenizer did not arrive whole")
    return found


def look_for_engines(
    engines: Sequence[SentEngine],
) -> tuple[dict[str, str], dict[str, Json]]:
    """Return why engines cannot be run where this is called, by label; and the machine.

    Args:
        engines: Those of the run.
    """
    lacking = {}
    for engine in engines:
        with tempfile.TemporaryDirectory(prefix="csbdata-look-") as folder:
            try:
                engine.find_here(Path(folder))
            except CsbdataError as fault:
                lacking[engine.label] = fault.what
    return lacking, machine()
