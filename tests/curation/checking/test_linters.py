"""`check` finds what free linters find: a table of mistakes, compared with theirs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest

from curation.checking.schema_check import SchemaChecker
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import UntypedJson

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[2]
_TOOLS: Final = _ROOT / "build/linters"
_MISTAKES: Final = table(__file__, "mistakes")
_LEGAL: Final = table(__file__, "legal")
_2020_12: Final = "https://json-schema.org/draft/2020-12/schema"
_HEAD: Final = """\
# Comparison of linters

Made by `pytest --renew-golden tests/curation/checking/test_linters.py -m nightly`:
problems that `csbdata check`, the `lint` of sourcemeta's `jsonschema` {sourcemeta} and
ajv {ajv} in strict mode report on common mistakes, on legal schemas, and on
the {records} schemas of the sample. A linter finds a mistake if it names its
location; ajv, which names no location, if it refuses the schema. Advice on style is
excluded; ajv's formats are off.

"""


def _is_at(place: str, pointer: str) -> bool:
    """Return whether a problem's place is a mistake's, or inside or right around it."""
    return f"{place}/".startswith(f"{pointer}/") or (
        place != "" and f"{pointer}/".startswith(f"{place}/")
    )


@pytest.fixture(scope="module")
def checker() -> Iterator[SchemaChecker]:
    """Start one child process for all texts of this file."""
    with SchemaChecker() as started:
        yield started


@pytest.mark.parametrize("row", _MISTAKES, ids=lambda row: row["mistake"])
def test_a_mistake_that_people_make_is_found(
    row: UntypedJson, checker: SchemaChecker
) -> None:
    """At its place, and in words that say how to fix it."""
    problems = checker.check(row["text"].encode()).problems
    said = [it.message for it in problems if _is_at(it.pointer, row["pointer"])]
    assert any(message.startswith(row["says"]) for message in said), said


@pytest.mark.parametrize("row", _LEGAL, ids=lambda row: row["case"])
def test_what_is_legal_is_left_alone(row: UntypedJson, checker: SchemaChecker) -> None:
    """No word of an extension, no style."""
    assert checker.check(row["text"].encode()).faults == ()


def _tools() -> Path:
    """Return the folder of the installed linters, or skip."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    _TOOLS.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "strict.cjs"):
        shutil.copy(_HERE / name, _TOOLS)
    install = [npm, "install", "--no-audit", "--no-fund"]
    if subprocess.run(install, cwd=_TOOLS, check=False).returncode:
        pytest.skip("npm cannot install the linters")
    return _TOOLS / "node_modules"


def _sourcemeta(texts: Sequence[str], folder: Path) -> list[list[str]]:
    program = _TOOLS / "node_modules/.bin/jsonschema"
    told = []
    for number, text in enumerate(texts):
        file = folder / f"{number}.json"
        file.write_text(text)
        done = subprocess.run(
            [program, "lint", file, "--json", "--default-dialect", _2020_12],
            capture_output=True,
            text=True,
            check=False,
        )
        answer = json.loads(done.stdout or '{"error": "crashed"}')
        places = [
            "".join(f"/{token}" for token in it["schemaLocation"])
            for it in answer.get("errors", ())
            if not it["id"].startswith("top_level")
        ]
        told.append([""] if "error" in answer else places)
    return told


def _ajv(texts: Sequence[str]) -> list[bool]:
    done = subprocess.run(
        ["node", "strict.cjs"],  # noqa: S607 - as the shell finds it
        cwd=_TOOLS,
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    refused: list[bool] = json.loads(done.stdout)
    return refused


def _rows(head: str, rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    lines = [f"| {name} | {' | '.join(cells)} |" for name, cells in rows]
    return "\n".join(
        [f"| {head} | csbdata | sourcemeta | ajv |", "|---|--|--|--|", *lines]
    )


@pytest.mark.nightly
def test_the_documented_table_is_what_the_linters_say(
    checker: SchemaChecker,
    sample_build: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Run again: each mistake, each legal schema, each record of the sample."""
    modules = _tools()
    tables = [
        pl.read_parquet(it) for it in sorted(sample_build.glob("[A-Z]*/*.parquet"))
    ]
    records = [text for it in tables for text in it["json_schema"]]
    texts = [row["text"] for row in (*_MISTAKES, *_LEGAL)] + records
    reports = [checker.check(text.encode()) for text in texts]
    ours = [[problem.pointer for problem in it.problems] for it in reports]
    theirs, refused = _sourcemeta(texts, tmp_path), _ajv(texts)
    mistakes, legal, counts = [], [], [0, 0, 0]
    for row, a, b, c in zip((*_MISTAKES, *_LEGAL), ours, theirs, refused, strict=False):
        if "mistake" in row:
            found = [any(_is_at(it, row["pointer"]) for it in told) for told in (a, b)]
            cells = ["yes" if it else "no" for it in (*found, c)]
            if "no" in cells:
                mistakes.append((row["mistake"], cells))
            counts = [n + (it == "yes") for n, it in zip(counts, cells, strict=True)]
        else:
            cells = ["complains" if it else "silent" for it in (a, b, c)]
            legal.append((row["case"], cells))
    others = len(_MISTAKES) - len(mistakes)
    mistakes.append((f"{others} others", ["yes"] * 3))
    mistakes.append(("**found**", [f"**{it} of {len(_MISTAKES)}**" for it in counts]))
    start = len(_MISTAKES) + len(_LEGAL)
    with_any = [str(sum(map(bool, it[start:]))) for it in (ours, theirs, refused)]
    versions = {
        name: json.loads((modules / path / "package.json").read_text())["version"]
        for name, path in (("sourcemeta", "@sourcemeta/jsonschema"), ("ajv", "ajv"))
    }
    text = _HEAD.format(records=len(records), **versions)
    text += _rows("mistake", mistakes) + "\n\n" + _rows("legal", legal) + "\n\n"
    text += _rows("the sample", [("schemas with a problem", with_any)]) + "\n"
    page = _ROOT / "docs/linters.md"
    if request.config.getoption("--renew-golden"):
        page.write_text(text)
    assert page.read_text() == text, os.fspath(page)
