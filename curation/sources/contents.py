"""Schemas by the content of a document, and one of several by its name.

An OpenAPI description, a list of tools and a request hold schemas; any other document
may be one. `FILE#NAME` is the schema that a document holds under a name, or at a
pointer (`FILE#/tools/0/inputSchema`). The models of a Python module are converted to
JSON Schema by pydantic.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.json.named_text import parse_named
from curation.json.pointer import at, parse_tokens
from curation.sources.readers import NamedSchema, as_rows, is_one_schema
from curation.system.errors import BadData, NoInput
from curation.system.registry import closest_names
from curation.system.user_files import existing_path, reading, refuse_large
from curation.system.words import counted

#: A module of Python, and a model in it.
_MODULE = re.compile(r"(?P<module>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)(:(?P<model>\w+))?")
#: The suffix of a file with models.
PYTHON = ".py"
_BEFORE_MODEL = re.compile(r"(?<=\.py)#(?=\w+$)")
#: Names that a message lists.
_SHOWN = 8


class Held(NamedTuple):
    """The schemas that a file, a server or a module holds, or one of them."""

    schemas: list[NamedSchema]
    #: What names a schema, before its name there: `FILE#`, `MODULE:`.
    start: str
    #: The file; None of a server, a module, or standard input.
    path: Path | None = None


def held_schemas(
    value: Json, path: str, log: Callable[[str], None], selected: str = ""
) -> list[NamedSchema] | None:
    """Return the schemas that a document holds; None if it may be one itself.

    Args:
        value: The document.
        path: Its file, for messages.
        log: Prints skipped parts.
        selected: The name of a component of OpenAPI, or the pointer to it.

    Raises:
        BadData: it is an OpenAPI description without schemas.
    """
    if is_one_schema(value):
        return None
    from curation.sources.openapi_bodies import is_description, schemas_in  # noqa: PLC0415 - of other documents
    from curation.sources.tools import requested_schemas  # noqa: PLC0415 - as above

    if is_description(value):
        from curation.sources.joined_files import joined  # noqa: PLC0415 (slow)

        whole = joined(value, path)
        for fault in whole.lost:
            log(fault)
        schemas = schemas_in(whole.document, path, log, selected)
        return [replace(schema, elsewhere=whole.parts) for schema in schemas]
    return requested_schemas(value, path, log) or None


def read_held(expression: str, log: Callable[[str], None]) -> Held | None:
    """Return the schemas that a file holds, or the one that `#NAME` selects.

    None if the expression names no file, or one that may be a schema itself.

    Raises:
        NoInput: the file cannot be read.
        BadData: it is neither JSON nor YAML, or holds nothing of that name.
    """
    path, file, name = existing_path(expression), expression, ""
    if path is None and "#" in expression:
        file, _, name = expression.rpartition("#")
        path = existing_path(file)
    if path is None or not path.is_file() or path.suffix == PYTHON:
        return None
    if path.suffix in (".jsonl", ".parquet"):
        return None
    with reading(path):
        content = refuse_large(path).read_bytes()
    value = parse_named(path.name, content)
    if isinstance(value, Rejected):
        if not name:
            return None
        raise BadData(value.detail, str(path))
    if name.startswith("/"):
        try:
            schema = at(value, parse_tokens(name))
        except LookupError as error:
            raise BadData("nothing at this pointer", expression) from error
        held = [
            replace(schema, lacking=())
            for schema in held_schemas(value, str(path), log, name) or ()
            if schema.place == name
        ]
        held = held or [NamedSchema(name=name, schema=schema, place=name)]
        return Held(held, f"{file}#", path)
    schemas = held_schemas(value, str(path), log, name)
    if schemas is None and name:
        raise BadData(f"it holds nothing named {name!r}", str(path))
    if schemas is None:
        return None
    return Held(selected(schemas, name, str(path)), f"{file}#", path)


def selected(
    schemas: Sequence[NamedSchema], name: str, where: str
) -> list[NamedSchema]:
    """Return all schemas, or those with a name.

    Raises:
        BadData: no schema has it.
    """
    if not name:
        return list(schemas)
    matches = [replace(schema, lacking=()) for schema in schemas if schema.name == name]
    if not matches:
        names = [schema.name for schema in schemas]
        near = closest_names(name, names, 1) or names[:_SHOWN]
        hint = f"it holds {', '.join(near)}"
        if len(names) > len(near):
            hint += f" and {counted(len(names) - len(near), 'other')}"
        raise BadData(f"nothing named {name!r}", where, hint)
    return matches


def read_python(expression: str, log: Callable[[str], None]) -> Held | None:
    """Return the models of `MODULE`, `MODULE:MODEL`, `FILE.py` or `FILE.py:MODEL`.

    `FILE.py#MODEL` is the same. None if the expression names no module.

    Raises:
        NoInput: it cannot be imported.
        BadData: it has no models, or none of that name.
    """
    expression = _BEFORE_MODEL.sub(":", expression)
    file, _, model = expression.rpartition(f"{PYTHON}:")
    path = existing_path(file + PYTHON if file else expression)
    is_file = path is not None and path.suffix == PYTHON
    match = _MODULE.fullmatch(expression)
    if not is_file and (match is None or path is not None):
        return None

    # What is printed can be pasted.
    start = expression.partition(":")[0] + ":"
    if path is not None:
        schemas = read_models(path.stem, log, path.parent)
        return Held(selected(schemas, model if file else "", str(path)), start, path)
    if match is None:
        return None
    top = match["module"].partition(".")[0]
    if not any(Path(name).exists() for name in (top, top + PYTHON)):
        try:
            if find_spec(top) is None:
                return None
        except (ImportError, ValueError):
            return None
    schemas = read_models(match["module"], log)
    return Held(selected(schemas, match["model"] or "", match["module"]), start)


def read_models(
    module: str, log: Callable[[str], None], folder: Path | None = None
) -> list[NamedSchema]:
    """Return the schema of each model that a module defines, by their names.

    Models are classes of pydantic's `BaseModel` and pydantic's dataclasses that the
    module, or a module below it, defines and the module has a name for.

    Args:
        module: Its dotted name; it is imported, which runs it.
        log: Prints that it is imported, and of models without a JSON Schema.
        folder: Where it is looked for first; by default the current folder.

    Raises:
        NoInput: it cannot be imported.
        BadData: it has no models.
    """
    from pydantic import BaseModel, TypeAdapter  # noqa: PLC0415 (slow)

    log(f"Importing {module}")
    here = str((folder or Path.cwd()).absolute())
    sys.path.insert(0, here)
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
        raise NoInput(f"cannot be imported ({why})", module) from error
    finally:
        sys.path.remove(here)
    schemas: list[NamedSchema] = []
    for name, model in sorted(vars(loaded).items()):
        # pydantic adds `RootModel[int]` to a module that only derives from it.
        if not isinstance(model, type) or not name.isidentifier():
            continue
        if not (
            issubclass(model, BaseModel) or hasattr(model, "__pydantic_validator__")
        ):
            continue
        if not f"{model.__module__}.".startswith(f"{loaded.__name__}."):
            continue
        try:
            own = NamedSchema(name=name, schema=TypeAdapter(model).json_schema())
            as_rows([own])  # an infinite default, for one, is not JSON
        except Exception as error:  # noqa: BLE001 (a model runs code of the user's)
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            log(f"{module}.{name} has no JSON Schema ({why})")
            continue
        schemas.append(own)
    if not schemas:
        hint = "models are classes of pydantic.BaseModel that it defines"
        raise BadData("no model with a JSON Schema", module, hint)
    return schemas
