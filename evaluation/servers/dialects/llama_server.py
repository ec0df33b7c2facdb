"""llama-server's `response_format` of type `json_object` with a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from curation.core.json_types import Json
from evaluation.servers.dialect import ServerDialect


def _backend(answers: Mapping[str, Json]) -> str:
    """Return its own grammars with the build that has them: it has no other engine."""
    props = answers.get("/props")
    build = props.get("build_info") if isinstance(props, dict) else None
    return f"llama.cpp grammars ({build})" if isinstance(build, str) else ""


DIALECT: Final = ServerDialect(
    name="llama_server",
    summary="llama-server's response_format json_object with a schema",
    body=lambda schema: {
        "response_format": {"type": "json_object", "schema": json.loads(schema)}
    },
    described_at=("/props",),
    backend=_backend,
)
