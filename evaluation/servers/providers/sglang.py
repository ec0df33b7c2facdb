"""SGLang: `response_format`; its server tells which engine it was started with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evaluation.servers.provider import CHAT, response_format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json

#: The newer name, and the one before it.
_PATHS: Final = ("/server_info", "/get_server_info")


def _backend(answers: Mapping[str, Json]) -> str:
    for path in _PATHS:
        info = answers.get(path)
        if isinstance(info, dict) and isinstance(info.get("grammar_backend"), str):
            return str(info["grammar_backend"])
    return ""


PROVIDER: Final = replace(
    CHAT,
    name="sglang",
    base="http://localhost:30000/v1",
    ways={**CHAT.ways, "strict": response_format},
    described_at=_PATHS,
    backend=_backend,
)
