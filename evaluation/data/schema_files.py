"""JSON Schemas as files, one of them or a folder; and MaskBench's files.

A file with `schema` and `tests` is one of MaskBench's and brings its instances; any
other JSON object is a schema. The config of a schema is the folder in which it
stands, its id the rest of its path.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from curation.core.benchmark import natural_key
from curation.core.documents import Rejected
from curation.dataset.features import features
from curation.instances.dataset.maskbench import name_of
from curation.instances.model import InstanceKind
from curation.json.text import parse, plain, write
from curation.schema.dialects import ANY_DIALECT
from curation.system.errors import BadData, NoInput
from curation.workers.limits import Limits, too_big
from evaluation.core.cases import Instance, Sample
from evaluation.data.dataset import SampleName

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from curation.core.json_types import Json

#: Config of a schema that is in no folder below the one that was named.
FILES: Final = "files"
#: How the description of a near miss begins in the MaskBench files that we write.
_NEAR_MISS: Final = "near_miss: "


@dataclass(slots=True)
class SchemaFiles:
    """Schemas of a folder, in natural order of their paths, or of one file."""

    #: The folder that the config and id of a schema are relative to.
    root: Path
    paths: tuple[Path, ...]
    origin: str = "files"
    #: The files that are no schema, and what is wrong with each.
    _bad: dict[Path, str] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path) -> SchemaFiles | None:
        """Return the reader of a path; None where it holds no `*.json`."""
        if root.is_file():
            return cls(root.parent, (root,))
        found = (path for path in root.rglob("*.json") if path.is_file())
        visible = [path for path in found if not _is_hidden(path, root)]
        visible.sort(key=lambda path: natural_key(path.relative_to(root).as_posix()))
        return cls(root, tuple(visible)) if visible else None

    def sha256(self) -> str:
        """Return the digest of every file that is read."""
        total = hashlib.sha256()
        for path in self.paths:
            content = hashlib.sha256(_content(path)).hexdigest()
            total.update(f"{content}  {path.relative_to(self.root)}\n".encode())
        return total.hexdigest()

    def names(self) -> Iterator[SampleName]:
        """Yield the name of every schema.

        Raises:
            BadData: the only file is no schema.
        """
        self._bad = {}
        for path in self.paths:
            sample = self._read(path)
            if isinstance(sample, Sample):
                complete = bool(sample.instances)
                yield SampleName(config=sample.config, id=sample.id, complete=complete)
            elif len(self.paths) == 1:
                raise BadData(sample, str(path))
            else:
                self._bad[path] = sample

    def samples(self, places: Collection[int]) -> Iterator[Sample]:
        """Yield the schemas at these places."""
        good = (path for path in self.paths if path not in self._bad)
        for place, path in enumerate(good):
            if place in places:
                sample = self._read(path)
                if isinstance(sample, str):
                    raise BadData(f"changed while it was read: {sample}", str(path))
                yield sample

    def left_out(self) -> tuple[str, ...]:
        """Return the files that are no schema, and why."""
        return tuple(
            f"{path.relative_to(self.root)}: {why}" for path, why in self._bad.items()
        )

    def _read(self, path: Path) -> Sample | str:
        """Return a file's schema, or what is wrong with it."""
        content = _content(path)
        refused = too_big(content, Limits())
        value = refused or parse(content)
        if isinstance(value, Rejected):
            return f"not a JSON text: {value.detail or value.reason}"
        if isinstance(value, dict) and "schema" in value:
            tests = value.get("tests")
            if isinstance(tests, list):
                return _maskbench(path, value, tests)
        if not isinstance(value, dict | bool):
            return "a JSON Schema is an object, true or false"
        inside = path.relative_to(self.root)
        config = inside.parts[0] if len(inside.parts) > 1 else FILES
        rest = inside.parts[1:] if len(inside.parts) > 1 else inside.parts
        name = "/".join(rest).removesuffix(".json").removesuffix(".schema")
        return _sample(config, name, value)


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NoInput(error.strerror or type(error).__name__, str(path)) from error


def _sample(
    config: str, name: str, schema: Json, instances: Iterable[Instance] = ()
) -> Sample:
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


def _maskbench(path: Path, given: dict[str, Json], tests: list[Json]) -> Sample | str:
    """Return the schema of one of MaskBench's files, with its tests."""
    ours = given.get("csbdata")
    names = ours if isinstance(ours, dict) else {}
    split, unique_id = name_of(path)
    config, name = names.get("config") or split or FILES, names.get("id") or unique_id
    try:
        instances = [_instance(test) for test in tests]
    except (LookupError, TypeError) as error:
        return f"not MaskBench's format ({error!r})"
    return _sample(str(config), str(name), given["schema"], instances)


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
