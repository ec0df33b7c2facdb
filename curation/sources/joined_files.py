"""An OpenAPI description of several files, joined into one document.

The target of a reference to another file becomes a component: a schema, or a member
of `components/files`. Nothing outside its folder is read, and nothing is fetched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote

from curation.core.json_types import Json, UntypedJson
from curation.json.pointer import (
    Put,
    Tokens,
    at,
    pointer,
    rewritten,
    tokens_of_fragment,
)
from curation.schema.subschemas import edited
from curation.sources.neighbours import NeighbourLibrary, to_base_uri
from curation.sources.openapi_bodies import dialect_in, walk
from curation.sources.readers import plain_id


class Joined(NamedTuple):
    """A description in one document."""

    document: Json
    #: By its pointer in the document, each part of another file: that file, and the
    #: pointer there.
    parts: Mapping[str, tuple[Path, str]]
    #: What is wrong with references that lead to nothing, each with its place.
    lost: list[str]


class _Target(NamedTuple):
    """What a reference leads to."""

    #: Relative to the root, with `/`.
    file: str
    tokens: Tokens
    is_schema: bool


class _Joining:
    """The description, and the parts of other files as they are met."""

    def __init__(self, document: dict[str, UntypedJson], path: Path) -> None:
        file, here = Path(os.path.abspath(path)), Path.cwd()  # noqa: PTH100 - links stay
        is_below = file.is_relative_to(here)
        self._root = here if is_below else file.parent
        #: As messages name files below the root.
        self._shown = Path() if is_below else self._root
        self._start = file.relative_to(self._root).as_posix()
        self._library = NeighbourLibrary(self._root, {})
        self._dialect = dialect_in(document)
        self._document = document
        components = document.get("components")
        self._components = components if isinstance(components, dict) else {}
        schemas = self._components.get("schemas")
        self._schemas = schemas if isinstance(schemas, dict) else {}
        #: The names of components that parts become, and their contents.
        self._names: dict[_Target, str] = {}
        self._waiting: list[tuple[_Target, UntypedJson]] = []
        self._taken = set(self._schemas)
        #: The first place of each reference that leads to nothing, and why.
        self._lost: dict[_Target, str] = {}

    def run(self) -> Joined:
        """Follow all references."""
        for name, schema in self._schemas.items():
            # The description itself names the part.
            if isinstance(schema, dict) and schema.keys() == {"$ref"}:
                tokens = ("components", "schemas", name)
                self._led(self._start, tokens, str(schema["$ref"]), name=name)
        document = self._around(self._document, self._start, ())
        added: dict[bool, dict[str, UntypedJson]] = {True: {}, False: {}}
        while self._waiting:
            target, value = self._waiting.pop()
            follow = self._schema if target.is_schema else self._around
            name = self._names[target]
            added[target.is_schema][name] = follow(value, target.file, target.tokens)
        if self._names:
            components = document.get("components", {})
            schemas = {**components.get("schemas", {}), **added[True]}
            components = {**components, "schemas": schemas, "files": added[False]}
            document = {**document, "components": components}
        places = {
            self._place(target): (self._shown / target.file, pointer(target.tokens))
            for target in self._names
        }
        return Joined(document, places, list(self._lost.values()))

    def _place(self, target: _Target) -> str:
        kind = "schemas" if target.is_schema else "files"
        return pointer(("components", kind, self._names[target]))

    def _schema(self, value: UntypedJson, file: str, start: Tokens) -> UntypedJson:
        def leading(tokens: Tokens, schema: UntypedJson) -> UntypedJson:
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str):
                return schema
            led = self._led(file, start + tokens, reference)
            return schema if led == reference else {**schema, "$ref": led}

        return edited(value, self._dialect, leading)

    def _around(self, value: UntypedJson, file: str, start: Tokens) -> UntypedJson:
        edits = {}
        for tokens, inner, reference in walk(value):
            if reference:
                led = self._led(file, start + tokens, reference, is_schema=False)
                if led != reference:
                    edits[*tokens, "$ref"] = Put(led)
            elif (schema := self._schema(inner, file, start + tokens)) is not inner:
                edits[tokens] = Put(schema)
        return rewritten(value, edits)

    def _led(
        self,
        file: str,
        tokens: Tokens,
        reference: str,
        *,
        is_schema: bool = True,
        name: str = "",
    ) -> str:
        """Return where a reference leads in the new document.

        Args:
            file: The file that it is in.
            tokens: Its place there.
            reference: Its text.
            is_schema: Whether it leads to a schema.
            name: What its target shall be called.
        """
        beside, _, fragment = reference.partition("#")
        other = file
        if beside:
            other = normpath(join(dirname(file), unquote(beside)))
        if other == self._start:
            return f"#{fragment}"
        target = _Target(other, tokens_of_fragment(fragment), is_schema)
        if target not in self._names:
            try:
                value = self._read(other, beside, target.tokens)
            except LookupError as error:
                place = f"{self._shown / file}: {pointer(tokens) or '(root)'}"
                fault = f"{place}: {reference}: {error.args[0]}"
                self._lost.setdefault(target, fault)
                return reference
            if not name:
                stem = target.file.rpartition("/")[2].partition(".")[0]
                name = plain_id(target.tokens[-1] if target.tokens else stem)
                if name in self._taken:
                    name += f"-{len(self._taken)}"
                self._taken.add(name)
            self._names[target] = name
            self._waiting.append((target, value))
        return f"#{self._place(target)}"

    def _read(self, file: str, beside: str, tokens: Tokens) -> UntypedJson:
        if "://" in beside:
            raise LookupError("nothing is fetched")
        if file.startswith(("../", "/")):
            raise LookupError(f"outside of {self._root}")
        document = self._library.get(to_base_uri(file))
        if document is None:
            is_file = (self._root / file).is_file()
            raise LookupError("cannot be read" if is_file else "no such file")
        try:
            return at(document, tokens)
        except LookupError:
            raise LookupError("nothing at this pointer") from None


def joined(document: dict[str, UntypedJson], path: str) -> Joined:
    """Return a description with its references to other files resolved.

    Args:
        document: The description.
        path: Its file; of any other text references start in the working folder.
    """
    file = Path(path) if Path(path).is_file() else Path("-")
    return _Joining(document, file).run()
