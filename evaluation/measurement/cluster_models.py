"""The model of a run on the nodes of a Ray cluster: an actor a GPU, or one a node.

Each actor holds a copy of the model, which is loaded there and never here; the engines'
processes stand beside it. This process makes the requests, judges the texts and writes
the rows, as it does where the model is its own.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from curation.cluster.lanes import Lane, wait_for_any
from curation.cluster.nodes import model_places
from curation.system.errors import BadConfiguration, CsbdataError, Unavailable
from curation.workers.worker import WorkerDidNotStart
from evaluation.generation.runner import WrittenTexts, run_lanes
from evaluation.measurement.model_setup import request_builder, texts_at_a_time
from evaluation.measurement.remote_model import (
    RemoteModel,
    RemoteModelFacts,
    RemoteModelSetup,
)
from evaluation.scheduling.remote_engine import SentEngine
from evaluation.tokenizers.files import read_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from curation.cluster.executor import RayExecutor
    from curation.cluster.nodes import Node
    from curation.core.json_types import Json
    from evaluation.core.cases import Sample
    from evaluation.execution.plan import RunTotals
    from evaluation.execution.results_folder import ResultsFolder
    from evaluation.generation.model_options import ModelOptions
    from evaluation.generation.runner import WriterLane
    from evaluation.measurement.remote_model import RemoteModelAnswer, RemoteModelTask
    from evaluation.scheduling.lanes import EngineLanes
    from evaluation.servers.model_server import ModelServer
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

#: Seconds after which Ctrl-C is listened to.
_TURN = 1.0


class ClusterModels:
    """Copies of one model on a cluster, and what they are asked."""

    def __init__(  # noqa: PLR0913, PLR0917 - the model, who constrains it, and where both are
        self,
        asked: ModelOptions,
        participants: Sequence[EngineUnderTest],
        executor: RayExecutor,
        lanes: EngineLanes,
        jobs: int | None,
        say: Callable[[str], None],
    ) -> None:
        """Have every copy loaded.

        Args:
            asked: Which model, and how it is to write.
            participants: The engines; those that are unavailable take no part.
            executor: The cluster.
            lanes: Says which nodes have the engines.
            jobs: How many copies there are at most; None for all that fit.
            say: Tells people of what takes time.

        Raises:
            BadConfiguration: the copies are not the same.
            Unavailable: no node has all engines.
            CsbdataError: the model cannot be had on a node.
        """
        self._asked = asked
        self._cluster = executor.cluster
        usable = [one for one in participants if not one.unavailable]
        places = model_places(
            _nodes_with(usable, executor, lanes), jobs, on_gpus=asked.device != "cpu"
        )
        shared = self._cluster.share(
            RemoteModelSetup(
                asked=asked, engines=tuple(SentEngine.of(one) for one in usable)
            )
        )
        self._lanes: list[
            Lane[RemoteModelSetup, RemoteModelTask, RemoteModelAnswer]
        ] = [
            Lane(
                self._cluster,
                place,
                RemoteModel,
                shared,
                min(place.node.cpus, asked.threads),
                int(bool(place.node.gpus) and asked.device != "cpu"),
            )
            for place in places
        ]
        self._folder = tempfile.TemporaryDirectory(prefix="csbdata-tokenizer-")
        try:
            say(f"Ray: {len(places)} of the model's copies are loaded")
            self._facts = self._same_facts()
            self.tokenizer = _unpacked(self._facts, Path(self._folder.name))
        except BaseException:
            self.close()
            raise
        self.questions = request_builder(asked, self.tokenizer)

    def __enter__(self) -> Self:
        """Return the models."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the actors."""
        self.close()

    def close(self) -> None:
        """End the actors, and remove the tokenizer's files."""
        for lane in self._lanes:
            lane.close()
        self._folder.cleanup()

    def header(self) -> dict[str, Json]:
        """Return what a run's header says of models, as the first copy says it."""
        return dict(self._facts.header)

    @staticmethod
    def count_arriving(*_asked: object) -> int:
        """Return 0: no request arrives by itself where a model is no server."""
        return 0

    @staticmethod
    def most_seconds(_samples: Iterable[Sample], _texts: int) -> None:
        """Return None: of the nodes' speed nothing is known here."""

    def run(
        self,
        participants: Sequence[EngineUnderTest | ModelServer],
        samples: Iterable[Sample],
        out: ResultsFolder,
        advance: Callable[[int], None],
    ) -> RunTotals:
        """Have everything written that is not yet in the folder."""
        dialect = self._asked.dialect
        lanes: Sequence[WriterLane] = [_TextLane(lane) for lane in self._lanes]
        totals = run_lanes(
            lanes,
            lambda: wait_for_any(self._cluster, self._lanes, _TURN),
            self._facts.writers,
            (replace(one, dialect=dialect) if dialect else one for one in samples),
            self.questions,
            out,
            batch=texts_at_a_time(self._asked),
            advance=advance,
        )
        for participant in participants:
            if participant.unavailable:
                totals.unavailable[participant.label] = participant.unavailable
        return totals

    def _same_facts(self) -> RemoteModelFacts:
        """Return what the copies say of themselves, seen to be the same.

        Raises:
            BadConfiguration: two nodes have the model otherwise.
            CsbdataError: a node cannot load it.
        """
        for lane in self._lanes:
            lane.give(None)
        found: list[RemoteModelFacts] = []
        for lane in self._lanes:
            while not lane.idle:
                wait_for_any(self._cluster, [lane], _TURN)
                found += [
                    answer
                    for answer in lane.collect()
                    if isinstance(answer, RemoteModelFacts)
                ]
        first = found[0]
        for lane, other in zip(self._lanes, found, strict=True):
            if other.writers != first.writers:
                raise BadConfiguration(
                    f"node {lane.place.node.name} has the model otherwise than "
                    f"{self._lanes[0].place.node.name} (device, library or revision)",
                    then="take nodes of one kind, or divide the run by --shard I/N",
                )
        return first


class _TextLane:
    """A lane whose answers are texts."""

    def __init__(
        self, lane: Lane[RemoteModelSetup, RemoteModelTask, RemoteModelAnswer]
    ) -> None:
        self._lane = lane
        self.give = lane.give

    @property
    def idle(self) -> bool:
        return self._lane.idle

    @property
    def takes_more(self) -> bool:
        return self._lane.takes_more

    def collect(self) -> list[WrittenTexts]:
        return [
            answer
            for answer in self._lane.collect()
            if isinstance(answer, WrittenTexts)
        ]


def _nodes_with(
    engines: Sequence[EngineUnderTest], executor: RayExecutor, lanes: EngineLanes
) -> list[Node]:
    """Return the nodes that have all these engines.

    Raises:
        Unavailable: there is none; says why.
    """
    try:
        numbers = lanes.places(engines)
    except WorkerDidNotStart as fault:
        raise Unavailable(
            fault.what, then="install the engines on the nodes"
        ) from fault
    found = {
        executor.places[number].node.id: executor.places[number].node
        for number in numbers
    }
    return list(found.values())


def _unpacked(facts: RemoteModelFacts, folder: Path) -> TokenizerFiles:
    """Return the model's tokenizer, its files put into a folder.

    Raises:
        CsbdataError: they are not whole.
    """
    for name, content in facts.tokenizer.items():
        (folder / name).write_bytes(content)
    found = read_files(folder, facts.tokenizer_name)
    if found is None:
        raise CsbdataError("the model's tokenizer did not arrive whole")
    return replace(found, vocab_size=facts.vocab_size, eos_id=facts.eos_id)
