"""Records of a build, and MaskBench's files of records."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import quote

import msgspec

from curation.core.benchmark import in_benchmark_order, instances_folder
from curation.core.json_types import Json, UntypedJson
from curation.dataset.editions import open_edition
from curation.dataset.features import used
from curation.dataset.ledger import closest_ids
from curation.dataset.parquet import file_name, split_files
from curation.instances.constraints.keyword_values import read_array, read_names
from curation.instances.model import InstanceRow
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS
from curation.schema.subschemas import children, edited, subschemas
from curation.system.atomic_files import writing
from curation.system.errors import BadConfiguration, NoInput, other_version
from curation.system.user_files import MARK, reading_parquet, safe_name

if TYPE_CHECKING:
    import polars as pl

    from curation.json.pointer import Tokens

#: Characters of a name: a file's has 255 at most, of which writing it takes some.
_MAX_NAME = 200
#: Capitals outside of percent-encoded bytes.
_CAPITAL = re.compile(r"(?<!%)(?<!%[0-9A-F])[A-Z]")
# Characters that a file's name can hold, besides letters, digits and `_.-~`.
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
#: Keywords that decide validity.
_ASSERTING = KNOWN_KEYWORDS - (ANNOTATIONS - {"format", "$schema"})
_COMBINING = ("allOf", "anyOf", "oneOf")


class MaskMeta(TypedDict):
    """The `meta` of a schema."""

    #: Bytes of its text, written without spaces.
    full_size: int
    #: The same without annotations and unknown keywords.
    stripped_size: int
    features: list[str]
    raw_features: list[str]


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


def compute_meta(schema: Json) -> MaskMeta:
    """Return the `meta` of a schema: sizes in bytes, features as the format counts.

    `stripped_size` is without annotations and unknown keywords. Keywords count in the
    places that some dialect reads as a schema.
    """

    def size(value: Json) -> int:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return len(text.encode("utf-8", "surrogatepass"))

    def strip(_tokens: Tokens, schema: Json) -> Json:
        if not isinstance(schema, dict):
            return schema
        return {name: value for name, value in schema.items() if name in _ASSERTING}

    usage = used(schema, ANY_DIALECT)
    features = set(usage.features) - _NOT_FEATURES
    features.update(f"format:{name}" for name in usage.formats)
    raw: set[str] = set()
    for subschema in subschemas(schema, ANY_DIALECT):
        raw.update(_raw_features(subschema))
        if "multipleOf" in subschema:
            features.add(f"multipleOf:{json.dumps(subschema['multipleOf'])}")
    return {
        "full_size": size(schema),
        "stripped_size": size(edited(schema, ANY_DIALECT, strip)),
        "features": sorted(features),
        "raw_features": sorted(raw),
    }


def _raw_features(schema: dict[str, Json]) -> Iterator[str]:
    yield from _RAW.intersection(schema)
    if isinstance(schema.get("type"), list):
        yield "type:[]"
    for name in read_names(schema.get("type")):
        yield f"type:{name}"
    if schema.get("required") == []:
        yield "_requiredEmpty"
    for keyword in _COMBINING:
        if len(read_array(schema, keyword)) == 1:
            yield f"{keyword}:trivial"
    if any(isinstance(inner, bool) for _, inner in children(schema, ANY_DIALECT)):
        yield "_boolSchema"


def maskbench_text(
    description: str, schema: Json, tests: Sequence[Mapping[str, UntypedJson]]
) -> str:
    """Return the text of a file; schema and instances keep their keys and numbers.

    Args:
        description: The record, or any text.
        schema: The schema.
        tests: Instances, each with `description`, `valid` and `data`.
    """
    members = {
        "description": description,
        "meta": compute_meta(schema),
        "schema": schema,
        "tests": tests,
    }
    return json.dumps(members, indent=2) + "\n"


def select_records(
    folder: Path, configs: Collection[str] = (), splits: Collection[str] = ()
) -> pl.DataFrame:
    """Return the records of some configs and splits of a build.

    Args:
        folder: The build.
        configs: Names of configs; none for all.
        splits: Names of splits; none for all.

    Raises:
        NoInput: the folder is not a build, or it has no such config.
        BadConfiguration: its records lack their dialect.
    """
    import polars as pl  # noqa: PLC0415 - evaluation reads this module without it

    rows = open_edition(str(folder)).rows
    if rows.schema.get("dialect") != pl.String:
        raise BadConfiguration("no column dialect", str(folder))
    unknown = set(configs) - set(rows["config"])
    if unknown:
        names = ", ".join(in_benchmark_order(set(rows["config"])))
        name = ", ".join(sorted(unknown))
        raise NoInput(f"no config {name}", str(folder), f"there are {names}")
    for column, values in (("config", configs), ("split", splits)):
        if values:
            rows = rows.filter(pl.col(column).is_in(list(values)))
    return rows


def find_record(folder: Path, identifier: str) -> dict[str, str]:
    """Return the columns of the record of an id, or of `config/id`.

    Raises:
        NoInput: no record, or several, have that id.
    """
    rows = select_records(folder)
    matches = rows.filter(unique_id=identifier)
    config, slash, unique_id = identifier.partition("/")
    if matches.is_empty() and slash:
        matches = rows.filter(config=config, unique_id=unique_id)
    if matches.is_empty():
        near = closest_ids(identifier, rows["unique_id"])
        hint = f"did you mean {', '.join(near)}?" if near else ""
        raise NoInput(f"no record is named {identifier!r}", str(folder), hint)
    if len(matches) > 1:
        names = ", ".join(f"{config}/{identifier}" for config in matches["config"])
        raise NoInput(f"several records are named {identifier!r}", "", names)
    return matches.row(0, named=True)


def write_files(
    build: Path,
    rows: pl.DataFrame,
    folder: Path,
    progress: Callable[[int], None] = lambda _done: None,
) -> None:
    """Write MaskBench's file of every record, with the instances of the build.

    Args:
        build: The build.
        rows: Records of it (`select_records`).
        folder: Gets a file a record.
        progress: Called after each.

    Raises:
        NoInput: the build was made without instances.
        CannotCreate: a file cannot be written.
    """
    names = maskbench_names(rows.select("config", "unique_id").iter_rows())
    groups = rows.group_by(["config", "split"], maintain_order=True)
    with reading_parquet(build):
        for (config, split), group in groups:
            instances = _instances(build, str(config), str(split))
            for unique_id, text in group.select("unique_id", "json_schema").iter_rows():
                tests: list[dict[str, Json]] = []
                for row in instances.get(unique_id, ()):
                    failing = f": {row.keyword} at {row.schema_pointer}"
                    description = row.kind + (failing if row.keyword else "")
                    tests.append(
                        {
                            "description": description,
                            "valid": row.valid,
                            "data": row.value,
                        }
                    )
                content = maskbench_text(
                    f"{config}/{unique_id}", json.loads(text), tests
                )
                path = folder / names[str(config), unique_id]
                with writing(path):
                    path.write_text(content, encoding="ascii", newline="\n")
                progress(1)


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
