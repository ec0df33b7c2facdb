"""llama-server: `response_format` of type `json_object` with a schema."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evaluation.servers.provider import CHAT, json_mode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json


def _backend(answers: Mapping[str, Json]) -> str:
    """Return its own grammars with the build that has them: it has no other engine."""
    props = answers.get("/props")
    build = props.get("build_info") if isinstance(props, dict) else None
    return f"llama.cpp grammars ({build})" if isinstance(build, str) else ""


PROVIDER: Final = replace(
    CHAT,
    name="llama_server",
    base="http://localhost:8080/v1",
    ways={
        "json": json_mode,
        "strict": lambda schema: {
            "response_format": {"type": "json_object", "schema": schema}
        },
    },
    described_at=("/props",),
    backend=_backend,
    uncached=lambda _way: {"cache_prompt": False},
)
