"""SGLang, started as a module of its environment's Python."""

from __future__ import annotations

from typing import Final

from evaluation.server_programs.server_program import ServerProgram


def _arguments(model: str, port: int) -> list[str]:
    module = ["-m", "sglang.launch_server", "--model-path", model]
    return [*module, "--host", "127.0.0.1", "--port", str(port)]


PROGRAM: Final = ServerProgram(
    name="sglang",
    summary="SGLang",
    distribution="sglang[all]",
    executable="python",
    arguments=_arguments,
    dialect="sglang",
    backend=lambda name: ["--grammar-backend", name],
    variables=("HF_", "CUDA_", "NCCL_", "TORCH", "TRITON_", "SGLANG_"),
)
