"""Tool lists in the forms of those who have them, and Pydantic models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from curation.sources.pydantic_models import read_models
from curation.sources.tools import read_tool_list, schema_place
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from pathlib import Path

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


def read(tmp_path: Path, document: UntypedJson) -> tuple[list[str], list[str]]:
    """Return the names of a list's schemas, and what was said."""
    file, told = tmp_path / "tools.json", list[str]()
    file.write_text(json.dumps(document))
    return [own.name for own in read_tool_list(file, told.append)], told


@pytest.mark.parametrize(
    "document",
    [
        ALL,
        {"tools": ALL},
        {"functions": ALL},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": ALL}},
        [{"tools": ALL[:2]}, {"model": "m", "tools": ALL[2:]}],
        {"custom_id": "1", "body": {"toolConfig": {"tools": ALL}}},
    ],
)
def test_every_form_is_read(tmp_path: Path, document: UntypedJson) -> None:
    """Alone, in requests or as an answer; a service's own tools are named."""
    names, told = read(tmp_path, document)
    assert names == [
        *("chat", "flat", "anthropic", "gemini", "bedrock", "mcp", "mcp.output")
    ]
    assert told == [f"{tmp_path / 'tools.json'}: 1 tool without a schema: web_search"]


def test_one_tool_is_a_list(tmp_path: Path) -> None:
    """A single definition needs no brackets."""
    assert read(tmp_path, ANTHROPIC) == (["anthropic"], [])


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


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([SERVICE], "no tool with a schema among 1"),
        ([], "no tool list"),
        ({"tools": 1}, "no tool list"),
        (3, "no tool list"),
        ([[CHAT]], "no tool list"),
    ],
)
def test_what_is_no_list_is_told_so(
    tmp_path: Path, document: UntypedJson, said: str
) -> None:
    """With what a list is."""
    with pytest.raises(BadData, match=said):
        read(tmp_path, document)


@pytest.mark.slow
def test_what_openais_library_makes_is_read(tmp_path: Path) -> None:
    """The real helper's tools, for both of its interfaces."""
    openai = pytest.importorskip("openai")

    class Forecast(BaseModel):
        """Say the weather."""

        city: str
        days: int = 1

    names, told = read(tmp_path, [openai.pydantic_function_tool(Forecast)])
    assert (names, told) == (["Forecast"], [])


SHOP = """
from collections.abc import Callable
from pydantic import BaseModel, TypeAdapter
from pydantic.dataclasses import dataclass
class Item(BaseModel):
    name: str
    price: float
@dataclass
class Order:
    items: list[Item]
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
    """Classes and dataclasses by name; one that JSON cannot say is named."""
    told: list[str] = []
    found = {own.name: own.schema for own in read_models("own_shop", told.append)}
    assert list(found) == ["Item", "Order"]
    order: UntypedJson = found["Order"]
    assert list(order["$defs"]) == ["Item"]
    assert told[0] == "Importing own_shop"
    assert [text.partition(" (")[0] for text in told[1:]] == [
        f"own_shop.{name} has no JSON Schema" for name in ("Endless", "Hook", "Raising")
    ]


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
