"""All that is made of one schema: witnesses, near misses, verdicts, and the answer.

A pure function of the schema's text, its dialect and the seed. It runs in a worker
process (`instance_worker`), and its result crosses the channel as JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from curation.dialects import BY_NAME
from curation.documents import Rejected
from curation.instances.cases import Instance, Obstacle
from curation.instances.subject import Subject
from curation.instances.witnesses import witnesses
from curation.jsontext import parse
from curation.refutation import refute

if TYPE_CHECKING:
    from curation.documents import Json
    from curation.instances.cases import Witness


class Answer(StrEnum):
    """Whether a schema can be met at all."""

    SATISFIABLE = "satisfiable"
    """A witness exists."""
    UNSATISFIABLE = "unsatisfiable"
    """There is a proof that nothing is accepted."""
    UNKNOWN = "unknown"
    """Neither was found; the reason says what stood in the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What came of one schema."""

    answer: Answer
    #: An `Obstacle`, `proof`, or how the process ended; empty where satisfiable.
    reason: str = ""
    detail: str = ""
    #: Without the record's id, which the packaging knows.
    instances: tuple[Instance, ...] = ()

    def to_json(self) -> Json:
        """Return it as a JSON value."""
        return {**asdict(self), "answer": self.answer.value}

    @classmethod
    def from_json(cls, given: Json) -> Self:
        """Read what `to_json` has written."""
        instances = tuple(Instance(**each) for each in given["instances"])
        answer = Answer(given["answer"])
        return cls(**{**given, "answer": answer, "instances": instances})


def text_of(value: Json) -> str:
    """Return an instance's text: Python's default separators, characters as such.

    Half a surrogate pair cannot stand in UTF-8; such a text is escaped.

    Raises:
        ValueError: a number is not finite.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text


def make(text: str, dialect: str, seed: int = 0) -> Made:
    """Return the instances of a schema, or why there are none.

    Raises:
        ValueError: the text is no JSON.
    """
    schema = parse(text.encode("utf-8", "surrogatepass"))
    if isinstance(schema, Rejected):
        raise ValueError(schema.detail)  # noqa: TRY004 - the text is at fault
    subject = Subject.of(schema, dialect)
    found = witnesses(subject, seed)
    if not found.found:
        return _without(subject, found.obstacle, found.detail)
    rows = [
        _witness_row(number, witness, subject)
        for number, witness in enumerate(found.found)
    ]
    return Made(answer=Answer.SATISFIABLE, instances=tuple(rows))


def _without(subject: Subject, obstacle: Obstacle | None, detail: str) -> Made:
    proof = refute(subject.schema, BY_NAME[subject.dialect.name])
    if proof is not None:
        return Made(answer=Answer.UNSATISFIABLE, reason="proof", detail=str(proof))
    reason = "" if obstacle is None else obstacle.value
    return Made(answer=Answer.UNKNOWN, reason=reason, detail=detail)


def _witness_row(number: int, witness: Witness, subject: Subject) -> Instance:
    valid = bool(subject.rs.is_valid(witness.value))
    off = bool(subject.rs_plain.is_valid(witness.value))
    verdicts = {
        "jsonschema-rs": {"formats_on": valid, "formats_off": off},
        "jsonschema": None,
    }
    return Instance(
        unique_id="",
        number=number,
        text=text_of(witness.value),
        valid=valid,
        kind=witness.kind.value,
        keyword="",
        schema_pointer="",
        instance_pointer="",
        verdicts=json.dumps(verdicts),
    )
