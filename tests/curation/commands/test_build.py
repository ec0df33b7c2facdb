"""What `csbdata build` says at its end, and where it writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from typer.testing import CliRunner

import curation.pipeline.build
from curation.cli import application
from curation.commands.build import partiality, report
from curation.core.benchmark import CONFIGS
from curation.download.acquire import FetchSettings, UnavailableArchive
from curation.packaging.manifest import Manifest, read_manifest
from curation.pipeline.build import BuildResult
from curation.pipeline.read_batches import RuleFault
from curation.pipeline.request import BuildRequest
from curation.system.errors import CsbdataError

if TYPE_CHECKING:
    from curation.system.progress import Progress

GITHUB = UnavailableArchive(
    archive="iglu-central",
    why="iglu-central: https://x.example/: does not answer (Name not known)",
    publisher="GitHub",
)
HUB = UnavailableArchive(
    archive="glaive", why="glaive: HF_HUB_OFFLINE is set", publisher="the Hub"
)


def result(
    manifest: Manifest, *not_had: UnavailableArchive, sample: bool = False
) -> BuildResult:
    """Return the result of a build that had this manifest in the end."""
    fetch = FetchSettings(cache=Path("cache"), offline=True)
    return BuildResult(
        request=BuildRequest(out=Path("out"), sample=sample, fetch=fetch),
        manifest=manifest,
        phases={"write": 1.0},
        processor={"write": 1.0},
        peak_rss_mb=0.0,
        unchanged=False,
        rule_faults=(),
        not_had=not_had,
    )


def with_origins(manifest: Manifest, origins: dict[str, str]) -> Manifest:
    """Return a manifest some of whose configs are from elsewhere than the sample."""
    configs = {
        name: msgspec.structs.replace(figures, origin=origins.get(name, figures.origin))
        for name, figures in manifest.configs.items()
    }
    return msgspec.structs.replace(manifest, configs=configs)


def test_the_last_lines_say_what_is_real_and_who_did_not_answer(
    sample_build: Path,
) -> None:
    """Where GitHub and the Hub are silent, both are named, with what they have."""
    real = {"Kubernetes": "index", "JsonSchemaStore": "index"}
    manifest = with_origins(read_manifest(sample_build), real)
    lines = list(partiality(result(manifest, GITHUB, HUB)))
    others = ", ".join(name for name in CONFIGS if name not in real)
    assert lines[0] == (
        "This is not the whole benchmark: 2 of the ten configs are real; "
        f"the embedded sample stands for {others}."
    )
    assert lines[1:3] == [
        f"Why: GitHub did not give iglu-central ({GITHUB.why.split(': ', 1)[1]}).",
        "Why: the Hub did not give glaive (HF_HUB_OFFLINE is set).",
    ]
    assert lines[3].startswith("What to do: ")
    assert "--mirror DIR" in lines[3]


def test_who_asks_for_the_sample_is_not_told_of_hosts(sample_build: Path) -> None:
    """With `--sample` the reason is the option."""
    lines = list(partiality(result(read_manifest(sample_build), sample=True)))
    assert lines[-1] == "Why: --sample was asked. Without it the real sources are read."


def test_nothing_is_said_of_a_whole_build(sample_build: Path) -> None:
    """Ten real configs and no reason: no warning."""
    real = with_origins(read_manifest(sample_build), dict.fromkeys(CONFIGS, "upstream"))
    whole = msgspec.structs.replace(real, partial=[])
    assert list(partiality(result(whole))) == []


def test_programs_read_the_same(sample_build: Path) -> None:
    """`--format json` has the real configs, the sample's, and what was not had."""
    manifest = with_origins(read_manifest(sample_build), {"Kubernetes": "index"})
    answer = report(result(manifest, HUB))
    assert answer["real"] == {"Kubernetes": "index"}
    assert answer["not_had"] == ["glaive: HF_HUB_OFFLINE is set"]


def test_a_rule_that_raised_ends_the_build_with_70(
    sample_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is there and printed; the last line names the rule, and what next."""
    fault = RuleFault(rule="slip", count=1, first="Snowplow/a", detail="ValueError: 1")
    built = replace(result(read_manifest(sample_build)), rule_faults=(fault,))
    monkeypatch.setattr(curation.pipeline.build, "build", lambda *_: built)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(application(), ["build"])
    assert isinstance(done.exception, CsbdataError)
    assert done.exception.exit_code == 70
    assert "rule slip raised for 1 document" in str(done.exception)
    assert "csbdata explain crashed" in str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        (["--sample"], "build/sample"),
        ([], "build/JSONSchemaBench"),
        (["--sample", "--out", "x"], "x"),
    ],
)
def test_the_sample_has_a_folder_of_its_own(
    arguments: list[str],
    out: str,
    sample_build: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing that is built from the sample is written where the benchmark stands."""
    asked: list[BuildRequest] = []

    def remember(request: BuildRequest, _progress: Progress) -> BuildResult:
        asked.append(request)
        return result(read_manifest(sample_build))

    monkeypatch.setattr(curation.pipeline.build, "build", remember)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(application(), ["build", *arguments, "--replace"])
    assert done.exit_code == 0, done.output
    assert asked[0].out == tmp_path / out
    assert asked[0].replace
