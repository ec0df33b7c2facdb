"""vLLM, started by its own command."""

from __future__ import annotations

import json
from typing import Final

from evaluation.server_programs.server_program import ServerProgram


def _arguments(model: str, port: int) -> list[str]:
    return ["serve", model, "--host", "127.0.0.1", "--port", str(port)]


def _backend(name: str) -> list[str]:
    """Choose the engine, and have no other one take its place unsaid."""
    config = {"backend": name, "disable_fallback": True}
    return ["--structured-outputs-config", json.dumps(config)]


PROGRAM: Final = ServerProgram(
    name="vllm",
    summary="vLLM (0.12 or later)",
    distribution="vllm",
    executable="vllm",
    arguments=_arguments,
    dialect="vllm",
    backend=_backend,
    # Without it the server does not tell which engine constrains its texts.
    environment={"VLLM_SERVER_DEV_MODE": "1"},
    variables=("HF_", "CUDA_", "NCCL_", "TORCH", "TRITON_", "VLLM_"),
)
