"""jsonschema and its validator of each dialect, imported without its slow part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.schema.dialects import BY_NAME
from curation.system.slow_formats import formats_when_needed

__all__ = ["PYTHON_VALIDATORS", "SchemaError", "jsonschema"]

with formats_when_needed():
    import jsonschema
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

#: Dialect name to the class of validators of its schemas, draft-03 included. Their
#: common protocol lacks the needed methods, so they are not typed.
PYTHON_VALIDATORS: Mapping[str, Any] = {
    name: validator_for({"$schema": dialect.uri}) for name, dialect in BY_NAME.items()
}
