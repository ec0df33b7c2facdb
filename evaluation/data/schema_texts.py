"""One JSON text of a user's own: a schema, or one of MaskBench's files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from curation.core.documents import Rejected
from curation.dataset.features import features
from curation.instances.model import InstanceKind
from curation.json.text import parse, plain, write
from curation.schema.dialect_uris import StatementKind, statement
from curation.schema.dialects import ANY_DIALECT, DIALECTS, DRAFT_2020_12
from curation.validation.metaschemas import complaint, valid_under
from curation.workers.limits import Limits, too_big
from evaluation.core.cases import Instance, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json

#: Config of a schema that is in no folder below the one that was named.
FILES: Final = "files"
#: How the description of a near miss begins in the MaskBench files that we write.
_NEAR_MISS: Final = "near_miss: "


def read_text(content: bytes) -> dict[str, Json] | bool | str:
    """Return what a text holds that may be a schema, or what is wrong with it."""
    value = too_big(content, Limits()) or parse(content)
    if isinstance(value, Rejected):
        return f"not a JSON text: {value.detail or value.reason}"
    if not isinstance(value, dict | bool):
        return "a JSON Schema is an object, true or false"
    return value


def is_maskbench(value: Json) -> TypeGuard[dict[str, Any]]:
    """Return whether a value is what a file of MaskBench holds: schema and tests."""
    return (
        isinstance(value, dict)
        and "schema" in value
        and isinstance(value.get("tests"), list)
    )


def complaint_about(schema: Json) -> str:
    """Return why a schema is none; empty for a valid one.

    It is held against the draft that it declares; one that declares none must be valid
    under some draft. What declares draft-03, or a dialect that nobody knows, is not
    judged.
    """
    if not isinstance(schema, dict | bool):
        return "a JSON Schema is an object, true or false"
    said = statement(schema)
    if said.kind is StatementKind.UNKNOWN:
        return ""
    if said.dialect is None:
        dialect = DRAFT_2020_12
        found = None if valid_under(schema) else complaint(schema, dialect)
    elif said.dialect not in DIALECTS:
        return ""
    else:
        dialect = said.dialect
        found = complaint(schema, dialect)
    return f"not valid under {dialect.name}: {found}" if found else ""


def plain_sample(
    config: str, name: str, schema: Json, instances: Iterable[Instance] = ()
) -> Sample:
    """Return a schema as a sample without split or dialect."""
    return Sample(
        id=name,
        config=config,
        split="",
        schema=write(schema),
        dialect="",
        instances=tuple(instances),
        # No dialect is decided: what any of them reads as a keyword counts.
        features=features(schema, ANY_DIALECT),
    )


def maskbench_sample(config: str, name: str, given: dict[str, Any]) -> Sample | str:
    """Return the schema of one of MaskBench's files, with its tests.

    Args:
        config: Its config, unless the file is a reproducer, which says its own.
        name: Its id, in the same way.
        given: What the file holds (`is_maskbench`).
    """
    ours = given.get("csbdata")
    names = ours if isinstance(ours, dict) else {}
    try:
        instances = [_instance(test) for test in given["tests"]]
    except (LookupError, TypeError) as error:
        return f"not MaskBench's format ({error!r})"
    return plain_sample(
        str(names.get("config") or config),
        str(names.get("id") or name),
        given["schema"],
        instances,
    )


def _instance(test: Json) -> Instance:
    """Return a test as an instance; ours name the keyword in their description."""
    if not isinstance(test, dict):
        raise TypeError(test)
    valid, text = test["valid"], test.get("text")
    if not isinstance(valid, bool):
        raise TypeError(valid)
    kind, keyword, pointer = str(test.get("description", "")), "", ""
    if kind.startswith(_NEAR_MISS):
        keyword, _, pointer = kind.removeprefix(_NEAR_MISS).partition(" at ")
        kind = InstanceKind.NEAR_MISS
    return Instance(
        text=text if isinstance(text, str) else _text(test["data"]),
        valid=valid,
        kind=kind if kind in set(InstanceKind) else "test",
        keyword=keyword,
        schema_pointer=pointer,
    )


def _text(data: Json) -> str:
    text = write(data)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(plain(data))
    return text
