"""Hypothesis strategies for authors of engines and validators.

`schemas()` draws JSON Schemas of a dialect, `instances(schema)` values that a schema
accepts, and `violations(schema)` near misses: values that it refuses for one keyword,
with the keyword and its place. All are judged by jsonschema-rs, formats on.

    from hypothesis import given
    from curation.instances.hypothesis.strategies import instances

    @given(instances({"type": "array", "items": {"format": "date"}, "minItems": 1}))
    def test_my_engine(value): ...

Smaller draws come first, so that Hypothesis shrinks towards what is only required.
Hypothesis is the extra `strategies`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.instances.near_misses.search import find_near_misses
from curation.instances.witnesses.search import Budget, find_witnesses
from curation.schema.dialects import BY_NAME
from curation.system.extras import install_extra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import SearchStrategy

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.model import NearMiss, Witness

    #: A schema as `json.dumps` takes it.
    Schema: TypeAlias = Mapping[str, object] | bool

_SEEDS = 2**32 - 1
#: Values that a drawn instance has beyond what is required.
_MOST_VALUES = 60
#: Schemas that are kept compiled.
_SCHEMAS = 64


class UnusableSchemaError(ValueError):
    """No validator here can use the schema, or it has no known instance."""


def _require_hypothesis() -> None:
    """Check that Hypothesis can be imported: this module is imported without it.

    Raises:
        ModuleNotFoundError: it is not installed; the message says what to type.
    """
    try:
        import hypothesis  # noqa: F401, PLC0415 - an extra
    except ModuleNotFoundError as error:
        message = f"strategies need Hypothesis: {install_extra('strategies')}"
        raise ModuleNotFoundError(message, name="hypothesis") from error


def schemas(
    dialect: str = "2020-12", *, satisfiable: bool = True, leaves: int = 12
) -> SearchStrategy[dict[str, Json]]:
    """Draw schemas of a dialect, each with its `$schema`.

    They are valid under the metaschema.

    Args:
        dialect: `draft-04`, `draft-06`, `draft-07`, `2019-09` or `2020-12`.
        satisfiable: Draw only schemas of which an instance is known.
        leaves: Bounds how many schemas without subschemas one is made of.

    Raises:
        KeyError: there is no such dialect.
        ModuleNotFoundError: Hypothesis is not installed.
    """
    _require_hypothesis()
    from curation.instances.hypothesis.schema_grammar import (  # noqa: PLC0415 - an extra
        SchemaGrammar,
    )

    def has_witness(schema: Json) -> bool:
        return bool(_found(_compiled(json.dumps(schema), dialect), 0, 0))

    drawn = SchemaGrammar(BY_NAME[dialect]).documents(leaves)
    return drawn.filter(has_witness) if satisfiable else drawn


def instances(schema: Schema, dialect: str = "") -> SearchStrategy[Json]:
    """Draw values that a schema accepts; an empty dialect is decided from `$schema`.

    Raises:
        UnusableSchemaError: the schema cannot be used, or no instance is known.
        ModuleNotFoundError: Hypothesis is not installed.
    """
    return _witnesses(schema, dialect).map(_value_of)


def violations(
    schema: Schema, dialect: str = "", *, keyword: str | None = None
) -> SearchStrategy[NearMiss]:
    """Draw near misses: an accepted value with one edit, refused for one keyword.

    Args:
        schema: The schema.
        dialect: Name of its dialect; where empty, it is decided from `$schema`.
        keyword: Draw only what this keyword refuses.

    Raises:
        UnusableSchemaError: the schema cannot be used, no instance is known, or none
            can be turned into such a near miss.
        ModuleNotFoundError: Hypothesis is not installed.
    """
    _require_hypothesis()
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    compiled = _usable(schema, dialect)

    def missed(witness: Witness, seed: int) -> list[NearMiss]:
        found = find_near_misses(compiled, [witness], seed)
        return [miss for miss in found if keyword in (None, miss.keyword)]

    if not any(missed(witness, 0) for witness in _found(compiled, 0, _MOST_VALUES)):
        what = "nothing is refused" if keyword is None else f"{keyword} refuses nothing"
        raise UnusableSchemaError(what)
    choices = st.builds(missed, _witnesses(schema, dialect), st.integers(0, 255))
    return choices.filter(bool).flatmap(st.sampled_from)


def _witnesses(schema: Schema, dialect: str) -> SearchStrategy[Witness]:
    _require_hypothesis()
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    compiled = _usable(schema, dialect)

    def last(values: int, seed: int) -> tuple[Witness, ...]:
        found = _found(compiled, seed, values)
        return found[-1:] if values else found[:1]

    drawn = st.builds(last, st.integers(0, _MOST_VALUES), st.integers(0, _SEEDS))
    return drawn.filter(bool).map(_first)


def _first(witnesses: tuple[Witness, ...]) -> Witness:
    return witnesses[0]


def _value_of(witness: Witness) -> Json:
    return witness.value


def _found(compiled: CompiledSchema, seed: int, values: int) -> tuple[Witness, ...]:
    budget = Budget(full=values, random=values, count=3 if values else 2)
    return find_witnesses(compiled, seed, budget).found


def _usable(schema: Schema, dialect: str) -> CompiledSchema:
    compiled = _compiled(json.dumps(schema), dialect)
    found = find_witnesses(compiled)
    if not found.found:
        raise UnusableSchemaError(f"{found.obstacle}: {found.detail}")
    return compiled


@lru_cache(maxsize=_SCHEMAS)
def _compiled(text: str, dialect: str) -> CompiledSchema:
    compiled = read_schema(text, dialect)
    if isinstance(compiled, Rejected):
        raise UnusableSchemaError(f"{compiled.reason}: {compiled.detail}")
    return compiled
