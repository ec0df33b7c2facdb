"""The texts that the names on a command line stand for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from curation.checking.problems import places_in_yaml
from curation.core.documents import Reason, Rejected
from curation.core.json_types import Json
from curation.json.named_text import parse_named
from curation.json.positions import TextPositions
from curation.json.text import parse
from curation.sources.local import (
    IN_ROW,
    TEXTS_INSIDE,
    file_text,
    is_row,
    open_source,
    require_files,
)
from curation.sources.openapi_bodies import is_description
from curation.sources.tools import LISTS, TOOL_FORMS, is_tool, request_of, unwrapped
from curation.system.errors import BadData, NoInput
from curation.system.user_files import existing_path, refuse_unprintable
from curation.workers.limits import DOCUMENT_BYTES

if TYPE_CHECKING:
    from curation.checking.report import SchemaProblem

#: The name of standard input, which stands for it in every source expression.
STDIN = "/dev/stdin"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """One text to be checked."""

    #: As the user named it, or below the folder that the user named.
    name: str
    content: bytes
    #: Where it is; None for standard input.
    path: Path | None

    def placed(self, problems: Iterable[SchemaProblem]) -> tuple[SchemaProblem, ...]:
        """Return problems of the text, at their places in its file: YAML, or a row."""
        found, path = tuple(problems), self.path
        if path is None or not path.is_file() or all(not it.pointer for it in found):
            return found
        content = path.read_bytes()
        if content == self.content:
            return found
        text = content.decode("utf-8-sig", "replace")
        is_json = not isinstance(parse(content), Rejected)
        place_of = TextPositions(text).of if is_json else places_in_yaml(content)
        above = IN_ROW if is_row(parse_named(path.name, content)) else ""
        places = [place_of(above + problem.pointer) for problem in found]
        return tuple(
            replace(problem, line=line, column=column)
            for problem, (line, column) in zip(found, places, strict=True)
        )

    def schema_text(self) -> str:
        """Return the text of what may be a schema.

        Raises:
            BadData: it is none.
        """
        why = why_no_schema(self.name, parse_named(self.name, self.content))
        if why is not None:
            raise BadData(f"{why.reason}: {why.detail}", self.name)
        return self.content.decode("utf-8-sig")


def read_schema_files(
    names: Sequence[str], say: Callable[[str], None] = lambda _message: None
) -> list[SchemaFile]:
    """Return the texts that names stand for: each file once, in order.

    Args:
        names: Source expressions (`curation.sources.local.open_source`), or `-`.
        say: Prints what is run or imported.

    Raises:
        CsbdataError: an expression cannot be opened, or nothing in it is read.
    """
    # One byte more than the limit is enough to know that it is exceeded.
    most = DOCUMENT_BYTES + 1
    files: dict[str, SchemaFile] = {}
    for name in names:
        path = existing_path(name)
        if name in {"-", STDIN}:
            if STDIN not in files:
                content = sys.stdin.buffer.read(most)
                files[STDIN] = SchemaFile(name=STDIN, content=content, path=None)
        elif path and not path.is_dir() and path.suffix not in TEXTS_INSIDE:
            try:
                with refuse_unprintable(path).open("rb") as stream:
                    content = file_text(name, stream.read(most))
            except OSError as error:
                why = error.strerror or type(error).__name__
                raise NoInput(why, str(path)) from error
            file = SchemaFile(name=name, content=content, path=path)
            files.setdefault(str(path.resolve()), file)
        else:
            source = open_source(name, say)
            if unread := require_files(source):
                say(unread)
            root = source.path if source.has_files else None
            for text in source.texts():
                path = root / text.place if root and root.is_dir() else root
                label = str(path) if path else f"{source.expression}#{text.id}"
                file = SchemaFile(name=label, content=text.read(), path=path)
                files.setdefault(str(path.resolve()) if path else label, file)
    return list(files.values())


def root_of(files: Sequence[SchemaFile]) -> Path:
    """Return the folder below which references between files may lead.

    It is the working folder if all files are below it, else their common folder.
    """
    here = Path.cwd()
    # A link keeps its name: where it leads is no reason to read more of the machine.
    folders = [file.path.absolute().parent for file in files if file.path is not None]
    folders = [Path(os.path.normpath(folder)) for folder in folders]
    if all(folder.is_relative_to(here) for folder in folders):
        return here
    return Path(os.path.commonpath(folders))


def place_of(file: SchemaFile, root: Path) -> str | None:
    """Return the path of a file below the root, with `/`; None for standard input."""
    if file.path is None:
        return None
    whole = Path(os.path.normpath(file.path.absolute()))
    return whole.relative_to(root).as_posix()


def form_of(value: Json | Rejected) -> str:
    """Return the prefix of the source expression for what is no schema by itself.

    Empty for every other value.
    """
    if is_description(value):
        return "openapi:"
    if isinstance(value, dict) and is_tool(value):
        return "tools:"
    members = (
        [*map(unwrapped(value).get, LISTS)] if isinstance(value, dict) else [value]
    )
    listed = next((it for it in members if isinstance(it, list)), None)
    return "tools:" if listed and all(isinstance(it, dict) for it in listed) else ""


def why_no_schema(name: str, value: Json | Rejected) -> Rejected | None:
    """Return why what a text holds is no schema; None if it may be one.

    Args:
        name: The source expression, for what to write instead.
        value: What was read.
    """
    if isinstance(value, Rejected):
        return value
    form = form_of(value)
    meant = quote(form + name)
    if form == "openapi:":
        detail = f"an OpenAPI description is no schema; write {meant}"
    elif form and not name.startswith(TOOL_FORMS):
        detail = f"a list, or a tool, is no schema; if it holds tools, write {meant}"
    elif isinstance(value, dict) and (held := request_of(value)):
        detail = held
    elif isinstance(value, dict | bool):
        return None
    else:
        detail = "no JSON Schema: neither an object nor a boolean"
    return Rejected(reason=Reason.NOT_A_SCHEMA, detail=detail)
