"""What docs/engines.md and action.yml have others run, is run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.evaluation.measuring import miniature
from tests.evaluation.tokenizers import made
from tests.programs import ended

if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import CompletedProcess

_ROOT = Path(__file__).parents[2]
_EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")
#: How GitHub runs `shell: bash`.
_FLAGS = ("--noprofile", "--norc", "-eo", "pipefail", "-c")
_SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}}'


def _action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((_ROOT / "action.yml").read_text("utf-8"))
    return found


def _outputs(path: Path) -> dict[str, str]:
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return dict(line.split("=", 1) for line in lines)


class _Job:
    """A job of GitHub's as far as the action knows: folders, inputs, outputs."""

    def __init__(self, folder: Path, inputs: Mapping[str, str]) -> None:
        self.folder = folder
        self.output, self.summary = folder / "output", folder / "summary"
        declared = _action()["inputs"]
        assert set(inputs) <= set(declared)
        self.inputs: dict[str, str] = {
            name: inputs.get(name, given.get("default", ""))
            for name, given in declared.items()
        }
        (folder / "bin").mkdir()
        for name in ("csbdata", "bash"):
            found = shutil.which(
                name, path=f"{Path(sys.executable).parent}:/bin:/usr/bin"
            )
            assert found
            (folder / "bin" / name).symlink_to(found)
        # Installing is what `python -m pip` does: what it is asked is written down.
        python = folder / "bin" / "python"
        python.write_text(f'#!/bin/bash\nprintf "%s\\n" "$@" >> {folder}/asked\n')
        python.chmod(0o700)

    def value(self, text: str) -> str:
        """Return a text with GitHub's expressions replaced."""

        def replaced(match: re.Match[str]) -> str:
            name = match[1]
            if name.startswith("inputs."):
                return self.inputs[name.removeprefix("inputs.")]
            if name.startswith("steps.measure.outputs."):
                return _outputs(self.output)[name.rpartition(".")[2]]
            known = {"github.action_path": _ROOT, "runner.temp": self.folder}
            return str(known[name])

        return _EXPRESSION.sub(replaced, text)

    def run(self, step: Mapping[str, Any]) -> CompletedProcess[str]:
        """Run one step, as GitHub runs `shell: bash`."""
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "CSBDATA_OFFLINE": "1",
            **{name: self.value(text) for name, text in step.get("env", {}).items()},
        }
        bash = self.folder / "bin" / "bash"
        return ended(bash, *_FLAGS, step["run"], cwd=self.folder, env=environment)


def test_every_input_of_the_action_is_documented_and_used() -> None:
    """The page's table has them all; each is read by a step."""
    page = (_ROOT / "docs" / "engines.md").read_text("utf-8")
    text = (_ROOT / "action.yml").read_text("utf-8")
    for name, given in _action()["inputs"].items():
        assert f"| `{name}` |" in page
        assert f"${{{{ inputs.{name} }}}}" in text
        assert given["description"]


def test_no_step_has_an_expression_in_its_script() -> None:
    """What others write comes in by the environment, where it is no code."""
    for step in _action()["runs"]["steps"]:
        assert not _EXPRESSION.search(step["run"])


@pytest.mark.slow
def test_the_action_runs(tmp_path: Path) -> None:
    """It measures the sample, writes expected outcomes, and fails if one is worse."""
    tokenizer = made.byte_level(tmp_path / "tokenizer")
    inputs = {"engine": miniature("accept_all"), "tokenizer": str(tokenizer)}
    job = _Job(tmp_path, {**inputs, "install": "one two", "limit": "12"})
    install, _, measure, hold = _action()["runs"]["steps"]
    assert job.run(install).returncode == 0
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[-3:] == ["--quiet", "one", "two"]
    assert f"{_ROOT}/requirements/eval.txt" in asked
    measured = job.run(measure)
    assert measured.returncode == 0, measured.stderr
    assert "Coverage" in job.summary.read_text("utf-8")
    held = job.run(hold)
    assert held.returncode == 0, held.stderr
    assert "::warning::" in held.stdout
    assert job.run(hold).returncode == 0
    expected = tmp_path / "expected.jsonl"
    assert len(expected.read_text("utf-8").splitlines()) == 12
    expected.write_text(
        expected.read_text("utf-8").replace("under_constrained", "passed")
    )
    closed = job.run(hold)
    assert closed.returncode == 1
    assert "failed: accept_all" in closed.stderr


@pytest.mark.slow
def test_the_action_holds_schemas_against_targets(tmp_path: Path) -> None:
    """Without an engine it installs less, and `fit` ends with the code of `fit`."""
    job = _Job(tmp_path, {"fit": "openai-strict,gemini", "schemas": "a.schema.json"})
    install, fit, measure, hold = _action()["runs"]["steps"]
    assert [it["if"] for it in (fit, measure, hold)] == [
        "inputs.fit != ''",
        *["inputs.engine != ''"] * 2,
    ]
    assert job.run(install).returncode == 0
    asked = (tmp_path / "asked").read_text().splitlines()
    assert f"{_ROOT}/requirements/core.txt" in asked
    (tmp_path / "a.schema.json").write_text(_SCHEMA)
    refused = job.run(fit)
    assert refused.returncode == 1, refused.stderr
    assert "::error file=a.schema.json,line=1" in refused.stdout
    assert "openai-strict/fixable::fixable: closed" in refused.stdout
    job.inputs["fit"] = "gemini"
    assert job.run(fit).returncode == 0


@pytest.mark.slow
def test_the_hook_of_the_page_runs(tmp_path: Path) -> None:
    """Its entry, word by word as pre-commit runs it, holds and closes."""
    page = (_ROOT / "docs" / "engines.md").read_text("utf-8")
    (block,) = re.findall(r"```yaml\n(# \.pre-commit.*?)```", page, re.DOTALL)
    (repository,) = yaml.safe_load(block)["repos"]
    (hook,) = repository["hooks"]
    assert re.search(hook["files"], "my_engine.py")
    shutil.copy(miniature("accept_all"), tmp_path / "my_engine.py")
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "one.schema.json").write_text(_SCHEMA)
    expected = tmp_path / "expected.jsonl"
    tokenizer = made.byte_level(tmp_path / "tokenizer")
    words = [
        word.replace("--limit", f"--tokenizer {shlex.quote(str(tokenizer))} --limit")
        for word in shlex.split(hook["entry"])
    ]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path)}
    run = partial(ended, *words, cwd=tmp_path, env=environment)
    first = run()
    assert first.returncode == 66, first.stderr
    (folder,) = tmp_path.glob("tmp.*/run")
    csbdata = Path(sys.executable).with_name("csbdata")
    form = ("--format", "outcomes", "--out", expected)
    ended(csbdata, "results", "export", folder, *form, check=True)
    assert run().returncode == 0
    text = expected.read_text("utf-8")
    assert '"under_constrained","wrong":' in text
    worse = re.sub(r'"under_constrained","wrong":.*', '"passed"}', text)
    expected.write_text(worse)
    closed = run()
    assert closed.returncode == 1
    assert "1 worse" in closed.stderr
