"""A build as a whole, on the embedded sample and on schemas of the user's own."""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager
from dataclasses import replace
from shutil import copytree
from typing import TYPE_CHECKING

import polars
import pytest

from curation.commands.build import report
from curation.core.benchmark import CONFIGS
from curation.core.documents import Missing
from curation.download.acquire import FetchSettings
from curation.pipeline.build import BuildResult, build
from curation.pipeline.inputs import ExtraSource
from curation.pipeline.request import BuildRequest
from curation.system.errors import BadConfiguration, BadUsage, NoInput, Unavailable
from curation.system.progress import Quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


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
