"""Clients of the published edition work with a folder of ours as they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).with_name("run_lm_eval.py")
#: A Python that has lm_eval, and a build to take instead of the sample's.
_PYTHON, _BUILD = "CSBDATA_LM_EVAL", "CSBDATA_BUILD"


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest) -> Path:
    """Return a build with instances: the one that is named, or one of the sample."""
    if _BUILD in os.environ:
        return Path(os.environ[_BUILD]).resolve()
    built: Path = request.getfixturevalue("sample_build")
    return built


def _interpreter() -> str:
    named = os.environ.get(_PYTHON)
    if not named and find_spec("lm_eval") is None:
        pytest.skip("lm_eval is not installed: make nightly")
    return named or sys.executable


@pytest.mark.nightly
def test_lm_evaluation_harness_runs_its_own_tasks_on_it(
    folder: Path, tmp_path: Path
) -> None:
    """Its jsonschema_bench tasks, of which one line is changed, read our test splits.

    With the harness's dummy model no answer is JSON. A model that answers with our
    witness of each schema is right wherever the harness can tell.
    """
    offline = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(
        [_interpreter(), str(_SCRIPT), str(folder), str(tmp_path)],
        env={**os.environ, **offline, "HF_HOME": str(tmp_path / "home")},
        capture_output=True,
        check=False,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    found = json.loads(ended.stdout)
    assert found["changed"] == ["dataset_path: epfl-dlab/JSONSchemaBench"]
    said = json.loads((folder / "manifest.json").read_bytes())["configs"]
    for level in ("easy", "medium", "hard"):
        rows = said[f"Github_{level}"]["splits"]["test"]
        dummy, ours = (
            found[model][f"jsonschema_bench_{level}"]
            for model in ("dummy", "witnesses")
        )
        assert dummy["rows"] == ours["rows"] == rows > 0
        assert dummy["dataset_path"] == str(folder)
        assert (dummy["json_validity"], dummy["schema_compliance"]) == (0, 0)
        assert ours["json_validity"] == 1
        assert ours["schema_compliance"] > 0.5
    assert found["prompts"] > 0
    assert found["prompts_without_a_witness"] == 0
