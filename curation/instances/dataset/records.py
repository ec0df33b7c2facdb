"""Records of a build, and MaskBench's files of records."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import quote

import msgspec

from curation.core.benchmark import SPLITS, in_benchmark_order, instances_folder
from curation.core.json_types import Json, UntypedJson
from curation.dataset.editions import open_edition
from curation.dataset.features import used
from curation.dataset.parquet import file_name, split_files
from curation.dataset.story import closest_ids
from curation.instances.dataset.tasks import InstanceTask
from curation.instances.values.model import InstanceRow
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS
from curation.schema.subschemas import children, edited, subschemas
from curation.system.atomic_files import writing
from curation.system.errors import BadConfiguration, NoInput, other_version
from curation.system.file_names import MARK, safe_name
from curation.system.user_files import reading_parquet

if TYPE_CHECKING:
    import polars as pl

    from curation.json.pointer import Tokens

#: Characters of a name: a file's has 255 at most, of which writing it takes some.
_MAX_NAME = 200
#: Capitals, but for those of a percent-encoded byte.
_CAPITAL = re.compile(r"(?<!%)(?<!%[0-9A-F])[A-Z]")
# What a file's name can hold as it is, beside letters, digits and `_.-~`.
_KEPT = " ()+,;=@[]!$&"
#: Names of ours that the format does not know, or calls raw.
_NOT_FEATURES = frozenset({"required", "@recursiveSchemas"})
#: Keywords that are raw features under their own name.
_RAW = frozenset(
    {
        "$schema", "$id", "id", "type", "properties", "required", "definitions",
        "$defs", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "minLength", "maxLength", "minItems", "maxItems", "minProperties",
        "maxProperties", "minContains", "maxContains",
    }
)  # fmt: skip
#: Annotations that say nothing of what is accepted.
_DROPPED = ANNOTATIONS - {"format", "$schema"}
_COMBINING = ("allOf", "anyOf", "oneOf")


class MaskMeta(TypedDict):
    """The `meta` of a schema."""

    #: Bytes of its text, written without spaces.
    full_size: int
    #: The same without annotations and unknown keywords.
    stripped_size: int
    features: list[str]
    raw_features: list[str]


class MaskTest(msgspec.Struct, frozen=True, kw_only=True):
    """One instance, and whether an engine has to accept it.

    Of a test in a file, members that are not listed are ignored.
    """

    valid: bool
    data: UntypedJson
    #: A text, unless the file has something else.
    description: UntypedJson = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskFile:
    """One schema with its tests."""

    #: The config, and the schema's id in it.
    split: str
    unique_id: str
    description: str
    schema: Json
    tests: tuple[MaskTest, ...]
    #: The file's name (`maskbench_names`).
    name: str


def maskbench_names(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the name of each record's file, by config and id.

    Characters that a name cannot hold are percent-encoded, and capitals where names
    differ in nothing else: some disks have one file for both. A name that is too long
    for a file is shortened, and cannot be read back.
    """
    names = {key: MARK.join(quote(part, _KEPT) for part in key) for key in keys}
    names = {
        key: f"{name if len(name) <= _MAX_NAME else safe_name(name)}.json"
        for key, name in names.items()
    }
    counts = Counter(name.casefold() for name in names.values())
    return {
        key: _CAPITAL.sub(lambda match: f"%{ord(match[0]):02X}", name)
        if counts[name.casefold()] > 1
        else name
        for key, name in names.items()
    }


def meta_of(schema: Json) -> MaskMeta:
    """Return the `meta` of a schema: sizes in bytes, features as the format counts.

    `stripped_size` is without annotations and unknown keywords. Keywords count in the
    places that some dialect reads as a schema.
    """
    usage = used(schema, ANY_DIALECT)
    features = set(usage.features) - _NOT_FEATURES
    features.update(f"format:{name}" for name in usage.formats)
    raw: set[str] = set()
    for subschema in subschemas(schema, ANY_DIALECT):
        raw.update(_raw(subschema))
        if "multipleOf" in subschema:
            features.add(f"multipleOf:{json.dumps(subschema['multipleOf'])}")
    return {
        "full_size": _size(schema),
        "stripped_size": _size(edited(schema, ANY_DIALECT, _stripped)),
        "features": sorted(features),
        "raw_features": sorted(raw),
    }


def _raw(schema: dict[str, Json]) -> Iterator[str]:
    yield from _RAW.intersection(schema)
    types = schema.get("type")
    if isinstance(types, list):
        yield "type:[]"
    for name in types if isinstance(types, list) else [types]:
        if isinstance(name, str):
            yield f"type:{name}"
    if schema.get("required") == []:
        yield "_requiredEmpty"
    for keyword in _COMBINING:
        branches = schema.get(keyword)
        if isinstance(branches, list) and len(branches) == 1:
            yield f"{keyword}:trivial"
    if any(isinstance(inner, bool) for _, inner in children(schema, ANY_DIALECT)):
        yield "_boolSchema"


def _size(value: Json) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


def _stripped(_tokens: Tokens, schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: value
        for keyword, value in schema.items()
        if keyword in KNOWN_KEYWORDS and keyword not in _DROPPED
    }


def text_of(file: MaskFile) -> str:
    """Return the text of a file; schema and instances keep their keys and numbers."""
    return json.dumps(
        {
            "description": file.description,
            "meta": meta_of(file.schema),
            "schema": file.schema,
            "tests": [
                {
                    "description": test.description,
                    "valid": test.valid,
                    "data": test.data,
                }
                for test in file.tests
            ],
        },
        indent=2,
        ensure_ascii=True,
    )


def write_files(
    files: Iterable[MaskFile],
    folder: Path,
    progress: Callable[[int], None] = lambda _done: None,
) -> int:
    """Write files into a folder; return how many. `progress` is called after each.

    Raises:
        CannotCreate: a file cannot be written.
    """
    count = 0
    for file in files:
        path = folder / file.name
        with writing(path):
            path.write_text(text_of(file) + "\n", encoding="ascii", newline="\n")
        count += 1
        progress(1)
    return count


@dataclass(slots=True)
class Records:
    """The records of a build; its files are read when they are first needed."""

    folder: Path
    _rows: pl.DataFrame | None = None

    def rows(self) -> pl.DataFrame:
        """Return all records.

        Raises:
            NoInput: the folder is no build.
            BadConfiguration: its records do not say their dialect.
        """
        import polars as pl  # noqa: PLC0415 - evaluation reads this module without it

        if self._rows is None:
            rows = open_edition(str(self.folder)).rows
            if rows.schema.get("dialect") != pl.String:
                raise BadConfiguration("no column dialect", str(self.folder))
            self._rows = rows
        return self._rows

    def select(
        self, configs: Collection[str] = (), splits: Collection[str] = ()
    ) -> pl.DataFrame:
        """Return the records of some configs and splits.

        Args:
            configs: Names of configs; none for all.
            splits: Names of splits; none for all.

        Raises:
            NoInput: the build has no such config.
        """
        import polars as pl  # noqa: PLC0415 - evaluation reads this module without it

        rows = self.rows()
        unknown = set(configs) - set(rows["config"])
        if unknown:
            names = ", ".join(in_benchmark_order(set(rows["config"])))
            name = ", ".join(sorted(unknown))
            raise NoInput(f"no config {name}", str(self.folder), f"there are {names}")
        for column, values in (("config", configs), ("split", splits)):
            if values:
                rows = rows.filter(pl.col(column).is_in(list(values)))
        return rows

    def tasks(self) -> Iterator[InstanceTask]:
        """Return the task of every record, in the order of the build."""
        return _tasks(self.rows())

    def one(self, identifier: str) -> InstanceTask:
        """Return the record of an id, or of `config/id`.

        Raises:
            NoInput: there is none, or several have that id.
        """
        import polars as pl  # noqa: PLC0415 - evaluation reads this module without it

        rows = self.rows()
        matches = rows.filter(pl.col("unique_id") == identifier)
        config, slash, unique_id = identifier.partition("/")
        if matches.is_empty() and slash:
            matches = rows.filter(config=config, unique_id=unique_id)
        if matches.is_empty():
            near = closest_ids(identifier, rows["unique_id"].to_list())
            then = f"did you mean {', '.join(near)}?" if near else ""
            raise NoInput(f"no record is named {identifier!r}", str(self.folder), then)
        if len(matches) > 1:
            names = ", ".join(f"{config}/{identifier}" for config in matches["config"])
            raise NoInput(f"several records are named {identifier!r}", "", names)
        return next(_tasks(matches))


def _tasks(rows: pl.DataFrame) -> Iterator[InstanceTask]:
    columns = ("config", "unique_id", "split", "json_schema", "dialect")
    for config, unique_id, split, schema, dialect in rows.select(columns).iter_rows():
        yield InstanceTask(
            config=config,
            unique_id=unique_id,
            split=split or SPLITS[-1],
            schema=schema,
            dialect=dialect,
        )


def maskbench_files(folder: Path, rows: pl.DataFrame) -> Iterator[MaskFile]:
    """Yield MaskBench's file of every record, with the instances of the build.

    Args:
        folder: The build.
        rows: Records of it (`Records.select`).

    Raises:
        NoInput: the build was made without instances.
    """
    names = maskbench_names(rows.select("config", "unique_id").iter_rows())
    groups = rows.group_by(["config", "split"], maintain_order=True)
    with reading_parquet(folder):
        for (config, split), group in groups:
            instances = _instances(folder, str(config), str(split))
            for unique_id, text in group.select("unique_id", "json_schema").iter_rows():
                yield MaskFile(
                    split=str(config),
                    unique_id=unique_id,
                    description=f"{config}/{unique_id}",
                    schema=json.loads(text),
                    tests=tuple(_test(row) for row in instances.get(unique_id, ())),
                    name=names[str(config), unique_id],
                )


def _instances(folder: Path, config: str, split: str) -> dict[str, list[InstanceRow]]:
    import polars as pl  # noqa: PLC0415 - evaluation reads this module without it

    inside = instances_folder(config)
    paths = [folder / path for path in split_files(folder, inside, split)]
    if not paths:
        path = folder / file_name(inside, split)
        raise NoInput("no instances here", str(path), "csbdata build --instances")
    instances: dict[str, list[InstanceRow]] = {}
    try:
        content = pl.read_parquet(paths, glob=False).to_dicts()
        rows = msgspec.convert(content, list[InstanceRow])
    except (pl.exceptions.PolarsError, msgspec.ValidationError) as error:
        raise other_version(error, paths[0]) from error
    for row in rows:
        instances.setdefault(row.unique_id, []).append(row)
    return instances


def _test(row: InstanceRow) -> MaskTest:
    description = row.kind
    if row.keyword:
        description += f": {row.keyword} at {row.schema_pointer}"
    return MaskTest(description=description, valid=row.valid, data=row.value)
