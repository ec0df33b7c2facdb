"""A build as a whole, on the embedded sample and on schemas of the user's own."""

from __future__ import annotations

import filecmp
import gc
import json
from contextlib import contextmanager
from dataclasses import replace
from shutil import copytree
from typing import TYPE_CHECKING

import msgspec
import polars
import pytest

from curation.commands.build import report
from curation.core.benchmark import CONFIGS
from curation.core.documents import Missing, Reason
from curation.dataset.difference import compare
from curation.dataset.editions import open_edition
from curation.dataset.ledger import open_ledger
from curation.dataset.parquet import RECORDS, file_name
from curation.download.acquire import FetchSettings
from curation.packaging.manifest import FILE
from curation.pipeline import build as module
from curation.pipeline.build import BuildResult, build, build_shard
from curation.pipeline.inputs import ExtraSource, choose_inputs
from curation.pipeline.process_document import LIMITS
from curation.pipeline.request import BuildRequest, refuse_other_build
from curation.pipeline.shards import has_batch
from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    CannotCreate,
    NoInput,
    Unavailable,
)
from curation.system.progress import Quiet
from curation.workers.ray_shards import Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.pipeline.inputs import BuildInput


def request_for(folder: Path) -> BuildRequest:
    """Return a request for the sample that touches nothing but the folder."""
    settings = FetchSettings(mirror=None, cache=folder / "cache", offline=True)
    return BuildRequest(out=folder / "out", sample=True, jobs=2, fetch=settings)


class _Watched(Quiet):
    """Progress that notes what a build is doing when it says that it writes."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.collecting: bool | None = None
        self.done = 0
        self.total = 0

    def say(self, message: str) -> None:
        if " Writing " in f" {message}":
            self.collecting = gc.isenabled()
            if self.fault is not None:
                raise self.fault

    @contextmanager
    def bar(
        self, title: str, total: int, found: int = 0, note: Callable[[], str] = str
    ) -> Iterator[Callable[[int], None]]:
        del title, found, note
        self.done, self.total = 0, total

        def advance(steps: int) -> None:
            self.done += steps

        yield advance


@pytest.fixture(scope="module")
def built(
    sample_result: BuildResult, tmp_path_factory: pytest.TempPathFactory
) -> BuildResult:
    """Return what building the sample gave, its folders copied: they may be changed."""
    request = sample_result.request
    moved = replace(request, out=tmp_path_factory.mktemp("build") / "out")
    copytree(request.out, moved.out)
    copytree(request.run_folder, moved.run_folder)
    return replace(sample_result, request=moved)


def test_the_same_request_finds_its_work_done(built: BuildResult) -> None:
    """A second build with nothing changed reads the manifest and writes nothing."""
    again = build(built.request, Quiet())
    assert again.unchanged
    assert not built.unchanged
    assert again.manifest == built.manifest


@pytest.mark.slow
def test_a_damaged_file_is_built_anew(built: BuildResult) -> None:
    """What someone changed in the folder is not taken for the build's work."""
    file = built.request.out / "Snowplow" / "test-00000-of-00001.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    again = build(built.request, Quiet())
    assert not again.unchanged
    assert file.read_bytes() == whole


def test_every_config_of_the_sample_says_where_it_is_from(built: BuildResult) -> None:
    """A build of the sample is partial, and no row claims to be upstream."""
    assert built.manifest.name == "JSONSchemaBench-partial"
    assert built.manifest.partial == [
        f"{', '.join(CONFIGS)}: taken from the embedded sample."
    ]
    rows = polars.read_parquet(built.request.out / "*" / "t*.parquet")
    assert set(rows["origin"]) == {"sample"}


def test_the_report_has_the_figures_that_programs_read(built: BuildResult) -> None:
    """`--format json` prints one object; raw is kept and rejected together."""
    answer = json.loads(json.dumps(report(built)))
    assert {"rules", "out", "seconds", "peak_rss_mb", "configs"} <= set(answer)
    for figures in answer["configs"].values():
        assert figures["raw"] == figures["kept"] + sum(figures["rejected"].values())
        assert figures["kept"] == sum(figures["splits"].values())
        assert {"changed", "origin"} <= set(figures)


def test_missing_fail_refuses_the_sample(tmp_path: Path) -> None:
    """`--missing fail` wants every source upstream, and names those that are not."""
    failing = replace(request_for(tmp_path), missing=Missing.FAIL)
    with pytest.raises(Unavailable, match=r"github \(sample\)"):
        build(failing, Quiet())
    assert not failing.out.exists()


def test_paper_refuses_to_leave_out_what_it_cannot_have(tmp_path: Path) -> None:
    """`paper` takes only its pins: without them it ends with 69, naming them."""
    paper = replace(request_for(tmp_path), rules="paper", sample=False)
    with pytest.raises(Unavailable, match="glaive") as caught:
        build(paper, Quiet())
    assert caught.value.exit_code == 69


@pytest.mark.slow
def test_an_extra_leaves_the_ten_as_they_are(
    built: BuildResult, tmp_path: Path
) -> None:
    """The user's own schemas are a config beside the ten, without their copies."""
    own = tmp_path / "schemas"
    own.mkdir()
    copied = polars.read_parquet(built.request.out / "Snowplow" / "train*.parquet")
    (own / "copy.json").write_text(copied["json_schema"][0])
    (own / "new.json").write_text('{"type": "string", "maxLength": 77123}')
    extra = ExtraSource(source=str(own), config="Acme")
    with_own = build(
        replace(built.request, out=tmp_path / "out", extras=(extra,)), Quiet()
    )
    figures = with_own.manifest.configs.pop("Acme")
    assert figures.origin == "local"
    assert (figures.kept, figures.rejected) == (1, {"duplicate": 1})
    assert with_own.manifest.configs == built.manifest.configs
    files = {
        name: file
        for name, file in with_own.manifest.files.items()
        if name.split("/")[0] in CONFIGS
    }
    assert files.items() <= built.manifest.files.items()


@pytest.mark.parametrize(
    ("extra", "fault"),
    [
        (ExtraSource(source="cloudfromation"), BadConfiguration),
        (ExtraSource(source="github"), BadConfiguration),
        (ExtraSource(source="local"), NoInput),
        (ExtraSource(source=__file__, config="Snowplow"), BadConfiguration),
        (ExtraSource(source=__file__, config="default"), BadConfiguration),
        *(
            (ExtraSource(source=__file__, config=name), BadConfiguration)
            for name in (
                "instances",
                "plots",
                "LICENSES",
                "ledger",
                "licenses",
                "snowplow",
            )
        ),
    ],
)
def test_an_extra_that_makes_no_sense_is_refused(
    extra: ExtraSource, fault: type[Exception], tmp_path: Path
) -> None:
    """So are unknown sources, one of the ten, no path, and a name that is taken."""
    with pytest.raises(fault):
        build(replace(request_for(tmp_path), extras=(extra,)), Quiet())


def test_one_source_builds_by_itself(tmp_path: Path) -> None:
    """In place of the ten, which the build says that it lacks; own schemas join it."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.json").write_text('{"type": "object", "required": ["a"]}')
    only = (ExtraSource(source="washingtonpost"),)
    extras = (ExtraSource(source=str(own), config="Acme"),)
    request = replace(request_for(tmp_path), only=only, extras=extras)
    manifest = build(request, Quiet()).manifest
    assert list(manifest.configs) == ["WashingtonPost", "Acme"]
    assert [pin.source for pin in manifest.pins] == ["washingtonpost", "local"]
    assert manifest.name == "JSONSchemaBench-partial"
    assert manifest.partial[-1].startswith("Glaiveai2K, Github_trivial")
    assert manifest.partial[-1].endswith("left out, as --only names other sources.")


def test_a_source_that_the_sample_lacks_is_the_pinned_one(tmp_path: Path) -> None:
    """With `--sample` too: here it can be had nowhere, which is the reason given."""
    tools, sample = (ExtraSource(source="tool-schemas"),), request_for(tmp_path)
    for request in (replace(sample, only=tools), replace(sample, extras=tools)):
        with pytest.raises(Unavailable, match="neither mirrored nor cached"):
            build(request, Quiet())


@pytest.mark.parametrize(
    ("only", "extras"),
    [((), ("github",)), (("corpus",), ("corpus",)), (("corpus",) * 2, ())],
)
def test_a_source_is_named_once(
    only: tuple[str, ...], extras: tuple[str, ...], tmp_path: Path
) -> None:
    """And none of the ten beside all ten."""
    request = replace(
        request_for(tmp_path),
        only=tuple(ExtraSource(source=name) for name in only),
        extras=tuple(ExtraSource(source=name) for name in extras),
    )
    with pytest.raises(BadUsage, match="part of this build already"):
        build(request, Quiet())


@pytest.mark.slow
def test_cycles_are_collected_again_after_a_build(tmp_path: Path) -> None:
    """A build collects none; the process that called it does again, come what may."""
    assert gc.isenabled()
    watched = _Watched()
    build(request_for(tmp_path), watched)
    assert watched.collecting is False
    assert gc.isenabled()
    failing = _Watched(OSError("no space"))
    with pytest.raises(OSError, match="no space"):
        build(
            replace(request_for(tmp_path), replace=True, fastjsonschema=True), failing
        )
    assert gc.isenabled()


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


@pytest.mark.slow
def test_a_file_beyond_all_limits_is_refused_alone(tmp_path: Path) -> None:
    """80 MB, more than a worker may take: it is `too_large`, and all others stay."""
    own = tmp_path / "own"
    own.mkdir()
    for number in range(4):
        schema = {"type": "object", "properties": {f"p{number}": {"maxLength": 77123}}}
        (own / f"a{number}.json").write_text(json.dumps(schema))
    (own / "b.json").write_bytes(b'"' + b"x" * 5 * LIMITS.document_bytes + b'"')
    (own / "c.json").write_text('{"type": "string", "maxLength": 77124}')
    extra = ExtraSource(source=str(own), config="Acme")
    request = replace(request_for(tmp_path), extras=(extra,))
    figures = build(request, Quiet()).manifest.configs["Acme"]
    assert (figures.kept, figures.rejected) == (5, {Reason.TOO_LARGE: 1})
    (row,) = open_ledger(request.out).entries(config="Acme", unique_id="b")
    assert (row.outcome, row.rule) == ("too_large", "limits")


def test_every_batch_is_one_shards_alone() -> None:
    """Over three shards each number is had once."""
    for number in range(10):
        assert sum(has_batch((part, 3), number) for part in (1, 2, 3)) == 1


def test_a_node_with_other_files_is_refused(tmp_path: Path) -> None:
    """78: what it would make is of another build."""
    shard = Shard(part=1, parts=2, folder=tmp_path, cpus=1)
    with pytest.raises(BadConfiguration, match="reads other files than the driver"):
        build_shard((request_for(tmp_path), "0"), shard)


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    )


def _here(folder: Path, worked: list[int]) -> object:
    """Return what works on three shards here, as `run_shards` has a cluster do."""

    def run(
        function: object, asked: tuple[BuildRequest, str], **_: object
    ) -> list[Path]:
        places = [folder / f"part-{part}" for part in (1, 2, 3)]
        for part, place in enumerate(places, start=1):
            if not place.exists():
                place.mkdir()
                worked.append(part)
                shard = Shard(part=part, parts=3, folder=place, cpus=1)
                build_shard(asked, shard)
        return places

    return run


@pytest.mark.slow
def test_three_shards_joined_give_the_bytes_of_one_build(
    sample_result: BuildResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Instances are made in the shards; where files are soon full, rows are equal."""
    worked: list[int] = []
    monkeypatch.setattr(module, "run_shards", _here(tmp_path, worked))
    request = replace(request_for(tmp_path), instances=True, executor="ray")
    build(replace(request, out=tmp_path / "first"), Quiet())
    # Whatever the shards lack would be made here, by workers that do not start.
    with monkeypatch.context() as joining:
        joining.setattr("curation.workers.pool.Pool._resume", _interrupted)
        joining.setattr("curation.instances.dataset.worker.Worker", _interrupted)
        joined = build(request, Quiet())
    assert worked == [1, 2, 3]
    whole = sample_result.request.out
    names = _files(whole)
    assert _files(joined.request.out) == names
    _, differing, failed = filecmp.cmpfiles(
        whole, joined.request.out, names, shallow=False
    )
    assert (differing, failed) == ([], [])
    monkeypatch.setattr("curation.dataset.parquet.FULL_FILE", 10_000)
    monkeypatch.setattr(
        "curation.dataset.parquet.RECORDS", replace(RECORDS, most_rows=3)
    )
    several = build(replace(request, out=tmp_path / "several"))
    assert (several.request.out / file_name("Github_easy", "train", 1, 2)).is_file()
    assert (
        compare(*(open_edition(str(out)) for out in (whole, tmp_path / "several")))
        == []
    )


def _interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
