"""F38 and F55: what other code, engines, models or options made is not found again."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import csbdata
from curation.pipeline.request import fingerprint_of
from curation.system.errors import CannotCreate
from curation.workers.limits import Limits
from evaluation.asking import header as header_module
from evaluation.asking.request import ModelOptions
from evaluation.results.reader import open_run
from evaluation.setup.engine_files import find_engine
from evaluation.setup.selected_engines import EngineUnderTest
from evaluation.walking import work as shared_work
from tests.evaluation.measuring import miniature, request_of, sample
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from pathlib import Path


def _request(folder: Path, **fields: object) -> csbdata.RunRequest:
    return request_of(
        folder,
        [sample("one", "{}"), sample("two", "[1]")],
        engines=[miniature("accept_all")],
        run_dir=folder / "run",
        **fields,
    )


_OTHERS = {"code_digest": lambda: "other", "versions": lambda: {"python": "2.7"}}


@pytest.mark.parametrize("part", ["code_digest", "versions", "LIMITS"])
def test_f38_a_build_of_other_code_is_done_again(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code, versions of libraries and limits decide a build's fingerprint."""
    before = fingerprint_of("clean", [], [])
    assert fingerprint_of("clean", [], []) == before
    other: object = Limits(seconds=1.0) if part == "LIMITS" else _OTHERS[part]
    monkeypatch.setattr(f"curation.pipeline.request.{part}", other)
    assert fingerprint_of("clean", [], []) != before


def test_f38_rows_of_other_code_are_not_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder is refused by name; a folder of its own has every row anew."""
    assert csbdata.run(_request(tmp_path)).totals.ran == 2
    for module in (header_module, shared_work):
        monkeypatch.setattr(module, "measuring_digest", lambda: "of tomorrow")
    with pytest.raises(CannotCreate, match=r"another run: measuring code"):
        csbdata.run(_request(tmp_path))
    (tmp_path / "run" / "run.json").unlink()
    (tmp_path / "run").rename(tmp_path / "old")
    assert csbdata.run(_request(tmp_path)).totals.reused == 0
    fingerprints = [
        {row.fingerprint for row in open_run(folder).rows()}
        for folder in (_with_header(tmp_path / "old"), tmp_path / "run")
    ]
    assert not fingerprints[0] & fingerprints[1]


def _with_header(folder: Path) -> Path:
    (folder / "run.json").write_text("{}", "utf-8")
    return folder


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model."""
    return small_model(tmp_path_factory.mktemp("model"))


def _writing(folder: Path, model: Path) -> csbdata.RunRequest:
    options = ModelOptions(model=str(model), device="cpu", dtype="fp32", budget=4)
    return replace(
        _request(folder, tasks=("coverage",), models=[options]), engines=["none"]
    )


@pytest.mark.slow
def test_f38_other_weights_do_not_go_on_in_the_same_folder(
    model_folder: Path, tmp_path: Path
) -> None:
    """A model that was trained on keeps its folder's name, and writes other texts."""
    model = tmp_path / "model"
    shutil.copytree(model_folder, model)
    assert csbdata.run(_writing(tmp_path, model)).totals.ran == 2
    assert csbdata.run(_writing(tmp_path, model)).totals.reused == 2
    weights = model / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    with pytest.raises(CannotCreate, match=r"another run: model \(.*revision"):
        csbdata.run(_writing(tmp_path, model))


def test_f38_an_engine_of_another_version_is_another_engine(tmp_path: Path) -> None:
    """Its version, its options and every byte of its file decide its answers."""
    engine = EngineUnderTest(file=find_engine(miniature("accept_all")), version="1")
    path = tmp_path / "accept_all.py"
    path.write_bytes(engine.file.path.read_bytes() + b"\n")
    others = [
        replace(engine, version="2"),
        replace(engine, options={"strict": True}),
        replace(engine, file=find_engine(str(path))),
        replace(engine, file=find_engine(miniature("refuse_all"))),
    ]
    identities = [each.identity for each in (engine, *others)]
    assert len(set(identities)) == len(identities)
    assert replace(engine, interpreter="/elsewhere/python").identity == engine.identity
