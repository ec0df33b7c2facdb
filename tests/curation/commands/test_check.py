"""`csbdata check`: problems by place, in JSON, YAML and rows, and hostile files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from curation.checking.schema_check import SchemaChecker
from curation.commands.check import check
from curation.json.positions import places_in_yaml
from curation.system.errors import CsbdataError, NoInput
from curation.workers.limits import Ending, ProcessResult
from curation.workers.worker import Worker

if TYPE_CHECKING:
    from curation.checking.report import SchemaReport
    from curation.core.json_types import Json, UntypedJson

    ReportOn = Callable[[UntypedJson], SchemaReport]


APP = typer.Typer()
APP.command()(check)
_DRAFT_04 = "http://json-schema.org/draft-04/schema#"
_DRAFT_07 = "http://json-schema.org/draft-07/schema#"
_DOWNLOAD: Json = {"/a": {"get": {"responses": {"200": {"schema": {"type": "file"}}}}}}
FINE: dict[str, Json] = {"type": "object", "properties": {"a": {"type": "string"}}}
#: References that all lead to one definition.
_SPELLINGS: dict[str, Json] = {
    "anyOf": [
        {"$ref": f"{address}#/definitions/Vector2{name}"}
        for address in ("", "vectors", "https://schemas.example/vectors")
        for name in ("<number>", "%3Cnumber%3E")
    ],
    "definitions": {"Vector2<number>": {"items": {"type": "number"}}},
}


def _object(*members: UntypedJson) -> dict[str, Json]:
    return {"type": "object", "properties": dict(zip("ab", members, strict=False))}


def _declared(schema: UntypedJson) -> dict[str, Json]:
    return {"$schema": _DRAFT_07, **schema}


def run(*arguments: str, stdin: bytes | None = None) -> tuple[int, str]:
    """Run the command; return its exit code and stdout."""
    result = CliRunner().invoke(
        APP, list(arguments), input=stdin, catch_exceptions=False
    )
    return result.exit_code, result.stdout


def problems_in(*sources: str) -> tuple[int, dict[str, list[Any]]]:
    """Run the command; return its exit code, and the problems of each file."""
    code, out = run(*sources, "--format", "json")
    return code, {file["file"]: file["problems"] for file in json.loads(out)["files"]}


@pytest.fixture(scope="module")
def report_on() -> Iterator[ReportOn]:
    """Give what checks a value or a text: one child process for all of this file."""

    def report(given: UntypedJson) -> SchemaReport:
        is_text = isinstance(given, bytes)
        return checker.check(given if is_text else json.dumps(given).encode())

    with SchemaChecker() as checker:
        yield report


def test_a_good_schema_is_valid_under_every_draft(report_on: ReportOn) -> None:
    """And has no problems."""
    report = report_on(FINE)
    assert (report.problems, report.dialect) == ((), "2020-12")
    assert len(report.valid_under) == 5


def test_what_is_valid_is_said_of_the_file_as_it_is(report_on: ReportOn) -> None:
    """A rule mends `required: true`; the line speaks of what was not mended."""
    member: Json = {"type": "string", "required": True}
    report = report_on({"$schema": _DRAFT_07, "properties": {"a": member}})
    assert "boolean-required" in [problem.code for problem in report.problems]
    assert report.valid_under == ()


def test_what_is_valid_differs_by_draft(report_on: ReportOn) -> None:
    """A boolean exclusiveMinimum is fine in draft-04 and nowhere else."""
    bounds: dict[str, Json] = {"type": "number", "minimum": 1, "exclusiveMinimum": True}
    report = report_on({"$schema": _DRAFT_04, **bounds})
    assert (report.problems, report.valid_under) == ((), ("draft-04",))


#: The codes of a text or a value; notes of an undeclared draft aside.
_CODES: list[tuple[UntypedJson, str]] = [
    # The reason why a build would drop it, whatever the bytes.
    (b"{", "not_json"),
    (b"\xff\xfe{}", "bad_encoding"),
    (b'{"a": 1, "a": 2}', "duplicate_keys"),
    (b"[" * 100_000, "too_deep"),
    (b'{"type": 1}', "invalid_schema"),
    (b'{"a": 1}', "not_a_schema"),
    *((text, "not_a_schema") for text in (b"3", b"null", b'["a"]')),
    ({"name": "crate", "version": "1.0"}, "not_a_schema"),
    ({"openapi": "3.0.0", "paths": _DOWNLOAD}, "invalid_schema"),
    # The rule that finds a lost reference first says so, without validators' echo.
    ({"$ref": "https://schemas.example.org/other.json"}, "remote_reference"),
    ({"$ref": "#/nowhere", "type": "object"}, "unresolved_reference"),
    # Every fault of one kind.
    (_object({"$ref": "#/x"}, {"$ref": "#/x"}), "unresolved_reference " * 2),
    (_object({"pattern": "["}, {"pattern": "(?<"}), "bad_pattern " * 2),
    (_object({"maxLength": "x"}, {"maxLength": "y"}), "invalid_schema " * 2),
    # What does nothing and was meant to.
    ({"type": "string", "format": "datetime"}, "unknown-format"),
    (_declared(_object({"$ref": "#", "maxProperties": 1})), "ref-siblings"),
    (_declared({"type": "array", "additionalItems": False}), "lonely-keyword"),
    # One problem for each location, the root apart.
    (_object({"#ref": "#"}), "unknown-keyword"),
    (_declared({"type": "string", "additionalItems": False}), "lonely-keyword"),
    (
        {"properties": {"a": {"dependentRequired": {"b": ["c"]}, "divisibleBy": 2}}},
        "mixed-drafts non-object-root older-keyword",
    ),
    # What only a benchmark asks for is no problem, nor what changes nothing.
    *((legal, "") for legal in (True, {}, {"type": "object"}, {"enum": [1]})),
    ({"definitions": {"name": {"type": "string"}}}, ""),
    (_declared({"type": "integer", "format": "uint8"}), ""),
    (_declared(_object({"$ref": "#", "type": "object", "title": "A"})), ""),
    (_declared({"type": "array", "items": {}, "additionalItems": True}), ""),
    ({"swagger": "2.0", "paths": _DOWNLOAD}, ""),
    # Nor is the spelling of a reference.
    (_declared({"$id": "https://schemas.example/vectors", **_SPELLINGS}), ""),
    # An empty object, a type alone and a list of values are legal; another root that
    # says nothing is named.
    *((empty, "empty") for empty in ({"title": "a"}, {"title": "a", "default": 1})),
    ({"title": "a", "enum": [1]}, ""),
    ({"allOf": []}, "empty"),
    # A dollar in a pattern is no template, nor in a value that an instance may have.
    (_object({"type": "string", "pattern": r"^\\${[A-Z]+}$"}), "patterns"),
    (_object({"enum": ["${workspaceFolder}"]}, {"const": "${a}"}), ""),
]


@pytest.mark.parametrize(("given", "codes"), _CODES)
def test_each_problem_is_named_by_its_code(
    given: UntypedJson, codes: str, report_on: ReportOn
) -> None:
    """Reject reasons, rules and lints, each once; of legal schemas none."""
    problems = report_on(given).problems
    found = [problem.code for problem in problems if problem.code != "dialect"]
    assert found == codes.split()


def test_nothing_is_fetched(report_on: ReportOn, trap: tuple[str, list[str]]) -> None:
    """No validator follows a `$ref` or a `$schema` to a server."""
    address, seen = trap
    for schema in (
        _object({"$ref": f"{address}/ref"}),
        {"$schema": f"{address}/schema", **FINE},
        {"$id": f"{address}/id/", **FINE, "not": {"$ref": "other.json"}},
    ):
        assert report_on(schema).problems
    assert seen == []


def test_a_text_that_takes_for_ever_is_a_problem(
    report_on: ReportOn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What kills or hangs the child is said, and the next text is looked at."""
    dead = ProcessResult(ending=Ending.TIMEOUT, detail="over 10 s")
    with monkeypatch.context() as patched:
        patched.setattr(Worker, "ask", lambda *_: dead)
        report = report_on({})
    assert [each.code for each in report.problems] == ["timed_out"]
    assert report_on(FINE).problems == ()


def test_problems_are_lines_like_a_linters(tmp_path: Path) -> None:
    """`file:line:column: pointer: code: message`, escapes visible, exit code 1."""
    path = tmp_path / "a\x1b[2J.json"
    inner = {"$schema": "http://json-schema.org/draft-04/schema#", "title": "\x07"}
    schema = {"type": "object", "properties": {"\x1b[2J\u202e": inner}}
    path.write_text(json.dumps(schema))
    code, out = run(str(path))
    assert code == 1
    column = path.read_text().index('"$schema"') + 1
    place = f"a\\u001b[2J.json:1:{column}:"
    where = f"{place} /properties/\\u001b[2J\\u202e/$schema: dialect: "
    assert where in out
    assert not any(character in out for character in "\x1b\x07\u202e")


def test_standard_input_is_read() -> None:
    """`-` is standard input; exit code 0 says that all is well."""
    code, out = run("-", "--format", "json", stdin=json.dumps(FINE).encode())
    (found,) = json.loads(out)["files"]
    assert (code, found["file"], found["problems"]) == (0, "/dev/stdin", [])


def test_a_missing_file_is_a_fault(tmp_path: Path) -> None:
    """Exit code 66 and the file's name; so is a folder or a table without a schema."""
    with pytest.raises(NoInput, match=r"nowhere\.json"):
        run(str(tmp_path / "nowhere.json"))
    with pytest.raises(NoInput):
        run(str(tmp_path))
    (tmp_path / "a.jsonl").write_text("\n")
    with pytest.raises(NoInput, match="no schema in it"):
        run(str(tmp_path / "a.jsonl"))


def test_a_file_is_checked_with_those_that_stand_beside_it(tmp_path: Path) -> None:
    """What a relative reference means under the file's `$id` may stand beside it."""
    schema = {"$id": "https://example.com/a.json", "$ref": "sub/b.json#/x%20y"}
    (tmp_path / "a.json").write_text(json.dumps(schema))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.json").write_text('{"x y": {"type": "null"}}')
    assert run(str(tmp_path / "a.json"))[0] == 0
    (tmp_path / "sub" / "b.json").unlink()
    code, out = run(str(tmp_path / "a.json"))
    assert code == 1
    assert "remote_reference" in out


def test_a_reference_to_the_web_is_a_note(tmp_path: Path) -> None:
    """It is shown, and the exit code is 0; a file that is not there is an error."""
    file = tmp_path / "a.json"
    file.write_text('{"$ref": "https://example.com/b.json"}')
    code, out = run(str(file), "--format", "github")
    assert (code, out[:9]) == (0, "::notice ")
    (tmp_path / "c.json").write_text('{"$ref": "a.json"}')
    assert run(str(tmp_path))[0] == 0
    file.write_text('{"$ref": "b.json"}')
    assert run(str(file))[0] == 1


def test_files_and_folders_are_checked_together(tmp_path: Path) -> None:
    """References lead from file to file; a fault is told once, where it is written."""
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.json").write_text("{")
    to_b = {
        "b": {"$ref": "sub/b.json"},
        "c": {"$ref": "https://example.com/c#/$defs/x"},
    }
    (tmp_path / "a.json").write_text(json.dumps({"type": "object", "properties": to_b}))
    back = {"type": "object", "properties": {"c": {"$ref": "../c.json"}}}
    (tmp_path / "sub" / "b.json").write_text(json.dumps({**back, "minProperites": 1}))
    inner = {"x": {"type": "null"}}
    claimed = {"$id": "https://example.com/c", "type": "null", "$defs": inner}
    (tmp_path / "c.json").write_text(json.dumps(claimed))
    code, found = problems_in(str(tmp_path))
    assert code == 1
    assert set(found) == {
        str(tmp_path / name) for name in ("a.json", "c.json", "sub/b.json")
    }
    told = [
        (file, each["code"])
        for file, problems in found.items()
        for each in problems
        if each["code"] != "dialect"
    ]
    assert told == [(str(tmp_path / "sub" / "b.json"), "unknown-keyword")]


def test_a_dead_reference_of_a_neighbour_is_at_the_reference_to_it(
    tmp_path: Path,
) -> None:
    """Checked alone, a file has its neighbours' faults where it leads to them."""
    (tmp_path / "c.json").write_text('{"properties": {"x": {"$ref": "#/nope"}}}')
    (tmp_path / "b.json").write_text('{"$ref": "c.json"}')
    text = '{"type": "object",\n "properties": {"q": {"$ref": "b.json"}}}'
    (tmp_path / "a.json").write_text(text)
    code, files = problems_in(file := str(tmp_path / "a.json"))
    (problem,) = files[file]
    assert (code, problem["pointer"]) == (1, "/properties/q/$ref")
    assert problem["line"] == 2
    assert problem["message"].endswith("/properties/x/$ref: '#/nope' leads nowhere")


def test_a_file_that_is_not_json_is_a_problem_of_its_line(tmp_path: Path) -> None:
    """As for any linter: 1, and the files beside it are checked."""
    (tmp_path / "a.json").write_text('{\n "type": \n')
    (tmp_path / "b.json").write_text('{"type": "object", "minProperites": 1}')
    code, files = problems_in(str(tmp_path))
    told = [
        (Path(file).name, problem["code"], problem["line"])
        for file, problems in files.items()
        for problem in problems
    ]
    assert code == 1
    assert {("a.json", "not_json", 3), ("b.json", "unknown-keyword", 1)} <= {*told}


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody may ever write into it: it is named, and the others are checked."""
    (tmp_path / "a.json").write_text('{"type": "object", "required": ["a"]}')
    os.mkfifo(tmp_path / "pipe.json")
    done = CliRunner().invoke(APP, [str(tmp_path)], catch_exceptions=False)
    assert "1 file is not read: pipe.json (no regular file)" in done.stderr
    assert done.exit_code == 0


@pytest.mark.slow
def test_a_reference_out_of_the_folder_leads_nowhere(tmp_path: Path) -> None:
    """Not even over a link: what a schema says does not open files of the machine."""
    inside, outside = tmp_path / "in", tmp_path / "out.json"
    inside.mkdir()
    outside.write_text('{"type": "string"}')
    (inside / "link.json").symlink_to(outside)
    for ref in ("link.json", "../out.json", f"file://{outside}", str(outside)):
        (inside / "a.json").write_text(json.dumps(_object({"$ref": ref})))
        ((_, problems),) = problems_in(str(inside / "a.json"))[1].items()
        assert "remote_reference" in [one["code"] for one in problems], ref


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{\n  "type": "string",\n  "minLenght": 2}', (3, 3), "`minLength`"),
        ('\ufeff{\n "a": 1,]', (2, 9), "a comma before"),
        ('{"type": "object", "properties": {"a": {"pattern": "["}}}', (1, 41), ""),
        # Also where the reader tells no place.
        ('{\n "a": 1,\n "a": 2}', (3, 2), ""),
        ('{\n "a": 1,\n "b": NaN}', (3, 7), "NaN"),
    ],
)
def test_a_problem_has_its_line_and_column(
    report_on: ReportOn, text: str, place: tuple[int, int], words: str
) -> None:
    """Where the member begins, or where the reader stopped; the remedy is named."""
    problem = report_on(text.encode()).problems[0]
    assert (problem.line, problem.column) == place
    assert words in problem.message


def test_a_rule_that_raises_is_no_fault_of_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 70, not 1: the problem is ours."""
    file = tmp_path / "a.json"
    file.write_text("{}")
    dead = ProcessResult(ending=Ending.ERROR, detail="ValueError: a slip")
    monkeypatch.setattr(Worker, "ask", lambda *_: dead)
    with pytest.raises(CsbdataError, match="a rule raised") as caught:
        run(str(file))
    assert caught.value.exit_code == 70


def test_github_reads_one_command_a_problem(tmp_path: Path) -> None:
    """Line ends, colons and commas of a name cannot end a property or the command."""
    file = tmp_path / "a,b:\n::error::x.json"
    file.write_text('{"type": "string", "minLenght": 2}')
    _, out = run(str(file), "--format", "github")
    lines = out.splitlines()
    (misspelt,) = [line for line in lines if "title=unknown-keyword::" in line]
    assert misspelt.startswith("::warning file=")
    assert "a%2Cb%3A%0A%3A%3Aerror%3A%3Ax.json,line=1,col=20,title=" in misspelt
    assert all(line.startswith(("::warning file=", "::error file=")) for line in lines)


@pytest.mark.parametrize(
    ("index", "entry", "name"),
    [(0, "csbdata check", "a.schema.yaml"), (1, "csbdata fit", "a.schema.json")],
)
def test_the_hooks_of_pre_commit_are_commands(
    index: int, entry: str, name: str
) -> None:
    """`.pre-commit-hooks.yaml` has what pre-commit wants, and names files that fit."""
    hooks = Path(__file__).parents[3] / ".pre-commit-hooks.yaml"
    hook = yaml.safe_load(hooks.read_text("utf-8"))[index]
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert hook["entry"] == entry
    assert re.search(hook["files"], f"schemas/{name}")
    assert not re.search(hook["files"], "package.json")


_TEAM: UntypedJson = {
    "type": "object",
    "properties": {
        "n": {"type": "string", "default": 3, "examples": ["x", 4]},
        "u": {"$ref": "#/$defs/used", "default": {"a": "b"}},
    },
    "$defs": {
        "used": {"properties": {"a": {"type": "integer"}}},
        "lost": {"$ref": "#/$defs/inner"},
        "inner": {},
    },
}


def test_values_that_their_schema_refuses_are_problems(report_on: ReportOn) -> None:
    """Of `default` and `examples`, by references too; what is unused is a note."""
    report = report_on(_TEAM)
    assert {(each.pointer, each.code) for each in report.faults} == {
        ("/properties/n/default", "refused-default"),
        ("/properties/n/examples/1", "refused-example"),
        ("/properties/u/default", "refused-default"),
    }
    assert {each.pointer for each in report.problems if each.level == "note"} == {
        "/$defs/lost",
        "/$defs/inner",
    }


_SLIP: Json = {"type": "object", "minProperites": 1}
#: In a form in which `nullable` is a keyword.
_NULLABLE: Json = {"type": "STRING", "nullable": True}
_GOOGLE: Json = {"type": "OBJECT", "properties": {"a": _NULLABLE}, "minProperites": 1}
_MEDIA: Json = {"content": {"application/json": {"schema": _SLIP}}}
#: A text that holds schemas, and the places of its problems.
_HOLDERS: list[tuple[Json, list[str]]] = [
    (
        {
            "openapi": "3.0.3",
            "paths": {"/a": {"get": {"responses": {"200": _MEDIA}}}},
            "components": {
                "schemas": {
                    "A": {
                        "type": "string",
                        "nullable": True,
                        "x-order": 1,
                        "example": "b",
                    },
                    "B": {"$ref": "#/components/schemas/A"},
                    "C": {"$ref": "#/components/schemas/D"},
                },
                "parameters": {"p": {"$ref": "#/components/parameters/q"}},
            },
        },
        [
            "/paths/~1a/get/responses/200/content/application~1json/schema/minProperites",
            "/components/schemas/C/$ref",
            "/components/parameters/p/$ref",
        ],
    ),
    (
        {
            "openapi": "3.1.0",
            "paths": {},
            "webhooks": {"w": {"post": {"requestBody": _MEDIA}}},
            "components": {"schemas": {"A": {"type": "string", "nullable": True}}},
        },
        [
            "/components/schemas/A/nullable",
            "/webhooks/w/post/requestBody/content/application~1json/schema/minProperites",
        ],
    ),
    ({"tools": [{"name": "t", "inputSchema": _SLIP}]}, ["/inputSchema/minProperites"]),
    ({"name": "t", "input_schema": _SLIP}, ["/input_schema/minProperites"]),
    (
        {"type": "function", "function": {"name": "t", "parameters": _SLIP}},
        ["/function/parameters/minProperites"],
    ),
    (
        {"result": {"tools": [{"name": "a b", "outputSchema": {"type": "array"}}] * 2}},
        [
            "/result/tools/0/name",
            "/result/tools/0/outputSchema/type",
            "/result/tools/1/name",
            "/result/tools/1/outputSchema/type",
        ],
    ),
    ({"text": {"format": _SLIP}}, ["/text/format/minProperites"]),
    (
        {
            "tools": [{"functionDeclarations": [{"name": "t", "parameters": _GOOGLE}]}],
            "generationConfig": {"responseSchema": _GOOGLE},
        },
        [
            "/generationConfig/responseSchema/minProperites",
            "/tools/0/functionDeclarations/0/parameters/minProperites",
        ],
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": _SLIP}},
        ["/json_schema/schema/minProperites"],
    ),
]


@pytest.mark.parametrize(("value", "pointers"), _HOLDERS)
def test_what_holds_schemas_is_checked_where_they_are_written(
    value: Json, pointers: list[str], tmp_path: Path
) -> None:
    """APIs, tools and requests, JSON or YAML, at lines of the user's file."""
    (tmp_path / "a.json").write_text(json.dumps(value, indent=1))
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(value))
    for file in tmp_path.iterdir():
        problems = problems_in(str(file))[1][str(file)]
        found = sorted(each["pointer"] for each in problems)
        ends = zip(found, sorted(pointers), strict=True)
        assert all(pointer.endswith(end) for pointer, end in ends)
        lines = file.read_text().splitlines()
        for each in problems:
            name = each["pointer"].rpartition("/")[2]
            assert name in lines[each["line"] - 1]


def test_a_draft_that_is_not_declared_is_a_note(report_on: ReportOn) -> None:
    """A keyword that is moved out of the properties is a warning."""
    properties: Json = {"a": {"id": "#x", "type": "string"}, "minProperties": 1}
    problems = report_on({"type": "object", "properties": properties}).problems
    levels = {problem.pointer: problem.level for problem in problems}
    assert (levels["/$schema"], levels["/minProperties"]) == ("note", "warning")


#: A text that is not read, and words of its message.
_UNREADABLE = [
    (b"", "the file is empty"),
    (b" \n", "the file is empty"),
    (b'{"type": "obj', "cut off"),
    (b'{"type": [', "cut off"),
    (b"\x89PNG\x00\x01", "a binary file"),
    ('{"a": 1}'.encode("utf-16"), "save it as UTF-8"),
    (b'{"a": {{ .Values.b }}}', "a template"),
    (b"{% if a %}{}{% endif %}", "a template"),
    (b"{} // no", "several values"),
    (b"// no\n{}", "comments are not allowed"),
    (b"{'a': 1}", "double quotes"),
    (b"{a: 1}", "a name needs double quotes"),
    (b'{"a": True}', "true, false and null"),
    (b'{"asyncapi": "2.6.0", "components": {}}', "an instance"),
]


@pytest.mark.parametrize(("content", "words"), _UNREADABLE)
def test_a_text_that_is_not_read_is_one_line(
    content: bytes, words: str, report_on: ReportOn
) -> None:
    """It says what is wrong as its author would."""
    (problem,) = report_on(content).problems
    assert words in problem.message


#: A schema, and what is said of its words.
_WORDS: list[tuple[Json, str]] = [
    ({"type": "string", "max_length": 1}, "`maxLength`"),
    ({"type": "string", "choices": ["a"]}, "`enum`"),
    ({"any_of": [{"type": "string"}]}, "`anyOf`"),
    ({"type": "object", "props": {"a": {}}}, "`properties`"),
    ({"type": "array", "elements": {"type": "string"}}, "`items`"),
    ({"type": "string", "foo": 1}, "note"),
    ({"type": "string", "example": "a"}, "note"),
    ({"type": "string", "x-foo": 1, "markdownDescription": "a", "x_y": 1}, ""),
    ({"$ref": "#/types/a", "types": {"a": {"type": "string"}}}, ""),
    (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/definitions/g/b"}},
            "definitions": {"g": {"b": {"type": "string"}, "c": {"type": "null"}}},
        },
        "",
    ),
]


@pytest.mark.parametrize(("schema", "words"), _WORDS)
def test_a_word_that_is_no_keyword_is_named_with_the_one_that_was_meant(
    schema: Json, words: str, report_on: ReportOn
) -> None:
    """Extensions and what references lead through are none."""
    problems = report_on(schema).problems
    found = [it for it in problems if it.code == "unknown-keyword"]
    assert [words in (it.level, it.message) or words in it.message for it in found] == (
        [True] if words else []
    )


def _lost(reference: str) -> dict[str, Json]:
    return {**_object({"$ref": reference}), "definitions": {"a": {"type": "string"}}}


_NEWEST = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
#: A schema, and the message of its one fault.
_MESSAGES: list[tuple[UntypedJson, str]] = [
    (
        _declared({"type": "array", "items": {}, "additionalItems": False}),
        "`additionalItems` does nothing without `items` as a list",
    ),
    (
        {**_NEWEST, "minLength": 1, "type": ["object", "null"]},
        "`minLength` does nothing beside `type: object, null`",
    ),
    (
        {**_NEWEST, "not": {"required": ["b"], "additionalProperties": False}},
        "`b` is required, and no property",
    ),
    (
        {**_NEWEST, **_object({"type": "string", "format": "Date_Time"})},
        "unknown format; did you mean `date-time`?",
    ),
    # A lost reference comes with the one that was meant: by a slip in a name, or by
    # the other word for definitions.
    *(
        (_lost(lost), f"{lost!r} leads nowhere; did you mean '#/definitions/a'?")
        for lost in ("#/definitons/a", "#/definitions/ab", "#/$defs/a")
    ),
    *(
        (_lost(lost), f"{lost!r} leads nowhere")
        for lost in ("#/definitions/zzzz", "#zzzz")
    ),
]


@pytest.mark.parametrize(("schema", "message"), _MESSAGES)
def test_a_fault_is_explained_by_its_names(
    schema: Json, message: str, report_on: ReportOn
) -> None:
    """In one sentence."""
    (problem,) = report_on(schema).faults
    assert problem.message == message


def test_the_answer_is_the_first_line(tmp_path: Path) -> None:
    """How many problems, in how many files."""
    (tmp_path / "a.json").write_text(json.dumps(_SLIP))
    assert run(str(tmp_path))[1].startswith("1 problem; read as 2020-12 (assumed)\n")
    (tmp_path / "b.json").write_text("true")
    assert run(str(tmp_path))[1].startswith("1 problem in 1 of 2 files\n")
    assert run(str(tmp_path / "b.json"))[1] == "no problems\n"
    (rows := tmp_path / "c.jsonl").write_text("true\n{}\n")
    assert run(str(rows))[1] == "no problems in 2 schemas\n"
    both = run(str(rows), str(tmp_path / "a.json"))[1]
    assert both.startswith("1 problem in 1 of 3 schemas\n")
    # Schemas of several tools have no draft in common.
    tools = [{"name": name, "parameters": FINE} for name in "ab"]
    (tmp_path / "b.json").write_text(json.dumps(tools))
    assert run(str(tmp_path / "b.json"))[1] == "no problems\n"


def test_a_pipe_is_read_by_its_name() -> None:
    """As of the shell's `<(...)`."""
    reading, writing = os.pipe()
    os.write(writing, json.dumps(FINE).encode())
    os.close(writing)
    assert run(f"/dev/fd/{reading}")[0] == 0
    os.close(reading)


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
    ((_, problems),) = problems_in(str(tmp_path / "a.yaml"))[1].items()
    places = {
        problem["pointer"]: (problem["line"], problem["column"]) for problem in problems
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
    relative_name = places_in_yaml(b"")
    places = [relative_name(f"/properties/{name}/default") for name in names]
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
        assert wanted == {
            file: (problem["line"], problem["column"])
            for file, (problem,) in problems_in(*sources)[1].items()
        }


def test_a_problem_of_a_table_is_at_its_line(tmp_path: Path) -> None:
    """Of a text with one row a line; GitHub shows it in the file that the user has."""
    row = {"unique_id": "x", "json_schema": _SLIP}
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(json.dumps, (FINE, None, row))))
    out = run(str(file), "--format", "github")[1]
    assert [line.partition(",title=")[0] for line in out.splitlines()] == [
        f"::error file={file},line=2,col=1",
        f"::warning file={file},line=3,col=1",
    ]


def test_json_in_a_file_of_yaml_is_read_as_json(tmp_path: Path) -> None:
    """What YAML does not take in it is no fault of it: it is JSON all the same."""
    member, wanted = {"type": "string", "default": 3}, {}
    for number, name in enumerate(["\U0001f600", "\x7f", "k" * 1_100, "\t"]):
        schema = {"type": "object", "properties": {name: member}}
        text = "\t" + json.dumps(schema).replace("\\u007f", "\x7f") + "\n"
        (tmp_path / f"{number}.yml").write_text(text)
        wanted[str(tmp_path / f"{number}.yml")] = text.index('"default"') + 1
    assert wanted == {
        file: problem["column"]
        for file, problems in problems_in(str(tmp_path))[1].items()
        for problem in problems
        if problem["code"] == "refused-default"
    }


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("required: [a\ntitle: b\n", 2, "YAML: did not find expected ',' or ']'"),
        ("properties:\n\ta: {}\n", 2, "YAML: a tab cannot indent"),
        ("type: object\n---\ntype: string\n", 2, "several YAML documents in one file"),
        ("a:\n  {{- if .b }}\n", 2, "a template is rendered first (a collection as"),
    ],
)
def test_a_broken_yaml_file_is_refused_for_the_reason_of_yaml(
    text: str, line: int, words: str, tmp_path: Path
) -> None:
    """At its place, and not as the JSON that it never was meant to be."""
    (tmp_path / "a.yaml").write_text(text)
    code, files = problems_in(str(tmp_path / "a.yaml"))
    ((problem,),) = files.values()
    assert (code, problem["code"], problem["line"]) == (1, "not_json", line)
    assert words in problem["message"]
