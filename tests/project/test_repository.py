"""Claims about the repository itself: what a newcomer and a reviewer rely on."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
_EXTRAS_OF_PROJECT = _PROJECT["project"]["optional-dependencies"]
_CONSTRAINTS = [
    line
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
#: A lint rule or a type fault ignored without a word on why.
_BARE = re.compile(
    r"# noqa$|# noqa: [A-Z0-9, ]+$|# type: ignore(\[[^\]]*\])?$", re.MULTILINE
)
#: The extras that the default install asks of its requirements.
_EXTRAS = {"jsonschema": ("format-nongpl",)}
_PINNED = re.compile(r"[A-Za-z0-9._-]+==\S+")
#: A file or module of the project as pages, messages and comments name it.
_NAMED = re.compile(
    r"(?<![\w/.])(?:curation|evaluation|bench|tests|cards)(?:/\w+)+"
    r"(?:\.(?:py|toml|json|md|js)\b|(?=`))"
)


def _tracked(*patterns: str) -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns],  # noqa: S607 (git as the user has it)
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_every_ignored_lint_rule_has_its_reason() -> None:
    """A rule is ignored with the reason on its line, in the settings or the code."""
    settings = (ROOT / "pyproject.toml").read_text()
    bare = re.findall(r'^\s*"[A-Z]{1,5}[0-9]{3,4}",\s*$', settings, re.MULTILINE)
    for path in _tracked("*.py"):
        bare += _BARE.findall(path.read_text())
    assert bare == []


def test_files_that_are_named_are_there() -> None:
    """A page, a message or a comment that sends a reader to a file knows its place."""
    lost = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in _tracked("*.md", "*.toml", "*.yml", "*.j2", "Makefile", "NOTICE")
        + _tracked("csbdata.py", "bench/*.py", "curation/*.py", "evaluation/*.py")
        for name in _NAMED.findall(path.read_text("utf-8"))
        if not any((ROOT / f"{name}{end}").exists() for end in ("", ".py"))
    }
    assert lost == set()


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _required(*extras: str) -> set[str]:
    """Return the names of what the project asks for, alone and by these extras."""
    wanted = [*_PROJECT["project"]["dependencies"]]
    for extra in extras:
        wanted += _EXTRAS_OF_PROJECT[extra]
    return {_plain(Requirement(each).name) for each in wanted} - {"csbdata"}


def test_constraints_pin_every_requirement_exactly() -> None:
    """Each direct requirement, and every other line, is an exact version."""
    assert [line for line in _CONSTRAINTS if not _PINNED.fullmatch(line)] == []
    pinned = {_plain(line.partition("==")[0]) for line in _CONSTRAINTS}
    assert _required(*_EXTRAS_OF_PROJECT) - pinned == set()


@pytest.mark.parametrize("name", ["build", "core", "models", "dev"])
def test_required_files_have_digests_and_the_pinned_versions(name: str) -> None:
    """`requirements/` says what `constraints.txt` says; every line has digests.

    `dev` has all that the project asks for but torch, whose files an index chooses.
    """
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    blocks = re.split(r"\n(?=\S)", text.strip())[1:]
    assert blocks
    assert [each for each in blocks if " --hash=sha256:" not in each] == []
    found = {_plain(each.split()[0]): each for each in blocks}
    # What only other systems need was not seen when the versions were worked out.
    here = {name for name, each in found.items() if "sys_platform ==" not in each}
    assert here - {*map(_plain, _CONSTRAINTS)} == set()
    if name == "dev":
        own = re.findall(r"\w+", _EXTRAS_OF_PROJECT["dev"][0])[1:]
        listed = {each.partition("==")[0] for each in found}
        assert _required("dev", "eval", *own) - listed == {"torch"}


def test_versions_agree() -> None:
    """CITATION.cff and the package say the same version."""
    version = _PROJECT["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_map_is_complete() -> None:
    """docs/architecture.md names every folder of the two packages."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    folders = {
        path.parent.relative_to(ROOT).parts[1:]
        for path in _tracked("curation/*.py", "evaluation/*.py")
    }
    missing = {
        "/".join(parts)
        for parts in folders
        if parts and f"`{parts[-1]}/`" not in text and f"`{parts[0]}/*/" not in text
    }
    assert missing == set()


def test_the_default_install_holds_nothing_under_the_gpl() -> None:
    """No requirement, direct or not, of a plain `pip install csbdata` is GPL."""
    found: dict[str, str] = {}
    waiting = ["csbdata"]
    while waiting:
        name = _plain(waiting.pop())
        if name in found:
            continue
        try:
            installed = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = " ".join(_licences(installed))
        for each in installed.requires or ():
            requirement = Requirement(each)
            extras = _EXTRAS.get(name, ("",))
            if requirement.marker is None or any(
                requirement.marker.evaluate({"extra": extra}) for extra in extras
            ):
                waiting.append(requirement.name)
    assert len(found) > 1
    assert [name for name, text in found.items() if re.search(r"\bA?GPL", text)] == []


def _licences(installed: metadata.Distribution) -> list[str]:
    every = installed.metadata.get_all
    classifiers = every("Classifier") or []
    said = [each for each in classifiers if each.startswith("License ::")]
    text = every("License-Expression") or every("License") or [""]
    return [*said, text[0].partition("\n")[0]]
