"""`csbdata verify` as it is typed: of a folder, and of a repository on the Hub."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner, Result

from curation.cli import application
from curation.core.benchmark import CONFIGS
from curation.system.errors import CsbdataError, NoInput, NotPermitted, Unavailable
from tests.fake_hub.troubles import status
from tests.publishing import HASTY, NAME, TOKEN, Connection

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Hub that does not answer is soon given up."""
    monkeypatch.setattr("curation.download.huggingface.HubTimeLimits", lambda: HASTY)


def run(*arguments: object) -> Result:
    """Run the command; a fault comes out as it is."""
    done = CliRunner().invoke(application(), ["verify", *map(str, arguments)])
    if isinstance(done.exception, CsbdataError):
        raise done.exception
    return done


@pytest.mark.slow
def test_a_build_is_sound_and_ends_with_the_next_command(sample_build: Path) -> None:
    """No failure, every config and split was opened, and where to go on."""
    done = run(sample_build)
    assert done.exit_code == 0, done.output
    assert "texts" in done.stdout
    assert "failed" not in done.stdout
    configs = len(CONFIGS)
    for counted in (
        f"{configs} configs,",
        # Each with its instances, and four tables of the ledger.
        f"{2 * configs + 4} opened configs",
        f"{2 * 3 * configs + 4} opened splits",
        "307 records",
        "307 validated schemas",
    ):
        assert counted in done.stderr
    assert "is a partial build, and says so" in done.stderr
    words = "--repo OWNER/NAME --allow-partial --dry-run"
    assert f"csbdata push {sample_build} {words}" in done.stderr


@pytest.mark.slow
def test_json_has_every_finding(folder: Path) -> None:
    """Names of checks, counts, findings with their places; the exit code is in it.

    65 where a table cannot be read, which people see as one line among the others.
    """
    (folder / "LICENSE").unlink()
    (folder / "Snowplow/val-00000-of-00001.parquet").write_bytes(b"PAR1")
    done = run(folder, "--format", "json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["exit_code"], found["ok"]) == (65, 65, False)
    assert "readable" in {each["check"] for each in found["findings"]}
    assert found["partial"] is True
    assert {each["check"] for each in found["findings"]} <= set(found["checks"])
    digests = [each for each in found["findings"] if each["check"] == "digests"]
    assert ("LICENSE", True) in {(each["where"], each["failure"]) for each in digests}
    done = run(folder)
    assert done.exit_code == 65
    assert "readable: Snowplow/val-00000-of-00001.parquet: not read" in done.stdout


@pytest.mark.slow
def test_a_repository_is_downloaded_and_verified(
    there: Connection, sample_build: Path
) -> None:
    """Every file of it, whatever the Hub put beside them; at the revision asked for."""
    files = {
        each.relative_to(sample_build).as_posix(): each.read_bytes()
        for each in sample_build.rglob("*")
        if each.is_file()
    }
    there.hub.store.put(NAME, {**files, ".gitattributes": b"*.parquet filter=lfs\n"})
    done = run(f"hf://datasets/{NAME}@main", "--format", "json")
    found = json.loads(done.stdout)
    assert found["findings"] == []
    # Each with its instances, and four tables of the ledger.
    assert found["counted"]["opened config"] == 2 * len(CONFIGS) + 4
    assert TOKEN not in done.output


def test_a_repository_without_a_build_is_no_input(there: Connection) -> None:
    """One that is there, and one that is not, and a revision that is not."""
    there.hub.store.put(NAME, {"README.md": b"text"})
    with pytest.raises(NoInput, match="no build"):
        run(NAME)
    with pytest.raises(NoInput):
        run("tester/nothing")
    with pytest.raises(NoInput, match="no such revision"):
        run(f"{NAME}@v9")


@pytest.mark.parametrize(("code", "fault"), [(403, NotPermitted), (500, Unavailable)])
def test_what_the_hub_refuses_has_its_own_code(
    there: Connection, code: int, fault: type[CsbdataError]
) -> None:
    """77 where rights are missing, 69 where there is no answer to be had."""
    there.hub.store.put(NAME, {"README.md": b"text"})
    there.hub.troubles.add("GET", "/api/datasets", status(code), times=20)
    with pytest.raises(fault):
        run(NAME)


def test_what_is_neither_folder_nor_name_is_no_input(tmp_path: Path) -> None:
    """A path that leads nowhere: exit code 66."""
    with pytest.raises(NoInput, match="no such folder"):
        run(tmp_path / "gone")
