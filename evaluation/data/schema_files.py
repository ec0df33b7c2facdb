"""JSON Schemas as files, one of them or a folder; and MaskBench's files.

A file with `schema` and `tests` is one of MaskBench's and brings its instances; any
other JSON object is a schema. The config of a schema is the folder in which it
stands, its id the rest of its path.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from curation.core.benchmark import natural_key
from curation.instances.dataset.maskbench import name_of
from curation.system.errors import BadData, NoInput
from evaluation.data.schema_texts import (
    FILES,
    SchemaText,
    is_maskbench,
    maskbench_schema,
    plain_schema,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from evaluation.core.cases import Sample
    from evaluation.data.dataset import SampleName

#: Bytes of files whose content is kept between their naming and their measuring: about
#: ten times that in memory.
_KEPT_BYTES: Final = 8 * 2**20


@dataclass(slots=True)
class SchemaFiles:
    """Schemas of a folder, in natural order of their paths, or of one file."""

    #: The folder that the config and id of a schema are relative to.
    root: Path
    paths: tuple[Path, ...]
    origin: str = "files"
    #: The files that are no schema, and what is wrong with each.
    _bad: dict[Path, str] = field(default_factory=dict)
    #: The files whose schema is invalid, and stays in because it has tests.
    _doubtful: dict[Path, str] = field(default_factory=dict)
    #: What files hold that were read already, as long as they are small together.
    _known: dict[Path, SchemaText] = field(default_factory=dict, repr=False)
    _known_bytes: int = 0

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
        self._bad, self._doubtful = {}, {}
        self._known, self._known_bytes = {}, 0
        for path in self.paths:
            found = self._read(path)
            if isinstance(found, SchemaText):
                if found.complaint:
                    self._doubtful[path] = found.complaint
                yield found.name()
            elif len(self.paths) == 1:
                raise BadData(found, str(path))
            else:
                self._bad[path] = found

    def samples(self, places: Collection[int]) -> Iterator[Sample]:
        """Yield the schemas at these places."""
        good = (path for path in self.paths if path not in self._bad)
        for place, path in enumerate(good):
            if place in places:
                found = self._read(path)
                if isinstance(found, str):
                    raise BadData(f"changed while it was read: {found}", str(path))
                yield found.sample()

    def left_out(self) -> tuple[str, ...]:
        """Return the files that are no schema, and why."""
        return tuple(
            f"{path.relative_to(self.root)}: {why}" for path, why in self._bad.items()
        )

    def remarks(self) -> tuple[str, ...]:
        """Return the files whose schema is invalid and stays in, and why."""
        return tuple(
            f"{path.relative_to(self.root)}: {why}"
            for path, why in self._doubtful.items()
        )

    def _read(self, path: Path) -> SchemaText | str:
        """Return a file's schema, or what is wrong with it; small ones are kept."""
        if path in self._known:
            return self._known[path]
        content = _content(path)
        found = self._parsed(path, content)
        if (
            isinstance(found, SchemaText)
            and self._known_bytes + len(content) <= _KEPT_BYTES
        ):
            self._known[path] = found
            self._known_bytes += len(content)
        return found

    def _parsed(self, path: Path, content: bytes) -> SchemaText | str:
        value = read_text(content)
        if isinstance(value, str):
            return value
        if is_maskbench(value):
            split, unique_id = name_of(path)
            return maskbench_schema(split or FILES, unique_id, value)
        inside = path.relative_to(self.root)
        config = inside.parts[0] if len(inside.parts) > 1 else FILES
        rest = inside.parts[1:] if len(inside.parts) > 1 else inside.parts
        name = "/".join(rest).removesuffix(".json").removesuffix(".schema")
        return plain_schema(config, name, value)


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NoInput(error.strerror or type(error).__name__, str(path)) from error
