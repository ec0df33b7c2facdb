"""What a newcomer and a reviewer rely on: pages, requirements, a light start."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from curation.checking.check_lints import CODES
from curation.checking.schema_check import SLOW, TIMED_OUT
from curation.core.documents import Reason
from curation.fit.profile import Effect, load_profile, profile_names
from curation.rules.sets import rule_set
from tests.programs import ended

if TYPE_CHECKING:
    from collections.abc import Callable

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
    listed = ended("git", "ls-files", "-z", *patterns, cwd=ROOT, check=True).stdout
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


_DOCS = Path(__file__).parents[2] / "docs"


def _codes() -> str:
    """Return the codes of `check` by kinds, each with its meaning."""
    text = """# Codes of `csbdata check`

Made from the code by `pytest --renew-golden tests/project/test_repository.py`.

A problem has a code: `file:line:column: pointer: code: message`. A code may also be the
name of a rule, an edit that a build makes: `csbdata explain RULE`.

"""
    rules = rule_set("clean").rules
    reasons = {str(reason): reason.explanation for reason in Reason}
    lints = {code: text for rule in rules for code, text in rule.lints.items()}
    for title, meanings in {
        "Reasons: the schema cannot be used as it is": reasons | {TIMED_OUT: SLOW},
        "Lints: defects that no rule repairs": {**lints, **CODES},
    }.items():
        rows = [
            f"| `{code}` | {meaning.replace('|', chr(92) + '|')} |\n"
            for code, meaning in meanings.items()
        ]
        text += f"## {title}\n\n| code | meaning |\n|---|---|\n{''.join(rows)}\n"
    return text.rstrip("\n") + "\n"


def _profiles() -> str:
    """Return one row a profile: its date, and the number of its rules by effect."""
    text = "| target | as of | refused | ignored | limits | elsewhere | compared |\n"
    text += "|---|---|--:|--:|--:|--:|---|\n"
    for name in profile_names():
        profile = load_profile(name)
        effects = Counter(rule.effect for rule in profile.rules)
        order = (Effect.REFUSED, Effect.IGNORED, Effect.LIMITED, Effect.ROUTED)
        counts = " | ".join(str(effects[effect]) for effect in order)
        own = f"`{name}`: {profile.title}", profile.date, counts, profile.compared
        text += f"| {' | '.join(own)} |\n"
    return text


@pytest.mark.parametrize(
    ("page", "marks", "made"),
    [
        ("codes.md", "", _codes),
        ("fit.md", "<!-- profiles: generated -->\n|<!-- profiles: end -->", _profiles),
    ],
)
def test_a_part_of_a_page_is_made_of_the_code(
    page: str,
    marks: str,
    made: Callable[[], str],
    compare_golden: Callable[[Path, str], None],
) -> None:
    """The whole page, or what stands between two marks."""
    text = made()
    if marks:
        shown = (_DOCS / page).read_text("utf-8")
        before, after = marks.split("|")
        assert shown.count(before) == shown.count(after) == 1
        text = re.sub(
            f"(?<={before}).*?(?={after})", lambda _: made(), shown, flags=re.DOTALL
        )
    compare_golden(_DOCS / page, text)


_COMMANDS = (
    ["--version"],
    ["check", "a.json"],
    ["fit", "a.json", "--for", "gemini"],
    ["instances", "a.json"],
)
_HEAVY = {
    *("datasets", "huggingface_hub", "httpx2", "jinja2", "matplotlib", "numpy"),
    *("polars", "pyarrow", "pydantic", "requests", "torch", "transformers", "yaml"),
    *("arrow", "isoduration", "lark", "rfc3986_validator"),
}
_CODE = """
import json, sys
import csbdata
sys.argv[1:] = json.loads(sys.argv[1])
try:
    csbdata.main()
except SystemExit:
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def _modules(folder: Path, *words: str) -> set[str]:
    # Ray's nodes, which other tests start here, import more by this variable.
    env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = ended(sys.executable, "-c", *words, cwd=folder, env=env, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("words", _COMMANDS, ids=lambda words: words[0])
def test_a_command_loads_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    """Neither typer's pydantic nor what reads YAML, tables, the Hub or a date."""
    (tmp_path / "a.json").write_text('{"type": "object"}', "utf-8")
    assert _modules(tmp_path, _CODE, json.dumps(words)) & _HEAVY == set()


def test_importing_csbdata_loads_nothing_of_its_packages(tmp_path: Path) -> None:
    """The names are imported when they are first asked for."""
    code = "import json, sys, csbdata; print(json.dumps([*sys.modules]))"
    packages = {name.partition(".")[0] for name in _modules(tmp_path, code)}
    assert not packages & {"curation", "evaluation", "typer", "polars"}


def test_the_process_of_a_check_loads_no_library_of_formats(tmp_path: Path) -> None:
    """Those of dates, IRIs and YAML wait for a value of theirs."""
    code = (
        "import json, sys, curation.checking.check_worker\n"
        "import curation.validation.python_validators\n"
        "print(json.dumps([*sys.modules]))"
    )
    loaded = _modules(tmp_path, code)
    assert "jsonschema" in loaded
    assert loaded & _HEAVY == set()


@pytest.mark.slow
def test_the_processes_of_a_fit_load_no_validator_written_in_python(
    tmp_path: Path,
) -> None:
    """Not even for a schema that is rewritten; values of two schemas need one."""
    program = "import json, sys, curation.relation.worker\n"
    worker = _modules(tmp_path, program + "print(json.dumps([*sys.modules]))")
    (tmp_path / "a.json").write_text('{"type": "object"}', "utf-8")
    words = ["fit", "a.json", "--for", "openai-strict"]
    command = _modules(tmp_path, _CODE, json.dumps(words))
    assert "jsonschema_rs" in worker & command
    assert (worker | command) & {*_HEAVY, "jsonschema", "referencing"} == set()
