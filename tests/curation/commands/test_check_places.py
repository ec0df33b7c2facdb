"""`csbdata check`: problems at their places in files of YAML, and in rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from curation.checking.problems import places_in_yaml
from curation.commands.check import check

if TYPE_CHECKING:
    from pathlib import Path

APP = typer.Typer()
APP.command()(check)


def run(*arguments: str) -> tuple[int, str]:
    """Run the command; return its exit code and stdout."""
    result = CliRunner().invoke(APP, list(arguments), catch_exceptions=False)
    return result.exit_code, result.stdout


def test_problems_of_yaml_stand_where_they_are_written(tmp_path: Path) -> None:
    """At the member's name or the item, through an alias too."""
    text = """\
type: object
properties:
  a: &a
    type: integer
    default: x
  b: {type: string, examples: [s, 1]}
  c: *a
"""
    (tmp_path / "a.yaml").write_text(text)
    _, out = run(str(tmp_path / "a.yaml"), "--format", "json")
    places = {
        problem["pointer"]: (problem["line"], problem["column"])
        for problem in json.loads(out)["files"][0]["problems"]
    }
    assert places == {
        "/properties/a/default": (5, 5),
        "/properties/b/examples/1": (6, 35),
        "/properties/c/default": (5, 5),
    }


class _Pairs(list[Any]):
    """The pairs of a mapping; counts how often they are gone through."""

    walks = 0

    def __iter__(self) -> Iterator[Any]:
        self.walks += 1
        return super().__iter__()


def test_a_mapping_is_gone_through_once_for_all_its_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There may be one in each of its thousands of members."""
    names = [f"p{number}" for number in range(4_000)]
    lines = [f"  {name}: {{default: 3}}\n" for name in names]
    text = "properties:\n" + "".join(lines)
    root: Any = yaml.compose(text, Loader=yaml.CSafeLoader)
    members = root.value[0][1]
    members.value = pairs = _Pairs(members.value)
    monkeypatch.setattr(yaml, "compose", lambda *_, **__: root)
    place_of = places_in_yaml(b"")
    places = [place_of(f"/properties/{name}/default") for name in names]
    assert places == [
        (2 + number, lines[number].index("default") + 1) for number in range(4_000)
    ]
    assert pairs.walks == 1


def test_problems_of_a_row_stand_where_its_file_has_them(tmp_path: Path) -> None:
    """Alone or in a folder, as JSON or YAML; a schema as text has one place."""
    schema = {"type": "object", "properties": {"n": {"default": 3, "type": "string"}}}
    wanted = {}
    for own, indent, suffix in product(
        (schema, json.dumps(schema)), (2, None), ("json", "yml")
    ):
        path = tmp_path / f"{'row' if own is schema else 'text'}-{indent}.{suffix}"
        row = {"unique_id": "x", "json_schema": own}
        dump = json.dumps if suffix == "json" else yaml.safe_dump
        path.write_text(text := dump(row, indent=indent))
        mark = '"' if suffix == "json" else ""
        found = text.index(mark + ("default" if own is schema else "json_schema"))
        before = text[:found].split("\n")
        wanted[str(path)] = (len(before), len(before[-1]) + 1)
    for sources in ([*wanted], [str(tmp_path)]):
        _, out = run(*sources, "--format", "json")
        places = {}
        for file in json.loads(out)["files"]:
            (problem,) = file["problems"]
            places[file["file"]] = (problem["line"], problem["column"])
        assert places == wanted


@pytest.mark.parametrize(
    "name", ["\U0001f600", "\x7f", "k" * 1_100, "\t"], ids=["pair", "7f", "long", "tab"]
)
def test_json_in_a_file_of_yaml_is_read_as_json(tmp_path: Path, name: str) -> None:
    """What YAML does not take in it is no fault of it: it is JSON all the same."""
    member = {"type": "string", "default": 3}
    schema = {"type": "object", "properties": {name: member}}
    text = "\t" + json.dumps(schema).replace("\\u007f", "\x7f") + "\n"
    (tmp_path / "a.yml").write_text(text)
    _, out = run(str(tmp_path / "a.yml"), "--format", "json")
    problems = json.loads(out)["files"][0]["problems"]
    (problem,) = [each for each in problems if each["code"] == "refused-default"]
    assert problem["column"] == text.index('"default"') + 1


def test_a_broken_yaml_file_is_refused_for_the_reason_of_yaml(tmp_path: Path) -> None:
    """At its place, and not as the JSON that it never was meant to be."""
    (tmp_path / "a.yaml").write_text("type: object\nrequired: [a\ntitle: b\n")
    code, out = run(str(tmp_path / "a.yaml"), "--format", "json")
    (problem,) = json.loads(out)["files"][0]["problems"]
    assert (code, problem["code"], problem["line"]) == (1, "not_json", 3)
    assert "not JSON as YAML: did not find expected ',' or ']' (line 3" in str(problem)
