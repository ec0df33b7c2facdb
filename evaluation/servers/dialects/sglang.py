"""SGLang's `response_format`; its server tells which engine it was started with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from curation.core.json_types import Json
from evaluation.servers.dialect import ServerDialect, response_format

#: The newer name, and the one before it.
_PATHS: Final = ("/server_info", "/get_server_info")


def _backend(answers: Mapping[str, Json]) -> str:
    for path in _PATHS:
        info = answers.get(path)
        if isinstance(info, dict) and isinstance(info.get("grammar_backend"), str):
            return str(info["grammar_backend"])
    return ""


DIALECT: Final = ServerDialect(
    name="sglang",
    summary="SGLang's response_format json_schema",
    body=lambda schema: response_format(schema, strict=True),
    described_at=_PATHS,
    backend=_backend,
)
