"""Tools in lists, in packages and in Glaive's rows; Pydantic models."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from curation.download.cache import FetchSettings
from curation.download.pins import ArchiveKind, ArchivePin, load_pins
from curation.json import text as jsontext
from curation.json.pointer import at, parse_tokens
from curation.pipeline import inputs
from curation.pipeline.build import BuildRequest, collect_facts, make_plan
from curation.pipeline.inputs import (
    BuildInput,
    ExtraSource,
    _find_parts,
    default_sources,
)
from curation.sources import glaive, tool_schemas
from curation.sources.contents import held_schemas, read_models
from curation.sources.tools import schema_place
from curation.system.errors import BadData, NoInput, Unavailable
from curation.system.progress import Quiet
from tests.curation.archives_made import digest, github_pin, member, tarball
from tests.curation.pinned import needs_mirror
from tests.curation.sources.given import Held, reading

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.documents import RawDocument
    from curation.core.json_types import UntypedJson


SCHEMA: UntypedJson = {"type": "object", "properties": {"city": {"type": "string"}}}
CHAT = {"type": "function", "function": {"name": "chat", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "flat", "strict": True, "parameters": SCHEMA}
ANTHROPIC = {"name": "anthropic", "input_schema": SCHEMA}
GEMINI = {"functionDeclarations": [{"name": "gemini", "parametersJsonSchema": SCHEMA}]}
BEDROCK = {"toolSpec": {"name": "bedrock", "inputSchema": {"json": SCHEMA}}}
MCP = {"name": "mcp", "inputSchema": SCHEMA, "outputSchema": {"type": "object"}}
SERVICE = {"type": "web_search_20250305", "name": "web_search"}
ALL: list[UntypedJson] = [CHAT, FLAT, ANTHROPIC, GEMINI, BEDROCK, MCP, SERVICE]


def read(document: UntypedJson) -> tuple[list[str], list[str]]:
    """Return the names of a list's schemas, and what was said."""
    told: list[str] = []
    held = held_schemas(document, "tools.json", told.append) or []
    for own in held:
        assert at(document, parse_tokens(own.place)) == own.schema
    return [own.name for own in held], told


#: The forms of lists and requests with all of these tools.
FORMS: list[UntypedJson] = [
    ALL,
    {"tools": ALL},
    {"functions": ALL},
    {"jsonrpc": "2.0", "id": 1, "result": {"tools": ALL}},
    [{"tools": ALL[:2]}, {"model": "m", "tools": ALL[2:]}],
    {"custom_id": "1", "body": {"toolConfig": {"tools": ALL}}},
]


@pytest.mark.parametrize(
    ("document", "names"),
    [
        *(
            (form, "chat flat anthropic gemini bedrock mcp mcp.output")
            for form in FORMS
        ),
        # A single definition needs no brackets.
        (ANTHROPIC, "anthropic"),
        # What holds no schema may be one: it is refused there if it is none.
        *((document, "") for document in ([], {"tools": 1}, 3, [[CHAT]], SCHEMA)),
    ],
)
def test_every_form_is_read(document: UntypedJson, names: str) -> None:
    """Alone, in requests or as an answer; a service's own tools are named."""
    found, told = read(document)
    assert found == names.split()
    lacking = ["1 tool without a schema: web_search"]
    assert told == (lacking if "chat" in names else [])


def _format(schema: UntypedJson) -> UntypedJson:
    return {"type": "json_schema", "name": "answer", "schema": schema}


#: Requests in the forms of providers and servers, and where their schemas stand.
REQUESTS: list[tuple[UntypedJson, str | None]] = [
    (_format(SCHEMA), "/schema"),
    ({"model": "m", "text": {"format": _format(SCHEMA)}}, "/text/format/schema"),
    (
        {"response_format": {"type": "json_schema", "json_schema": _format(SCHEMA)}},
        "/response_format/json_schema/schema",
    ),
    (
        {"body": {"output_config": {"format": _format(SCHEMA)}}},
        "/body/output_config/format/schema",
    ),
    (
        {"generationConfig": {"responseJsonSchema": SCHEMA}},
        "/generationConfig/responseJsonSchema",
    ),
    ({"id": "7", "format": {"$ref": "#"}}, "/format"),
    ({"structured_outputs": {"json": SCHEMA}}, "/structured_outputs/json"),
    (
        {"text": {"format": {"type": "text"}}, "tools": ALL},
        "/tools/0/function/parameters",
    ),
    ({"result": {"tools": [MCP]}}, "/result/tools/0/inputSchema"),
    (BEDROCK, "/toolSpec/inputSchema/json"),
    ({"body": {"tools": [SERVICE, FLAT]}}, "/body/tools/1/parameters"),
    (SCHEMA, ""),
    ({"type": ["object"], "schema": SCHEMA}, ""),
    ({"title": "T", "settings": SCHEMA}, None),
    ({"response_format": {"type": "json_object"}}, None),
    ({"type": {"text": 1}, "schema": 5}, None),
    ([], None),
    (True, None),
]


@pytest.mark.parametrize(("document", "place"), REQUESTS)
def test_the_schema_of_a_request_is_found(
    document: UntypedJson, place: str | None
) -> None:
    """That of the answer before those of tools; a schema is no request."""
    assert schema_place(document) == place


def test_no_request_is_too_deep_to_look_into() -> None:
    """Levels are counted: a hostile text holds its members inside each other."""
    deep: UntypedJson = SCHEMA
    for _ in range(100_000):
        deep = {"text": deep}
    assert schema_place(deep) is None


def test_googles_names_of_types_are_read() -> None:
    """`OBJECT` is how its requests write them; `Object` stays a mistake."""
    bad: UntypedJson = {"type": "Object"}
    large: UntypedJson = {
        "type": "OBJECT",
        "properties": {"type": {"type": "STRING"}, "a": bad},
    }
    small = {"type": "object", "properties": {"type": {"type": "string"}, "a": bad}}
    tools: UntypedJson = {"functionDeclarations": [{"name": "f", "parameters": large}]}
    answer: UntypedJson = {"responseSchema": large}
    request: UntypedJson = {"tools": [tools], "generationConfig": answer}
    held = held_schemas(request, "a.json", print) or []
    assert [own.schema for own in held] == [small, small]


def test_tools_without_schemas_are_told_so() -> None:
    """Once, with the form that they should have."""
    for document in ([SERVICE], {"tools": [SERVICE]}):
        with pytest.raises(BadData, match="no tool with a schema among 1"):
            read(document)


@pytest.mark.slow
def test_what_openais_library_makes_is_read() -> None:
    """The real helper's tools, for both of its interfaces."""
    openai = pytest.importorskip("openai")

    class Forecast(BaseModel):
        """Say the weather."""

        city: str
        days: int = 1

    names, told = read([openai.pydantic_function_tool(Forecast)])
    assert (names, told) == (["Forecast"], [])


SHOP = """
from collections.abc import Callable
from pydantic import BaseModel, RootModel, TypeAdapter
from pydantic.dataclasses import dataclass
class Item(BaseModel):
    name: str
    price: float
@dataclass
class Order:
    items: list[Item]
class Names(RootModel[list[str]]):
    pass
class Hook(BaseModel):
    call: Callable[[], int]
class Endless(BaseModel):
    limit: float = float("inf")
class Raising(BaseModel):
    limit: int
    @classmethod
    def __get_pydantic_json_schema__(cls, core, handler):
        raise KeyError("own")
class Plain:
    pass
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with modules of the user's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_shop.py").write_text(SHOP)
    (tmp_path / "own_empty.py").write_text("from pydantic import BaseModel")
    (tmp_path / "own_broken.py").write_text("1 / 0")
    (tmp_path / "own_ended.py").write_text("import sys; sys.exit(0)")
    return tmp_path


@pytest.mark.usefixtures("here")
def test_models_of_the_module_are_read() -> None:
    """Classes and dataclasses by name, none that pydantic made; faults are named."""
    told: list[str] = []
    found = {own.name: own.schema for own in read_models("own_shop", told.append)}
    assert list(found) == ["Item", "Names", "Order"]
    order: UntypedJson = found["Order"]
    assert list(order["$defs"]) == ["Item"]
    assert told[0] == "Importing own_shop"
    assert [text.partition(" (")[0] for text in told[1:]] == [
        f"own_shop.{name} has no JSON Schema" for name in ("Endless", "Hook", "Raising")
    ]


@pytest.mark.parametrize(
    ("source", "number"), [("own_shop", 3), ("own_shop:Item", 1), ("pack.models", 1)]
)
def test_a_build_reads_a_module_by_its_name(
    here: Path, source: str, number: int
) -> None:
    """With or without the name of one model, and in a package."""
    (here / "pack").mkdir()
    (here / "pack/models.py").write_text(
        "from pydantic import BaseModel\nclass A(BaseModel): a: int"
    )
    (found,), _ = inputs.choose_inputs(
        "clean",
        (),
        FetchSettings.from_environment(),
        only=(ExtraSource(source=source),),
        sample=True,
        progress=Quiet(),
    )
    assert isinstance(found, BuildInput)
    assert len(list(found.source.read(found.reading))) == number


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("module", "fault", "said"),
    [
        ("own_empty", BadData, "no model with a JSON Schema"),
        ("own_broken", NoInput, "ZeroDivisionError"),
        ("own_ended", NoInput, "SystemExit: 0"),
        ("own_gone", NoInput, "No module named 'own_gone'"),
    ],
)
def test_a_module_without_models_is_told_so(
    module: str, fault: type[Exception], said: str
) -> None:
    """With why it cannot be imported, where that is so."""
    with pytest.raises(fault, match=said):
        read_models(module, print)


#: The schema of every definition below, and the files that define it.
COUNTING = {"type": "object", "properties": {"n": {"type": "integer"}}}
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
    assert json.loads(document.content) == COUNTING
    assert document.unique_id.startswith("a_tools.add_")


def test_python_is_read_and_not_run() -> None:
    """Dictionaries, calls and classes; constants of the module are put in."""
    found = {
        name_and_path(each): json.loads(each.content)
        for each in documents(a__py=PYTHON)
    }
    assert found == {
        ("add", "a.py#10"): COUNTING,
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
    block = {"block_schema": {"fields": {"title": "Block", **COUNTING}}}
    tools = {"tools": [{"name": "t", "outputSchema": COUNTING}], "more": block}
    model = {"$defs": {"A": COUNTING}, "$ref": "#/$defs/A"}
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
        {"name": f"t{number // 2}", "parameters": {**COUNTING, "maximum": number // 2}}
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
        folders = {part for path in pin.paths for part in path.split("/")[:-1]}
        assert not folders & {"test", "tests", "__tests__", "fixtures", "**"}, pin.name


def _packed(folder: Path, name: str) -> ArchivePin:
    """Write a package of one file into a mirror; return its pin."""
    path, content = f"{name}/server.js", JS.encode()
    file = folder / f"{name}-1.0.tgz"
    file.write_bytes(tarball([member(f"package/{path}", content)]))
    return replace(
        github_pin(),
        name=f"tools-{name}",
        kind=ArchiveKind.NPM,
        repository=name,
        commit="1.0",
        file=file.name,
        paths=(path,),
        digest=digest({path: content}),
    )


def test_a_build_has_them_and_is_whole_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package, or all, may lack: under the paper's rules none may."""
    assert tool_schemas.SOURCE in default_sources()
    assert tool_schemas.SOURCE not in default_sources("paper")
    assert tool_schemas.SOURCE not in default_sources(sample=True)
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    pins = {f"tools-{name}": _packed(mirror, name) for name in ("one", "two")}
    (mirror / "two-1.0.tgz").unlink()

    def pins_for(_source: str, names: tuple[str, ...]) -> dict[str, ArchivePin]:
        return {name: pin for name, pin in pins.items() if name in names} or pins

    monkeypatch.setattr(inputs, "pins_for", pins_for)
    source = replace(tool_schemas.SOURCE, archives={"clean": tuple(pins)})
    monkeypatch.setattr(inputs, "source_named", lambda _name: source)
    monkeypatch.setattr(inputs, "default_sources", lambda *_, **__: [source])
    monkeypatch.setattr(
        "curation.pipeline.build.choose_inputs",
        inputs.choose_inputs,
    )
    settings = FetchSettings(mirror=mirror, cache=tmp_path / "cache", offline=True)
    request = BuildRequest(out=tmp_path / "out", fetch=settings)
    plan = make_plan(request, Quiet())
    (part,) = plan.inputs
    assert len(list(part.source.read(part.reading))) == 1
    assert part.pin.archive == part.reading.archive == "tools-one"
    assert [absent.archive for absent in part.not_had] == ["tools-two"]
    paper = make_plan(replace(request, rules="paper"), Quiet())
    assert (paper.inputs, len(paper.missing)) == ([], 1)
    facts = collect_facts((), plan, ["Tools"])
    assert (facts.name, facts.partial) == ("JSONSchemaBench", [])
    assert facts.lacking == ["Tools: 1 of 2 archives cannot be had: tools-two."]
    nothing = replace(settings, mirror=None, cache=tmp_path / "empty")
    request = replace(request, fetch=nothing)
    plan = make_plan(request, Quiet())
    assert plan.inputs == []
    (sentence,) = collect_facts((), plan, []).lacking
    assert sentence.startswith("Tools: missing (2 of 2 archives cannot be had")
    asked = replace(request, only=(ExtraSource(source="tool-schemas"),))
    with pytest.raises(Unavailable):
        make_plan(asked, Quiet())


@needs_mirror
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


FILE = "glaive-function-calling-v2.json"
PREFACE = "SYSTEM: You are an assistant with these functions. Use them if required -\n"


def definition(name: str, *fields: str) -> str:
    """Return the text of a definition with a parameter of each name."""
    properties = {each: {"type": "string"} for each in fields}
    parameters = {"type": "object", "properties": properties}
    return json.dumps({"name": name, "parameters": parameters}, indent=4)


def file_of(*systems: str) -> Held:
    """Return the file with a row for each `system` text."""
    rows = [{"system": PREFACE + each, "chat": "USER: {hello}"} for each in systems]
    return Held({FILE: json.dumps(rows, indent=2).encode()})


def contents(*systems: str, rules: str = "clean") -> dict[str, bytes]:
    """Return name and content of each document, in reading order."""
    found = glaive.read(reading("glaive", file_of(*systems), rules=rules))
    return {each.unique_id.rpartition("_")[0]: each.content for each in found}


_NO_ARRAYS = [b"", b" ", b"{}", b'[{"a": 1}', b'[{"a": 1}, {"a"', b"[nonsense]"]


@pytest.mark.parametrize("content", [*_NO_ARRAYS, b'[{"system": "\xff"}]'])
def test_a_file_that_is_no_array_is_a_fault(content: bytes) -> None:
    """A cut or foreign file ends with one line, not with fewer rows."""
    with pytest.raises(BadData):
        list(glaive.systems(content))


def test_every_definition_of_a_row_is_a_document() -> None:
    """Zero, one or more stand behind the free text; the place is told."""
    two = definition("b", "x") + "\n\n" + definition("a", "x", "y")
    files = file_of("no functions here", two, definition("c"))
    found = list(glaive.read(reading("glaive", files)))
    assert [each.unique_id.rpartition("_")[0] for each in found] == ["a", "b", "c"]
    assert found[0].provenance.path == f"{FILE}#row/1/function/1"
    assert found[2].provenance.path == f"{FILE}#row/2/function/0"
    assert {each.config for each in found} == {"Glaiveai2K"}


def test_an_id_ends_in_the_digest_of_the_parameters() -> None:
    """The document is the bare `parameters`, its name is in the id only."""
    (found,) = glaive.read(reading("glaive", file_of(definition("get_x", "x"))))
    schema = jsontext.parse(found.content)
    assert schema == {"type": "object", "properties": {"x": {"type": "string"}}}
    assert found.unique_id == f"get_x_{jsontext.digest(schema)[:8]}"


BROKEN = "{\n    'name': 'f'\n}"
REPEATED = '{"name": "f", "parameters": {"a": 1, "b": 2}}'


@pytest.mark.parametrize(
    ("systems", "expected"),
    [
        # The text is the author's: its key order, and how numbers are spelt.
        (
            ['{"name": "f", "parameters": {"minimum": 1.50, "b": 1, "a": -0}}'],
            {"f": b'{"minimum": 1.50, "b": 1, "a": -0}'},
        ),
        # Repeats in spelling, key order or description add nothing: the first counts.
        (
            [
                REPEATED,
                '{"name": "f", "description": "d", "parameters": {"b": 2.0, "a": 1}}',
                REPEATED,
                REPEATED.replace('"f"', '"g"'),
            ],
            {"f": b'{"a": 1, "b": 2}', "g": b'{"a": 1, "b": 2}'},
        ),
        # What cannot be read is a document, for the ledger to say why.
        (
            [definition("a") + "\n" + BROKEN + "\n" + definition("b")],
            {"a": b"", "b": b"", "unreadable": BROKEN.encode()},
        ),
        # What stands for the parameters is handed on, for the rules to reject.
        (['{"name": "f"}'], {"f": b"null"}),
        (['{"name": "f", "parameters": []}'], {"f": b"[]"}),
        (['{"name": "f", "parameters": "none"}'], {"f": b'"none"'}),
        # An id is ASCII letters, digits, `_`, `.` and `-`.
        (
            [
                '{"name": "../a b\\u001b[31m", "parameters": {}}',
                '{"name": 3, "parameters": {"a": 1}}',
                json.dumps({"name": "n" * 200, "parameters": {"b": 1}}),
            ],
            {".._a_b_31m": b"{}", "n" * 80: b'{"b": 1}', "unnamed": b'{"a": 1}'},
        ),
    ],
)
def test_definitions_are_documents(
    systems: list[str], expected: dict[str, bytes]
) -> None:
    """Each name and canonical form once; an empty text is any content."""
    found = contents(*systems)
    assert list(found) == list(expected)
    for name, content in expected.items():
        assert not content or found[name] == content


def test_duplicate_keys_are_the_rule_sets_affair() -> None:
    """`paper` lets the last one count; `clean` gets the text and refuses it."""
    text = '{"name": "f", "parameters": {"a": 1, "a": 2}}'
    assert list(contents(text).values()) == [text.encode()]
    assert list(contents(text, rules="paper").values()) == [b'{"a": 2}']


def test_half_a_surrogate_pair_ends_in_the_ledger() -> None:
    """It cannot be UTF-8, and must not stop the reader."""
    (content,) = contents('{"name": "f", "parameters": {"title": "\ud800"}}').values()
    assert not isinstance(jsontext.parse(content), dict)


def test_order_does_not_depend_on_the_rows() -> None:
    """Documents come in natural order of their ids."""
    names = ["f10", "f9", "a", "F1"]
    found = contents(*(definition(name, name) for name in names))
    assert list(found) == ["F1", "a", "f9", "f10"]


def test_the_quota_and_the_least_field_count_are_declared() -> None:
    """2,000 records of at least 15 fields; the choice is the build's."""
    assert (glaive.SOURCE.quota, glaive.SOURCE.least_fields) == (2000, 15)
