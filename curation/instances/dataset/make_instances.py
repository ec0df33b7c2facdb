"""All that is made of one schema: witnesses, near misses, verdicts, and the answer.

A pure function of the schema's text, its dialect and the seed. It runs in a worker
process (`instance_worker`), and its result crosses the channel as JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.instances.judging.two_validators import verdicts
from curation.instances.model import InstanceKind, InstanceRow
from curation.instances.near_misses.coverage import Coverage, coverage
from curation.instances.near_misses.search import near_misses
from curation.instances.witnesses.search import witnesses
from curation.satisfiability.prove import Answer, answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.model import NearMiss, Witness, Witnesses

#: The reason beside the answer `unsatisfiable`.
PROOF = "proof"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaInstances:
    """What came of one schema."""

    answer: Answer
    #: The dialect it was read in; empty where it was not read.
    dialect: str = ""
    #: An `Obstacle`, `proof`, or how the process ended; empty where satisfiable.
    reason: str = ""
    detail: str = ""
    #: Without the record's id, which the packaging knows.
    instances: tuple[InstanceRow, ...] = ()
    #: None where near misses were not asked for, or there is no witness.
    coverage: Coverage | None = None

    def to_json(self) -> UntypedJson:
        """Return it as a JSON value."""
        return {**asdict(self), "answer": self.answer.value}

    @classmethod
    def from_json(cls, given: UntypedJson) -> Self:
        """Read what `to_json` has written."""
        covered = given["coverage"]
        if covered is not None:
            missing = tuple((each[0], each[1]) for each in covered["missing"])
            covered = Coverage(**{**covered, "missing": missing})
        return cls(
            answer=Answer(given["answer"]),
            dialect=given["dialect"],
            reason=given["reason"],
            detail=given["detail"],
            instances=tuple(InstanceRow(**each) for each in given["instances"]),
            coverage=covered,
        )


def text_of(value: UntypedJson) -> str:
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


def make(
    text: str, dialect: str = "", seed: int = 0, *, lean: bool = False
) -> SchemaInstances:
    """Return the instances of a schema, or why there are none.

    An empty dialect is decided here. With `lean` only witnesses are made, and only
    jsonschema-rs judges them: for schemas that cost too much otherwise.
    """
    subject = read_schema(text, dialect)
    if isinstance(subject, Rejected):
        reason = str(subject.reason)
        return SchemaInstances(
            answer=Answer.UNKNOWN, reason=reason, detail=subject.detail
        )
    found = witnesses(subject, seed)
    if not found.found:
        return _without(subject, found)
    rows = [_of_witness(subject, each, lean=lean) for each in found.found]
    covered = None
    if not lean:
        missed = near_misses(subject, found.found, seed)
        rows += _of_near_misses(subject, missed)
        covered = coverage(subject, missed)
    return SchemaInstances(
        answer=Answer.SATISFIABLE,
        dialect=subject.dialect.name,
        instances=tuple(_numbered(rows)),
        coverage=covered,
    )


def _without(subject: CompiledSchema, found: Witnesses) -> SchemaInstances:
    dialect = subject.dialect
    said, proof = answer(subject.schema, dialect, has_witness=False)
    if proof is not None:
        return SchemaInstances(
            answer=said,
            dialect=dialect.name,
            reason=PROOF,
            detail=str(proof),
        )
    return SchemaInstances(
        answer=said,
        dialect=dialect.name,
        reason=found.obstacle or "",
        detail=found.detail,
    )


def _of_witness(
    subject: CompiledSchema, witness: Witness, *, lean: bool
) -> UntypedJson:
    said = verdicts(subject, witness.value, ask_jsonschema=not lean)
    return {
        "text": text_of(witness.value),
        "valid": said.jsonschema_rs is True,
        "kind": witness.kind.value,
        "keyword": "",
        "schema_pointer": "",
        "instance_pointer": "",
        "verdicts": said.text,
    }


def _of_near_misses(
    subject: CompiledSchema, missed: Sequence[NearMiss]
) -> list[UntypedJson]:
    """Return the rows of near misses; jsonschema judges one for each keyword."""
    rows: list[UntypedJson] = []
    asked: set[str] = set()
    for each in missed:
        first = each.keyword not in asked
        asked.add(each.keyword)
        said = verdicts(subject, each.value, ask_jsonschema=first)
        rows.append(
            {
                "text": text_of(each.value),
                "valid": said.jsonschema_rs is True,
                "kind": InstanceKind.NEAR_MISS.value,
                "keyword": each.keyword,
                "schema_pointer": each.schema_pointer,
                "instance_pointer": each.instance_pointer,
                "verdicts": said.text,
            }
        )
    return rows


def _numbered(rows: Sequence[UntypedJson]) -> list[InstanceRow]:
    return [
        InstanceRow(unique_id="", number=number, **each)
        for number, each in enumerate(rows)
    ]
