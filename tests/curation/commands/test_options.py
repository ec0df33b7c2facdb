"""What `csbdata build` and `csbdata card` say; options by fields of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Annotated

import msgspec
import pytest
import typer
from typer.testing import CliRunner

import curation.pipeline.build
from curation.cli import application
from curation.commands.build import partiality, report
from curation.commands.card import card
from curation.commands.options import with_option_groups
from curation.core.benchmark import CONFIGS
from curation.download.acquire import UnavailableArchive
from curation.download.cache import FetchSettings
from curation.packaging.derived_files import differing_files
from curation.packaging.manifest import Manifest, read_manifest, write_manifest
from curation.pipeline.build import BuildRequest, BuildResult
from curation.system.errors import BadUsage, CannotCreate, CsbdataError, NoInput
from tests.builds import write_build
from tests.made import facts

if TYPE_CHECKING:
    from typer.testing import Result

    from curation.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Options that belong together."""

    seconds: Annotated[float, typer.Option(help="Deadline of one try.")] = 40.0
    only: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Only these.")
    ] = None
    name: Annotated[str, typer.Option(help="Without a default.")]


app = typer.Typer(rich_markup_mode=None)


@app.command()
@with_option_groups
def measure(
    *,
    run: Annotated[str, typer.Argument(metavar="RUN")],
    limits: Limits,
    quiet: bool = False,
) -> None:
    """Print what is asked for."""
    typer.echo(f"{run} {limits.seconds:g} {limits.only} {limits.name} {quiet}")


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("r --name a", "r 40.0 None a False"),
        ("r --name a --seconds 2 --id x --id y --quiet", "r 2 ['x', 'y'] a True"),
    ],
)
def test_the_command_gets_one_value_with_all_of_them(words: str, printed: str) -> None:
    """Defaults, repeated options and renamed ones arrive in the group."""
    answer = CliRunner().invoke(app, words.split())
    assert answer.stdout.strip() == printed.replace("40.0", "40")


def test_a_field_without_a_default_is_required() -> None:
    """What has no default has to be given."""
    answer = CliRunner().invoke(app, ["r"])
    assert answer.exit_code == 2
    assert "--name" in answer.output


def test_the_help_lists_them_where_the_group_stands() -> None:
    """Options are in the order of parameters and fields, with their help."""
    printed = CliRunner().invoke(app, ["--help"]).stdout
    names = ["RUN", "--seconds", "--id", "--name", "--quiet"]
    places = [printed.index(name) for name in names]
    assert places == sorted(places)
    assert "Deadline of one try." in printed
    assert "Print what is asked for." in printed


GITHUB = UnavailableArchive(
    archive="iglu-central",
    reason="does not answer (no such name)",
    address="https://x.example/",
)
HUB = UnavailableArchive(archive="glaive", reason="HF_HUB_OFFLINE is set")


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
    """Each archive is named, with its address and the reason."""
    real = {"Kubernetes": "index", "JsonSchemaStore": "index"}
    manifest = with_origins(read_manifest(sample_build), real)
    lines = list(partiality(result(manifest, GITHUB, HUB)))
    others = ", ".join(name for name in CONFIGS if name not in real)
    assert lines[0] == (
        "This is not the whole benchmark: 2 of the ten configs are real; "
        f"the embedded sample stands for {others}."
    )
    assert lines[1:3] == [
        "Unavailable: iglu-central: https://x.example/: does not answer (no such name)",
        "Unavailable: glaive: HF_HUB_OFFLINE is set",
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
    fault = "rule slip raised for 1 document, first Snowplow/a (ValueError: 1)"
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


APP = typer.Typer()
APP.command()(card)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small build that has been dressed."""
    folder = write_build(tmp_path_factory.mktemp("card"))
    write_manifest(facts(), folder)
    assert run(str(folder)).exit_code == 0
    return folder


@pytest.fixture
def drawn(build: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the build, whose plots are not drawn again: they take two seconds."""
    monkeypatch.setattr(
        "curation.packaging.derived_files.draw_plots",
        lambda _tables, into: copytree(
            build / "plots", into / "plots", dirs_exist_ok=True
        ),
    )
    return build


def run(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(APP, list(arguments), catch_exceptions=False)


def test_what_it_has_written_is_as_the_data_says(drawn: Path) -> None:
    """An edited card is written anew as it was."""
    assert differing_files(drawn) == []
    card_file = drawn / "README.md"
    right = card_file.read_bytes()
    card_file.write_bytes(right + b"x")
    assert differing_files(drawn) == ["README.md"]
    assert "README.md" in run(str(drawn)).stdout.splitlines()
    assert card_file.read_bytes() == right


def test_what_is_no_build_is_refused(tmp_path: Path) -> None:
    """A folder that csbdata did not build is left alone: exit 66."""
    with pytest.raises(NoInput, match="manifest"):
        run(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(
    drawn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full or read-only disk is the user's to mend: exit 73."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("curation.packaging.card.write_card", full)
    with pytest.raises(CannotCreate, match="No space left"):
        run(str(drawn))


def test_where_it_is_published_is_kept(drawn: Path) -> None:
    """A later `card` without the option tells the same."""
    run(str(drawn), "--repo", "some/where")
    text = (drawn / "README.md").read_text(encoding="utf-8")
    assert 'load_dataset("some/where"' in text
    run(str(drawn))
    assert (drawn / "README.md").read_text(encoding="utf-8") == text


@pytest.mark.slow
@pytest.mark.parametrize("value", ["name", 'a/b", x=("'])
def test_what_is_no_name_on_the_hub_is_refused(build: Path, value: str) -> None:
    """It would stand in a snippet that others run: exit 2, and nothing is written."""
    before = (build / "README.md").read_bytes()
    with pytest.raises(BadUsage, match="--repo"):
        run(str(build), "--repo", value)
    assert (build / "README.md").read_bytes() == before
