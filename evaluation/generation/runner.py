"""Having models write: for every sample, every writer and every repeat, one row.

Samples are taken one after the other, and each is put to all writers in turn, so that
what is compared was measured side by side.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from curation.workers.fingerprint import fingerprint
from curation.workers.worker import WorkerDidNotStart
from evaluation.core.cases import Result
from evaluation.generation.generation_rows import row_from_generation
from evaluation.generation.judgement import TextJudge, classify
from evaluation.walking.code_digest import writing_digest
from evaluation.walking.plan import RunTotals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.cases import Row, Sample
    from evaluation.generation.judgement import Judgement
    from evaluation.generation.requests import (
        GenerationRequest,
        RequestBuilder,
        TextWriter,
    )
    from evaluation.generation.text_generation import Generation
    from evaluation.walking.run_folder import ResultsFolder


def run_writers(  # noqa: PLR0913 (the run's own parts)
    writers: Sequence[TextWriter],
    samples: Iterable[Sample],
    builder: RequestBuilder,
    out: ResultsFolder,
    *,
    batch: int = 1,
    advance: Callable[[int], None] = lambda _steps: None,
) -> RunTotals:
    """Have every writer write for every sample, but for the rows that are there.

    Args:
        writers: The models and engines that are compared.
        samples: The schemas, in the order in which they are taken.
        builder: Makes the requests for a sample.
        out: The run's folder, to which rows are written.
        batch: How many texts a writer is given at a time.
        advance: Called with the number of rows that are there in addition.

    Returns:
        What was found and written. A writer whose engine cannot be loaded is named in
        `unavailable`; the others go on.
    """
    totals = RunTotals()
    with TextJudge() as judge:
        for group in _groups(samples, builder, batch):
            for writer in writers:
                if writer.label in totals.unavailable:
                    continue
                marked = _left(writer, group, out)
                totals.found += len(group) - len(marked)
                advance(len(group) - len(marked))
                if not marked:
                    continue

                def write_row(
                    place: int,
                    generation: Generation,
                    label: str = writer.label,
                    marked: Sequence[tuple[str, GenerationRequest]] = marked,
                ) -> None:
                    mark, request = marked[place]
                    out.write(_row(label, request, generation, judge, mark))
                    totals.ran += 1
                    totals.unanswered += generation.may_pass
                    advance(1)

                try:
                    writer.write([request for _, request in marked], write_row)
                except WorkerDidNotStart as fault:
                    totals.unavailable[writer.label] = fault.what
                    continue
    return totals


def _groups(
    samples: Iterable[Sample], builder: RequestBuilder, size: int
) -> Iterator[list[GenerationRequest]]:
    waiting = (request for sample in samples for request in builder.requests(sample))
    while group := list(islice(waiting, size)):
        yield group


def _left(
    writer: TextWriter,
    group: Sequence[GenerationRequest],
    out: ResultsFolder,
) -> list[tuple[str, GenerationRequest]]:
    """Return the requests of a group that have no row, each with its fingerprint."""
    marks = {_mark(writer, request): request for request in group}
    return [(mark, left) for mark, left in marks.items() if mark not in out.finished]


def _mark(writer: TextWriter, request: GenerationRequest) -> str:
    """Return the fingerprint of a row."""
    return fingerprint(
        code=writing_digest(),
        writer=writer.identity,
        label=writer.label,
        config=request.sample.config,
        id=request.sample.id,
        schema=request.sample.schema,
        dialect=request.sample.dialect,
        messages=[[message.role, message.content] for message in request.messages],
        budget=request.budget,
        sample=request.repeat,
        seed=request.seed if request.temperature else 0,
        temperature=str(request.temperature),
    )


def _row(
    engine: str,
    request: GenerationRequest,
    generation: Generation,
    judge: TextJudge,
    mark: str,
) -> Row:
    sample = request.sample

    def judged(one: Generation) -> Judgement | None:
        if not one.generated:
            return None
        return judge.judge(one.text, sample.schema, sample.dialect, one.adapted)

    in_batch = None
    if generation.batch_ending is not None:
        other = replace(
            generation,
            result=Result.OK,
            text=generation.batch_text,
            ending=generation.batch_ending,
        )
        in_batch = classify(other, judged(other))
    return row_from_generation(
        generation,
        request,
        engine=engine,
        judgement=judged(generation),
        # A row without a fingerprint is there to be read, and is asked for again.
        fingerprint="" if generation.may_pass else mark,
        class_in_batch=in_batch,
    )
