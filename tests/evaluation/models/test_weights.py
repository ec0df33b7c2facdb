"""Two models of one name are told apart by their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.models.loading import folder_digest

if TYPE_CHECKING:
    from pathlib import Path


def _folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def test_a_bit_of_the_weights_is_another_model(tmp_path: Path) -> None:
    """Weights, settings and vocabulary count; where the folder is does not."""
    files = {"model.safetensors": b"\0" * 4096, "config.json": b"{}"}
    one = folder_digest(_folder(tmp_path / "one", files))
    assert folder_digest(_folder(tmp_path / "same", files)) == one
    for name in files:
        other = {**files, name: files[name][:-1] + b"\x7f"}
        assert folder_digest(_folder(tmp_path / f"other-{name}", other)) != one


def test_what_is_no_part_of_a_model_does_not_count(tmp_path: Path) -> None:
    """A README that is corrected leaves the model what it is."""
    files = {"model.safetensors": b"\0", "README.md": b"one"}
    one = folder_digest(_folder(tmp_path / "one", files))
    files["README.md"] = b"another"
    assert folder_digest(_folder(tmp_path / "two", files)) == one
