"""vLLM: `structured_outputs`, which takes any JSON Schema (from 0.12).

Its engine is chosen when it is started; a request cannot choose one. It tells which one
at `/server_info`, where that is switched on (`VLLM_SERVER_DEV_MODE=1`).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from evaluation.servers.provider import CHAT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json

_BACKEND: Final = re.compile(
    r"""structured_outputs_config["']?\s*[=:]\s*[^)}]*?"""
    r"""\bbackend["']?\s*[=:]\s*["']([\w-]+)["']"""
)


#: Of this process: nothing of an earlier run is found.
_SALT: Final = token_hex(8)


def _backend(answers: Mapping[str, Json]) -> str:
    """Return the engine of the server's configuration, a text or an object."""
    match = _BACKEND.search(json.dumps(answers.get("/server_info")).replace("\\", ""))
    return match[1] if match else ""


PROVIDER: Final = replace(
    CHAT,
    name="vllm",
    base="http://localhost:8000/v1",
    ways={
        **CHAT.ways,
        "strict": lambda schema: {"structured_outputs": {"json": schema}},
    },
    described_at=("/version", "/server_info"),
    backend=_backend,
    uncached=lambda way: {"cache_salt": f"{_SALT} {way}"},
)
