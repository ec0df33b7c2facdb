"""Grade labelled instances, and examples that come with a schema."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from msgspec.structs import astuple

from curation.core.documents import Rejected
from curation.instances.constraints.interpretations import Interpretations, read_schema
from curation.instances.constraints.violations import MIXED, as_near_miss, fails_at
from curation.instances.validators import verdicts_of_each
from curation.instances.values.model import InstanceKind, Witness, text_of
from curation.json.values import identity
from curation.system.escaping import shortened

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: Stands for the keyword where the schema cannot be used, or the text is no JSON.
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
            own = identity(value)
            if own in identities:
                continue
            identities.add(own)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What the validators say of one instance. None: it cannot be told."""

    #: jsonschema-rs and jsonschema, with formats on and off.
    jsonschema_rs: bool | None = None
    jsonschema_rs_plain: bool | None = None
    jsonschema: bool | None = None
    jsonschema_plain: bool | None = None
    #: What they say of a schema that heeds what its draft ignores, in this order;
    #: None if the draft ignores nothing.
    heeding: tuple[bool | None, ...] | None = None
    #: What fails, if anything does; `mixed` for several keywords.
    keyword: str = ""
    schema_pointer: str = ""
    instance_pointer: str = ""
    #: Where a refused text fails, at the latest; None if accepted, or for `mixed`.
    fails_at: int | None = None
    #: Why there is no verdict: it is no JSON, or a validator failed.
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One schema's instances, in order."""

    #: The dialect it was read in; empty where it cannot be read.
    dialect: str = ""
    grades: tuple[Grade, ...] = ()
    #: Why no instance of the schema can be graded.
    error: str = ""


def grade(text: str, dialect: str, instances: Sequence[str]) -> Graded:
    """Return the verdicts of the validators on instances, and which keyword fails.

    Args:
        text: The schema as JSON text.
        dialect: Name of its dialect; empty to decide by `$schema`.
        instances: The instances as JSON texts.

    Example:
        >>> graded = grade('{"type": "string"}', "", ["7"])
        >>> graded.dialect, graded.grades[0].keyword
        ('2020-12', 'type')
    """
    compiled = read_schema(text, dialect)
    if isinstance(compiled, Rejected):
        return Graded(error=f"{compiled.reason}: {compiled.detail}")
    if compiled.fault:
        why = shortened(compiled.fault, _SHOWN)
        return Graded(dialect=compiled.dialect.name, error=f"jsonschema-rs: {why}")
    interpretations = Interpretations.of(compiled)
    return Graded(
        dialect=compiled.dialect.name,
        grades=tuple(_grade(interpretations, instance) for instance in instances),
    )


def _grade(interpretations: Interpretations, text: str) -> Grade:
    compiled = interpretations.own
    try:
        value = json.loads(text)
        text_of(value)  # a number that is not finite is no JSON
        judged = verdicts_of_each(interpretations, value, ask_jsonschema=True)
        near_miss = None if judged.jsonschema_rs else as_near_miss(compiled, value)
    except (ValueError, RecursionError) as error:
        return Grade(error=shortened(f"{type(error).__name__}: {error}", _SHOWN))
    own = Grade(
        jsonschema_rs=judged.jsonschema_rs,
        jsonschema_rs_plain=judged.jsonschema_rs_plain,
        jsonschema=judged.jsonschema,
        jsonschema_plain=judged.jsonschema_plain,
        heeding=astuple(judged.heeding)[:4] if judged.heeding else None,
        error=judged.error,
    )
    if near_miss is None:
        return own
    return replace(
        own,
        keyword=near_miss.keyword,
        schema_pointer=near_miss.schema_pointer,
        instance_pointer=near_miss.instance_pointer,
        fails_at=(
            None if near_miss.keyword == MIXED else fails_at(compiled, near_miss)
        ),
    )
