"""OpenAPI descriptions whose references lead to files beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from jsonschema import Draft4Validator, Draft202012Validator
from typer.testing import CliRunner

from curation.commands.check import check
from curation.commands.fit import fit
from curation.sources.contents import read_held
from curation.system.errors import BadData
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson

APP = typer.Typer()
APP.command()(fit)
APP.command()(check)
_VALIDATORS = {"3.0.3": Draft4Validator, "3.1.0": Draft202012Validator}


def written(folder: Path, files: dict[str, Json], schema: Json, version: str) -> Path:
    """Write files, and a description that asks for a schema; return its file."""
    body: Json = {"content": {"application/json": {"schema": schema}}}
    operation: Json = {"operationId": "a", "requestBody": body, "responses": {}}
    whole: dict[str, Json] = {
        "openapi": version,
        "paths": {"/a": {"post": operation}, "/b": {"$ref": "paths/b.yaml"}},
        "components": {"schemas": {"Pet": {"$ref": "./pets.yaml#/Pet"}}},
    }
    pet: Json = {
        "type": "object",
        "properties": {"up": {"$ref": "#/Pet"}, "tag": {"$ref": "common.json"}},
    }
    answer: Json = {"$ref": "../answers.yaml#/Ok"}
    content: Json = {
        "application/json": {"schema": {"$ref": "api.yaml#/components/schemas/Pet"}}
    }
    usual: dict[str, Json] = {
        "api.yaml": whole,
        "pets.yaml": {"Pet": pet, "Old": {"type": "integer", "nullable": True}},
        "common.json": {"type": "string"},
        "paths/b.yaml": {"get": {"operationId": "b", "responses": {"200": answer}}},
        "answers.yaml": {"Ok": {"content": content}},
    }
    for name, value in {**usual, **files}.items():
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
    return folder / "in" / "api.yaml"


@pytest.mark.parametrize("version", sorted(_VALIDATORS))
@pytest.mark.parametrize(
    ("files", "schema", "good", "bad"), table(__file__, "several_files")
)
def test_parts_in_other_files_are_read(  # noqa: PLR0913, PLR0917 (a row of the table)
    tmp_path: Path,
    files: dict[str, Json],
    schema: Json,
    good: Json,
    bad: Json,
    version: str,
) -> None:
    """A request's schema accepts what its files together accept, and stands alone."""
    told: list[str] = []
    held = read_held(str(written(tmp_path, files, schema, version)), told.append)
    assert held is not None
    assert not [line for line in told if "without a body" not in line]
    schemas: dict[str, UntypedJson] = {each.name: each.schema for each in held.schemas}
    validator = _VALIDATORS[version](schemas["a.request"])
    assert validator.is_valid(good)
    assert not validator.is_valid(bad)
    answer = schemas["b.200"]
    validator = _VALIDATORS[version](answer)
    assert validator.is_valid({"up": {"tag": "x"}})
    assert not validator.is_valid({"up": {"tag": 1}})
    # A part is called as the description calls it.
    assert answer["properties"]["up"]["$ref"].endswith("/Pet")


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("gone.yaml#/A", "no such file"),
        ("pets.yaml#/Gone", "nothing at this pointer"),
        ("../out.json", "outside of"),
        ("../in/../../out.json", "outside of"),
        ("odd.yaml", "cannot be read"),
        ("https://a.example/b.json", "nothing is fetched"),
    ],
)
def test_a_part_that_is_lost_is_one_line(
    tmp_path: Path, reference: str, why: str
) -> None:
    """It names the file, the place there and the reference, once."""
    (tmp_path / "out.json").write_text('{"type": "string"}')
    schema: Json = {"properties": {name: {"$ref": ""} for name in "ab"}}
    files: dict[str, Json] = {
        "odd.yaml": "a: [",
        "c.yaml": json.loads(json.dumps(schema).replace('""', json.dumps(reference))),
    }
    path, told = written(tmp_path, files, {"$ref": "c.yaml"}, "3.1.0"), list[str]()
    read_held(str(path), told.append)
    place = f"{path.with_name('c.yaml')}: /properties/a: {reference}: {why}"
    assert [line.startswith(place) for line in told] == [True]


def test_a_description_of_lost_parts_alone_is_an_error(tmp_path: Path) -> None:
    """The line before says which."""
    path, told = tmp_path / "api.json", list[str]()
    path.write_text('{"openapi": "3.0.3", "paths": {"/a": {"$ref": "a.yaml"}}}')
    with pytest.raises(BadData, match="no schema in the OpenAPI description"):
        read_held(str(path), told.append)
    assert told == [f"{path}: /paths/~1a: a.yaml: no such file"]


def test_places_are_lines_of_the_file_that_has_the_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `check` and of `fit`; a lost path item is a problem."""
    files: dict[str, Json] = {
        "pets.yaml": "Pet:\n type: object\n properties:\n  tag:\n   minLenght: 3\n"
    }
    path = written(tmp_path, files, {"$ref": "#/components/schemas/Pet"}, "3.1.0")
    monkeypatch.chdir(path.parent)
    printed = CliRunner().invoke(APP, ["check", "api.yaml"])
    assert "\npets.yaml:5:4: /Pet/properties/tag/minLenght: " in printed.stdout
    words = ["fit", "api.yaml#b.200", "--for", "openai-strict", "--format", "github"]
    printed = CliRunner().invoke(APP, words)
    assert "error file=pets.yaml,line=4,col=3,title=openai-str" in printed.stdout
    (path.parent / "paths" / "b.yaml").unlink()
    printed = CliRunner().invoke(APP, ["check", "api.yaml"])
    assert re.search(r"api.yaml:\d+:\d+: /paths/~1b/\$ref: .* cannot", printed.stdout)
