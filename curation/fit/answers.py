"""Fit a schema to a target, and turn the target's answers into values of the schema."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

from curation.core.documents import Rejected
from curation.fit.profile import load_profile
from curation.fit.rewriting import REWRITE_SECONDS, Rewriting
from curation.fit.verdict import BROKEN
from curation.instances.constraints.interpretations import as_schema, parsed_text
from curation.json.text import text_of_schema
from curation.relation.comparer import Comparer, Relation
from curation.sources.tools import schema_place
from curation.system.errors import BadData

if TYPE_CHECKING:
    from curation.core.json_types import GivenSchema, Json
    from curation.fit.profile import Profile
    from curation.fit.rewriting import Fit
    from curation.instances.constraints.compiled_schema import CompiledSchema


def fit_schema(  # noqa: PLR0913 - a schema, a target, and how far to go
    schema: GivenSchema,
    target: str | Profile,
    *,
    dialect: str = "",
    allow: Literal["safe", "any"] = "safe",
    comparer: Comparer | None = None,
    tool: bool = False,
    strict: bool = False,
    prove: bool = True,
    seconds: float = REWRITE_SECONDS,
) -> Fit:
    """Return a schema rewritten for a target, as far as that is possible.

    Args:
        schema: The schema, its JSON text, or a model of pydantic.
        target: The name of a profile, the path of one, or a profile.
        dialect: Its name, such as `draft-07`; empty to decide by `$schema`.
        allow: `safe` makes only rewrites after which decoded answers are valid by the
            schema; `any` also drops the remainder, which descriptions then state.
        comparer: A running one, for many schemas; otherwise one is started.
        tool: Whether it is the schema of a tool's parameters.
        strict: Whether the request sends it with `strict`.
        prove: Whether to ask for a proof also of claims known by a rewrite's rule, and
            for a value that refutes a claim without proof.
        seconds: The deadline in processor time; `Fit.is_late` if it ended the search.

    Raises:
        BadData: no validator can use the schema, or it is a request around one.
        BadUsage: no such target exists.

    Example:
        >>> import csbdata
        >>> schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        >>> fit = csbdata.fit(schema, "openai-strict")
        >>> fit.fits, [step.rewrite for step in fit.steps]
        (True, ['closed', 'nullable'])
        >>> csbdata.decode({"name": None}, fit)
        {}
    """
    profile = load_profile(target) if isinstance(target, str) else target
    compiled = read_schema(schema, dialect)
    with ExitStack() as stack:
        return Rewriting(
            compiled,
            profile,
            comparer or stack.enter_context(Comparer()),
            allow=allow,
            tool=tool,
            strict=strict,
            prove=prove,
            seconds=seconds,
        ).run()


def read_schema(
    schema: GivenSchema,
    dialect: str,
) -> CompiledSchema:
    """Return a schema that a validator can use.

    Args:
        schema: The schema, or its JSON text.
        dialect: Its name; empty to decide by `$schema`.

    Raises:
        BadData: no validator can use it, or it is a request around one.
    """
    value = parsed_text(text_of_schema(schema))
    if path := schema_place(value):
        raise BadData(f"a request is no schema; what is at {path} may be one")
    compiled = as_schema(value, dialect)
    if isinstance(compiled, Rejected):
        raise BadData(f"{compiled.reason}: {compiled.detail}")
    if compiled.fault:
        raise BadData(f"{BROKEN.sentence}: {compiled.fault}")
    return compiled


def compare_schemas(
    first: GivenSchema,
    second: GivenSchema,
    *,
    dialect: str = "",
) -> Relation:
    """Return how the second of two schemas relates to the first, by their values.

    Args:
        first: A schema, or its JSON text.
        second: Another one.
        dialect: That of both, such as `draft-07`; empty to decide by `$schema`.

    Raises:
        BadData: no validator can use one of them, or it is a request around one.

    Example:
        >>> import csbdata
        >>> csbdata.diff({"type": "integer"}, {"type": "number"}).kind
        <RelationKind.WIDER: 'wider'>
    """
    first_schema, second_schema = (
        read_schema(first, dialect),
        read_schema(second, dialect),
    )
    with Comparer() as comparer:
        return comparer.relation(
            first_schema.value,
            second_schema.value,
            first_schema.dialect,
            second_schema.dialect,
        )


def decode(answer: Json, fit: Fit) -> Json:
    """Return the value that an answer represents, valid by the original schema.

    Args:
        answer: What the target gave for `fit.schema`, parsed.
        fit: What `csbdata.fit` returned.

    Raises:
        BadData: the answer is not a JSON value or does not have the requested shape,
            or its value is not valid by the original schema.

    Example:
        >>> import csbdata
        >>> schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        >>> csbdata.decode({"name": "Ada"}, csbdata.fit(schema, "openai-strict"))
        {'name': 'Ada'}
    """
    try:
        value: Json = fit.codec.decode(answer)
        errors = fit.original.errors(value)
    except ValueError as error:
        raise BadData(str(error), "the answer") from error
    except RecursionError:
        raise BadData("it is nested too deeply", "the answer") from None
    if errors:
        failed = errors[0]
        location = f" at {failed.instance_pointer}" if failed.instance_pointer else ""
        fault = (
            f"its value{location} fails `{failed.keyword}` at {failed.schema_pointer}"
        )
        raise BadData(f"{fault} of the original schema", "the answer")
    return value
