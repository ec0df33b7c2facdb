"""Hypothesis strategies for authors of engines and validators.

`schemas()` draws JSON Schemas of a dialect, `instances(schema)` values that a schema
accepts, and `violations(schema)` near misses: values that it refuses for one keyword,
with the keyword and its place. All are judged by jsonschema-rs, formats on.

    from hypothesis import given
    from curation.instances.hypothesis.strategies import instances

    @given(instances({"type": "array", "items": {"format": "date"}, "minItems": 1}))
    def test_my_engine(value): ...

Smaller draws come first, so that Hypothesis shrinks towards what is only required.
Hypothesis is an extra: pip install 'csbdata[strategies]'.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.instances.hypothesis.schema_grammar import SchemaGrammar
from curation.instances.near_misses.search import near_misses
from curation.instances.witnesses.search import Budget, find_witnesses
from curation.schema.dialects import BY_NAME, Dialect

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.model import NearMiss, Witness

_SEEDS = 2**32 - 1
#: Values that a drawn instance has beyond what is required.
_MOST_VALUES = 60
_SUBJECTS = 64


class UnusableSchemaError(ValueError):
    """No validator here can use the schema, or it has no known instance."""


def _hypothesis() -> Any:  # noqa: ANN401 - the module, where it is there
    try:
        from hypothesis import strategies  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        message = "strategies need Hypothesis: pip install 'csbdata[strategies]'"
        raise ModuleNotFoundError(message, name="hypothesis") from error
    return strategies


def schemas(
    dialect: str = "2020-12", *, satisfiable: bool = True, leaves: int = 12
) -> SearchStrategy[UntypedJson]:
    """Draw schemas of a dialect (`draft-04` ... `2020-12`), each with its `$schema`.

    They are valid under the metaschema, and with `satisfiable` have an instance.
    `leaves` bounds how many schemas without subschemas one is made of.

    Raises:
        KeyError: there is no such dialect.
    """
    grammar = SchemaGrammar(_hypothesis(), BY_NAME[dialect])
    drawn: SearchStrategy[UntypedJson] = grammar.documents(leaves)
    return drawn.filter(_has_witness(BY_NAME[dialect])) if satisfiable else drawn


def _has_witness(dialect: Dialect) -> Any:  # noqa: ANN401 - a filter of Hypothesis
    def has_witness(schema: UntypedJson) -> bool:
        subject = _subject(json.dumps(schema), dialect.name)
        return bool(_found(subject, 0, 0))

    return has_witness


def instances(schema: UntypedJson, dialect: str = "") -> SearchStrategy[UntypedJson]:
    """Draw values that a schema accepts; an empty dialect is decided from `$schema`.

    Raises:
        UnusableSchemaError: the schema cannot be used, or no instance is known.
    """
    drawn: SearchStrategy[UntypedJson] = _witnesses(schema, dialect).map(_value_of)
    return drawn


def violations(
    schema: UntypedJson, dialect: str = "", *, keyword: str | None = None
) -> SearchStrategy[NearMiss]:
    """Draw near misses: an accepted value with one edit, refused for one keyword.

    With `keyword`, only those that it refuses.

    Raises:
        UnusableSchemaError: the schema cannot be used, no instance is known, or none
            can be turned into such a near miss.
    """
    st = _hypothesis()
    subject = _usable(schema, dialect)

    def missed(witness: Witness, seed: int) -> list[NearMiss]:
        found = near_misses(subject, [witness], seed)
        return [miss for miss in found if keyword in (None, miss.keyword)]

    if not any(missed(witness, 0) for witness in _found(subject, 0, _MOST_VALUES)):
        what = "nothing is refused" if keyword is None else f"{keyword} refuses nothing"
        raise UnusableSchemaError(what)
    choices = st.builds(missed, _witnesses(schema, dialect), st.integers(0, 255))
    drawn: SearchStrategy[NearMiss] = choices.filter(bool).flatmap(st.sampled_from)
    return drawn


def _witnesses(schema: UntypedJson, dialect: str) -> Any:  # noqa: ANN401 - a strategy
    st = _hypothesis()
    subject = _usable(schema, dialect)

    def made(values: int, seed: int) -> Witness | None:
        found = _found(subject, seed, values)
        return found[-1 if values else 0] if found else None

    drawn = st.builds(made, st.integers(0, _MOST_VALUES), st.integers(0, _SEEDS))
    return drawn.filter(lambda each: each is not None)


def _value_of(witness: Witness) -> UntypedJson:
    return witness.value


def _found(subject: CompiledSchema, seed: int, values: int) -> tuple[Witness, ...]:
    budget = Budget(full=values, random=values, count=3 if values else 2)
    return find_witnesses(subject, seed, budget).found


def _usable(schema: UntypedJson, dialect: str) -> CompiledSchema:
    subject = _subject(json.dumps(schema), dialect)
    found = find_witnesses(subject)
    if not found.found:
        raise UnusableSchemaError(f"{found.obstacle}: {found.detail}")
    return subject


@lru_cache(maxsize=_SUBJECTS)
def _subject(text: str, dialect: str) -> CompiledSchema:
    subject = read_schema(text, dialect)
    if isinstance(subject, Rejected):
        raise UnusableSchemaError(f"{subject.reason}: {subject.detail}")
    return subject
