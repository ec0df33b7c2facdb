"""The texts named on a command line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from curation.core.documents import Reason, Rejected
from curation.core.json_types import Json
from curation.json.named_text import YAML_SUFFIXES, parse_named
from curation.json.pointer import parse_tokens, pointer
from curation.json.positions import TextPosition, TextPositions, places_in_yaml
from curation.json.text import parse, write
from curation.sources.contents import PYTHON
from curation.sources.local import (
    IN_ROW,
    TABLES,
    OwnSchemas,
    file_text,
    held_in,
    open_source,
    read_schemas,
    require_files,
)
from curation.sources.neighbours import NeighbourFiles, find_neighbours
from curation.sources.openapi_bodies import is_description
from curation.sources.readers import NamedSchema, is_row
from curation.sources.syntax import syntax_fault
from curation.system.errors import BadData
from curation.system.user_files import existing_path, reading, refuse_unprintable
from curation.workers.limits import DOCUMENT_BYTES

if TYPE_CHECKING:
    from curation.core.problems import SchemaProblem
    from curation.sources.contents import Held

#: One byte more than the limit is enough to know that it is exceeded.
_MAX: Final = DOCUMENT_BYTES + 1
#: A reference to another file, or to the web.
_LEADS_OUT: Final = re.compile(rb'"\$ref"\s*:\s*"[^#"]')
#: The name of standard input in every source expression.
STDIN = "/dev/stdin"
#: How a file that is a schema holds it.
WHOLE: Final = NamedSchema(name="", schema=True)


class SchemaFile(NamedTuple):
    """One text to be checked."""

    #: As the user named it, or below the folder that the user named; with `#NAME` if
    #: its file holds several.
    name: str
    content: bytes
    #: Where it is; None for standard input.
    path: Path | None
    #: How its file holds it, and the name there.
    entry: NamedSchema = WHOLE
    #: As of `NamedSchema`.
    elsewhere: Mapping[str, tuple[Path, str]] = {}
    #: The file of which it is one line, and the line's number.
    line: tuple[Path, int] | None = None

    def placed(self, problems: Iterable[SchemaProblem]) -> tuple[SchemaProblem, ...]:
        """Return problems of the text, at their places in files: YAML, or a row."""
        in_text, path = tuple(problems), self.path
        if self.line:
            file, line = self.line
            row = {"file": str(file), "line": line, "column": 1}
            return tuple(replace(problem, **row) for problem in in_text)
        has_pointers = any(problem.pointer for problem in in_text)
        if path is None or not path.is_file() or not has_pointers:
            return in_text
        content = path.read_bytes()
        if content == self.content:
            return in_text
        is_in_row = self.entry is WHOLE and is_row(parse_named(path.name, content))
        relative_name = cache(_places_in)
        placed = []
        for problem in in_text:
            inside = self._in_document(problem.pointer, is_in_row=is_in_row)
            tokens = parse_tokens(inside)
            file, part = self.elsewhere.get(pointer(tokens[:3]), (path, None))
            moved = {}
            if part is not None:
                inside = part + pointer(tokens[3:])
                moved = {"file": str(file), "pointer": inside}
            position = relative_name(file)(inside)._asdict()
            placed.append(replace(problem, **position, **moved))
        return tuple(placed)

    def _in_document(self, inside: str, *, is_in_row: bool) -> str:
        """Return the pointer in its document of a pointer in the schema."""
        if is_in_row:
            return IN_ROW + inside
        holder, components = self.entry.moved
        if holder and inside.startswith(f"{holder}/"):
            return components + inside.removeprefix(holder)
        return (self.entry.root or self.entry.place) + inside

    def schema_text(self) -> str:
        """Return the text of a possible schema.

        Raises:
            BadData: it is not one.
        """
        why = why_no_schema(parse_named(self.name, self.content))
        if why is not None:
            raise BadData(why_in_words(why, self.content), self.name)
        return self.content.decode("utf-8-sig")


def read_schema_files(
    names: Sequence[str],
    log: Callable[[str], None] = lambda _message: None,
    *,
    split: bool = True,
) -> list[SchemaFile]:
    """Return the named texts: each file once, in order.

    Args:
        names: Source expressions (`curation.sources.local.open_source`), or `-`.
        log: Prints what is run or imported.
        split: Whether a file that holds several schemas is as many texts.

    Raises:
        CsbdataError: an expression cannot be opened, or nothing in it is read.
    """
    files: dict[str, SchemaFile] = {}
    for name in dict.fromkeys(STDIN if name == "-" else name for name in names):
        path = existing_path(name)
        if name == STDIN or (path and path.is_fifo()):
            content = _read_pipe(name)
            parts = held_in(content, name, log) if split else None
            files |= _parts(parts) if parts else {name: SchemaFile(name, content, None)}
            continue
        is_text = path is not None and path.suffix not in (PYTHON, *TABLES)
        holder = read_schemas(name, log) if split or not is_text else None
        if holder is not None:
            files |= _parts(holder)
        elif path and is_text and not path.is_dir():
            with reading(refuse_unprintable(path)), path.open("rb") as stream:
                content = file_text(name, stream.read(_MAX))
            files.setdefault(str(path.resolve()), _whole(name, content, path))
        else:
            source = open_source(name, log)
            if unread := require_files(source):
                log(unread)
            for key, file in _read_texts(source, log, split=split):
                files.setdefault(key, file)
    return list(files.values())


def _read_pipe(name: str) -> bytes:
    if name == STDIN:
        return sys.stdin.buffer.read(_MAX)
    with Path(name).open("rb") as stream:
        return stream.read(_MAX)


def _parts(holder: Held) -> dict[str, SchemaFile]:
    """Return the schemas that a file, a server or a module holds."""
    key = str(holder.path.resolve() if holder.path else holder.start)
    return {
        f"{key}#{index}{schema.place}": SchemaFile(
            name=holder.start + schema.name,
            content=write(schema.schema).encode("utf-8", "backslashreplace"),
            path=holder.path,
            entry=schema,
            elsewhere=schema.elsewhere,
        )
        for index, schema in enumerate(holder.schemas)
    }


def _read_texts(
    source: OwnSchemas, log: Callable[[str], None], *, split: bool
) -> Iterator[tuple[str, SchemaFile]]:
    """Yield the texts of a folder, or the rows of a table; each has a unique key."""
    root = source.path if source.has_files else None
    for text in source.texts():
        path = root and root / text.place
        label = str(path) if path else f"{source.expression}#{text.id}"
        holder = None
        if split and path:
            try:
                holder = read_schemas(label, log)
            except BadData as error:
                log(str(error))
        if holder is not None:
            yield from _parts(holder).items()
        elif path is None:
            line = None
            if source.path and source.path.suffix == ".jsonl":
                line = source.path, int(text.place.rpartition("#")[2])
            yield label, SchemaFile(label, text.read(), None, line=line)
        else:
            yield str(path.resolve()), _whole(label, text.read(), path)


def _places_in(path: Path) -> Callable[[str], TextPosition]:
    """Return what gives the line and column of a pointer in a file."""
    content = path.read_bytes()
    is_yaml = path.name.endswith(YAML_SUFFIXES)
    if is_yaml and isinstance(parse(content), Rejected):
        return places_in_yaml(content)
    return TextPositions(content.decode("utf-8-sig", "replace")).of


def _whole(name: str, content: bytes, path: Path) -> SchemaFile:
    """Return the text of a file, a description's references to others resolved."""
    description = parse(content) if _LEADS_OUT.search(content) else None
    if is_description(description):
        from curation.sources.joined_files import joined  # noqa: PLC0415 (slow)

        whole = joined(description, str(path))
        if whole.parts:
            content = write(whole.document).encode("utf-8", "backslashreplace")
            return SchemaFile(name, content, path, elsewhere=whole.parts)
    return SchemaFile(name, content, path)


def _normal(path: Path) -> Path:
    """Return an absolute path without `..`.

    A link keeps its name: its target must not open more of the machine.
    """
    return Path(os.path.normpath(path.absolute()))


def with_neighbours(
    files: Sequence[SchemaFile],
) -> tuple[list[str | None], NeighbourFiles]:
    """Return the path of each file below a common folder, and the files in it.

    References between files may lead below the working folder if all files are below
    it, otherwise below their common folder. Paths have `/`; standard input, and a
    schema that is a part of its file, have none.
    """
    paths = [file.path and _normal(file.path) for file in files]
    folders = [path.parent for path in paths if path]
    root = Path.cwd()
    if not all(folder.is_relative_to(root) for folder in folders):
        root = Path(os.path.commonpath(folders))
    places = [
        path.relative_to(root).as_posix() if path and file.entry is WHOLE else None
        for file, path in zip(files, paths, strict=True)
    ]
    contents = {
        place: file.content for file, place in zip(files, places, strict=True) if place
    }
    return places, find_neighbours(root, contents)


def why_no_schema(value: Json | Rejected) -> Rejected | None:
    """Return why a text cannot be a schema; None if it may be."""
    if isinstance(value, Rejected):
        return value
    if isinstance(value, dict | bool):
        return None
    detail = "neither an object nor a boolean"
    return Rejected(reason=Reason.NOT_A_SCHEMA, detail=detail)


def why_in_words(why: Rejected, content: bytes) -> str:
    """Return why a text holds no schema, in a sentence."""
    detail, line, column = syntax_fault(content, why)
    if why.reason is Reason.NOT_A_SCHEMA:
        return f"not a schema: {detail}"
    position = f" (line {line}, column {column})" if (line, column) != (1, 1) else ""
    return (detail or why.reason.explanation) + position
