"""The types of a JSON value (RFC 8259, section 3), as `curation.json.text` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

#: A JSON value.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
#: A JSON value that is only read: a `dict[str, int]` is one, and no `Json`.
ReadOnlyJson: TypeAlias = "Json | Mapping[str, ReadOnlyJson] | Sequence[ReadOnlyJson]"
#: A JSON value that the type checker does not look into.
UntypedJson = Any
#: A schema as a caller of the library has it: an object or a boolean, its JSON text, or
#: a class with `model_json_schema`, as pydantic's models are.
GivenSchema: TypeAlias = "Json | Mapping[str, object] | type"
