"""`csbdata instances` and `csbdata export`: of one schema, and in others' layouts."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.export import export
from curation.commands.instances import instances
from curation.system.errors import BadData, CannotCreate, NoInput
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.json_types import UntypedJson

APP = typer.Typer()
APP.add_typer(export)
APP.command()(instances)


def run(*arguments: object) -> tuple[int, str]:
    """Run a command; return its exit code and stdout."""
    result = CliRunner().invoke(APP, list(map(str, arguments)), catch_exceptions=False)
    return result.exit_code, result.stdout


def made(*arguments: object) -> tuple[int, UntypedJson]:
    """Make instances; return the exit code, and what a program gets."""
    code, text = run("instances", *arguments, "--format", "json")
    return code, json.loads(text)


@pytest.fixture
def exported(sample_build: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Give what exports a config of the sample, always to one folder."""

    def export_config(config: str) -> Path:
        words = ("--data", sample_build, "--config", config)
        run("export", "maskbench", tmp_path / "mb", *words)
        return tmp_path / "mb"

    return export_config


def test_a_file_has_what_maskbench_reads(exported: Callable[[str], Path]) -> None:
    """Its name holds config and id; its members are MaskBench's, tests included."""
    paths = list(exported("Snowplow").glob("*.json"))
    assert all(each.name.startswith("Snowplow---") for each in paths)
    given = json.loads(paths[0].read_bytes())
    assert [*given] == ["description", "meta", "schema", "tests"]
    meta = ["full_size", "stripped_size", "features", "raw_features"]
    assert [*given["meta"]] == meta
    assert {tuple(it) for it in given["tests"]} == {("description", "valid", "data")}


@pytest.mark.slow
def test_splits_add_up_to_the_whole(sample_build: Path, tmp_path: Path) -> None:
    """The files of the three splits are those of all, none twice."""
    counts = []
    for split in ("train", "val", "test"):
        arguments = ("--data", sample_build, "--split", split, "--format", "json")
        _, text = run("export", "maskbench", tmp_path / split, *arguments)
        counts.append(json.loads(text)["files"])
    assert sum(counts) == 307
    assert 0 not in counts


def test_an_export_replaces_an_export_and_nothing_else(
    exported: Callable[[str], Path], sample_build: Path, tmp_path: Path
) -> None:
    """What an earlier one left is gone; a folder of someone else's stays."""
    exported("Snowplow")
    out = exported("Kubernetes")
    names = {each.name.partition("---")[0] for each in out.glob("*.json")}
    assert names == {"Kubernetes"}
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").touch()
    with pytest.raises(CannotCreate, match="holds something else"):
        run("export", "maskbench", mine, "--data", sample_build)
    assert [each.name for each in mine.iterdir()] == ["thesis.txt"]


def test_a_config_that_is_not_there_is_named(
    exported: Callable[[str], Path], tmp_path: Path
) -> None:
    """The fault lists those that are; nothing is written."""
    with pytest.raises(NoInput, match=r"no config Github_hrad.*Github_hard"):
        exported("Github_hrad")
    assert not (tmp_path / "mb").exists()


SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"count": {"type": "integer", "maximum": 9}, "name": {}},
    "required": ["count"],
    "additionalProperties": False,
}


def test_a_file_has_witnesses_and_near_misses(tmp_path: Path) -> None:
    """Its dialect is found, and each near miss says what refuses it."""
    file = tmp_path / "s.json"
    file.write_text(json.dumps(SCHEMA))
    code, found = made(file)
    assert code == 0
    assert (found["answer"], found["dialect"]) == ("satisfiable", "draft-07")
    missed = [each for each in found["instances"] if each["kind"] == "near_miss"]
    assert {"maximum", "required", "additionalProperties", "type"} <= {
        each["keyword"] for each in missed
    }
    assert not any(each["valid"] for each in missed)
    _, text = run("instances", file)
    assert "maximum at /properties/count/maximum for /count" in text


@pytest.mark.parametrize("name", first_fast(1, ["-", "/dev/stdin"]))
def test_standard_input_is_read(name: str) -> None:
    """`-` is one schema; of a description the bodies are meant."""
    body = {"content": {"application/json": {"schema": SCHEMA}}}
    paths = {"/a": {"post": {"requestBody": body}}}
    described = {"openapi": "3.1.0", "paths": paths}
    program = "import csbdata; csbdata.main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "instances", name, "--format", "json"],
        input=json.dumps(SCHEMA if name == "-" else described),
        capture_output=True,
        text=True,
        check=True,
    )
    schema = "/dev/stdin" if name == "-" else "/dev/stdin#post/a.request"
    assert json.loads(done.stdout)["schema"] == schema


def test_a_folder_has_the_instances_of_each_schema(tmp_path: Path) -> None:
    """Each is named by its path, a broken one too; the code is 1 if one has none."""
    (tmp_path / "a.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "b.yaml").write_text("type: string\nenum: [1]\n")
    (tmp_path / "c.yaml").write_text("a: [1")
    (tmp_path / "d.json").write_bytes(b'"\xe9"')
    (tmp_path / "e.json").write_text(json.dumps({"name": "x", "parameters": SCHEMA}))
    code, results = made(tmp_path)
    assert code == 1
    assert [(each["schema"], each["answer"]) for each in results] == [
        (f"{tmp_path}/a.json", "satisfiable"),
        (f"{tmp_path}/b.yaml", "unsatisfiable"),
        (f"{tmp_path}/c.yaml", "unknown"),
        (f"{tmp_path}/d.json", "unknown"),
        (f"{tmp_path}/e.json#x", "satisfiable"),
    ]
    assert made(results[-1]["schema"])[1] == results[-1]
    assert "not valid YAML: did not find" in results[2]["detail"]
    assert results[3]["reason"] == "bad_encoding"


def test_a_broken_yaml_file_is_refused_for_the_reason_of_yaml(tmp_path: Path) -> None:
    """And not as the JSON that it never was meant to be."""
    (tmp_path / "a.yaml").write_text("a: [1")
    with pytest.raises(BadData, match="not valid YAML: did not find expected"):
        run("instances", str(tmp_path / "a.yaml"))


def test_a_file_is_made_instances_of_with_the_files_beside_it(tmp_path: Path) -> None:
    """A reference leads to a file by its path, or as the identifiers are to each other.

    A reference that is no legal URI is read as what it means.
    """
    schema = {
        "$id": "https://example.com/schemas/a.json",
        "type": "object",
        "properties": {
            "near": {"$ref": "b.json"},
            "own": {"$ref": "#/definitions/One<two>"},
        },
        "required": ["near", "own"],
        "definitions": {"One<two>": {"const": 2}},
    }
    (tmp_path / "a.json").write_text(json.dumps(schema))
    (tmp_path / "b.json").write_text('{"const": 1}')
    code, found = made(tmp_path / "a.json")
    assert code == 0
    values = [
        json.loads(row["text"])
        for row in found["instances"]
        if row["kind"] != "near_miss"
    ]
    assert all(value["near"] == 1 and value["own"] == 2 for value in values)


def test_a_file_that_is_not_there_is_no_misspelt_record(sample_build: Path) -> None:
    """No record is suggested for what is meant as a file, even one of a like name."""
    with pytest.raises(NoInput) as caught:
        run("instances", "o161.json", "--in", str(sample_build))
    assert str(caught.value) == "o161.json: no such file"
    with pytest.raises(NoInput, match="did you mean o161"):
        run("instances", "O161", "--in", str(sample_build))


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        ('{"type": "string", "enum": [1]}', "unsatisfiable", "proof"),
        ('{"$schema": "https://example.com/mine"}', "unknown", "unsupported_dialect"),
        ('{"$ref": "other.json"}', "unknown", "unusable"),
        ('{"type": "array", "minItems": 1000000000}', "unknown", "too_large"),
    ],
)
def test_what_has_no_witness_has_a_reason(
    tmp_path: Path, text: str, answer: str, reason: str
) -> None:
    """The exit code is 1; the answer says whether that is proven."""
    file = tmp_path / "s.json"
    file.write_text(text)
    code, found = made(file)
    assert (code, found["answer"], found["reason"]) == (1, answer, reason)
    plain = run("instances", str(file))[1]
    assert ("csbdata check" in plain) is (reason == "unusable")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_instances(tmp_path: Path) -> None:
    """Another seed gives others."""
    file = tmp_path / "s.json"
    file.write_text(json.dumps(SCHEMA))
    first = made(file, "--seed", "7")
    assert made(file, "--seed", "7") == first
    assert made(file, "--seed", "8") != first


def test_a_record_is_found_by_its_id(sample_build: Path) -> None:
    """What is made is what the build has packaged."""
    import polars as pl  # noqa: PLC0415 (slow to import)

    rows = pl.read_parquet(sample_build / "instances/Snowplow/train-*.parquet")
    name = rows["unique_id"][0]
    code, found = made(f"Snowplow/{name}", "--in", sample_build)
    assert code == 0
    packaged = rows.filter(unique_id=name)["text"].to_list()
    assert [each["text"] for each in found["instances"]] == packaged
    with pytest.raises(NoInput, match="no record"):
        run("instances", "nobody", "--in", str(sample_build))
