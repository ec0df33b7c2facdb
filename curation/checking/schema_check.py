"""One schema checked by the rules and the lints, in a child process."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import msgspec

from curation.checking.codes import SLOW, TIMED_OUT
from curation.checking.messages import RulesAnswer, RulesQuestion
from curation.checking.problems import NOTE, SchemaProblem
from curation.core.documents import ABSENT, Reason
from curation.core.json_types import Json
from curation.json.positions import TextPositions
from curation.sources.neighbours import NeighbourFiles, base_uri_of
from curation.system.escaping import shortened
from curation.workers.limits import BUSY_MACHINE, Limits
from curation.workers.outcomes import Ending, ProcessResult
from curation.workers.process import Program
from curation.workers.worker import Worker

_WORKER = Path(__file__).with_name("check_worker.py")
#: Seconds for one question.
DEADLINE = 10.0
_REASONS = {
    Ending.TIMEOUT: (TIMED_OUT, SLOW),
    Ending.OUT_OF_MEMORY: (Reason.OUT_OF_MEMORY, Reason.OUT_OF_MEMORY.explanation),
}
_CRASHED = Reason.CRASHED, Reason.CRASHED.explanation
_SHOWN = 60
#: How the detail begins of a reference to the web.
_WEB = re.compile(r"'https?://", re.IGNORECASE)
_LINE_AND_COLUMN = re.compile(r"line (\d+),? column (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport:
    """The result of a check."""

    #: None if it could not be decided.
    dialect: str | None = None
    dialect_found: str | None = None
    #: The keywords that speak against some draft, of an undeclared schema.
    dialect_words: tuple[str, ...] = ()
    #: The drafts under whose metaschema it is valid, oldest first.
    valid_under: tuple[str, ...] = ()
    problems: tuple[SchemaProblem, ...]

    @property
    def faults(self) -> tuple[SchemaProblem, ...]:
        """The problems that are not just notes."""
        return tuple(problem for problem in self.problems if problem.level != NOTE)

    @property
    def crashed(self) -> bool:
        """Whether a rule raised or its process died: a defect of csbdata."""
        return any(problem.code == Reason.CRASHED for problem in self.problems)


def check(schema: Mapping[str, Json] | bool | str | bytes) -> SchemaReport:  # noqa: FBT001 (a boolean is a schema)
    """Check a schema by the rules, which ask two validators.

    It is read in a child process, with 10 seconds for each question. Nothing is
    fetched. To check many schemas, keep one `SchemaChecker`.

    Args:
        schema: The schema, or its JSON text; bytes are read as a file's would be.

    Raises:
        WorkerDidNotStart: the child process cannot be run.

    Example:
        Print the problems::

            report = check({"type": "object", "properties": {"a": {"type": "text"}}})
            for problem in report.problems:
                print(problem.pointer, problem.code, problem.message)
    """
    if isinstance(schema, bytes):
        content = schema
    elif isinstance(schema, str):
        content = schema.encode("utf-8", "surrogatepass")
    else:
        content = json.dumps(schema, default=dict).encode()
    with SchemaChecker() as checker:
        return checker.check(content)


class SchemaChecker:
    """A child process that checks one text after another.

    Example:
        Two texts with one process::

            with SchemaChecker() as checker:
                reports = [checker.check(text) for text in (b"{}", b"true")]
    """

    def __init__(self, neighbours: NeighbourFiles | None = None) -> None:
        """Prepare; the process starts with the first text.

        Args:
            neighbours: The files to which relative references may lead; by default
                there are none.
        """
        limits = Limits(seconds=DEADLINE, wall_times=BUSY_MACHINE)
        setup: Json = msgspec.to_builtins(neighbours or NeighbourFiles())
        self._worker = Worker(Program(file=_WORKER, setup=setup), limits)

    def __enter__(self) -> Self:
        """Return the checker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._worker.close()

    def check(self, content: bytes, *, place: str | None = None) -> SchemaReport:
        """Return the report on one text.

        Args:
            content: The text.
            place: Its path below the root of the neighbours, with `/`.

        Raises:
            WorkerDidNotStart: the child process cannot be run.
        """
        text = content.decode("latin-1")
        base_uri = None if place is None else base_uri_of(place)
        result = self._worker.ask(RulesQuestion(content=text, base_uri=base_uri))
        if result.ending is Ending.OK:
            answer = result.answer_as(RulesAnswer)
            problems = tuple(_placed(_problems(answer), content))
        else:
            answer, problems = RulesAnswer(), (_failure(result),)
        return SchemaReport(
            dialect=answer.dialect,
            dialect_found=answer.dialect_found,
            dialect_words=answer.dialect_words,
            valid_under=answer.valid_under,
            problems=problems,
        )


def _failure(result: ProcessResult) -> SchemaProblem:
    code, meaning = _REASONS.get(result.ending, _CRASHED)
    return _problem("error", "", code, _joined(meaning, result.detail))


def _problem(level: str, pointer: str, code: str, message: str) -> SchemaProblem:
    """Return a problem whose place in the text is not known yet."""
    return SchemaProblem(
        level=level, pointer=pointer, line=1, column=1, code=code, message=message
    )


def _placed(
    problems: Iterable[SchemaProblem], content: bytes
) -> Iterator[SchemaProblem]:
    """Give every problem its line and column."""
    unplaced = list(problems)
    if all(not problem.pointer for problem in unplaced):
        yield from map(_placed_by_its_words, unplaced)
        return
    positions = TextPositions(content.decode("utf-8-sig", "replace"))
    for problem in unplaced:
        line, column = positions.of(problem.pointer)
        yield replace(problem, line=line, column=column)


def _placed_by_its_words(problem: SchemaProblem) -> SchemaProblem:
    match = _LINE_AND_COLUMN.search(problem.message)
    if problem.code != Reason.NOT_JSON or match is None:
        return problem
    return replace(problem, line=int(match[1]), column=int(match[2]))


def _joined(what: str, detail: str) -> str:
    return f"{what}: {detail}" if detail else what


def _problems(answer: RulesAnswer) -> Iterator[SchemaProblem]:
    for rejected in answer.rejected:
        detail = rejected.detail.removeprefix(f"{rejected.pointer or '(root)'}: ")
        message = _joined(rejected.reason.explanation, detail)
        is_remote = rejected.reason is Reason.REMOTE_REFERENCE and _WEB.match(detail)
        level = NOTE if is_remote else "error"
        yield _problem(level, rejected.pointer, rejected.reason, message)
    for change in answer.changes:
        why = change.note or answer.summaries.get(change.rule, "")
        message = f"{_edit(change.before, change.after)} ({why})"
        yield _problem("warning", change.pointer, change.rule, message)
    for level, lints in (("warning", answer.lints), (NOTE, answer.notes)):
        for lint, message in lints:
            yield _problem(level, lint.pointer, lint.code, message)


def _edit(before: str, after: str) -> str:
    if before == ABSENT:
        return f"would add {shortened(after, _SHOWN)}"
    if after == ABSENT:
        return f"would drop {shortened(before, _SHOWN)}"
    return f"would turn {shortened(before, _SHOWN)} into {shortened(after, _SHOWN)}"
