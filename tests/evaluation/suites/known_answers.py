"""Answers to records of every suite with their verdicts: right ones and wrong ones."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from curation.core.documents import Rejected
from curation.instances.constraints.interpretations import read_schema
from curation.instances.witnesses.search import Budget, find_witnesses
from evaluation.core.records import Record, Response, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.runner.request import SuiteChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """An answer with a known verdict."""

    #: What was done: `reference`, `truncated`, `wrong_type`, ...
    kind: str
    text: str | None
    #: The expected failure class; empty if it must pass.
    expected: str = ""
    #: Text that one of the verdict's reasons must contain; empty for any.
    because: str = ""
    reasoning: str = ""
    finish: str = "stop"
    error: str = ""
    #: How it was written (`Response.writing`).
    writing: dict[str, Json] | None = None

    def response(self, record: Record) -> Response:
        """Return it as a response to a record."""
        return Response(
            record=record.key,
            model=self.kind,
            text=self.text,
            reasoning=self.reasoning,
            finish=self.finish,
            error=self.error,
            writing=self.writing,
        )

    def is_met(self, verdict: Verdict) -> bool:
        """Return whether class and reason of a verdict are those intended."""
        if verdict.passed:
            return not self.expected
        because = any(self.because in reason for reason in verdict.reasons)
        return verdict.failure_class == self.expected and (not self.because or because)


def known_answers(choice: SuiteChoice, record: Record) -> Iterable[KnownAnswer]:
    """Yield answers to a record, right ones and wrong ones of each class."""
    module = import_module(f"tests.evaluation.suites.known.{choice.suite.name}")
    answers: Iterable[KnownAnswer] = module.known_answers(record, choice.settings)
    return answers


def unexpected(
    choice: SuiteChoice, pairs: Iterable[tuple[Record, KnownAnswer]]
) -> list[tuple[str, KnownAnswer, Verdict]]:
    """Return the answers whose verdict is not the one intended."""
    scorer = choice.suite.scorer(choice.settings)
    judged = (
        (record.key, known, scorer(record)(known.response(record)))
        for record, known in pairs
    )
    return [it for it in judged if not it[1].is_met(it[2])]


def first_witness(schema: str, dialect: str) -> Iterator[tuple[CompiledSchema, Json]]:
    """Yield a schema with one value that it accepts; nothing where none is known."""
    compiled = read_schema(schema, dialect)
    if not isinstance(compiled, Rejected):
        for witness in find_witnesses(compiled, 0, Budget(count=1)).witnesses:
            yield compiled, witness.value
