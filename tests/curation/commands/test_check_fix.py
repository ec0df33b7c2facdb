"""`csbdata check --fix`: right edits, and nothing lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.check import check

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

APP = typer.Typer()
APP.command()(check)
_DRAFT_07 = {"$schema": "http://json-schema.org/draft-07/schema#"}
_SLIP = {"properties": {"a": {"type": "strng"}}}


def run(*arguments: object, stdin: str | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(
        APP, [*map(str, arguments)], input=stdin, catch_exceptions=False
    )


def test_edits_are_made_and_shown(tmp_path: Path) -> None:
    """A file is mended with its own indentation; what no rule mends is left."""
    path = tmp_path / "a.json"
    wrong = {"properties": {"n": {"type": "strng", "minimum": 1.50}}, "required": "n"}
    path.write_text(json.dumps(wrong, indent=4), "utf-8")
    untouched = tmp_path / "b.json"
    untouched.write_bytes(b'{"type":   "object"}')
    result = CliRunner().invoke(APP, [str(tmp_path), "--fix", "--ignore", "dialect"])
    mended = path.read_text("utf-8")
    assert '            "type": "string",' in mended.splitlines()
    assert "1.5" in mended
    assert '-            "type": "strng",' in result.stderr
    assert '+            "type": "string",' in result.stderr
    assert untouched.read_bytes() == b'{"type":   "object"}'


def test_renamed_keywords_keep_their_place_and_lines_their_ends(tmp_path: Path) -> None:
    """What draft-03 calls otherwise has its new name and value; CRLF stays CRLF."""
    path = tmp_path / "a.json"
    old = {
        "divisibleBy": 2,
        "disallow": "null",
        "extends": {"minimum": 1},
        "title": "t",
    }
    schema = {"$schema": "http://json-schema.org/draft-03/schema#", **old}
    path.write_bytes(json.dumps(schema, indent=1).replace("\n", "\r\n").encode())
    CliRunner().invoke(APP, [str(path), "--fix"])
    content = path.read_bytes()
    assert content.count(b"\r\n") == content.count(b"\n") > 1
    new = {"multipleOf": 2, "not": {"type": "null"}, "allOf": [{"minimum": 1}]}
    mended = json.loads(content)
    assert mended.pop("$schema") == "http://json-schema.org/draft-04/schema#"
    assert [*mended.items()] == [*new.items(), ("title", "t")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "options", "after"),
    [
        (
            {"patternProperties": {r"^a\_b$": {"minimum": 1}}},
            "",
            {"patternProperties": {"^a_b$": {"minimum": 1}}},
        ),
        (
            {"required": ["a", "a", "b"], "type": ["string", "strng", "null"]},
            "--ignore=misspelt-types",
            {"required": ["a", "b"], "type": ["string", "strng", "null"]},
        ),
        (
            {"type": ["integer", "integer", "strng"], "required": ["a", "a"]},
            "--ignore=repeated-values",
            {"type": ["integer", "string"], "required": ["a", "a"]},
        ),
        ([_DRAFT_07 | {"pattern": r"^a\_b$"}], "--select=patterns", None),
        ([{"minimum": "1"}], "", {"minimum": 1}),
        ({"schema": _DRAFT_07 | _SLIP}, "--ignore=promote-embedded", None),
        ({"b": 1, "schema": _DRAFT_07 | _SLIP}, "", None),
        ([{"b": 1, "schema": _DRAFT_07 | _SLIP}], "--ignore=array-root", None),
        ({"const": 1, "minimum": "1"}, "--ignore=dialect", {"const": 1, "minimum": 1}),
    ],
)
def test_wanted_edits_are_right_without_the_others(
    tmp_path: Path, before: object, options: str, after: object
) -> None:
    """Places count without the edits that are not wanted; no member is lost."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(before))
    if isinstance(before, dict) and "schema" not in before:
        path.write_text(json.dumps(_DRAFT_07 | before))
        after = _DRAFT_07 | after if isinstance(after, dict) else after
    text = path.read_text()
    run(path, "--fix", *options.split())
    mended = path.read_text()
    assert mended == text if after is None else json.loads(mended) == after
    run(path, "--fix", *options.split())
    assert path.read_text() == mended


@pytest.mark.slow
def test_equal_members_become_one_if_that_is_wanted(tmp_path: Path) -> None:
    """With the other edits; what is to keep both members keeps its bytes."""
    path, text = tmp_path / "a.json", '{"type": "strng", "title": "a", "title": "a"}'
    for options in (["--ignore", "equal-members"], ["--select", "misspelt-types"]):
        path.write_text(text)
        run(path, "--fix", *options)
        assert path.read_text() == text
    run(path, "--fix")
    mended = path.read_text()
    assert mended.count("title") == 1
    assert json.loads(mended) == {"type": "string", "title": "a"}


def test_each_file_is_mended_and_told_where_it_is(tmp_path: Path) -> None:
    """What a reference brings in belongs to its own file, the rest to this one."""
    own = {"properties": {"x": {"required": True}}}
    a = _DRAFT_07 | {"items": {"$ref": "b.json"}, "definitions": {"b": own}}
    b = _DRAFT_07 | {"pattern": r"^a\_b$"}
    for name, schema in (("a", a), ("b", b)):
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
    options = ["--ignore", "unused-definition", "--format", "json"]
    report = json.loads(run(tmp_path, *options).stdout)
    places = [
        [problem["pointer"] for problem in file["problems"]] for file in report["files"]
    ]
    assert places == [
        ["/definitions/b/properties/x/required", "/definitions/b/required"],
        ["/pattern"],
    ]
    assert run(tmp_path, "--fix").exit_code == 0
    right = {"properties": {"x": {}}, "required": ["x"]}
    mended = [json.loads((tmp_path / f"{name}.json").read_text()) for name in "ab"]
    assert mended[0] == a | {"definitions": {"b": right}}
    assert mended[1] == _DRAFT_07 | {"pattern": "^a_b$"}


@pytest.mark.parametrize("name", ["r.json", "r.yaml"])
def test_a_row_keeps_what_stands_beside_its_schema(tmp_path: Path, name: str) -> None:
    """Its schema is told of, and the file stays."""
    row = {"unique_id": "x", "note": "keep", "json_schema": _DRAFT_07 | _SLIP}
    (tmp_path / name).write_text(text := json.dumps(row))
    assert "would turn" in run(tmp_path, "--fix").stdout
    assert (tmp_path / name).read_text() == text


def test_a_link_leads_to_what_is_mended_with_its_rights(tmp_path: Path) -> None:
    """The link stays one, and who may read the file may still."""
    target, link = tmp_path / "a.json", tmp_path / "link.json"
    target.write_text(json.dumps(_DRAFT_07 | _SLIP))
    target.chmod(0o640)
    link.symlink_to(target)
    run(link, "--fix")
    assert link.is_symlink()
    assert json.loads(target.read_text())["properties"] == {"a": {"type": "string"}}
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("options", [["--fix"], ["-"], []])
def test_standard_input_is_read_once(options: list[str]) -> None:
    """By whatever names, and however often it is looked at."""
    result = run("-", *options, stdin='{"type": "string"}')
    assert (result.exit_code, "0 problems" in result.stderr) == (0, True)
