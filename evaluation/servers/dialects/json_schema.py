"""`response_format` of type `json_schema`, as most servers take it."""

from __future__ import annotations

from typing import Final

from evaluation.servers.dialect import ServerDialect, response_format

DIALECT: Final = ServerDialect(
    name="json_schema",
    summary="response_format json_schema, as most servers take it",
    body=lambda schema: response_format(schema, strict=False),
)
