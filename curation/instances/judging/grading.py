"""Grade labelled instances, and examples that come with a schema."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from curation.core.benchmark import InstanceKind
from curation.core.documents import Rejected
from curation.instances.constraints.interpretations import (
    Interpretations,
    make_interpretations,
    read_schema,
)
from curation.instances.judging.validators import verdicts_of_each
from curation.instances.judging.violations import as_near_miss, fails_at
from curation.instances.model import InstanceRow, NearMiss, Witness, to_text
from curation.json.values import identity
from curation.system.words import shortened

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: Replaces the keyword if the schema is unusable, or the text is not JSON.
UNJUDGED: Final = "cannot be judged"


def judge_examples(
    compiled: CompiledSchema, texts: Iterable[str]
) -> tuple[list[Witness], dict[str, int]]:
    """Return the examples that a schema accepts, and what refuses the others.

    Args:
        compiled: The schema.
        texts: Examples as JSON texts; equal values count once.

    Returns:
        Witnesses of kind `given`, and how many of the others fail each keyword, or
        `mixed` for several.

    Example:
        >>> compiled = CompiledSchema.from_json({"type": "integer"}, "2020-12")
        >>> judge_examples(compiled, ["1", "1.5"])
        ([Witness(kind=<InstanceKind.GIVEN: 'given'>, value=1)], {'type': 1})
    """
    accepted: list[Witness] = []
    refused: Counter[str] = Counter()
    identities: set[bytes] = set()
    for text in texts:
        try:
            value = json.loads(text)
            digest = identity(value)
            if digest in identities:
                continue
            identities.add(digest)
            failed = as_near_miss(compiled, value)
        except (ValueError, RecursionError):
            refused[UNJUDGED] += 1
            continue
        if failed is None:
            accepted.append(Witness(kind=InstanceKind.GIVEN, value=value))
        else:
            refused[failed.keyword] += 1
    return accepted, dict(sorted(refused.items()))


#: Longest text kept of an error; jsonschema-rs repeats whole schemas.
_SHOWN: Final = 300


def instance_row(
    interpretations: Interpretations,
    instance: Witness | NearMiss,
    number: int,
    text: str,
    *,
    ask_jsonschema: bool,
) -> InstanceRow:
    """Return an instance with the verdicts of the validators, without a record's id.

    Args:
        interpretations: The schema.
        instance: A value that it accepts, or a value with its violation.
        number: Position among the record's instances.
        text: The instance as JSON text.
        ask_jsonschema: Whether jsonschema is asked too.
    """
    verdicts = verdicts_of_each(
        interpretations, instance.value, ask_jsonschema=ask_jsonschema
    )
    miss = instance if isinstance(instance, NearMiss) else None
    kind = instance.kind if isinstance(instance, Witness) else InstanceKind.NEAR_MISS
    return InstanceRow(
        unique_id="",
        number=number,
        text=text,
        valid=verdicts.jsonschema_rs,
        kind=kind.value,
        keyword=miss.keyword if miss else "",
        schema_pointer=miss.schema_pointer if miss else "",
        instance_pointer=miss.instance_pointer if miss else "",
        fails_at=miss.fails_at if miss else None,
        verdicts=verdicts.text,
    )


def grade(
    text: str, dialect: str, instances: Sequence[str]
) -> list[InstanceRow | str] | str:
    """Return relabelled instances: verdicts of the validators, the failing keyword.

    Args:
        text: The schema as JSON text.
        dialect: Name of its dialect; empty to decide by `$schema`.
        instances: The instances as JSON texts.

    Returns:
        For each instance its labels, or why it cannot be judged; a text alone if none
        of the schema can.

    Example:
        >>> grade('{"type": "string"}', "", ["7"])[0].keyword
        'type'
    """
    compiled = read_schema(text, dialect)
    if isinstance(compiled, Rejected):
        return f"{compiled.reason}: {compiled.detail}"
    if compiled.fault:
        return f"jsonschema-rs: {shortened(compiled.fault, _SHOWN)}"
    interpretations = make_interpretations(compiled)
    rows: list[InstanceRow | str] = []
    for number, instance in enumerate(instances):
        try:
            value = json.loads(instance)
            to_text(value)  # JSON has only finite numbers
            labelled: Witness | NearMiss = Witness(kind=InstanceKind.GIVEN, value=value)
            if failed := as_near_miss(compiled, value):
                labelled = replace(failed, fails_at=fails_at(compiled, failed))
            rows.append(
                instance_row(
                    interpretations, labelled, number, instance, ask_jsonschema=True
                )
            )
        except (ValueError, RecursionError) as error:
            rows.append(shortened(f"{type(error).__name__}: {error}", _SHOWN))
    return rows
