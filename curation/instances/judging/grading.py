"""Instances by anyone, graded: what two validators say, and which keyword fails."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.instances.constraints.violations import as_near_miss
from curation.instances.judging.two_validators import verdicts
from curation.system.escaping import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.instances.constraints.compiled_schema import CompiledSchema

#: Longest text kept of an error; jsonschema-rs repeats whole schemas.
_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What is to be said of one instance. None: a validator could not say."""

    #: jsonschema-rs and jsonschema, with formats on and off.
    jsonschema_rs: bool | None
    jsonschema_rs_plain: bool | None
    jsonschema: bool | None
    jsonschema_plain: bool | None
    #: What fails, if anything does; `mixed` for several keywords.
    keyword: str = ""
    schema_pointer: str = ""
    instance_pointer: str = ""
    #: Every (keyword, schema pointer, instance pointer) of a mixed failure.
    keywords: tuple[tuple[str, str, str], ...] = ()
    #: Why nothing could be said: no JSON, or what a validator stumbled over.
    error: str = ""

    @property
    def disputed(self) -> bool:
        """Whether the two validators differ with formats on."""
        said = {self.jsonschema_rs, self.jsonschema} - {None}
        return len(said) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One schema's instances, in order."""

    #: The dialect it was read in; empty where it cannot be read.
    dialect: str = ""
    grades: tuple[Grade, ...] = ()
    #: Why no instance of the schema can be graded.
    error: str = ""


def grade(text: str, dialect: str, instances: Sequence[str]) -> Graded:
    """Return the grade of each instance's text under a schema's text."""
    subject = read_schema(text, dialect)
    if isinstance(subject, Rejected):
        return Graded(error=f"{subject.reason}: {subject.detail}")
    try:
        subject.validator  # noqa: B018 - compiled here, so that a fault shows
    except ValueError as error:
        why = shortened(str(error).partition("\n")[0], _SHOWN)
        return Graded(dialect=subject.dialect.name, error=f"jsonschema-rs: {why}")
    return Graded(
        dialect=subject.dialect.name,
        grades=tuple(_grade(subject, each) for each in instances),
    )


def _grade(subject: CompiledSchema, text: str) -> Grade:
    try:
        value = json.loads(text)
        said = verdicts(subject, value, ask_jsonschema=True)
    except (ValueError, RecursionError) as error:
        return Grade(
            jsonschema_rs=None,
            jsonschema_rs_plain=None,
            jsonschema=None,
            jsonschema_plain=None,
            error=shortened(f"{type(error).__name__}: {error}", _SHOWN),
        )
    missed = as_near_miss(subject, value) if said.jsonschema_rs is False else None
    return Grade(
        jsonschema_rs=said.jsonschema_rs,
        jsonschema_rs_plain=said.jsonschema_rs_plain,
        jsonschema=said.jsonschema,
        jsonschema_plain=said.jsonschema_plain,
        keyword=missed.keyword if missed else "",
        schema_pointer=missed.schema_pointer if missed else "",
        instance_pointer=missed.instance_pointer if missed else "",
        keywords=missed.keywords if missed else (),
        error=said.error,
    )
