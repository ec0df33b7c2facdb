"""A build is not replaced by another one without a word."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.download.acquire import FetchSettings
from curation.packaging.manifest import FILE
from curation.pipeline.build import build
from curation.pipeline.inputs import choose_inputs
from curation.pipeline.request import BuildRequest, refuse_other_build
from curation.system.errors import CannotCreate
from curation.system.progress import Quiet

if TYPE_CHECKING:
    from pathlib import Path

    from curation.pipeline.inputs import BuildInput


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[BuildInput]:
    """Return what a build of the sample reads."""
    cache = tmp_path_factory.mktemp("cache")
    settings = FetchSettings(mirror=None, cache=cache, offline=True)
    return choose_inputs("clean", (), settings, sample=True, progress=Quiet())[0]


def refusal(out: Path, inputs: list[BuildInput], **asked: object) -> str:
    """Return what is said against replacing a build; empty if it may be replaced."""
    rules, options = asked.get("rules", "clean"), asked.get("options", ("instances",))
    assert isinstance(rules, str)
    assert isinstance(options, tuple)
    try:
        refuse_other_build(out, rules, options, inputs)
    except CannotCreate as error:
        return str(error)
    return ""


def test_the_same_build_may_be_replaced(
    sample_build: Path, inputs: list[BuildInput], tmp_path: Path
) -> None:
    """What was asked before may be asked again, and an empty place be taken."""
    assert refusal(sample_build, inputs) == ""
    assert refusal(tmp_path, inputs) == ""


def test_other_rules_are_named(sample_build: Path, inputs: list[BuildInput]) -> None:
    """A build by other rules stays, and the line says which rules it has."""
    assert "rules clean, not paper" in refusal(sample_build, inputs, rules="paper")


def test_instances_are_not_dropped_in_silence(
    sample_build: Path, inputs: list[BuildInput]
) -> None:
    """A plain build does not replace one that has instances; exit code 73."""
    with pytest.raises(CannotCreate, match="made with instances") as caught:
        refuse_other_build(sample_build, "clean", (), inputs)
    assert caught.value.exit_code == 73
    assert "--replace overwrites it" in str(caught.value)


def test_other_inputs_are_named(sample_build: Path, inputs: list[BuildInput]) -> None:
    """Another archive, other bytes and a source more or less are differences."""
    first, *rest = inputs
    other = replace(first, pin=msgspec.structs.replace(first.pin, sha256="f" * 64))
    for read in ([other, *rest], rest):
        assert f"other files of {first.source.name}" in refusal(sample_build, read)


def test_an_unreadable_manifest_is_no_leave_to_replace(
    inputs: list[BuildInput], tmp_path: Path
) -> None:
    """Nobody knows what stands there, so it stays."""
    (tmp_path / FILE).write_text("{}")
    assert "cannot be read" in refusal(tmp_path, inputs)


@pytest.mark.slow
def test_what_was_finished_is_found_when_the_options_come_back(tmp_path: Path) -> None:
    """Without instances and with them again: none of them is made a second time."""
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache", offline=True)
    plain = BuildRequest(out=tmp_path / "out", sample=True, jobs=2, fetch=settings)
    whole = replace(plain, instances=True)
    first = build(whole)
    with pytest.raises(CannotCreate, match="with instances"):
        build(plain)
    assert (tmp_path / "out/instances/Snowplow").is_dir()
    paper = replace(plain, rules="paper", replace=True)
    assert build(paper).manifest.rules == "paper"
    completions = {
        path: path.stat().st_mtime_ns
        for path in whole.run_folder.rglob("instances-*")
        if path.is_file()
    }
    assert completions
    again = build(replace(whole, replace=True))
    assert not again.unchanged
    assert again.manifest == first.manifest
    assert completions == {path: path.stat().st_mtime_ns for path in completions}
    assert build(whole).unchanged
