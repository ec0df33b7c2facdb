"""Reading every raw document once, and sending each distinct one to the workers.

Documents of one source with the same bytes have the same outcome, so only the
first is worked on. A finished batch is stored in the run folder; the same build,
started again after any end, takes it from there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from curation.core.documents import RawDocument, Reason
from curation.dataset.decisions import SourceDocument
from curation.pipeline.document_worker import outcome_of, unit_of
from curation.workers.batches import in_batches
from curation.workers.outcomes import Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from curation.core.json_types import UntypedJson
    from curation.dataset.decisions import DocumentResult
    from curation.pipeline.inputs import BuildInput
    from curation.workers.outcomes import ProcessResult as Ended
    from curation.workers.pool import BatchResult, Pool
    from curation.workers.run_folder import RunFolder

#: A batch is closed at so many documents or bytes, whichever comes first.
BATCH_DOCUMENTS = 64
BATCH_BYTES = 2**20

_REASONS = {
    Ending.TIMEOUT: Reason.TIMED_OUT,
    Ending.OUT_OF_MEMORY: Reason.OUT_OF_MEMORY,
}


class BatchReader:
    """Reads the inputs in order, and cuts what is distinct into batches."""

    def __init__(self, inputs: Sequence[BuildInput]) -> None:
        """Prepare to read; nothing is read before `batches`."""
        self._inputs = inputs
        self._positions: dict[tuple[str, str], int] = {}
        #: Every raw document met so far, in reading order.
        self.seen: list[SourceDocument] = []

    def batches(self) -> Iterator[tuple[int, list[RawDocument]]]:
        """Yield the position of an input and a batch of its distinct documents."""
        for position, each in enumerate(self._inputs):
            for batch in _cut(self._distinct(each)):
                yield position, batch

    def _distinct(self, given: BuildInput) -> Iterator[RawDocument]:
        for raw in given.source.read(given.reading):
            sha256 = hashlib.sha256(raw.content).hexdigest()
            # Where relative references start is part of what a document means.
            key = (f"{raw.config}\n{raw.base_uri or ''}", sha256)
            position = self._positions.get(key)
            if position is None:
                position = self._positions[key] = len(self._positions)
                yield raw
            self.seen.append(
                SourceDocument(
                    raw.config, raw.unique_id, raw.provenance, sha256, position
                )
            )


def _cut(documents: Iterable[RawDocument]) -> Iterator[list[RawDocument]]:
    return in_batches(
        documents,
        lambda each: len(each.content),
        most=BATCH_DOCUMENTS,
        heaviest=BATCH_BYTES,
    )


def work(
    reader: BatchReader, pool: Pool, run: RunFolder, progress: Callable[[int], None]
) -> list[DocumentResult]:
    """Return the outcome of each distinct document, by its position.

    `progress` is told how many more documents are done.
    """
    outcomes: dict[int, list[DocumentResult]] = {}
    pending: list[tuple[int, Sequence[RawDocument]]] = []

    def remaining() -> Iterator[list[UntypedJson]]:
        for number, (given, batch) in enumerate(reader.batches()):
            stored = run.done(_name(number))
            if stored is not None:
                outcomes[number] = _outcomes(orjson.loads(stored))
                progress(len(batch))
                continue
            pending.append((number, [_without_content(each) for each in batch]))
            yield [unit_of(each, given) for each in batch]

    for result in pool.run_batches(remaining()):
        number, batch = pending[result.index]
        answers = _answers(batch, result)
        run.store(_name(number), orjson.dumps(answers))
        outcomes[number] = _outcomes(answers)
        progress(len(batch))
    return [each for number in sorted(outcomes) for each in outcomes[number]]


def _outcomes(answers: Sequence[UntypedJson]) -> list[DocumentResult]:
    return [outcome_of(each) for each in answers]


def _name(number: int) -> str:
    return f"batch-{number:05}"


def _without_content(raw: RawDocument) -> RawDocument:
    return RawDocument(
        config=raw.config,
        unique_id=raw.unique_id,
        provenance=raw.provenance,
        content=b"",
        base_uri=raw.base_uri,
    )


def _answers(batch: Sequence[RawDocument], result: BatchResult) -> list[UntypedJson]:
    return [
        ended.answer if ended.ending is Ending.OK else _failed(raw, ended)
        for raw, ended in zip(batch, result.results, strict=True)
    ]


def _failed(raw: RawDocument, ended: Ended) -> UntypedJson:
    """Return the outcome of a document whose worker did not survive it."""
    reason = _REASONS.get(ended.ending, Reason.CRASHED)
    return {
        "config": raw.config,
        "record": None,
        "rejected": {"reason": reason, "detail": ended.detail, "rule": "limits"},
        "changes": [],
        "raw": None,
    }
