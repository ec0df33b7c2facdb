"""A server is measured, and a run is shown, where no library runs models."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.evaluation.servers.loopback import answer, loopback
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from pathlib import Path

_BLOCKED = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "accelerate", "gguf"}:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[:] = [Without if one is PathFinder else one for one in sys.meta_path]
from curation.cli import main
sys.exit(main())
"""


def _csbdata(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _BLOCKED, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": "", "CSBDATA_CACHE": str(folder / "cache"), "COLUMNS": "80"},
    )


@pytest.mark.slow
def test_neither_torch_nor_transformers_is_needed(tmp_path: Path) -> None:
    """`eval` with a URL, `results show` and `results export`, their import blocked."""
    (tmp_path / "ferry.json").write_text('{"type": "object"}')
    tokenizer = made.byte_level(tmp_path / "tokenizer")
    with loopback(lambda _body, _number: answer('{"deck"', ": 2}")) as server:
        measured = _csbdata(
            tmp_path,
            *("eval", "--model", f"{server.base}#small", "--engine", "strict"),
            *("--engine", "none", "--data", "ferry.json", "--run-dir", "run"),
            *("--tokenizer", str(tokenizer)),
        )
    assert measured.returncode == 0, measured.stderr
    assert "Coverage" in measured.stdout
    shown = _csbdata(tmp_path, "results", "show", "run")
    assert shown.returncode == 0, shown.stderr
    assert "strict small" in shown.stdout
    page = _csbdata(
        tmp_path, "results", "export", "run", "--format", "html", "--out", "p"
    )
    assert page.returncode == 0, page.stderr
