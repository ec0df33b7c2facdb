"""`csbdata check`: verdicts, problems by place, and hostile files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.check import check
from curation.pipeline.check_messages import ACCEPTS
from curation.pipeline.schema_check import SchemaChecker
from curation.system.errors import NoInput
from curation.workers.outcomes import Ending, ProcessResult
from curation.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APP = typer.Typer()
APP.command()(check)
FINE = {"type": "object", "properties": {"a": {"type": "string"}}}


def run(*arguments: str, stdin: bytes | None = None) -> tuple[int, str]:
    """Run the command; return its exit code and stdout."""
    result = CliRunner().invoke(
        APP, list(arguments), input=stdin, catch_exceptions=False
    )
    return result.exit_code, result.stdout


@pytest.fixture(scope="module")
def checker() -> Iterator[SchemaChecker]:
    """Start one child process for all texts of this file."""
    with SchemaChecker() as started:
        yield started


def test_a_good_schema_has_no_problems(checker: SchemaChecker) -> None:
    """Every validator takes it under every draft it knows."""
    report = checker.check(json.dumps(FINE).encode())
    assert report.problems == ()
    assert report.dialect == "2020-12"
    assert len(report.verdicts["jsonschema-rs"]) == 5
    assert "2020-12" not in report.verdicts["fastjsonschema"]
    said = {one for each in report.verdicts.values() for one in each.values()}
    assert said == {ACCEPTS}


def test_verdicts_differ_by_draft(checker: SchemaChecker) -> None:
    """A boolean exclusiveMinimum is fine in draft-04 and nowhere else."""
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "minimum": 1,
        "exclusiveMinimum": True,
        "type": "number",
    }
    report = checker.check(json.dumps(schema).encode())
    assert report.problems == ()
    assert report.valid_under == ("draft-04",)
    for validator in ("jsonschema", "jsonschema-rs"):
        assert report.verdicts[validator]["draft-04"] == ACCEPTS
        assert "exclusiveMinimum" in report.verdicts[validator]["draft-06"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "not_json"),
        (b"\xff\xfe{}", "bad_encoding"),
        (b'{"a": 1, "a": 2}', "duplicate_keys"),
        (b"[" * 100_000, "too_deep"),
        (b'{"type": 1}', "invalid_schema"),
        (b"{}", "empty"),
        (
            b'{"properties":{"a":{"$ref":"#/x"}},"type":"object"}',
            "unresolved_reference",
        ),
    ],
)
def test_what_would_be_rejected_is_a_problem(
    checker: SchemaChecker, content: bytes, reason: str
) -> None:
    """The reason is the code, whatever the bytes."""
    codes = [each.code for each in checker.check(content).problems]
    assert codes[:1] == [reason]


def test_nothing_is_fetched(
    checker: SchemaChecker, trap: tuple[str, list[str]]
) -> None:
    """No validator follows a `$ref` or a `$schema` to a server."""
    address, seen = trap
    for schema in (
        {"type": "object", "properties": {"a": {"$ref": f"{address}/ref"}}},
        {"$schema": f"{address}/schema", **FINE},
        {"$id": f"{address}/id/", **FINE, "not": {"$ref": "other.json"}},
    ):
        assert checker.check(json.dumps(schema).encode()).problems
    assert seen == []


def test_a_text_that_takes_for_ever_is_a_problem(
    checker: SchemaChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What kills or hangs the child is said, and the next text is looked at."""
    dead = ProcessResult(ending=Ending.TIMEOUT, detail="over 10 s")
    with monkeypatch.context() as patched:
        patched.setattr(Worker, "ask", lambda *_: dead)
        report = checker.check(b"{}")
    assert [each.code for each in report.problems] == ["timed_out"]
    assert "over 10 s" in report.verdicts["jsonschema"]["draft-04"]
    assert checker.check(json.dumps(FINE).encode()).problems == ()


def test_problems_are_lines_like_a_linters(tmp_path: Path) -> None:
    """`file:pointer: code: message` on stdout, escapes visible, exit code 1."""
    path = tmp_path / "a\x1b[2J.json"
    inner = {"$schema": "http://json-schema.org/draft-04/schema#", "title": "\x07"}
    schema = {"type": "object", "properties": {"\x1b[2J\u202e": inner}}
    path.write_text(json.dumps(schema))
    code, out = run(str(path))
    assert code == 1
    assert "a\\u001b[2J.json:/properties/\\u001b[2J\\u202e/$schema: dialect: " in out
    assert not any(character in out for character in "\x1b\x07\u202e")


def test_standard_input_is_read() -> None:
    """`-` is standard input; exit code 0 says that all is well."""
    code, out = run("-", "--format", "json", stdin=json.dumps(FINE).encode())
    found = json.loads(out)
    assert (code, found["file"], found["problems"]) == (0, "<stdin>", [])


def test_a_missing_file_is_a_fault(tmp_path: Path) -> None:
    """Exit code 66 and the file's name; a folder is no file either."""
    with pytest.raises(NoInput, match=r"nowhere\.json"):
        run(str(tmp_path / "nowhere.json"))
    with pytest.raises(NoInput):
        run(str(tmp_path))


def test_a_lost_reference_is_told_once(checker: SchemaChecker) -> None:
    """The rule that finds it first says so; the validators' echo is left out."""
    for ref, code in [
        ("https://schemas.example.org/other.json", "remote_reference"),
        ("#/nowhere", "unresolved_reference"),
    ]:
        report = checker.check(json.dumps({"$ref": ref, "type": "object"}).encode())
        assert [each.code for each in report.problems] == [code]
