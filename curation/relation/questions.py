"""Questions to the worker of comparisons, and its answers: light, for both sides."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec


class PlainSchema(msgspec.Struct, frozen=True, kw_only=True):
    """A schema as JSON text, and the name of its dialect."""

    text: str
    dialect: str


class AlgebraQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="algebra"):
    """What is proven of two schemas?"""

    first: PlainSchema
    second: PlainSchema


class ValueQuestion(AlgebraQuestion, frozen=True, kw_only=True, tag="values"):
    """Which values distinguish two schemas?"""

    #: JSON texts of values to be tried before others.
    given: tuple[str, ...] = ()
    #: Schemas, in 2020-12, of values of one alone, or of both where neither is known
    #: to hold the other.
    differences: tuple[str, ...] = ()


class SchemaQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="schema"):
    """What is the canonical form of a schema, or what are some values of it?"""

    schema: PlainSchema
    wanted: Literal["form", "witnesses"]


class AlgebraAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Proofs; false where none exists."""

    #: Every value of the first is one of the second.
    first_in_second: bool = False
    second_in_first: bool = False
    #: No value is one of both.
    apart: bool = False
    #: As in `ValueQuestion`.
    differences: tuple[str, ...] = ()
    #: Why a proof could not be tried, in the words of jsonschema-rs.
    failure: str = ""


class ValueAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """JSON texts of values, each judged by two validators with formats asserted."""

    only_first: str | None = None
    only_second: str | None = None
    both: str | None = None
    #: Distinct values judged.
    tried: int = 0


Question: TypeAlias = AlgebraQuestion | ValueQuestion | SchemaQuestion
