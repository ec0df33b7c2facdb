"""What is wrong with one schema? Rules, lints, and three validators by draft.

Everything is asked in a child process with a deadline for each question, and no
validator there can fetch anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from curation.core.documents import ABSENT, Reason
from curation.schema.dialects import DIALECTS
from curation.system.escaping import shortened
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending
from curation.workers.process import Program
from curation.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import UntypedJson
    from curation.workers.outcomes import ProcessResult

_WORKER = Path(__file__).with_name("check_worker.py")
#: Seconds for one question.
DEADLINE = 10.0
#: The verdict of a validator that takes the schema.
ACCEPTS = "accepts"
#: The validators asked, and the drafts that each of them implements.
VALIDATORS = {
    "jsonschema": tuple(each.name for each in DIALECTS),
    "jsonschema-rs": tuple(each.name for each in DIALECTS),
    "fastjsonschema": ("draft-04", "draft-06", "draft-07", "2019-09"),
}
_ENDINGS = {
    Ending.TIMEOUT: Reason.TIMED_OUT,
    Ending.OUT_OF_MEMORY: Reason.OUT_OF_MEMORY,
}
_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem:
    """One thing that a linter would say."""

    #: JSON pointer of the place; empty for the root.
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
    valid_under: tuple[str, ...]
    #: Validator to draft to `accepts` or what is wrong; a draft that a validator
    #: does not implement is missing.
    verdicts: Mapping[str, Mapping[str, str]]
    problems: tuple[SchemaProblem, ...]


class Examiner:
    """A child process that looks at one text after another."""

    def __init__(self) -> None:
        """Prepare; the process starts with the first text."""
        limits = replace(Limits(), seconds=DEADLINE)
        self._worker = Worker(Program(file=_WORKER), limits)

    def __enter__(self) -> Self:
        """Return the examiner."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._worker.close()

    def examine(self, content: bytes) -> SchemaReport:
        """Return the report on one text.

        Raises:
            WorkerDidNotStart: the child process cannot be run.
        """
        unit = {"content": content.decode("latin-1")}
        ruled = self._worker.ask({**unit, "task": "rules"})
        found: dict[str, UntypedJson] = {}
        if ruled.ending is Ending.OK:
            found = ruled.answer
            problems = tuple(_problems(found))
        else:
            problems = (_ended(ruled),)
        return SchemaReport(
            dialect=found.get("dialect"),
            dialect_found=found.get("dialect_found"),
            valid_under=tuple(found.get("valid_under", ())),
            verdicts=_verdicts(self._worker, unit),
            problems=problems,
        )


def _ended(ruled: ProcessResult) -> SchemaProblem:
    reason = _ENDINGS.get(ruled.ending, Reason.CRASHED)
    message = _joined(reason.explanation, ruled.detail)
    return SchemaProblem(pointer="", code=reason, message=message)


def _verdicts(worker: Worker, unit: UntypedJson) -> dict[str, dict[str, str]]:
    """Ask each validator under each draft; nothing of a text that is not JSON."""
    verdicts: dict[str, dict[str, str]] = {}
    for validator, dialects in VALIDATORS.items():
        for dialect in dialects:
            question = {"task": "verdict", "validator": validator, "dialect": dialect}
            outcome = worker.ask({**unit, **question})
            if outcome.ending is Ending.OK and outcome.answer is None:
                return {}
            said = (
                outcome.answer
                if outcome.ending is Ending.OK
                else _joined(outcome.ending.value, outcome.detail)
            )
            verdicts.setdefault(validator, {})[dialect] = said
    return verdicts


def _joined(what: str, detail: str) -> str:
    return f"{what}: {detail}" if detail else what


def _problems(found: UntypedJson) -> Iterator[SchemaProblem]:
    meanings = found["summaries"]
    for rejected in found["rejected"]:
        explanation = Reason(rejected["reason"]).explanation
        message = _joined(explanation, rejected["detail"])
        yield SchemaProblem(pointer="", code=rejected["reason"], message=message)
    for change in found["changes"]:
        why = change["note"] or meanings.get(change["rule"], "")
        yield SchemaProblem(
            pointer=change["pointer"],
            code=change["rule"],
            message=f"{_edit(change['before'], change['after'])} ({why})",
        )
    for lint in found["lints"]:
        message = meanings.get(lint["code"], "")
        yield SchemaProblem(pointer=lint["pointer"], code=lint["code"], message=message)


def _edit(before: str, after: str) -> str:
    if before == ABSENT:
        return f"would add {shortened(after, _SHOWN)}"
    if after == ABSENT:
        return f"would drop {shortened(before, _SHOWN)}"
    return f"would turn {shortened(before, _SHOWN)} into {shortened(after, _SHOWN)}"
