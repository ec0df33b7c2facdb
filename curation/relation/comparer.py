"""The relation of two schemas: by proof, otherwise by values, otherwise unknown.

The proofs come from jsonschema-rs's algebra, in a child process under a deadline in
processor time. What it does not decide, values may: witnesses and near misses of both
schemas, and values of the difference itself, judged with formats asserted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from msgspec.structs import asdict

from curation.relation.questions import (
    AlgebraAnswer,
    AlgebraQuestion,
    PlainSchema,
    Question,
    SchemaQuestion,
    ValueAnswer,
    ValueQuestion,
)
from curation.schema.subschemas import skeleton_digest
from curation.system.words import counted
from curation.workers.limits import BUSY_MACHINE, Ending, Limits, ProcessResult
from curation.workers.process import Program
from curation.workers.worker import Worker

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect

_Answer = TypeVar("_Answer", AlgebraAnswer, ValueAnswer, tuple[str, ...])
#: Seconds of processor time for the proofs of one pair, and for its values.
PROOF_SECONDS: Final = 5.0
VALUE_SECONDS: Final = 10.0
#: Answers kept for the same question.
_MAX_ANSWERS: Final = 64
#: How many times as long a question may take before it is asked again.
_LATER: Final = 2
_LIMITS: Final = Limits(wall_times=BUSY_MACHINE, memory_mb=1024, recycle_after=1_000)


class RelationKind(StrEnum):
    """The values of the second of two schemas, relative to the first's."""

    EQUAL = "equal"
    """The same values."""
    WIDER = "wider"
    """All values of the first, and more."""
    NARROWER = "narrower"
    """Only values of the first, and not all of them."""
    OVERLAPPING = "overlapping"
    """Some values of the first, and others."""
    APART = "apart"
    """No value of the first."""
    UNKNOWN = "unknown"
    """Neither proof nor value decides it."""


class Relation(ValueAnswer, frozen=True, kw_only=True):
    """How the second of two schemas relates to the first, and the evidence."""

    #: Whether every value of the first is one of the second; None if that is unknown.
    first_in_second: bool | None
    #: Whether every value of the second is one of the first.
    second_in_first: bool | None
    #: Whether a value is one of both.
    common: bool | None
    #: The reason if a proof could not be tried.
    failure: str = ""

    @property
    def kind(self) -> RelationKind:
        """The relation as one word."""
        match self.first_in_second, self.second_in_first, self.common:
            case True, True, _:
                return RelationKind.EQUAL
            case True, False, _:
                return RelationKind.WIDER
            case False, True, _:
                return RelationKind.NARROWER
            case False, False, True:
                return RelationKind.OVERLAPPING
            case False, False, False:
                return RelationKind.APART
        return RelationKind.UNKNOWN

    @property
    def evidence(self) -> str:
        """The evidence for the relation, or the attempts, as a clause."""
        if self.kind is RelationKind.UNKNOWN:
            halves = [
                f"every value of the {inner} is one of the {outer}"
                for inner, outer, proven in (
                    ("first", "second", self.first_in_second),
                    ("second", "first", self.second_in_first),
                )
                if proven
            ]
            return ", ".join([*halves, f"{counted(self.tried, 'value')} tried"])
        proven = [self.first_in_second, self.second_in_first, self.common is False]
        values = [self.only_first, self.only_second]
        words = ["proven"] if True in proven else []
        words += ["shown by values"] if any(values) else []
        return " and ".join(words)

    def as_json(self) -> dict[str, Json]:
        """Return the relation as a JSON object, its values as JSON."""
        members: dict[str, Json] = {
            "relation": self.kind.value,
            "evidence": self.evidence,
            "a_in_b": self.first_in_second,
            "b_in_a": self.second_in_first,
            "tried": self.tried,
        }
        values = ("only_a", self.only_first), ("only_b", self.only_second)
        for name, text in (*values, ("both", self.both)):
            if text is not None:
                members[name] = json.loads(text)
        return members | ({"failure": self.failure} if self.failure else {})


def to_text(schema: Json, dialect: Dialect) -> PlainSchema:
    """Return a schema as the worker is given it."""
    return PlainSchema(text=json.dumps(schema), dialect=dialect.name)


class Comparer:
    """A child process that compares schemas, one pair after the other.

    Example:
        >>> with Comparer() as comparer:
        ...     comparer.relation(True, {"type": "null"}, DRAFT_07).kind
        <RelationKind.NARROWER: 'narrower'>
    """

    def __init__(self, *, forked: bool = False) -> None:
        """Start nothing yet.

        Args:
            forked: Whether this process has no threads of others and may be copied.
        """
        program = Program(module="curation.relation.worker", forked=forked)
        self._worker = Worker(program, _LIMITS)
        #: Processor time of all answers so far, in seconds.
        self.spent = 0.0
        #: The last answers, of which another target often has the question: the
        #: deadline of those that it ended, and what is answered then.
        self._answers: dict[Question, tuple[float, Any]] = {}

    def __enter__(self) -> Self:
        """Return the comparer."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the child."""
        self._worker.kill()

    def proofs(
        self, first: PlainSchema, second: PlainSchema, seconds: float = PROOF_SECONDS
    ) -> AlgebraAnswer:
        """Return the proofs about two schemas; none if the deadline ended it."""
        question = AlgebraQuestion(first=first, second=second)
        return self._ask(question, seconds, AlgebraAnswer)

    def form(self, schema: PlainSchema, seconds: float = PROOF_SECONDS) -> str:
        """Return the canonical form of a schema as JSON text; empty for none."""
        question = SchemaQuestion(schema=schema, wanted="form")
        return "".join(self._ask(question, seconds, tuple[str, ...]))

    def values(
        self,
        first: PlainSchema,
        second: PlainSchema,
        *,
        given: Iterable[str] = (),
        differences: Iterable[str] = (),
        seconds: float = VALUE_SECONDS,
    ) -> ValueAnswer:
        """Return values that distinguish two schemas.

        Args:
            first: A schema.
            second: Another one.
            given: JSON texts of values to be tried before others.
            differences: Schemas of values that distinguish them, from `proofs`.
            seconds: The deadline, of processor time.
        """
        question = ValueQuestion(
            first=first,
            second=second,
            given=tuple(given),
            differences=tuple(differences),
        )
        return self._ask(question, seconds, ValueAnswer)

    def witnesses(
        self, schema: PlainSchema, seconds: float = VALUE_SECONDS
    ) -> tuple[str, ...]:
        """Return some values of a schema as JSON texts; none when time is up."""
        question = SchemaQuestion(schema=schema, wanted="witnesses")
        return self._ask(question, seconds, tuple[str, ...])

    def _ask(self, question: Question, seconds: float, kind: type[_Answer]) -> _Answer:
        deadline, answer = self._answers.get(question, (-1.0, None))
        # What one deadline ended, one a little later would end as well.
        if seconds > _LATER * deadline:
            if len(self._answers) >= _MAX_ANSWERS:
                self._answers.clear()
            result = self._result(question, seconds)
            if result.ending is Ending.OK:
                deadline, answer = inf, result.answer_as(kind)
            elif kind is AlgebraAnswer:
                deadline, answer = seconds, AlgebraAnswer(failure=result.detail)
            else:
                deadline, answer = seconds, kind()
            self._answers[question] = deadline, answer
        return cast("_Answer", answer)

    def _result(self, question: Question, seconds: float) -> ProcessResult:
        self._worker.start()
        child = self._worker.child
        begun = child.processor_seconds() if child is not None else 0.0
        result = self._worker.ask(question, seconds)
        if child is not None and child is self._worker.child:
            self.spent += child.processor_seconds() - begun
        else:
            self.spent += min(result.seconds, seconds)
        return result

    def relation(
        self,
        first: Json,
        second: Json,
        dialect: Dialect,
        second_dialect: Dialect | None = None,
        given: Iterable[str] = (),
    ) -> Relation:
        """Return how the second of two schemas relates to the first.

        Where a value contradicts a proof, the value is believed.

        Args:
            first: A schema that validators can use.
            second: Another one.
            dialect: That of the first.
            second_dialect: That of the second, if it is another.
            given: JSON texts of values to be tried before others.
        """
        other_dialect = second_dialect or dialect
        equal = skeleton_digest(first, dialect) == skeleton_digest(
            second, other_dialect
        )
        if equal and dialect is other_dialect:
            return Relation(first_in_second=True, second_in_first=True, common=None)
        texts = to_text(first, dialect), to_text(second, other_dialect)
        proofs = self.proofs(*texts, PROOF_SECONDS)
        if proofs.first_in_second and proofs.second_in_first:
            return Relation(first_in_second=True, second_in_first=True, common=None)
        values = self.values(*texts, given=given, differences=proofs.differences)
        common: bool | None = None
        if values.both or proofs.apart:
            common = bool(values.both)
        return Relation(
            first_in_second=_holds(values.only_first, proven=proofs.first_in_second),
            second_in_first=_holds(values.only_second, proven=proofs.second_in_first),
            common=common,
            failure=proofs.failure,
            **asdict(values),
        )


def _holds(counterexample: str | None, *, proven: bool) -> bool | None:
    if counterexample is not None:
        return False
    return True if proven else None
