"""One schema checked by the rules and the lints, in a child process."""

from __future__ import annotations

from typing import Self

import msgspec
from msgspec.structs import replace

from curation.checking.report import CheckQuestion, SchemaReport
from curation.core.documents import Reason
from curation.core.json_types import GivenSchema, Json
from curation.core.problems import SchemaProblem
from curation.json.positions import placed_in_text
from curation.json.text import text_of_schema
from curation.sources.neighbours import NeighbourFiles, to_base_uri
from curation.workers.limits import BUSY_MACHINE, Ending, Limits
from curation.workers.process import Program
from curation.workers.worker import Worker

#: Seconds for one question, and for each byte of it.
DEADLINE, _EACH = 10.0, 1e-6
#: Questions after which the process is replaced by a fresh one.
_RECYCLED_AFTER = 2_000
#: The code of a question that takes longer; no build knows it.
TIMED_OUT = "timed_out"
SLOW = "a question to the schema was not answered within 10 seconds"
_REASONS = {
    Ending.TIMEOUT: (TIMED_OUT, SLOW),
    Ending.OUT_OF_MEMORY: (Reason.OUT_OF_MEMORY, Reason.OUT_OF_MEMORY.explanation),
}
_CRASHED = Reason.CRASHED, Reason.CRASHED.explanation


def check(schema: GivenSchema | bytes) -> SchemaReport:
    """Check a schema by the rules, which ask two validators.

    It is read in a child process, with 10 seconds for each question. Nothing is
    fetched. To check many schemas, keep one `SchemaChecker`.

    Args:
        schema: The schema, its JSON text, or a model of pydantic; bytes are read as a
            file's would be.

    Raises:
        WorkerDidNotStart: the child process cannot be run.

    Example:
        Print the problems::

            report = check({"type": "object", "properties": {"a": {"type": "text"}}})
            for problem in report.problems:
                print(problem.pointer, problem.code, problem.message)
    """
    if not isinstance(schema, bytes):
        schema = text_of_schema(schema).encode("utf-8", "surrogatepass")
    with SchemaChecker() as checker:
        return checker.check(schema)


class SchemaChecker:
    """A child process that checks one text after another.

    Example:
        Two texts with one process::

            with SchemaChecker() as checker:
                reports = [checker.check(text) for text in (b"{}", b"true")]
    """

    def __init__(
        self, neighbours: NeighbourFiles | None = None, *, forked: bool = False
    ) -> None:
        """Prepare; the process starts with the first text.

        Args:
            neighbours: The files to which relative references may lead; by default
                none exist.
            forked: Whether this process has no threads of others and may be copied.
        """
        limits = Limits(
            seconds=DEADLINE, wall_times=BUSY_MACHINE, recycle_after=_RECYCLED_AFTER
        )
        setup: Json = msgspec.to_builtins(neighbours or NeighbourFiles())
        self._worker = Worker(
            Program(
                module="curation.checking.check_worker", setup=setup, forked=forked
            ),
            limits,
        )

    def __enter__(self) -> Self:
        """Return the checker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._worker.close()

    def check(self, content: bytes, *, path: str | None = None) -> SchemaReport:
        """Return the report on one text.

        Args:
            content: The text.
            path: Its path path below the root of the neighbours, with `/`.

        Raises:
            WorkerDidNotStart: the child process cannot be run.
        """
        text = content.decode("latin-1")
        base_uri = None if path is None else to_base_uri(path)
        question = CheckQuestion(content=text, base_uri=base_uri)
        result = self._worker.ask(question, DEADLINE + _EACH * len(content))
        if result.ending is not Ending.OK:
            code, meaning = _REASONS.get(result.ending, _CRASHED)
            message = f"{meaning}: {result.detail}" if result.detail else meaning
            return SchemaReport(problems=(SchemaProblem("", code, message, "error"),))
        report = result.answer_as(SchemaReport)
        return replace(report, problems=placed_in_text(report.problems, content))
