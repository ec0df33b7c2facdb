"""Make the instances of one schema: witnesses, near misses, verdicts, the answer.

A pure function of the schema's text, its dialect and the seed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import InstanceKind
from curation.core.documents import Rejected
from curation.core.rule import Library
from curation.instances.constraints.interpretations import (
    make_interpretations,
    read_schema,
)
from curation.instances.judging.grading import instance_row, judge_examples
from curation.instances.model import (
    InstanceRow,
    NearMiss,
    SearchFailure,
    Witness,
    to_text,
)
from curation.instances.near_misses.search import (
    Coverage,
    measure_coverage,
    search_near_misses,
)
from curation.instances.witnesses.reach import MAX_ENTERED, count_entered_schemas
from curation.instances.witnesses.search import Budget, find_witnesses
from curation.json.values import identity
from curation.lint.satisfiability import Satisfiability, refute
from curation.references.closure import NO_LIBRARY

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: Witnesses looked for unless a caller asks for more or fewer.
DEFAULT_COUNT = 4
#: Characters above which a schema is huge, and gets witnesses alone.
HUGE = 1_500_000
#: How the detail begins of a record that has witnesses alone, since it cost too much.
LEAN = "without near misses: "
#: Most characters of a schema's instances that jsonschema judges in all: it takes
#: a thousand times as long as jsonschema-rs.
_JUDGED = 10_000
#: Most witnesses of one schema for unreached subschemas; four times as many
#: while they reach much.
COVERING = 16
#: Frames that a search may take: twice what the deepest instance needs, since how many
#: go to first compilations depends on the records before.
_FRAMES = 2_000
#: The reason given with the answer `unsatisfiable`.
PROOF = "proof"


class SchemaInstances(msgspec.Struct, frozen=True, kw_only=True):
    """The instances of one schema, or why it has none."""

    answer: Satisfiability
    #: The dialect it was read in; empty where it was not read.
    dialect: str = ""
    #: An `SearchFailure`, `proof`, or how the process ended; empty where satisfiable.
    reason: str = ""
    detail: str = ""
    #: Without the record's id, which the packaging knows.
    instances: tuple[InstanceRow, ...] = ()
    #: None if near misses were not requested, or without a witness.
    coverage: Coverage | None = None
    #: For the instances stated valid by the source and the schema refuses: how
    #: many fail each keyword. None if the source gives none.
    examples_refused: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        """Return the answer and the numbers of instances, in a line."""
        counts = f"{len(self.witnesses)} witnesses, {len(self.near_misses)} near misses"
        return f"<{type(self).__name__} {self.answer}: {counts}>"

    def to_json(self) -> dict[str, Json]:
        """Return it as a JSON object, as `csbdata instances` prints it."""
        members: dict[str, Json] = msgspec.to_builtins(self)
        return members

    @property
    def witnesses(self) -> tuple[InstanceRow, ...]:
        """The instances that the schema accepts."""
        return tuple(
            row for row in self.instances if row.kind != InstanceKind.NEAR_MISS
        )

    @property
    def near_misses(self) -> tuple[InstanceRow, ...]:
        """The instances that one keyword of the schema refuses."""
        return tuple(
            row for row in self.instances if row.kind == InstanceKind.NEAR_MISS
        )


def make_instances(  # noqa: PLR0913 (one argument for each thing asked)
    schema: str,
    dialect: str = "",
    seed: int = 0,
    *,
    count: int = DEFAULT_COUNT,
    examples: Sequence[str] = (),
    lean: bool = False,
    covering: int | None = None,
    base_uri: str | None = None,
    library: Library = NO_LIBRARY,
) -> SchemaInstances:
    """Return the instances of a schema, or why it has none.

    Args:
        schema: The schema as JSON text.
        dialect: Name of a dialect; where empty, it is decided here.
        seed: Seed of random choices.
        count: Most witnesses searched.
        examples: Valid instances from the schema's source, as JSON texts.
        lean: Make witnesses only, judged by jsonschema-rs alone: for schemas that
            cost too much otherwise. A huge one gets no more in any case.
        covering: Most witnesses for unreached subschemas; by default the usual
            number, or none if `lean`.
        base_uri: Where relative references of a schema start, if no dialect is named.
        library: The other documents of its source.
    """
    compiled = read_schema(schema, dialect, base_uri, library)
    if isinstance(compiled, Rejected):
        reason = str(compiled.reason)
        return SchemaInstances(
            answer=Satisfiability.UNKNOWN, reason=reason, detail=compiled.detail
        )
    huge = len(schema) > HUGE
    lean |= huge
    with _frames_of_its_own():
        if covering is None:
            covering = 0 if lean else COVERING
        budget = Budget(count=count, covering=covering)
        result = _search_instances(compiled, seed, budget, examples, lean=lean)
    for reading in filter(None, (make_interpretations(compiled).heeding, compiled)):
        reading.forget()
    if huge and result.instances:
        why = f"{LEAN}more than {HUGE:,} characters"
        return msgspec.structs.replace(result, detail=why)
    return result


@contextmanager
def _frames_of_its_own() -> Iterator[None]:
    """Give a search a fixed number of frames, so that results are equal."""
    limit, frame, depth = sys.getrecursionlimit(), inspect.currentframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + _FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _search_instances(
    compiled: CompiledSchema,
    seed: int,
    budget: Budget,
    examples: Sequence[str],
    *,
    lean: bool,
) -> SchemaInstances:
    entered = count_entered_schemas(compiled)
    if entered > MAX_ENTERED:
        return SchemaInstances(
            answer=Satisfiability.UNKNOWN,
            dialect=compiled.dialect.name,
            reason=SearchFailure.EXHAUSTED,
            detail=f"{entered:,} schemas are entered for one value",
        )
    interpretations = make_interpretations(compiled)
    search = find_witnesses(compiled, seed, budget)
    examples_accepted, refused = judge_examples(compiled, examples)
    identities = {identity(witness.value) for witness in examples_accepted}
    witnesses = [
        *(
            found_witness
            for found_witness in search.witnesses
            if identity(found_witness.value) not in identities
        ),
        *examples_accepted,
    ]
    if not witnesses:
        # jsonschema-rs proves nothing of a schema that it does not compile.
        usable = search.failure is not SearchFailure.UNUSABLE
        proof = refute(compiled.value, compiled.dialect) if usable else None
        answer, reason, detail = (
            (Satisfiability.UNKNOWN, search.failure or "", search.detail)
            if proof is None
            else (Satisfiability.UNSATISFIABLE, PROOF, str(proof))
        )
        return SchemaInstances(
            answer=answer, dialect=compiled.dialect.name, reason=reason, detail=detail
        )
    missed: list[NearMiss] = []
    covered = None
    if not lean:
        edited = search.witnesses or examples_accepted
        missed, reasons = search_near_misses(compiled, edited, seed)
        covered = measure_coverage(compiled, missed, reasons)
    rows: list[InstanceRow] = []
    # jsonschema judges witnesses and one near miss for each keyword, up to a length.
    judged: set[str] = set()
    budget_left = 0 if lean else _JUDGED
    instances: list[Witness | NearMiss] = [*witnesses, *missed]
    for number, instance in enumerate(instances):
        text = to_text(instance.value)
        ask = len(text) <= budget_left
        if isinstance(instance, NearMiss):
            ask &= instance.keyword not in judged
            judged.add(instance.keyword)
        budget_left -= len(text) if ask else 0
        rows.append(
            instance_row(interpretations, instance, number, text, ask_jsonschema=ask)
        )
    return SchemaInstances(
        answer=Satisfiability.SATISFIABLE,
        dialect=compiled.dialect.name,
        instances=tuple(rows),
        coverage=covered,
        examples_refused=refused if examples else None,
    )


#: A batch is closed at this many schemas or characters, whichever comes first.
BATCH_SCHEMAS = 32
BATCH_LENGTH = 2**19


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTask:
    """One schema whose instances are to be made."""

    config: str
    unique_id: str
    split: str
    schema: str
    dialect: str
    #: Instances that the source states are right, as JSON texts.
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordInstances:
    """The instances of one record."""

    task: InstanceTask
    result: SchemaInstances
