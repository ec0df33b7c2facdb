"""What is wrong with one schema? Rules, lints, and three validators by draft.

Everything is asked in a child process with a deadline for each question, and no
validator there can fetch anything.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from curation.core.documents import ABSENT, Reason
from curation.pipeline.check_messages import (
    RulesAnswer,
    RulesQuestion,
    VerdictAnswer,
    VerdictQuestion,
)
from curation.schema.dialects import DIALECTS
from curation.system.escaping import shortened
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending
from curation.workers.process import Program
from curation.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import Json
    from curation.workers.outcomes import ProcessResult

_WORKER = Path(__file__).with_name("check_worker.py")
#: Seconds for one question.
DEADLINE = 10.0
#: The validators asked, and the drafts that each of them implements.
VALIDATORS = {
    "jsonschema": tuple(dialect.name for dialect in DIALECTS),
    "jsonschema-rs": tuple(dialect.name for dialect in DIALECTS),
    "fastjsonschema": ("draft-04", "draft-06", "draft-07", "2019-09"),
}
_REASONS = {
    Ending.TIMEOUT: Reason.TIMED_OUT,
    Ending.OUT_OF_MEMORY: Reason.OUT_OF_MEMORY,
}
_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem:
    """One thing that a linter would say."""

    #: JSON pointer of the schema location; empty for the root.
    pointer: str
    #: A reject reason, the name of a rule, or a lint code.
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport:
    """All that is to be said about one schema."""

    #: None where it could not be decided.
    dialect: str | None
    dialect_found: str | None
    #: The drafts under whose metaschema it is valid, oldest first.
    valid_under: tuple[str, ...]
    #: Validator to draft to `accepts` or what is wrong; a draft that a validator
    #: does not implement is missing.
    verdicts: Mapping[str, Mapping[str, str]]
    problems: tuple[SchemaProblem, ...]


def check(schema: Mapping[str, Json] | bool | str | bytes) -> SchemaReport:  # noqa: FBT001 (a boolean is a schema)
    """Return what is wrong with a schema: by the rules, and by three validators.

    It is read in a process of its own, with 10 seconds for each question. Nothing
    is fetched. Whoever checks many schemas keeps one `SchemaChecker`.

    Args:
        schema: The schema, or its JSON text; bytes are read as a file's would be.

    Raises:
        WorkerDidNotStart: the child process cannot be run.

    Example:
        The schema locations with which something is wrong::

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

    def __init__(self) -> None:
        """Prepare; the process starts with the first text."""
        limits = replace(Limits(), seconds=DEADLINE)
        self._worker = Worker(Program(file=_WORKER), limits)

    def __enter__(self) -> Self:
        """Return the checker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._worker.close()

    def check(self, content: bytes) -> SchemaReport:
        """Return the report on one text.

        Raises:
            WorkerDidNotStart: the child process cannot be run.
        """
        text = content.decode("latin-1")
        result = self._worker.ask(RulesQuestion(content=text))
        if result.ending is Ending.OK:
            answer = result.answer_as(RulesAnswer)
            problems = tuple(_problems(answer))
        else:
            answer, problems = RulesAnswer(), (_failure(result),)
        return SchemaReport(
            dialect=answer.dialect,
            dialect_found=answer.dialect_found,
            valid_under=answer.valid_under,
            verdicts=_verdicts(self._worker, text),
            problems=problems,
        )


def _failure(result: ProcessResult) -> SchemaProblem:
    """Return the problem that the rules did not come to an end."""
    reason = _REASONS.get(result.ending, Reason.CRASHED)
    message = _joined(reason.explanation, result.detail)
    return SchemaProblem(pointer="", code=reason, message=message)


def _verdicts(worker: Worker, content: str) -> dict[str, dict[str, str]]:
    """Ask each validator under each draft; nothing of a text that is not JSON."""
    verdicts: dict[str, dict[str, str]] = {}
    for validator, dialects in VALIDATORS.items():
        own = verdicts.setdefault(validator, {})
        for dialect in dialects:
            result = worker.ask(
                VerdictQuestion(content=content, validator=validator, dialect=dialect)
            )
            if result.ending is not Ending.OK:
                own[dialect] = _joined(result.ending.value, result.detail)
                continue
            verdict = result.answer_as(VerdictAnswer).verdict
            if verdict is None:
                return {}
            own[dialect] = verdict
    return verdicts


def _joined(what: str, detail: str) -> str:
    return f"{what}: {detail}" if detail else what


def _problems(answer: RulesAnswer) -> Iterator[SchemaProblem]:
    meanings = answer.summaries
    for rejected in answer.rejected:
        message = _joined(rejected.reason.explanation, rejected.detail)
        yield SchemaProblem(pointer="", code=rejected.reason, message=message)
    for change in answer.changes:
        why = change.note or meanings.get(change.rule, "")
        yield SchemaProblem(
            pointer=change.pointer,
            code=change.rule,
            message=f"{_edit(change.before, change.after)} ({why})",
        )
    for lint in answer.lints:
        message = meanings.get(lint.code, "")
        yield SchemaProblem(pointer=lint.pointer, code=lint.code, message=message)


def _edit(before: str, after: str) -> str:
    if before == ABSENT:
        return f"would add {shortened(after, _SHOWN)}"
    if after == ABSENT:
        return f"would drop {shortened(before, _SHOWN)}"
    return f"would turn {shortened(before, _SHOWN)} into {shortened(after, _SHOWN)}"
