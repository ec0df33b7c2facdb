"""Read the records of a user's own schemas, and MaskBench's files.

A text with `schema` and `tests` is one of MaskBench's files and brings its instances;
any other JSON object is a schema. In a folder the config is the first folder, the id
the rest of the path; in a table the config is the file's name, and ids are as in
`csbdata build --with`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeGuard

from curation.core.benchmark import InstanceKind
from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.dataset.features import used
from curation.json.named_text import parse_named
from curation.json.text import plain, write
from curation.schema.dialects import ANY_DIALECT, DIALECTS, DRAFT_2020_12
from curation.schema.drafts import StatementKind, statement
from curation.sources.local import OwnSchemas, OwnText, require_files
from curation.system.errors import BadData
from curation.system.user_files import parse_name
from curation.validation.metaschemas import complaint, is_valid
from curation.workers.limits import too_big
from evaluation.core.records import Instance, Record, RecordName

#: Config of a schema in the named folder itself.
FILES: Final = "files"
#: How the description of a near miss begins in the MaskBench files that we write.
_NEAR_MISS: Final = "near_miss: "
_KINDS: Final = frozenset(InstanceKind)


def is_maskbench(value: Json) -> TypeGuard[dict[str, Any]]:
    """Return whether a value has MaskBench's form: schema and tests."""
    return (
        isinstance(value, dict)
        and "schema" in value
        and isinstance(value.get("tests"), list)
    )


def complaint_about(schema: Json) -> str:
    """Return why a schema is not valid; empty for a valid one.

    It is validated under the draft that it declares; without one it must be valid under
    some draft. Draft-03 and unknown dialects are not judged.
    """
    if not isinstance(schema, dict | bool):
        return "a JSON Schema is an object, true or false"
    declared = statement(schema)
    if declared.kind is StatementKind.UNKNOWN:
        return ""
    dialect = declared.dialect or DRAFT_2020_12
    drafts = DIALECTS[::-1] if declared.dialect is None else [dialect]
    if dialect not in DIALECTS or any(is_valid(schema, draft) for draft in drafts):
        return ""
    message = complaint(schema, dialect)
    return f"not valid under {dialect.name}: {message}" if message else ""


class SchemaText(NamedTuple):
    """A schema of the user's; a `Record` once it is drawn.

    Features are computed only for schemas drawn.
    """

    config: str
    id: str
    schema: Json
    #: The tests of a MaskBench file, which are its instances.
    tests: Sequence[Mapping[str, Json]] = ()
    #: Why the schema is invalid; such a schema stays in where it has tests.
    complaint: str = ""

    def name(self) -> RecordName:
        """Return the name of the record."""
        return RecordName(group=self.config, id=self.id, complete=bool(self.tests))

    def record(self) -> Record:
        """Return the record, without split or dialect."""
        return Record(
            id=self.id,
            group=self.config,
            schema=write(self.schema),
            dialect="",
            instances=tuple(map(_instance, self.tests)),
            # No dialect is decided: what any of them reads as a keyword counts.
            features=used(self.schema, ANY_DIALECT).features,
        )


def maskbench_schema(
    config: str, name: str, content: dict[str, Any]
) -> SchemaText | str:
    """Return the schema of one of MaskBench's files, or why it has none.

    Args:
        config: Its config, unless the file is a reproducer, which names its config.
        name: Its id, in the same way.
        content: What the file holds (`is_maskbench`).
    """
    own_names = content.get("csbdata")
    names = own_names if isinstance(own_names, dict) else {}
    try:
        tests = tuple(map(_checked_test, content["tests"]))
    except (LookupError, TypeError) as error:
        return f"not MaskBench's format ({error!r})"
    return SchemaText(
        config=str(names.get("config") or config),
        id=str(names.get("id") or name),
        schema=content["schema"],
        tests=tests,
        complaint=complaint_about(content["schema"]),
    )


def _checked_test(test: Json) -> Mapping[str, Json]:
    """Return a test as it is.

    Raises:
        LookupError: neither marked valid nor invalid, or has no data.
        TypeError: not an object, or `valid` is not a Boolean.
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
    if not isinstance(text, str):
        text = write(test["data"])
        try:
            text.encode()
        except UnicodeEncodeError:
            text = json.dumps(plain(test["data"]))
    kind = str(test.get("description", ""))
    keyword = ""
    pointer = ""
    if kind.startswith(_NEAR_MISS):
        keyword, _, pointer = kind.removeprefix(_NEAR_MISS).partition(" at ")
        kind = InstanceKind.NEAR_MISS
    return Instance(
        text=text,
        valid=test["valid"] is True,
        kind=kind if kind in _KINDS else "test",
        keyword=keyword,
        schema_pointer=pointer,
    )


@dataclass(slots=True)
class OwnSchemaReader:
    """The records of a file or folder of schemas, a table, or a form."""

    source: OwnSchemas
    origin: str = "files"
    #: The texts that are not schemas, and the fault of each.
    _bad: dict[str, str] = field(default_factory=dict)
    #: The texts whose schema is invalid, and stays in because it has tests.
    _doubtful: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the source.

        Raises:
            NoInput: the folder has no readable file.
        """
        require_files(self.source)

    def sha256(self) -> str:
        """Return the digest of all input."""
        paths = self.source.files.paths
        if self._is_table:
            return hashlib.sha256(self.source.files.read(paths[0])).hexdigest()
        total = hashlib.sha256()
        for text in self.source.texts():
            content = hashlib.sha256(text.read()).hexdigest()
            total.update(f"{content}  {text.place}\n".encode())
        return total.hexdigest()

    def names(self) -> Iterator[RecordName]:
        """Yield the name of every schema.

        Raises:
            BadData: the only file, or every row, is not a schema.
        """
        self._bad = {}
        self._doubtful = {}
        good = False
        for text in self.source.texts():
            schema = self._schema(text)
            if isinstance(schema, str):
                self._bad[text.place] = schema
                continue
            good = True
            if schema.complaint:
                self._doubtful[text.place] = schema.complaint
            yield schema.name()
        if self._bad and not good:
            if self._is_table:
                message = f"no row is a schema: {self.left_out()[0]}"
                raise BadData(message, self.source.expression)
            if len(self._bad) == 1:
                raise BadData(self._bad.popitem()[1], self.source.expression)

    def records(self, places: Collection[int]) -> Iterator[Record]:
        """Yield the schemas at these places."""
        good = (text for text in self.source.texts() if text.place not in self._bad)
        for index, text in enumerate(good):
            if index in places:
                schema = self._schema(text)
                if isinstance(schema, str):
                    message = f"changed while it was read: {schema}"
                    raise BadData(message, text.place)
                yield schema.record()

    def left_out(self) -> tuple[str, ...]:
        """Return the texts that are not schemas, and why."""
        return self._lines(self._bad)

    def remarks(self) -> tuple[str, ...]:
        """Return the texts whose schema is invalid and stays in, and why."""
        return self._lines(self._doubtful)

    def _lines(self, complaints: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(
            f"row {location.rpartition('#')[2]}: {why}"
            if self._is_table
            else f"{location}: {why}"
            for location, why in complaints.items()
        )

    @property
    def _is_table(self) -> bool:
        return not self.source.has_files

    def _schema(self, text: OwnText) -> SchemaText | str:
        content = text.read()
        value = too_big(content) or parse_named(text.place, content)
        if isinstance(value, Rejected):
            return f"not a JSON text: {value.detail or value.reason}"
        inside = Path(text.place)
        if self._is_table:
            config, name = Path(text.place.rpartition("#")[0]).stem, text.id
        else:
            *folders, file_name = inside.parts
            config = folders[0] if folders else FILES
            name = (
                "/".join((*folders[1:], file_name))
                .removesuffix(inside.suffix)
                .removesuffix(".schema")
            )
        if not is_maskbench(value):
            wrong = complaint_about(value)
            return wrong or SchemaText(config=config, id=name, schema=value)
        if not self._is_table:
            split, name = parse_name(inside)
            config = split or FILES
        return maskbench_schema(config, name, value)
