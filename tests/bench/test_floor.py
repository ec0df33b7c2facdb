"""The floor: measured apart from the product, over a folder or an archive."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

_FLOOR = Path(__file__).parents[2] / "bench" / "data" / "floor.py"
_DOCUMENTS = {
    "a.json": '{"$schema": "http://json-schema.org/draft-04/schema#"}',
    "b/c.json": '{"$schema": "https://example.org/unknown", "minimum": 3}',
    "b/broken.json": "{",
    "b/number.json": "3",
}
_PRODUCT = ("curation", "csbdata", "evaluation")


def _measure(*arguments: str) -> dict[str, object]:
    program = f"""
import runpy, sys
sys.argv = {["floor.py", *arguments]!r}
runpy.run_path({str(_FLOOR)!r}, run_name="__main__")
assert not {{name.partition(".")[0] for name in sys.modules}} & {set(_PRODUCT)}
"""
    command = [sys.executable, "-c", program]
    figures: dict[str, object] = json.loads(subprocess.check_output(command))
    return figures


def test_folder_and_archive_are_the_same_documents(tmp_path: Path) -> None:
    """Every file counts, a schema or not; passes repeat; nothing of ours is loaded."""
    folder = tmp_path / "folder"
    for name, text in _DOCUMENTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    archive = tmp_path / "archive.tar.xz"
    with tarfile.open(archive, "w:xz") as packed:
        packed.add(folder, "archive")
    twice, once = _measure(str(folder), "2"), _measure(str(archive))
    size = sum(map(len, _DOCUMENTS.values()))
    assert (once["documents"], once["bytes"]) == (4, size)
    assert (twice["documents"], twice["bytes"]) == (8, 2 * size)
    steps = once["steps"]
    assert isinstance(steps, dict)
    assert set(steps) == {"parse", "check", "compile", "sha256", "parquet"}
