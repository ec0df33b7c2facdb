"""Tools that packages define in their own files, and a source read in parts."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.download.pins import ArchiveKind, ArchivePin, Selection, load_pins
from curation.pipeline import inputs
from curation.pipeline.inputs import BuildInput, MissingSource, _find_parts
from curation.sources import tool_schemas
from curation.system.errors import BadData
from tests.archives_made import digest, github_pin, member, tarball, zipped
from tests.curation.sources.given import Held, reading

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.documents import RawDocument

#: The schema of every definition below, and the files that define it.
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
JS = """
const limit = 5;
server.setRequestHandler(ListTools, async () => ({ tools: [
  { name: "add", description: `Adds ${limit}`, inputSchema: {
      type: "object", properties: { n: { type: 'integer' } } } },
  { name: "none", inputSchema: { type: "object", properties: {} } },
  { name: "run", inputSchema: {
      type: "object", properties: { n: { maximum: limit } } } },
  { name: "zod", inputSchema: z.object({ n: z.number() }) },
] }));
"""
PYTHON = """
LIMIT = 5
SAID = "How " "many"
class Sum(BaseTool):
    name = "sum"
    parameters = {"type": "object",
                  "properties": {"n": {"description": SAID, "maximum": LIMIT}}}
def tools():
    return [
        types.Tool(name="add", inputSchema={
            "type": "object", "properties": {"n": {"type": "integer"}}}),
        types.Tool(name=f"x", inputSchema=Model.model_json_schema()),
        {"name": "bedrock", "inputSchema": {"json":
            {"type": "object", "properties": {"b": {"type": "\\d"}}}}},
        {"name": "spread", "parameters":
            {"type": "object", "properties": {"n": {}, **others}}},
    ]
"""


def documents(**files: str) -> list[RawDocument]:
    """Return what is read of a package's files."""
    held = Held(
        {name.replace("__", "."): text.encode() for name, text in files.items()}
    )
    given = replace(reading("tools-a", held), commit="@a/tools@1.2")
    return list(tool_schemas.read(given))


def name_and_path(document: RawDocument) -> tuple[str, str]:
    """Return the name in an id and the path of a document."""
    name = document.unique_id.removeprefix("a_tools.").rpartition("_")[0]
    return name, document.provenance.path


def test_a_tool_has_its_package_version_path_and_line() -> None:
    """The ids too are of the package, and of the schema's canonical form."""
    (document,) = documents(index__js=JS)
    assert name_and_path(document) == ("add", "index.js#4")
    assert document.provenance.commit == "@a/tools@1.2"
    assert json.loads(document.content) == SCHEMA
    assert document.unique_id.startswith("a_tools.add_")


def test_python_is_read_and_not_run() -> None:
    """Dictionaries, calls and classes; constants of the module are put in."""
    found = {
        name_and_path(each): json.loads(each.content)
        for each in documents(a__py=PYTHON)
    }
    assert found == {
        ("add", "a.py#10"): SCHEMA,
        ("sum", "a.py#4"): {
            "type": "object",
            "properties": {"n": {"description": "How many", "maximum": 5}},
        },
        ("bedrock", "a.py#13"): {
            "type": "object",
            "properties": {"b": {"type": "\\d"}},
        },
    }


def test_json_is_a_list_of_tools_or_one_schema() -> None:
    """A model that Pydantic wrote is named after its file or its title."""
    block = {"block_schema": {"fields": {"title": "Block", **SCHEMA}}}
    tools = {"tools": [{"name": "t", "outputSchema": SCHEMA}], "more": block}
    model = {"$defs": {"A": SCHEMA}, "$ref": "#/$defs/A"}
    found = documents(
        tools__json=json.dumps(tools, indent=1), Model__json=json.dumps(model)
    )
    assert {name_and_path(each) for each in found} == {
        ("Model", "Model.json#1"),
        ("t.output", "tools.json#3"),
        ("Block", "tools.json#16"),
    }


def test_equal_schemas_of_a_package_are_read_once_and_few_of_each() -> None:
    """Licence texts are no tools."""
    tools = [
        {"name": f"t{number // 2}", "parameters": {**SCHEMA, "maximum": number // 2}}
        for number in range(80)
    ]
    found = documents(a__json=json.dumps(tools), LICENSE="{")
    assert len({each.unique_id for each in found}) == len(found) == 12


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "def inputSchema("),
        ("a.js", r"f({inputSchema: '\u{110000}'})"),
        ("a.js", f"f({{inputSchema: {'[' * 9999}}})"),
        ("a.js", f"f({{inputSchema: {'9' * 9999}}})"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(name: str, text: str) -> None:
    """With the package it is from; no traceback of a parser's."""
    with pytest.raises(BadData, match=rf"@a/tools@1\.2: {name}"):
        documents(**{name.replace(".", "__"): text})


PERMISSIVE = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC"}


def test_the_packages_are_pinned_and_permissive() -> None:
    """At least thirty, of both indexes, by exact version and sha256; no tests."""
    known = load_pins()
    pins = [known[name] for name in tool_schemas.SOURCE.archives["clean"]]
    assert len(pins) >= 30
    assert {pin.kind for pin in pins} == {ArchiveKind.NPM, ArchiveKind.WHEEL}
    for pin in pins:
        assert {pin.licence, pin.file_licence} <= PERMISSIVE, pin.name
        assert pin.sha256, pin.name
        assert pin.commit in pin.file, pin.name
        folders = {part for path in pin.paths.patterns for part in path.split("/")[:-1]}
        assert not folders & {"test", "tests", "__tests__", "fixtures", "**"}, pin.name


def _packed(folder: Path, kind: ArchiveKind, name: str, content: bytes) -> ArchivePin:
    """Write a package of one file into a mirror; return its pin."""
    path = f"{name}/server.{'py' if kind is ArchiveKind.WHEEL else 'js'}"
    file = folder / f"{name}-1.0{'.whl' if kind is ArchiveKind.WHEEL else '.tgz'}"
    files = {path: content}
    packed = (
        zipped(files, prefix="")
        if kind is ArchiveKind.WHEEL
        else tarball([member(f"package/{path}", content)])
    )
    file.write_bytes(packed)
    return replace(
        github_pin(),
        name=f"tools-{name}",
        kind=kind,
        repository=name,
        commit="1.0",
        file=file.name,
        paths=Selection((path,)),
        digest=digest(files),
    )


def test_each_package_is_an_input_and_what_cannot_be_had_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the paper's rules, or if none can be had, the source is missing."""
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    pins = {
        pin.name: pin
        for pin in (
            _packed(mirror, ArchiveKind.WHEEL, "one", PYTHON.encode()),
            _packed(mirror, ArchiveKind.NPM, "two", JS.encode()),
            _packed(mirror, ArchiveKind.NPM, "three", b""),
        )
    }
    (mirror / "three-1.0.tgz").unlink()
    monkeypatch.setattr(inputs, "pins_for", lambda _source, _names: pins)
    settings = FetchSettings(mirror=mirror, cache=tmp_path / "cache", offline=True)
    parts = _find_parts(tool_schemas.SOURCE, "clean", settings, print)
    read = {}
    for part in parts:
        assert isinstance(part, BuildInput)
        read[part.pin.commit] = len(list(part.source.read(part.reading)))
        assert part.pin.archive == part.reading.archive
    assert read == {"one@1.0": 3, "two@1.0": 1}
    assert isinstance(parts[0], BuildInput)
    assert parts[0].partial == "1 of 3 archives cannot be had: tools-three"
    assert [absent.archive for absent in parts[0].not_had] == ["tools-three"]
    for rules, place in (
        ("paper", settings),
        ("clean", replace(settings, mirror=None)),
    ):
        empty = replace(place, cache=tmp_path / rules)
        (missing,) = _find_parts(tool_schemas.SOURCE, rules, empty, print)
        assert isinstance(missing, MissingSource)
        assert "archives cannot be had; the first: tools-" in missing.why
        assert "neither mirrored nor cached" in missing.why


@pytest.mark.skipif("CSBDATA_MIRROR" not in os.environ, reason="no CSBDATA_MIRROR")
def test_the_pinned_packages_have_their_tools() -> None:
    """Some three hundred schemas, where the packages are in the cache."""
    settings = FetchSettings.from_environment(offline=True)
    parts = _find_parts(tool_schemas.SOURCE, "clean", settings, print)
    if not isinstance(parts[0], BuildInput) or parts[0].lacks:
        pytest.skip("csbdata sources --fetch tool-schemas")
    found = [
        each
        for part in parts
        if isinstance(part, BuildInput)
        for each in tool_schemas.read(part.reading)
    ]
    assert len({each.unique_id for each in found}) == len(found) == 383
