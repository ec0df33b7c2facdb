"""`csbdata push` as it is typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from curation.cli import application
from curation.publish import push as module
from curation.system.errors import BadData, CsbdataError, NoInput
from curation.verification import Finding, Verification
from tests.publishing import (
    DAY,
    NAME,
    UPLOAD_WARNING,
    Connection,
    contents,
    write_folder,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(UPLOAD_WARNING)


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder counts as verified."""
    verified = Verification(findings=())
    monkeypatch.setattr(module, "verify_folder", lambda *_, **__: verified)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a build, and return its folder."""
    return write_folder(tmp_path / "x")


def _run(*arguments: str, answer: str | None = None) -> Result:
    done = CliRunner().invoke(application(), list(arguments), input=answer)
    if isinstance(done.exception, CsbdataError):
        raise done.exception
    return done


def _json(*arguments: str) -> Any:  # noqa: ANN401 (what a command prints)
    done = _run(*arguments, "--format", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_plan_is_shown_and_nothing_is_done(there: Connection, folder: Path) -> None:
    """Every file that would come, the bytes, and that it would be private."""
    done = _run("push", str(folder), "--repo", NAME, "--dry-run")
    assert done.exit_code == 0
    assert "6 added" in done.stdout
    assert "  + A/test-00000-of-00001.parquet" in done.stdout
    assert "Nothing was changed." in done.stdout
    assert "(private)" in done.stderr
    assert there.hub.store.repositories == {}


@pytest.mark.parametrize("private", [False, True])
def test_who_sees_it_is_said_before(
    there: Connection, folder: Path, *, private: bool
) -> None:
    """A repository that everyone sees stays so, whatever is asked for."""
    there.hub.store.create(NAME, private=private)
    planned = _json("push", str(folder), "--repo", NAME, "--dry-run")
    assert planned["visibility"] == ("private" if private else "public")


def test_a_program_gets_the_plan_as_json(there: Connection, folder: Path) -> None:
    """And then what was done."""
    planned = _json("push", str(folder), "--repo", NAME, "--dry-run")
    assert planned["done"] == "nothing"
    assert planned["plan"]["added"] == sorted(contents(folder))
    assert planned["plan"]["bytes"] == sum(map(len, contents(folder).values()))
    done = _json("push", str(folder), "--repo", NAME, "-y")
    assert (done["done"], done["tag"]) == ("pushed", DAY)
    assert there.seen(done["commit"]) == contents(folder)
    assert _json("push", str(folder), "--repo", NAME, "-y")["done"] == "checked"


@pytest.mark.parametrize(("answer", "pushed"), [("y\n", True), ("n\n", False)])
def test_a_person_is_asked(
    answer: str,
    there: Connection,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    pushed: bool,
) -> None:
    """No is no, and leaves nothing behind."""
    monkeypatch.setattr("curation.commands.push._interactive", lambda: True)
    done = _run("push", str(folder), "--repo", NAME, answer=answer)
    assert done.exit_code == 0, done.output
    assert bool(there.hub.store.repositories) is pushed


@pytest.mark.parametrize(
    "arguments",
    [
        ("--repo", NAME),
        ("--repo", NAME, "--format", "json"),
        (),
        ("--repo", "no-owner", "-y"),
        ("--repo", "a/b/c", "-y"),
        ("--repo", "../x", "-y"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything(
    arguments: tuple[str, ...], there: Connection, folder: Path
) -> None:
    """Exit code 2; nobody at a terminal and no -y is among it."""
    done = _run("push", str(folder), *arguments)
    assert done.exit_code == 2
    assert there.hub.asked == []


def test_what_does_not_verify_is_not_pushed(
    there: Connection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 65, the first finding, and the command that lists them all."""
    finding = Finding(check="rows", where="A/o1", detail="is wrong")
    monkeypatch.setattr(
        module, "verify_folder", lambda *_, **__: Verification(findings=(finding,))
    )
    with pytest.raises(BadData, match=r"rows: A/o1: is wrong.*csbdata verify"):
        _run("push", str(folder), "--repo", NAME, "-y")
    assert there.hub.asked == []


def test_a_partial_build_is_pushed_only_if_told_to(
    there: Connection, tmp_path: Path
) -> None:
    """Exit code 65 without --allow-partial."""
    folder = write_folder(tmp_path / "x", partial=("Without Snowplow.",))
    with pytest.raises(BadData, match="Without Snowplow"):
        _run("push", str(folder), "--repo", NAME, "-y")
    assert there.hub.asked == []
    _json("push", str(folder), "--repo", NAME, "-y", "--allow-partial")
    assert there.seen() == contents(folder)


def test_what_is_no_build_is_said(there: Connection, tmp_path: Path) -> None:
    """Exit code 66."""
    with pytest.raises(NoInput, match="csbdata build"):
        _run("push", str(tmp_path), "--repo", NAME, "-y")
    assert there.hub.asked == []


def test_help_is_help() -> None:
    """Examples, exit codes and every option are in it."""
    done = _run("push", "--help")
    assert done.exit_code == 0
    assert "Examples:" in done.stdout
