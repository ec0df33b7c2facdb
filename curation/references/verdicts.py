"""Verdicts of jsonschema and jsonschema-rs on whether a schema can be used.

jsonschema-rs reads a schema when it builds a validator; for jsonschema its metaschema
check and its reference library (`referencing`) are called. The metaschema check is
slow: it runs on a share of the schemas, chosen by digest, and where the two may differ.

jsonschema joins a relative identifier of the root to itself: anchors and references by
URI are looked up its way, and must lead to the same place (`disputed`).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import jsonschema_rs

from curation.json.pointer import at, pointer
from curation.json.values import plain_of_document, remembered
from curation.references.reachable import taking_part
from curation.references.schema import Reference, Schema, references_in, to_schema
from curation.validation.metaschemas import (
    MASK,
    RUST_VALIDATORS,
    cause,
    cut,
    python_complaint,
    refuse,
    validators_may_differ,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from referencing import Registry, Specification

    from curation.core.json_types import Json, UntypedJson
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

#: How `referencing` ends where a schema is expected and the value is not one.
_LIBRARY_FAILS = (AttributeError, TypeError)
#: Longest text kept of an error.
_SHOWN = 300


class ValidatorVerdict(NamedTuple):
    """A validator's verdict on a schema."""

    validator: str
    #: Why it refuses the schema; empty where it accepts.
    error: str = ""
    #: Whether the error is a reference that leads nowhere.
    lost_reference: bool = False

    @property
    def accepts(self) -> bool:
        """Whether the validator can use the schema."""
        return not self.error

    def __str__(self) -> str:
        """Return the verdict as one clause."""
        return f"{self.validator} {self.error or 'accepts it'}"


def rust_verdict(schema: Json, dialect: Dialect) -> ValidatorVerdict:
    """Return whether jsonschema-rs builds a validator of the schema."""
    built = rust_validator(schema, dialect)
    return ValidatorVerdict("jsonschema-rs", built if isinstance(built, str) else "")


@remembered
def rust_validator(schema: Json, dialect: Dialect) -> jsonschema_rs.Validator | str:
    """Return jsonschema-rs's validator, formats aside, or why it builds none.

    The last results are cached.
    """
    value: UntypedJson = plain_of_document(schema)
    try:
        return RUST_VALIDATORS[dialect.name](value, retriever=refuse, mask=MASK)
    except jsonschema_rs.ValidationError as failure:
        tokens, message = cause(failure)
        where = f"{pointer(tokens) or '(root)'}: "
    except (jsonschema_rs.ReferencingError, ValueError) as failure:
        where, message = "", str(failure)
    return f"refuses it: {where}{cut(' '.join(message.split()), _SHOWN)}"


def python_verdict(
    schema: Json, dialect: Dialect, *, thorough: bool
) -> ValidatorVerdict:
    """Return whether jsonschema can read the schema and find every reference.

    Args:
        schema: The schema.
        dialect: Its dialect, whatever its `$schema`.
        thorough: Run jsonschema's own `check_schema`. Otherwise the schema must be
            known to be valid (`curation.validation.metaschemas`).
    """
    complaint = python_complaint(schema, dialect) if thorough else None
    if complaint is not None:
        return ValidatorVerdict("jsonschema", f"refuses it: {complaint}")
    lost = _lost_reference(schema, dialect)
    if lost is not None:
        error = f"does not find {lost}"
        return ValidatorVerdict("jsonschema", error, lost_reference=True)
    return ValidatorVerdict("jsonschema")


def _lost_reference(schema: Json, dialect: Dialect) -> str | None:
    document = to_schema(schema, dialect)
    in_doubt = []
    for reference in references_in(taking_part(schema, dialect), dialect):
        if _is_in_doubt(reference, document):
            in_doubt.append(reference)
        elif document.lookup(reference.text, reference.base) is None:
            return reference.text
    if not in_doubt:
        return None
    from jsonschema_specifications import REGISTRY  # noqa: PLC0415 - takes 80 ms
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - likewise

    try:
        look_up = _python_lookup(document, REGISTRY)
    except _LIBRARY_FAILS as error:
        return f"any reference: its library fails with {type(error).__name__}"
    for reference in in_doubt:
        try:
            look_up(reference)
        except (Unresolvable, ValueError):
            return reference.text
        except _LIBRARY_FAILS as error:
            return f"{reference.text}: its library fails, {error!r}"
    return None


def disputed(document: Schema) -> Tokens | None:
    """Return a schema whose reference jsonschema resolves otherwise, or None.

    The references of the document must all lead into itself.
    """
    in_doubt = [
        candidate
        for candidate in document.references
        if _is_in_doubt(candidate, document)
    ]
    if not in_doubt:
        return None
    from referencing import Registry  # noqa: PLC0415 - takes 80 ms
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - likewise

    look_up = _python_lookup(document, Registry())
    for reference in in_doubt:
        try:
            contents = look_up(reference)
        except (Unresolvable, AttributeError, TypeError, ValueError):
            return reference.tokens
        target = document.lookup(reference.text, reference.base)
        if reference.keyword != "$ref" or target is None:
            continue
        if contents is not target.schema:
            return reference.tokens
    return None


def _is_in_doubt(reference: Reference, document: Schema) -> bool:
    """Return whether a reference is not a mere pointer from the root."""
    is_pointer = reference.text == "#" or reference.text.startswith("#/")
    return reference.base != document.base or not is_pointer


def _python_lookup(
    document: Schema, registry: Registry[UntypedJson]
) -> Callable[[Reference], Json]:
    """Return what gives the value that jsonschema finds for a reference."""
    from referencing.jsonschema import specification_with  # noqa: PLC0415 - likewise

    specification: Specification[Json] = specification_with(document.dialect.uri)
    root = specification.create_resource(document.value)
    uri = root.id() or ""
    # Crawled once: otherwise every lookup would search for anchors.
    start = registry.with_resource(uri, root).crawl().resolver(uri)
    resources = frozenset(document.inner_resources)

    def look_up(reference: Reference) -> Json:
        resolver, tokens = start, reference.tokens
        for length in range(1, len(tokens) + 1):
            if tokens[:length] in resources:
                resource: Json = at(document.value, tokens[:length])
                inner = specification.create_resource(resource)
                resolver = resolver.in_subresource(inner)
        contents: Json = resolver.lookup(reference.text).contents
        return contents

    return look_up


#: The slow check runs on one schema in this many.
ONE_IN = 256


def is_in_share(text: bytes) -> bool:
    """Return whether the digest of a canonical text chooses it for the slow check."""
    return int.from_bytes(sha256(text).digest()[:4]) % ONE_IN == 0


def both_verdicts(
    schema: Json, dialect: Dialect, text: bytes
) -> tuple[ValidatorVerdict, ValidatorVerdict]:
    """Return the verdicts of jsonschema and jsonschema-rs on a schema, in this order.

    Args:
        schema: The schema, whose references are all its own.
        dialect: The dialect that it is read in.
        text: Its canonical form.
    """
    thorough = is_in_share(text) or validators_may_differ(schema, dialect)
    return (
        python_verdict(schema, dialect, thorough=thorough),
        rust_verdict(schema, dialect),
    )
