"""Prompts for training: nothing of the test split, and each program loads them."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.dataset.training_prompts import write_training
from curation.download.acquire import FetchSettings
from curation.system.errors import NoInput
from evaluation.answers.judge import judge, reward
from evaluation.models.known.smollm2 import _embedded_folder
from tests.curation.dataset.training_programs import PROGRAMS

if TYPE_CHECKING:
    from curation.core.json_types import Json

_SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "title": "%s"}'
_ROOT = Path(__file__).parents[3]


#: Of the answers of the embedded model to it some are JSON and some are not.
_GRADED = '{"enum": [1, 2, 3]}'


def _build(folder: Path, schema: str = _SCHEMA) -> Path:
    config = folder / "Github_easy"
    config.mkdir()
    rows = {
        "train": [("a", "c1", False), ("b", "c2", False), ("c", "c3", True)],
        "test": [("d", "c2", False)],
    }
    for split, listed in rows.items():
        table = [
            {
                "unique_id": name,
                "json_schema": schema.replace("%s", name),
                "cluster": cluster,
                "vacuous": vacuous,
            }
            for name, cluster, vacuous in listed
        ]
        pl.DataFrame(table).write_parquet(config / f"{split}-00000-of-00001.parquet")
    return folder


@pytest.mark.parametrize("program", ["verifiers", "trl", "lm-eval"])
def test_clusters_that_touch_the_test_split_are_left_out(
    tmp_path: Path, program: str
) -> None:
    """Nor is a vacuous record among the prompts; each has its schema and turns."""
    out = tmp_path / "out"
    out.mkdir()
    assert write_training(_build(tmp_path), program, out) == 1
    (line,) = (out / "prompts.jsonl").read_text("utf-8").splitlines()
    record = json.loads(line)
    assert (record["id"], record["schema"]) == ("a", _SCHEMA % "a")
    assert record["schema"] in record["prompt"][-1]["content"]
    source = (out / "csbdata_train.py").read_text("utf-8")
    compile(source, "csbdata_train.py", "exec")


def test_a_folder_may_be_called_like_a_pattern(tmp_path: Path) -> None:
    """Brackets in a path are letters: the build in that folder is read."""
    (tmp_path / "b[1]").mkdir()
    assert write_training(_build(tmp_path / "b[1]"), "trl", tmp_path) == 1


def test_a_folder_that_is_no_build_is_said(tmp_path: Path) -> None:
    """With the command that makes one."""
    with pytest.raises(NoInput, match="no train split in it: csbdata build"):
        write_training(tmp_path, "trl", tmp_path)


@pytest.mark.parametrize("text", ["", "   ", "<think>{}", "null", "{}", "[]", '"x"'])
def test_what_says_nothing_earns_next_to_nothing(text: str) -> None:
    """A schema that accepts everything is no way to a reward."""
    for schema in ("true", '{"properties": {"a": {}}}', '{"type": "object"}'):
        bare = text == '"x"' and "type" not in schema
        assert reward(text, schema) <= (1 if bare else 1 / 3)


def test_a_reward_is_the_judges_score() -> None:
    """For whatever says something, in a fence or not."""
    schema: dict[str, Json] = {
        "required": ["a", "b"],
        "properties": {"a": {"type": "integer"}},
    }
    for text in ('{"a": 1, "b": 2}', '{"a": "x", "c": 1}', '```json\n{"b": 1}\n```'):
        assert reward(text, schema) == judge(text, schema, policy="outer_fence").score


@pytest.mark.nightly
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_loads_its_folder(tmp_path: Path, program: str) -> None:
    """Rewards are the judge's, and differ; the embedded model learns from them."""
    out = tmp_path / "out"
    out.mkdir()
    write_training(_build(tmp_path, _GRADED), program, out)
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "csbdata.pth").write_text(f"{Path(pl.__file__).parents[1]}\n", "utf-8")
    python = home / "bin" / "python"
    wanted = program.replace("-", "_")
    install = [str(python), "-m", "pip", "install", "-q", wanted]
    if subprocess.run(install, check=False).returncode:
        pytest.skip(f"not run: pip cannot install {wanted} here")
    script = tmp_path / "program.py"
    script.write_text(PROGRAMS[program], "utf-8")
    model = _embedded_folder(FetchSettings.from_environment(), lambda _line: None)
    paths = {"PYTHONPATH": str(_ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [str(python), str(script), str(out), str(model)],
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("as the judge")
