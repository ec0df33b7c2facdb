"""The models of a user's Python module, converted to JSON Schema by pydantic."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from curation.sources.readers import NamedSchema, as_rows
from curation.system.errors import BadData, NoInput


def read_models(
    module: str, say: Callable[[str], None], folder: Path | None = None
) -> list[NamedSchema]:
    """Return the schema of each model that a module defines, by their names.

    Models are classes of pydantic's `BaseModel` and pydantic's dataclasses that the
    module, or a module below it, defines and the module has a name for.

    Args:
        module: Its dotted name; it is imported, which runs it.
        say: Prints that it is imported, and of models without a JSON Schema.
        folder: Where it is looked for first; by default the current folder.

    Raises:
        NoInput: it cannot be imported.
        BadData: it has no models.
    """
    from pydantic import BaseModel, TypeAdapter  # noqa: PLC0415 (slow)

    say(f"Importing {module}")
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
            say(f"{module}.{name} has no JSON Schema ({why})")
            continue
        schemas.append(own)
    if not schemas:
        then = "models are classes of pydantic.BaseModel that it defines"
        raise BadData("no model with a JSON Schema", module, then)
    return schemas
