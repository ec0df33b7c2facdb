"""Every example in the README is real output, of the embedded sample."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

README = Path(__file__).parents[2] / "README.md"
_TUTORIALS = README.parent / "docs" / "tutorials.md"
_TASKS = README.parent / "docs" / "tasks.md"
_ENGINES = README.parent / "docs" / "engines.md"
_PAGES = [README, *sorted((README.parent / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What differs from run to run, and what is shown for it.
_DIFFERENT = ((re.compile(r"\b\d+\.\d+ s\b"), "2.5 s"),)


def _output(command: str, folder: Path) -> str:
    """Return the stdout of one command line, as on a screen of 100 columns."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
    }
    ended = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 (bash as the user has it)
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    # 1 is how `check` says that it found something.
    assert ended.returncode in {0, 1}, f"{command}: {ended.stderr[-1000:]}"
    text = ended.stdout
    for pattern, shown in _DIFFERENT:
        text = pattern.sub(shown, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _real(block: str, folder: Path) -> str:
    """Return a block with its commands as written and their outputs as they are."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {each}\n{_output(each, folder)}" for each in commands)


@pytest.mark.slow
def test_every_example_is_real_output(
    tmp_path: Path, compare_golden: Callable[[Path, str], None]
) -> None:
    """The commands of the README, run in order in one folder, print what it shows."""
    shown = README.read_text(encoding="utf-8")
    assert _BLOCK.search(shown)
    real = _BLOCK.sub(
        lambda found: f"```console\n{_real(found[1], tmp_path)}```", shown
    )
    compare_golden(README, real)


@pytest.mark.slow
@pytest.mark.parametrize("page", [_TUTORIALS, _TASKS], ids=lambda page: page.stem)
def test_tutorials_and_tasks_print_what_they_show(
    page: Path, tmp_path: Path, compare_golden: Callable[[Path, str], None]
) -> None:
    """Run in order in one folder, with the engine of the other page, as they say."""
    engine = re.search(
        r"^```python\n(.*?)^```$", _ENGINES.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert engine
    (tmp_path / "my_engine.py").write_text(engine[1], "utf-8")
    shown = page.read_text("utf-8")
    real = _BLOCK.sub(
        lambda found: f"```console\n{_real(found[1], tmp_path)}```", shown
    )
    assert real.count("passed") >= 2
    compare_golden(page, real)


def test_console_blocks_are_run_by_a_test() -> None:
    """A page whose commands no test runs shows them without a prompt and output."""
    run = {README, _TUTORIALS, _TASKS}
    assert {page for page in _PAGES if _BLOCK.search(page.read_text("utf-8"))} == run


_LINK = re.compile(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)")


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Each link from a page to a file of the project is to one that is there."""
    targets = [found[1] for found in _LINK.finditer(page.read_text("utf-8"))]
    lost = [name for name in targets if not (page.parent / name).exists()]
    assert not lost
