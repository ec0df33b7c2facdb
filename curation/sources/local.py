"""The user's own schemas: source expressions, and the source `local` of builds.

A source expression is what `check`, `instances`, `eval --data`, suites and
`build --with` take (`open_source`):

- a file or a folder with one schema a file, JSON or by its name YAML. A file with an
  object with `json_schema` is a row as in a table;
- a `.jsonl` file. A line is a schema, or a row: an object with `json_schema` and
  optionally `unique_id`; or a `.parquet` file with columns of these names. `#ID` after
  it, or after a build, selects a row;
- a file with an OpenAPI description, tools or a request, recognised by its content, and
  `FILE#NAME` for one of the schemas in it; `MODULE`, `MODULE:MODEL` or `FILE.py` with
  pydantic models; `mcp:COMMAND`, which starts a server;
- a build, or any folder of `<config>/*.parquet`;
- a Hub dataset, `OWNER/NAME[@REVISION]` (also after `hf://datasets/`), that has this
  layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from curation.core.benchmark import DEFAULT, OTHER_FOLDERS, natural_key
from curation.core.documents import Files, RawDocument, Rejected
from curation.download.packs import FolderFiles, MadeFile, single_file
from curation.json import text as jsontext
from curation.json.named_text import COMMENTS_SUFFIX, YAML_SUFFIXES, parse_named
from curation.sources.contents import (
    Held,
    held_schemas,
    read_held,
    read_python,
    selected,
)
from curation.sources.readers import (
    NamedSchema,
    Reading,
    Source,
    as_rows,
    claimed_uris,
    document,
    is_row,
    own_uri,
    plain_id,
)
from curation.system.errors import BadConfiguration, BadData, NoInput
from curation.system.registry import closest_names
from curation.system.user_files import existing_path, reading_parquet, refuse_large
from curation.system.words import counted
from curation.workers.limits import DOCUMENT_BYTES

_NAME = "local"
_SCHEMA, _ID = "json_schema", "unique_id"
#: The schema's pointer in a row.
IN_ROW = f"/{_SCHEMA}"
_JSON = ".json"
#: The suffixes read in a folder.
_READ = (_JSON, COMMENTS_SUFFIX, *YAML_SUFFIXES)
#: Files with a schema in each row.
TABLES = (".jsonl", ".parquet")
#: Number of files named in a message.
_SHOWN = 5
#: What a command that starts a server begins with.
MCP = "mcp:"


class OwnText(NamedTuple):
    """The text of one schema, not yet parsed."""

    #: Path of the file, relative to the folder; with `#ROW` in a table.
    place: str
    #: The id that it has in a build.
    id: str
    read: Callable[[], bytes]


class OwnSchemas(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The schemas of a source expression.

    Example:
        >>> [text.id for text in open_source("my_schemas/").texts()]
        ['crate', 'lid']
    """

    expression: str
    #: A name made of the expression, for a config.
    name: str
    #: The user's file or folder; None if the schemas are from elsewhere.
    path: Path | None = None
    #: The folder of `<config>/*.parquet`, if it is one; `origin` is `build` or `hub`.
    tables: Path | None = None
    origin: str = "files"
    #: Reads the files as an archive, or of tables their rows.
    read: Callable[[], FolderFiles | MadeFile]

    @cached_property
    def files(self) -> FolderFiles | MadeFile:
        """The schemas as the files of an archive, which the source `local` reads.

        They are read once: a pipe has nothing to be read again.
        """
        return self.read()

    @property
    def has_files(self) -> bool:
        """Whether each schema is a file; otherwise they are rows of one table."""
        return _table(self.files) is None

    def texts(self) -> Iterator[OwnText]:
        """Yield the texts, a folder's in natural order, a table's in its order."""
        return _texts(self.files)


def _texts(files: Files) -> Iterator[OwnText]:
    table = _table(files)
    if table is not None:
        content = files.read(table)
        rows = json_lines(content)
        if table.endswith(".parquet"):
            rows = _texts_in_table(content, table)
        for number, unique_id, text in made_unique(rows, PurePosixPath(table).stem):
            place = f"{table}#{number}"
            yield OwnText(place=place, id=unique_id, read=text.__bytes__)
        return
    paths = frozenset(files.paths)
    for path in sorted(_in_folder(files), key=natural_key):
        stem, _, suffix = path.rpartition(".")
        others = {stem + other for other in _READ if other != f".{suffix}"}
        # YAML keeps its suffix in its id if another file has that name.
        keeps = f".{suffix}" != _JSON and not others.isdisjoint(paths)
        yield OwnText(
            place=path,
            id=path if keeps else stem,
            read=lambda path=path: file_text(path, files.read(path)),  # type: ignore[misc]  # one a file
        )


def open_source(
    expression: str, log: Callable[[str], None] = lambda _message: None
) -> OwnSchemas:
    """Open a source expression (see this module).

    Args:
        expression: As the user has typed it. A file or folder comes before a dataset.
        log: Prints executed or imported code, and skipped parts.

    Raises:
        NoInput: no such file, folder, module, dataset or revision.
        BadUsage: nothing follows `mcp:`.
        BadData: a file holds nothing of the name.
        Unavailable: the Hub cannot be reached, or a program cannot be run.
    """
    path = existing_path(expression)
    held = read_schemas(expression, log)
    if held is not None:
        log(f"{expression}: {counted(len(held.schemas), 'schema')}")
        start = held.start.removeprefix(MCP).split(maxsplit=1)[0]
        first = Path(start.rstrip("#:")).name
        name = plain_id(Path(first).stem)
        schemas = held.schemas
        places = tuple(f"{first}#{schema.place or schema.name}" for schema in schemas)
        read_rows = partial(MadeFile, f"{name}.jsonl", as_rows(schemas), places)
        return OwnSchemas(expression=expression, name=name, read=read_rows)
    if path is not None:
        own = path.resolve()
        tables = path if path.is_dir() and _parquet_files(path) else None
        read: Callable[[Path], FolderFiles | MadeFile] = single_file
        if tables:
            read = _rows_of_tables
        elif path.is_dir():
            read = partial(FolderFiles, suffixes=_READ, most=DOCUMENT_BYTES + 1)
        return OwnSchemas(
            expression=expression,
            name=own.name if path.is_dir() else own.stem,
            path=path,
            tables=tables,
            origin="build" if tables else "files",
            read=partial(read, path),
        )
    from curation.core.hub_names import dataset_name  # noqa: PLC0415 - not for files

    is_file = Path(expression).suffix in (*_READ, *TABLES)
    hub = None if is_file else dataset_name(expression)
    if hub is None:
        raise _not_there(expression, is_file=is_file)
    from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 (slow)

    folder = hub_snapshot(hub.name, hub.revision)
    if not _parquet_files(folder):
        where = f"{hub.name}@{hub.revision or 'main'}"
        raise NoInput("no <config>/*.parquet in it", where)
    return OwnSchemas(
        expression=expression,
        name=hub.name.rpartition("/")[2],
        tables=folder,
        origin="hub",
        read=partial(_rows_of_tables, folder),
    )


def _not_there(expression: str, *, is_file: bool) -> NoInput:
    """Return the fault of a path that leads nowhere, with suggestions."""
    path = Path(expression)
    if path.is_symlink():
        return NoInput("a link that leads nowhere, or in a circle", expression)
    hint = "csbdata build makes a build; OWNER/NAME is a dataset on the Hub"
    if is_file:
        hint = ""
        with suppress(OSError):
            names = {entry.stem: entry for entry in path.parent.iterdir()}
            for near in closest_names(path.stem, names, most=1):
                hint = f"did you mean {names[near]}?"
    return NoInput("no such file or folder", expression, hint)


def held_in(content: bytes, name: str, log: Callable[[str], None]) -> Held | None:
    """Return the schemas that a JSON text without a file holds."""
    value = jsontext.parse(content)
    if isinstance(value, Rejected):
        return None
    found = held_schemas(value, name, log)
    return Held(found, f"{name}#") if found else None


def read_schemas(expression: str, log: Callable[[str], None]) -> Held | None:
    """Return the schemas that a file, a server or a module holds.

    None for every other expression, also for a file that may be a schema itself.

    Raises:
        CsbdataError: it cannot be read.
    """
    if expression.startswith(MCP):
        from curation.sources.tools import read_mcp_server  # noqa: PLC0415 - of servers alone

        command, _, name = expression.removeprefix(MCP).partition("#")
        found = selected(read_mcp_server(command, log), name, expression)
        return Held(found, f"{MCP}{command}#")
    return (
        read_held(expression, log)
        or _read_row(expression)
        or read_python(expression, log)
    )


def _read_row(expression: str) -> Held | None:
    """Return the schema with the id that `TABLE#ID` or `BUILD#ID` selects.

    None of every other expression.

    Raises:
        BadData: nothing has the id, or its text is not JSON.
    """
    name, _, row = expression.rpartition("#")
    table = None if not name or existing_path(expression) else existing_path(name)
    if table is None or not (table.is_dir() or table.suffix in TABLES):
        return None
    texts = {text.id: text for text in open_source(name).texts()}
    if row not in texts:
        raise BadData(f"nothing has the id {row!r}", name)
    schema = jsontext.parse(texts[row].read())
    if isinstance(schema, Rejected):
        raise BadData(schema.detail, expression)
    return Held([NamedSchema(name=row, schema=schema)], f"{name}#")


def _parquet_files(folder: Path) -> list[Path]:
    """Return the tables of records in a build's layout: `<config>/*.parquet`."""
    return sorted(
        path
        for path in folder.glob("*/*.parquet")
        if path.parent.name not in {*OTHER_FOLDERS, DEFAULT}
        and path.parent.name[0] != "."
    )


def _rows_of_tables(folder: Path) -> MadeFile:
    rows: list[NamedSchema] = []
    for path in map(refuse_large, _parquet_files(folder)):
        with reading_parquet(path):  # invalid UTF-8 is a fault of it, too
            rows += [
                NamedSchema(name=unique_id or f"row-{number}", schema=text.decode())
                for number, unique_id, text in _texts_in_table(path, str(path))
            ]
    return MadeFile(f"{folder.resolve().name}.jsonl", as_rows(rows))


def _table(files: Files) -> str | None:
    """Return the path of the table; None if the files are a folder's."""
    paths = files.paths
    return paths[0] if len(paths) == 1 and paths[0].endswith(TABLES) else None


def _in_folder(files: Files) -> list[str]:
    return [path for path in files.paths if path.endswith(_READ)]


def _texts_in_table(
    file: Path | bytes, where: str
) -> Iterator[tuple[int, str | None, bytes]]:
    """Yield number, id and text of each row of a parquet file, counted from 1.

    A null schema is an empty text.

    Args:
        file: The file, or its content.
        where: What messages call it.

    Raises:
        BadData: it is not parquet, or lacks the column of schemas.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow)
    import pyarrow.parquet  # noqa: PLC0415 (slow)

    source = pa.BufferReader(file) if isinstance(file, bytes) else file
    with reading_parquet(where), pyarrow.parquet.ParquetFile(source) as table:
        names = table.schema_arrow.names
        if _SCHEMA not in names:
            message = f"no column {_SCHEMA!r}"
            raise BadData(message, where, f"it has {', '.join(names)}")
        number = 0
        columns = [name for name in (_SCHEMA, _ID) if name in names]
        for batch in table.iter_batches(columns=columns):
            texts = batch.column(_SCHEMA).cast(pa.large_binary()).to_pylist()
            ids = [None] * len(texts)
            if _ID in names:
                ids = batch.column(_ID).cast(pa.large_string()).to_pylist()
            for text, unique_id in zip(texts, ids, strict=True):
                number += 1
                yield number, unique_id, text or b""


def json_lines(content: bytes) -> Iterator[tuple[int, str | None, bytes]]:
    """Yield the row number, the id if it has one, and the text of each schema.

    Rows count from 1 and are lines; empty lines are left out.
    """
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        yield number, *_row(line.strip())


def _row(content: bytes) -> tuple[str | None, bytes]:
    """Return the id, if there is one, and the text of a schema or of a row."""
    row = jsontext.parse(content) if _SCHEMA.encode() in content else None
    if not is_row(row):
        return None, content
    schema, unique_id = row[_SCHEMA], row.get(_ID)
    text = schema if isinstance(schema, str) else jsontext.write(schema)
    return unique_id if isinstance(unique_id, str) else None, text.encode()


def made_unique(
    rows: Iterable[tuple[int, str | None, bytes]], stem: str
) -> Iterator[tuple[int, str, bytes]]:
    """Give every row a unique id, even where the file repeats one.

    A row without one is `<stem>-<row number>`. The first row with an id keeps it;
    others get `-` and their row number.
    """
    used: set[str] = set()
    for number, own_id, content in rows:
        unique_id = own_id or f"{stem}-{number}"
        while unique_id in used:
            unique_id += f"-{number}"
        used.add(unique_id)
        yield number, unique_id, content


def require_files(source: OwnSchemas) -> str:
    """Return a sentence on the files of a folder that are not read; empty for none.

    Raises:
        NoInput: none of them is read, or a table has no row.
    """
    files = source.files
    unread = files.unread if isinstance(files, FolderFiles) else {}
    if not files.paths or not files.paths[0].endswith((*_READ, *TABLES)):
        count = len(unread) or len(files.paths)
        raise NoInput(
            f"no .json or .yaml file among {count}" if count else "no file in it",
            ", ".join([source.expression, *list(unread)[:3]]),
            "write each schema as JSON or YAML, or all as one .jsonl or .parquet file",
        )
    if next(source.texts(), None) is None:
        raise NoInput("no schema in it", source.expression)
    if not unread:
        return ""
    names = ", ".join(f"{path} ({why})" for path, why in list(unread.items())[:_SHOWN])
    more = ", ..." if len(unread) > _SHOWN else ""
    verb = "file is" if len(unread) == 1 else "files are"
    return f"{source.expression}: {len(unread):,} {verb} not read: {names}{more}"


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield the user's schemas under the config that the user named.

    Raises:
        BadConfiguration: no config is named.
        BadData: a parquet file cannot be read.
    """
    files = reading.files
    if not reading.config:
        raise BadConfiguration("the user's own schemas need the name of a config")
    texts = list(_texts(files))
    places = (files.places if isinstance(files, MadeFile) else ()) or [
        text.place for text in texts
    ]
    is_folder = _table(files) is None
    pairs = zip(places, texts, strict=True)
    for place, text in sorted(pairs, key=lambda pair: natural_key(pair[1].id)):
        yield document(
            reading,
            source=_NAME,
            config=reading.config,
            unique_id=text.id,
            path=place,
            base_uri=own_uri(_NAME, place) if is_folder else None,
            content=text.read(),
        )


def _as_json(path: str, content: bytes) -> bytes:
    """Return the text of a file as JSON; JSON, and invalid YAML, unchanged."""
    if not path.endswith(_JSON) and isinstance(jsontext.parse(content), Rejected):
        value = parse_named(path, content)
        if not isinstance(value, Rejected):
            return jsontext.write(value).encode()
    return content


def file_text(path: str, content: bytes) -> bytes:
    """Return the schema's text of a file: YAML as JSON, a row's schema."""
    return _row(_as_json(path, content))[1]


def uris(reading: Reading) -> Mapping[str, str]:
    """Return the locations of a folder's files, and the URIs that they claim."""
    if _table(reading.files) is not None:
        return {}
    paths = _in_folder(reading.files)
    places = {own_uri(_NAME, path): path for path in paths}
    claims = claimed_uris(lambda path: _as_json(path, reading.files.read(path)), paths)
    return claims | places


SOURCE = Source(
    name=_NAME,
    title="Schemas of your own",
    # The user names the config: `Reading.config`.
    configs=(),
    # The files come from the command line, not from an archive.
    archives={"paper": (), "clean": ()},
    read=read,
    uris=uris,
    extra=True,
)
