"""One JSON text of a user's own: a schema, or one of MaskBench's files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from curation.core.documents import Rejected
from curation.dataset.features import features
from curation.instances.model import InstanceKind
from curation.json.text import parse, plain, write
from curation.schema.dialects import ANY_DIALECT, DIALECTS, DRAFT_2020_12
from curation.schema.drafts import StatementKind, statement
from curation.validation.metaschemas import complaint, is_valid
from curation.workers.limits import Limits, too_big
from evaluation.core.cases import Instance, Sample
from evaluation.data.dataset import SampleName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json

#: Config of a schema that is in no folder below the one that was named.
FILES: Final = "files"
#: How the description of a near miss begins in the MaskBench files that we write.
_NEAR_MISS: Final = "near_miss: "
_KINDS: Final = frozenset(InstanceKind)


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
        known = any(is_valid(schema, draft) for draft in reversed(DIALECTS))
        found = None if known else complaint(schema, dialect)
    elif said.dialect not in DIALECTS:
        return ""
    else:
        dialect = said.dialect
        found = complaint(schema, dialect)
    return f"not valid under {dialect.name}: {found}" if found else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaText:
    """A schema of one's own that may be measured with; a `Sample` once it is drawn.

    To name and judge all schemas of a folder takes a fraction of what their samples
    take: the features of those that are not drawn are never found.
    """

    config: str
    id: str
    schema: Json
    #: The tests of a MaskBench file, which are its instances.
    tests: Sequence[Mapping[str, Json]] = ()
    #: Why the schema is invalid; such a schema stays in where it has tests.
    complaint: str = ""

    def name(self) -> SampleName:
        """Return the name of the sample."""
        return SampleName(config=self.config, id=self.id, complete=bool(self.tests))

    def sample(self) -> Sample:
        """Return the sample, without split or dialect."""
        return Sample(
            id=self.id,
            config=self.config,
            split="",
            schema=write(self.schema),
            dialect="",
            instances=tuple(map(_instance, self.tests)),
            # No dialect is decided: what any of them reads as a keyword counts.
            features=features(self.schema, ANY_DIALECT),
        )


def plain_schema(config: str, name: str, schema: Json) -> SchemaText | str:
    """Return a schema without instances, or what is wrong with it."""
    wrong = complaint_about(schema)
    return wrong or SchemaText(config=config, id=name, schema=schema)


def maskbench_schema(config: str, name: str, given: dict[str, Any]) -> SchemaText | str:
    """Return the schema of one of MaskBench's files, or why it is none.

    Args:
        config: Its config, unless the file is a reproducer, which says its own.
        name: Its id, in the same way.
        given: What the file holds (`is_maskbench`).
    """
    ours = given.get("csbdata")
    names = ours if isinstance(ours, dict) else {}
    try:
        tests = tuple(map(_checked_test, given["tests"]))
    except (LookupError, TypeError) as error:
        return f"not MaskBench's format ({error!r})"
    return SchemaText(
        config=str(names.get("config") or config),
        id=str(names.get("id") or name),
        schema=given["schema"],
        tests=tests,
        complaint=complaint_about(given["schema"]),
    )


def _checked_test(test: Json) -> Mapping[str, Json]:
    """Return a test as it is.

    Raises:
        LookupError: it does not say whether it is valid, or has no data.
        TypeError: it is no object, or says otherwise than by true or false.
    """
    if not isinstance(test, dict):
        raise TypeError(test)
    if not isinstance(test["valid"], bool):
        raise TypeError(test["valid"])
    if not isinstance(test.get("text"), str):
        test["data"]
    return test


def _instance(test: Mapping[str, Json]) -> Instance:
    """Return a test as an instance; ours name the keyword in their description."""
    text = test.get("text")
    kind, keyword, pointer = str(test.get("description", "")), "", ""
    if kind.startswith(_NEAR_MISS):
        keyword, _, pointer = kind.removeprefix(_NEAR_MISS).partition(" at ")
        kind = InstanceKind.NEAR_MISS
    return Instance(
        text=text if isinstance(text, str) else _text(test["data"]),
        valid=test["valid"] is True,
        kind=kind if kind in _KINDS else "test",
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
