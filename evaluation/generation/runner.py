"""The run of models: every subject, every writer, every sample, one row each.

Subjects are taken one after the other and each is put to all writers in turn, so
that what is compared was measured side by side.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from curation.workers.fingerprint import fingerprint
from curation.workers.worker import WorkerDidNotStart
from evaluation.execution.code_digest import writing_digest
from evaluation.execution.plan import RunTotals
from evaluation.generation.generation_rows import row_from_generation
from evaluation.generation.judgement import TextJudge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.cases import Row, Sample
    from evaluation.execution.run_folder import ResultsFolder
    from evaluation.generation.requests import (
        GenerationRequest,
        RequestBuilder,
        TextWriter,
    )
    from evaluation.generation.text_generation import Generation


def run_writers(  # noqa: PLR0913 (the run's own parts)
    writers: Sequence[TextWriter],
    subjects: Iterable[Sample],
    questions: RequestBuilder,
    out: ResultsFolder,
    *,
    batch: int = 1,
    advance: Callable[[int], None] = lambda _steps: None,
) -> RunTotals:
    """Have every writer write for every subject, but for the rows that are there.

    A writer whose engine cannot be loaded is told in the tally; the others go on.
    """
    tally = RunTotals()
    asked = (each for subject in subjects for each in questions.asked(subject))
    with TextJudge() as judge:
        for group in _groups(asked, batch):
            for writer in writers:
                if writer.label in tally.unavailable:
                    continue
                marks = {_mark(writer, each): each for each in group}
                left = {
                    mark: each
                    for mark, each in marks.items()
                    if mark not in out.finished
                }
                tally.found += len(group) - len(left)
                advance(len(group) - len(left))
                if not left:
                    continue
                try:
                    written = writer.write(list(left.values()))
                except WorkerDidNotStart as fault:
                    tally.unavailable[writer.label] = fault.what
                    continue
                for (mark, each), generation in zip(left.items(), written, strict=True):
                    out.write(_row(writer.label, each, generation, judge, mark))
                    tally.ran += 1
                    advance(1)
    return tally


def _groups(
    asked: Iterable[GenerationRequest], size: int
) -> Iterator[list[GenerationRequest]]:
    waiting = iter(asked)
    while group := list(islice(waiting, size)):
        yield group


def _mark(writer: TextWriter, asked: GenerationRequest) -> str:
    """Return the fingerprint of a row."""
    return fingerprint(
        code=writing_digest(),
        writer=writer.identity,
        label=writer.label,
        config=asked.subject.config,
        id=asked.subject.id,
        schema=asked.subject.schema,
        dialect=asked.subject.dialect,
        messages=[[each.role, each.content] for each in asked.messages],
        budget=asked.budget,
        sample=asked.sample,
        seed=asked.seed if asked.temperature else 0,
        temperature=str(asked.temperature),
    )


def _row(
    engine: str,
    asked: GenerationRequest,
    generation: Generation,
    judge: TextJudge,
    mark: str,
) -> Row:
    judgement = None
    if generation.generated:
        subject = asked.subject
        judgement = judge.judge(
            generation.text, subject.schema, subject.dialect, generation.adapted
        )
    return row_from_generation(
        generation,
        engine=engine,
        subject=asked.subject,
        sample=asked.sample,
        budget=asked.budget,
        judgement=judgement,
        fingerprint=mark,
    )
