"""A copy of the run's model on a node of a cluster: loaded once, asked in groups."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from curation.download.acquire import FetchSettings
from curation.workers.worker import WorkerDidNotStart
from evaluation.generation.runner import KnownWriter, WrittenTexts
from evaluation.measurement.model_setup import ModelSetup
from evaluation.scheduling.remote_engine import packed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.generation.model_options import ModelOptions
    from evaluation.generation.runner import AskedTexts
    from evaluation.generation.text_generation import Generation
    from evaluation.scheduling.remote_engine import SentEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteModelSetup:
    """What a copy is made of: every node finds model and engines for itself."""

    asked: ModelOptions
    engines: tuple[SentEngine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteModelFacts:
    """What a copy says of itself once it is loaded."""

    #: What the header of a run says of models.
    header: Mapping[str, Json]
    writers: tuple[KnownWriter, ...]
    #: The model's tokenizer: its name, files, width and end, as engines are told.
    tokenizer_name: str
    tokenizer: Mapping[str, bytes]
    vocab_size: int
    eos_id: int


#: None asks for `RemoteModelFacts`, a group for `WrittenTexts`.
RemoteModelTask: TypeAlias = "AskedTexts | None"
RemoteModelAnswer: TypeAlias = RemoteModelFacts | WrittenTexts


class RemoteModel:
    """The session of an actor: a model, and a writer for each engine."""

    def __init__(self, setup: RemoteModelSetup) -> None:
        """Load the model, and find the engines.

        Raises:
            CsbdataError: the model cannot be had on this node, or an engine is not
                there.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="csbdata-model-")
        fetch = FetchSettings.from_environment()
        self._model = ModelSetup(setup.asked, fetch, lambda _line: None)
        found = []
        for number, engine in enumerate(setup.engines):
            own = Path(self._folder.name) / str(number)
            own.mkdir()
            found.append(engine.find_here(own))
        self._writers = {writer.label: writer for writer in self._model.writers(found)}

    def answer(self, task: RemoteModelTask) -> RemoteModelAnswer:
        """Return what came of a group of requests, or what this copy is."""
        if task is None:
            return self._facts()
        texts: dict[str, list[Generation]] = {}
        unavailable: dict[str, str] = {}
        for label, marked in task.items():
            requests = [request for _, request in marked]
            try:
                texts[label] = [*self._writers[label].write(requests)]
            except WorkerDidNotStart as fault:
                unavailable[label] = fault.what
        return WrittenTexts(texts=texts, unavailable=unavailable)

    def close(self) -> None:
        """End the engines' processes, and remove their files."""
        for writer in self._writers.values():
            writer.close()
        self._folder.cleanup()

    def _facts(self) -> RemoteModelFacts:
        tokenizer = self._model.tokenizer
        return RemoteModelFacts(
            header=self._model.header(),
            writers=tuple(
                KnownWriter(label=writer.label, identity=writer.identity)
                for writer in self._writers.values()
            ),
            tokenizer_name=tokenizer.name,
            tokenizer=packed(tokenizer),
            vocab_size=tokenizer.vocab_size,
            eos_id=tokenizer.eos_id,
        )
