"""Metaschemas, checked by jsonschema-rs; its validators of each dialect.

jsonschema-rs gives the same verdict as jsonschema's `check_schema` without formats,
except where `validators_may_differ`; tests compare them on generated and real schemas.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, NoReturn

import jsonschema_rs
import orjson

from curation.core.json_types import Json, UntypedJson
from curation.json.pointer import Tokens, pointer
from curation.json.text import floats, plain, write
from curation.json.values import compact_of_document, plain_of_document, remembered
from curation.schema.dialects import (
    ANY_DIALECT,
    BY_NAME,
    DIALECTS,
    DRAFT_04,
    DRAFT_2019_09,
    Dialect,
)
from curation.schema.subschemas import subschemas

#: Dialect name to the class of validators of its schemas.
RUST_VALIDATORS: Mapping[str, type[jsonschema_rs.Validator]] = {
    dialect.name: jsonschema_rs.validator_cls_for({"$schema": dialect.uri})
    for dialect in DIALECTS
}
#: Dialect name to the number by which jsonschema-rs calls the draft.
RUST_DRAFTS: Mapping[str, int] = {
    "draft-04": jsonschema_rs.Draft4,
    "draft-06": jsonschema_rs.Draft6,
    "draft-07": jsonschema_rs.Draft7,
    "2019-09": jsonschema_rs.Draft201909,
    "2020-12": jsonschema_rs.Draft202012,
}


def refuse(uri: str) -> NoReturn:
    """Refuse to fetch a document; every validator here is given this as retriever.

    Raises:
        LookupError: always.
    """
    raise LookupError(uri)


class Complaint(NamedTuple):
    """The first error of a check: its location and message."""

    pointer: str
    message: str

    def __str__(self) -> str:
        """Return the complaint as one line."""
        return f"{self.pointer or '(root)'}: {self.message}"


#: Frames that the slow check may take for the deepest accepted document.
_FRAMES = 20_000
#: From here on a double no longer distinguishes neighbouring integers.
_EXACT = 2**53
#: Keywords whose text the metaschemas hold against a pattern.
_IDENTIFIERS = frozenset(
    {"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"}
)
#: Longest text kept of a value that an error is about.
_SHOWN = 80
#: Stands for that value in jsonschema-rs's messages, which repeat it whole.
MASK = "\0"


@cache
def standard_documents() -> Mapping[str, dict[str, Json]]:
    """Return the metaschemas and their vocabularies by URI without fragment.

    They are files of jsonschema-specifications; to import its registry takes 50 ms.
    Draft-03's is left out: no dialect of the benchmark can hold it.
    """
    package = find_spec("jsonschema_specifications")
    assert package is not None  # noqa: S101 - a dependency
    files = Path(package.origin or "").parent.glob("schemas/draft[!3]*/**/[!.]*")
    documents: list[dict[str, Json]] = [
        orjson.loads(file.read_bytes()) for file in files if file.is_file()
    ]
    return {
        str(document.get("$id") or document["id"]).rstrip("#"): document
        for document in documents
    }


def other_scheme(uri: str) -> str:
    """Return the URI with https for http, or http for https."""
    scheme, mark, remainder = uri.partition("://")
    return {"http": "https", "https": "http"}.get(scheme, scheme) + mark + remainder


def standard_document(uri: str) -> Json | None:
    """Return the metaschema of an absolute URI without fragment, or None.

    http and https lead to the same document.
    """
    documents = standard_documents()
    return documents.get(uri, documents.get(other_scheme(uri)))


@cache
def _quick(name: str) -> jsonschema_rs.Validator:
    metaschema = standard_documents()[BY_NAME[name].uri.rstrip("#")]
    return RUST_VALIDATORS[name](
        metaschema, validate_formats=False, retriever=refuse, mask=MASK
    )


@remembered
def is_valid(schema: Json, dialect: Dialect) -> bool:
    """Return whether a schema is valid under a dialect's metaschema, formats aside.

    The last answers are cached.
    """
    value: UntypedJson = plain_of_document(schema)
    if dialect.order < DRAFT_2019_09.order:
        return _quick(dialect.name).is_valid(value)
    # The same without compiling, which takes 10 ms: since then no format is asserted.
    if isinstance(value, dict) and isinstance(value.get("$schema", ""), str):
        value = {**value, "$schema": dialect.uri}
    return jsonschema_rs.meta.is_valid(value)


def valid_under(schema: Json) -> tuple[str, ...]:
    """Return the names of the dialects under which a schema is valid, oldest first."""
    return tuple(dialect.name for dialect in DIALECTS if is_valid(schema, dialect))


def complaint(schema: Json, dialect: Dialect) -> Complaint | None:
    """Return the first error under a dialect's metaschema, or None.

    First is the one whose pointer, then message, sorts first. For a failed `anyOf`
    the error that got deepest counts.
    """
    if is_valid(schema, dialect):
        return None
    errors, restore = _errors(schema, dialect)
    tokens, message = min(map(cause, errors))
    return Complaint(pointer=pointer(min(restore(tokens))), message=message)


def _errors(
    schema: Json, dialect: Dialect
) -> tuple[list[jsonschema_rs.ValidationError], Callable[[Tokens], set[Tokens]]]:
    """Return all errors, and what gives the places that a path of theirs may mean."""
    from curation.validation.faults import whole_places  # noqa: PLC0415 - of faults alone

    validator, value = _quick(dialect.name), plain(schema)
    return [*validator.iter_errors(value)], whole_places(validator, value)


def every_complaint(schema: Json, dialect: Dialect) -> list[Complaint]:
    """Return all errors under a dialect's metaschema, sorted as by `complaint`."""
    errors, restore = _errors(schema, dialect)
    causes = map(cause, errors)
    return sorted({Complaint(pointer(min(restore(at))), text) for at, text in causes})


def complaints(schema: Json, dialect: Dialect) -> tuple[Tokens, ...]:
    """Return every place of which a dialect's metaschema complains, sorted.

    Of an `anyOf` that failed, the deepest places count.
    """
    errors, restore = _errors(schema, dialect)
    paths = {path for error in errors for path in _places(error)}
    return tuple(
        sorted({restored for shortened in paths for restored in restore(shortened)})
    )


def _places(error: jsonschema_rs.ValidationError) -> set[Tokens]:
    tokens = tuple(map(str, error.instance_path))
    branches = getattr(error.kind, "context", None) or []
    inside = {
        path for branch in branches for inner in branch for path in _places(inner)
    }
    return {path for path in inside if len(path) > len(tokens)} or {tokens}


def cause(error: jsonschema_rs.ValidationError) -> tuple[Tokens, str]:
    """Return the location and message of an error of jsonschema-rs."""
    tokens = tuple(map(str, error.instance_path))
    branches = getattr(error.kind, "context", None) or []
    causes = [cause(inner) for branch in branches for inner in branch]
    deeper = [candidate for candidate in causes if len(candidate[0]) > len(tokens)]
    if deeper:
        return min(deeper, key=lambda candidate: (-len(candidate[0]), candidate))
    if causes:
        return tokens, "; ".join(sorted({message for _, message in causes}))
    instance: UntypedJson = error.instance
    text = cut(write(instance), _SHOWN)
    return tokens, error.message.replace(MASK, text)


def python_complaint(
    schema: Json, dialect: Dialect, *, formats: bool = False
) -> Complaint | None:
    """Return the complaint of jsonschema's `check_schema`, by default formats aside.

    Some hundred times slower than `complaint`. The recursion limit is raised
    meanwhile.
    """
    from curation.validation.python_validators import PYTHON_VALIDATORS, jsonschema  # noqa: PLC0415 - 100 ms, rarely asked

    validator = PYTHON_VALIDATORS[dialect.name]
    checker = jsonschema.FormatChecker(formats=())
    if formats:
        checker = validator.FORMAT_CHECKER
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            validator.check_schema(plain(schema), format_checker=checker)
    except jsonschema.SchemaError as error:
        tokens = tuple(map(str, error.absolute_path))
        message = cut(error.message, 3 * _SHOWN)
        return Complaint(pointer=pointer(tokens), message=message)
    except OverflowError as error:
        return Complaint(pointer="", message=f"OverflowError: {error}")
    finally:
        sys.setrecursionlimit(limit)
    return None


def validators_may_differ(schema: Json, dialect: Dialect) -> bool:
    r"""Return whether the two validators are known to differ on a schema.

    From 2019-09 on, an identifier or anchor that ends in a line end (`$` of a
    Python pattern comes before it too); in draft-04, whose `enum` has no equal
    members, floats too large to distinguish neighbouring integers.
    """
    if dialect is DRAFT_04:
        # If orjson writes the same text, no number is a float.
        return compact_of_document(schema) is None and any(
            abs(number) >= _EXACT
            for subschema in subschemas(schema, ANY_DIALECT)
            for number in floats(subschema.get("enum"))
        )
    if dialect.order < DRAFT_2019_09.order:
        return False
    return any(
        isinstance(identifier := subschema[keyword], str) and identifier.endswith("\n")
        for subschema in subschemas(schema, ANY_DIALECT)
        for keyword in _IDENTIFIERS & subschema.keys()
    )


def cut(text: str, length: int) -> str:
    """Return a text of at most this length, with dots at its end if it is longer."""
    return text if len(text) <= length else text[: length - 3] + "..."
