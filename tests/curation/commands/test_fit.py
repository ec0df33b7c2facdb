"""`csbdata fit`: the verdict by target, whole tool lists, forms for programs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
import typer
from typer.testing import CliRunner

from curation.commands.fit import fit
from curation.fit import rewriting, schema_fit
from curation.relation import comparer as relation
from curation.system.errors import BadData, BadUsage, NoInput
from curation.workers.process import Program
from curation.workers.worker import Worker
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.core.json_types import Json, UntypedJson

    Written = Callable[..., str]

APP = typer.Typer()
APP.command()(fit)
_CLOSED: dict[str, Json] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def run(*arguments: str) -> tuple[int, str]:
    """Run the command; return its exit code and stdout."""
    result = CliRunner().invoke(APP, [*arguments], catch_exceptions=False)
    return result.exit_code, result.stdout


def report_of(*arguments: str) -> UntypedJson:
    """Return what a program gets."""
    return json.loads(run(*arguments, "--format", "json")[1])


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Give what writes a value as JSON, and returns the path of its file."""

    def write(value: UntypedJson, name: str = "a.json") -> str:
        (tmp_path / name).write_text(json.dumps(value), "utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture(autouse=True, scope="module")
def _one_process() -> Iterator[None]:
    """Let all commands of this file compare schemas in one child: a start is slow."""
    with (
        Worker(Program(module="curation.relation.worker"), relation._LIMITS) as worker,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(relation, "Worker", lambda *_: worker)
        patch.setattr(relation.Comparer, "__exit__", lambda *_: None)
        yield


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    """Write a schema that both strict modes refuse, and return its file."""
    file = tmp_path / "a.schema.json"
    file.write_text(json.dumps({**_CLOSED, "maxProperties": 3}), "utf-8")
    return file


def test_the_answer_comes_first_and_names_its_sources(schema_file: Path) -> None:
    """A table of verdicts, then places, each with a number of its source."""
    code, out = run(str(schema_file))
    assert code == 1
    assert out.index("rejected, fixable") < out.index("/maxProperties")
    line = "anthropic: /maxProperties: keyword: `maxProperties` is refused [2]"
    assert line in out
    assert "[2] anthropic 2.14.0 (PyPI)" in out


def test_all_tools_of_a_list_are_one_request(written: Written) -> None:
    """One whose parameters are a text ends it, and limits count them together."""
    tools: list[Json] = [
        {"name": f"t{index}", "parameters": _CLOSED, "strict": True}
        for index in range(21)
    ]
    file = written(tools)
    code, out = run(file, "--for", "anthropic,openai-strict")
    assert code == 4
    assert f"anthropic: rejects the whole request of 21 tools: {file}: 21 tools" in out
    assert "21 tools in one request, and at most 20 are accepted" in " ".join(
        out.split()
    )
    assert "openai-strict: accepts the request with all of 21 tools" in out
    tools.append({"name": "bad", "parameters": "query: string"})
    file = written(tools)
    code, out = run(file, "--for", "openai-strict")
    assert code == 4
    assert "#bad: not a schema: neither an object nor a boolean" in " ".join(
        out.split()
    )


def test_a_rejected_request_has_three_reasons(
    tmp_path: Path, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many of its tools are refused, with their places, and 400 characters."""
    monkeypatch.chdir(tmp_path)
    tools: list[dict[str, Json]] = [
        {"name": it, "parameters": {"type": "array"}} for it in "abcd"
    ]
    written(tools, "tools.json")
    sentence = '/type: the root must be of type object, and its `type` is `"array"`'
    more = "(root): an array without `items` is refused"
    reasons = (
        f"tools.json#a: {sentence}; tools.json#a: {more}; tools.json#b: {sentence}"
    )
    line = f"openai: rejects the whole request of 4 tools, for 4 of them: {reasons}"
    assert run("tools.json", "--for", "openai")[1].splitlines()[-1] == line
    for tool, name in zip(tools, "abcd", strict=True):
        tool["name"] = name * 64
    written(tools, "tools.json")
    line = run("tools.json", "--for", "openai")[1].splitlines()[-1]
    cut = line.partition(" of them: ")[2]
    assert (len(cut), cut[-3:]) == (400, "...")


def test_a_request_may_be_of_unknown_outcome(written: Written) -> None:
    """Which is told for its target; the next one accepts it."""
    parts: Json = {"a": {**_STRING, "maxLength": 8}}
    tools: list[Json] = [{"name": "a", "parameters": {**_CLOSED, "properties": parts}}]
    file = written(tools)
    assert run(file, "--for", "mistral,openai")[1].splitlines()[-2:] == [
        "mistral: unknown whether it accepts the request with 1 tool",
        "openai: accepts the request with all of 1 tool",
    ]


def test_tools_without_a_schema_are_counted(written: Written) -> None:
    """They are in the request, but not in that of one tool by its name."""
    tools: list[Json] = [{"name": "a", "parameters": _CLOSED}, {"name": "now"}]
    file = written({"tools": tools})
    line = "openai: accepts the request with all of"
    for name, count in (("", "2 tools (1 without a schema)"), ("#a", "1 tool")):
        code, out = run(f"{file}{name}", "--for", "openai")
        assert (code, out.splitlines()[-1]) == (0, f"{line} {count}")
    (request,) = report_of(file, "--for", "openai")["requests"]
    assert (request["tools"], request["without_schema"]) == (2, ["now"])


@pytest.mark.parametrize(
    ("tool", "verdict", "reason"),
    [
        ({"name": "b c"}, "rejected", 'the name `"b c"` is refused'),
        ({"name": "a"}, "rejected", '2 tools have the name `"a"`'),
        # A tool of the service itself.
        ({"type": "web_search"}, "accepted", ""),
    ],
)
def test_names_of_tools_without_a_schema_are_judged(
    tool: Json, verdict: str, reason: str, written: Written
) -> None:
    """By characters and length, and each once."""
    tools: list[Json] = [{"name": "a", "parameters": _CLOSED}, tool, tool]
    tools = tools[: 2 if reason else 3]
    file = written({"tools": tools})
    (request,) = report_of(file, "--for", "openai")["requests"]
    answer = request["targets"]["openai"]
    assert answer["verdict"] == verdict
    assert [reason in it["sentence"] for it in answer["findings"]] == [True] * bool(
        reason
    )


def test_what_is_unknown_after_rewrites_is_told(tmp_path: Path) -> None:
    """In the line of the target, in JSON and by the exit code, rewritten or not."""
    file = tmp_path / "a.json"
    schema = {"type": "object", "properties": {"a": {**_STRING, "maxLength": 8}}}
    file.write_text(json.dumps(schema), "utf-8")
    command = (str(file), "--for", "mistral")
    code, out = run(*command)
    assert code == 3
    assert "mistral  rejected, unknown after rewrites  1 refused, 1 unknown" in out
    ending = "closed (narrower: accepts fewer values); after the fix: unknown: "
    assert f"mistral: {ending}`maxLength`" in out
    targets = report_of(*command)["schemas"][0]["targets"]
    assert targets["mistral"]["fixable"]["outcome"] == "unknown after rewrites"
    assert "mistral/unknown" in run(*command, "--format", "github")[1]
    code, out = run(*command, "--diff")
    assert code == 3
    assert out.startswith("mistral: unknown after 1 rewrite, together: narrower\n")
    assert "still unknown: /properties/a/maxLength: no source says" in out


def test_lists_in_a_folder_with_a_hash_are_requests_of_their_own(
    written: Written,
) -> None:
    """15 tools in each are not 30 in one."""
    strict: dict[str, Json] = {"parameters": _CLOSED, "strict": True}
    tools = [{"name": f"t{at}", **strict} for at in range(15)]
    names = [written(tools, name) for name in ("C#1.json", "C#2.json")]
    code, out = run(*names, "--for", "anthropic")
    assert (code, out.count("accepts the request with all of 15 tools")) == (0, 2)


@pytest.mark.slow
def test_a_very_long_tool_list_has_one_clear_line(written: Written) -> None:
    """5,000 tools are one request; parameters that are no schema are named in it."""
    odd: dict[str, Json] = {
        "text": "query: string",
        "list": [{"type": "string"}],
        "false": False,
        "remote": {**_CLOSED, "properties": {"a": {"$ref": "https://a.example/b"}}},
    }
    tools: list[Json] = [
        {"name": name, "parameters": value} for name, value in odd.items()
    ]
    tools += [{"name": f"t{index}", "parameters": _CLOSED} for index in range(4_996)]
    file = written(tools)
    code, out = run(file, "--for", "openai-strict")
    assert code == 4
    whole = " ".join(out.split())
    assert "openai-strict: rejects the whole request of 5,000 tools, for 4" in whole
    assert "more: --format json has all" in whole
    report = report_of(file, "--for", "openai-strict")
    sentences = {
        it["name"].rpartition("#")[2]: [it["fault"]]
        if "fault" in it
        else [
            finding["sentence"]
            for finding in it["targets"]["openai-strict"]["findings"]
        ]
        for it in report["schemas"]
    }
    for name, words in {
        "text": "neither an object nor a boolean",
        "list": "neither an object nor a boolean",
        "false": "a boolean for a schema is refused",
        "remote": "leads out of the schema",
    }.items():
        assert any(words in sentence for sentence in sentences[name]), sentences[name]
    (request,) = report["requests"][0]["targets"]["openai-strict"]["findings"]
    limit = "5,000 tools in one request, and at most 128 are accepted"
    assert request["sentence"] == limit


def test_of_many_schemas_is_told_how_many_are_judged(tmp_path: Path) -> None:
    """A search may take a minute in all; of a few nothing is said."""
    for count, said in ((4, False), (5, True)):
        for number in range(count):
            (tmp_path / f"{number}.json").write_text('{"type": "object"}', "utf-8")
        told = CliRunner().invoke(APP, [str(tmp_path)]).stderr
        assert ("Judging 5 ..." in told) is said


@pytest.mark.parametrize(
    "tools",
    [
        {"tools": [{"name": "t", "inputSchema": {}}]},
        [{"name": "t", "parameters": {}}],
        {"name": "t", "input_schema": {"type": "object"}, "description": "d"},
        {"name": "t", "type": "function", "parameters": {"type": "object"}},
        {"type": "function", "function": {"name": "t", "parameters": {}}},
    ],
)
def test_tools_in_a_file_are_told_by_its_content(written: Written, tools: Json) -> None:
    """In every form, in a pipe too; the targets are then those of tools."""
    file = written(tools)
    reading, writing = os.pipe()
    os.write(writing, json.dumps(tools).encode())
    os.close(writing)
    for name in (file, f"/dev/fd/{reading}"):
        assert "gemini-functions: " in run(name)[1]
    os.close(reading)


def test_programs_get_every_finding(schema_file: Path) -> None:
    """JSON has all fields, annotations the place in the text."""
    file = str(schema_file)
    report = report_of(file)
    target = report["schemas"][0]["targets"]["openai-strict"]
    assert target["verdict"] == "rejected"
    assert target["findings"][0] == {
        "pointer": "/maxProperties",
        "keyword": "maxProperties",
        "rule": "keyword",
        "effect": "refused",
        "sentence": "`maxProperties` is refused",
        "source": "openai 6.49.0 (npm), lib/transform.js: toStrictJsonSchema"
        " (2026-11-25)",
        "evidence": "sdk",
    }
    printed = run(file, "--format", "github")[1]
    found = re.findall(r"^::(\w+) .*,title=([^:]+)::", printed, re.MULTILINE)
    assert {code: level for level, code in found} == {
        "openai-strict/keyword": "error",
        "openai-strict/fixable": "notice",
        "anthropic/keyword": "error",
        "anthropic/fixable": "notice",
        "gemini/other-keyword": "warning",
    }
    column = schema_file.read_text("utf-8").index('"maxProperties"') + 1
    assert f"line=1,col={column}" in printed
    in_comments = schema_file.with_suffix(".jsonc")
    in_comments.write_text('// "a"\n{"type": "object", /* , */\n"maxProperties": 3,}')
    assert "line=3,col=1," in run(str(in_comments), "--format", "github")[1]
    in_yaml = schema_file.with_suffix(".yaml")
    in_yaml.write_text("# Of two lines.\ntype: object\nmaxProperties: 3\n")
    assert "line=3,col=1," in run(str(in_yaml), "--format", "github")[1]


_OPEN: dict[str, Json] = {"type": "object", "properties": {"a": {"type": "string"}}}


def test_safe_rewrites_are_named_and_have_an_exit_code(written: Written) -> None:
    """A fixable schema says by which rewrites: the table, JSON, GitHub's."""
    file = written(_OPEN)
    arguments = (file, "--for", "openai-strict,gemini")
    code, out = run(*arguments)
    assert code == 1
    assert "openai-strict: fixable: closed, nullable (narrower: accepts fewer" in out
    report = report_of(*arguments)
    targets = report["schemas"][0]["targets"]
    assert targets["openai-strict"]["verdict"] == "rejected"
    assert targets["openai-strict"]["fixable"]["rewrites"] == ["closed", "nullable"]
    assert targets["gemini"] | {"fixable": None} == targets["gemini"]
    found = run(*arguments, "--format", "github")[1]
    assert "title=openai-strict/fixable::fixable: closed, nullable" in found


def test_a_matrix_counts_outcomes_and_the_worst_is_the_exit_code(
    tmp_path: Path,
    written: Written,
) -> None:
    """One column a verdict; one schema that no rewrite fixes decides the code."""
    written(_OPEN, "open.json")
    several: Json = {"$ref": "https://a.example/b"}
    hard = tmp_path / "hard.json"
    hard.write_text(json.dumps(_CLOSED | {"properties": {"a": several}}), "utf-8")
    arguments = (str(tmp_path), "--for", "openai-strict")
    code, out = run(*arguments, "--format", "json")
    assert code == 4
    verdicts = [
        it["targets"]["openai-strict"]["verdict"] for it in json.loads(out)["schemas"]
    ]
    assert sorted(verdicts) == ["rejected", "rejected"]
    assert "rejected, fixable" in run(*arguments)[1]
    hard.unlink()
    assert run(*arguments)[0] == 1


_MINE = """
name = "mine"
title = "Mine"
date = "2026-11-25"
accepted = ["type", "properties", "required", "additionalProperties"]

[sources.page]
title = "A page"
date = "2026-11-25"
evidence = "documented"

[[rules]]
check = "keyword"
names = ["minimum", "maximum", "minLength", "pattern"]
effect = "refused"
source = "page"
"""


def test_of_many_schemas_30_are_shown(tmp_path: Path) -> None:
    """The worst first, which is proposed; three reasons are counted."""
    limits: dict[str, Json] = {"minimum": 1, "maximum": 2, "minLength": 1}
    for number in range(31):
        more = {**limits, "pattern": "a"} if number == 7 else {}
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps({**_CLOSED, **more}), "utf-8")
    profile = tmp_path / "mine.toml"
    profile.write_text(_MINE, "utf-8")
    words = [str(tmp_path), "--for", str(profile)]
    told = CliRunner().invoke(APP, words, catch_exceptions=False)
    lines = told.stdout.splitlines()
    head = "target   accepted   ignored in part   unknown   blocks valid values"
    assert lines[2].startswith(f" {head}   rejected   most frequent reasons")
    counts = f"mine{30:13}{0:18}{0:10}{0:22}{1:11}"
    assert lines[4] == f" {counts}   `maximum` 1, `minLength` 1, `minimum` 1 "
    assert f"{tmp_path}/7.json" in lines[9]
    assert f"fit {tmp_path}/7.json --for" in told.stderr
    assert "mine:" not in told.stderr
    assert lines[-1] == "... and 1 schema more: --format json has all"
    assert sum(".json " in line for line in lines) == 30


def test_of_many_findings_12_are_shown(schema_file: Path) -> None:
    """And of those that no source tells the first; a step names 3 places."""
    lists: dict[str, Json] = {
        f"k{at:02}": {"type": "array", "items": _STRING, "uniqueItems": True}
        for at in range(13)
    }
    names = {f"p{at}": {**_STRING, "divisibleBy": 2} for at in range(2)}
    schema = {"properties": {**lists, **names}, "required": [*lists, *names]}
    schema_file.write_text(json.dumps({**_CLOSED, **schema}), "utf-8")
    command = (str(schema_file), "--for", "openai-strict")
    lines = run(*command)[1].splitlines()
    unknown = "no source says what happens to `divisibleBy`"
    line = "openai-strict: /properties/k11/uniqueItems: keyword: `uniqueItems` is"
    assert lines[13:16] == [
        f"{line} refused [1]",
        "openai-strict: ... and 1 more: --format json has all",
        f"openai-strict: /properties/p0/divisibleBy and 1 more: {unknown}",
    ]
    places = "/properties/k00, /properties/k01, /properties/k02: Drop"
    assert f"distinct: equal (proven): {places}" in run(*command, "--diff")[1]


def test_a_search_ends_undecided_at_its_deadline(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has an exit code of its own, and nothing is tried after it."""
    monkeypatch.setattr(schema_fit, "SECONDS_IN_ALL", 0.0)
    monkeypatch.delattr(rewriting, "Rewriting")
    file = written(_OPEN)
    code, out = run(file, "--for", "openai-strict")
    assert code == 3
    assert "openai-strict: not decided within" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not valid JSON: the text is cut off"),
        (b"", "the file is empty"),
        (b"true", "the root must be of type object, and it has no `type`"),
        (b'"a"', "neither an object nor a boolean"),
        (b'{"$ref": "#"}', "the root must be of type object"),
        (b'{"not": {"$ref": "b:c"}}', "/not/$ref: unusable: no validator can use"),
        (b"[" * 100_000, "nested over 256 levels"),
        (b'{"type": "thing"}', "not a valid schema: valid under no draft"),
        (b'{"items": ' * 200 + b"{}" + b"}" * 200, "201 levels of objects and arrays"),
    ],
)
def test_bad_schemas_are_a_verdict(
    tmp_path: Path, content: bytes, message: str
) -> None:
    """Nothing ends the command, which goes on with the next schema."""
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    words = (str(file), "--for", "openai-strict")
    told = CliRunner().invoke(APP, [*words], catch_exceptions=False)
    assert told.exit_code in {1, 4, 65}
    assert message in " ".join(told.stdout.split())
    # Only what a validator can use is rewritten.
    written = CliRunner().invoke(APP, [*words, "--write", str(file)])
    is_usable = not isinstance(written.exception, BadData)
    assert is_usable or "--write FILE" not in told.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        # The likeliest target is proposed.
        ("--for opnai", "opnai: no such target: did you mean openai"),
        ("--for ,", "no target"),
        # A rewrite is of one schema for one target with rules.
        ("--diff", "1 schema and 3 targets: a rewrite is of one"),
        ("--diff --for all", r"1 schema and \d\d targets"),
        ("--diff --for xgrammar", "xgrammar: no rules to rewrite a schema by"),
        (
            "OTHER --diff --for gemini",
            r"2 schemas and 1 target: name one: csbdata fit \S+ --for gemini --w",
        ),
        (
            "--diff --for anthropic --format json",
            "--format: a rewrite is printed for people",
        ),
    ],
)
def test_wrong_usage_is_one_line(
    words: str, message: str, schema_file: Path, written: Written
) -> None:
    """With what to type."""
    other = written({}, "z.json")
    with pytest.raises(BadUsage, match=message):
        run(str(schema_file), *words.replace("OTHER", other).split())
    with pytest.raises(NoInput):
        run(str(schema_file.with_name("none.json")))


_STRING: dict[str, Json] = {"type": "string"}


@pytest.mark.parametrize(
    ("target", "schema", "verdict", "sentence"),
    table(__file__, "known_threads"),
)
def test_schemas_of_known_threads_get_the_right_sentence(
    written: Written, target: str, schema: UntypedJson, verdict: str, sentence: str
) -> None:
    """Users complained of each: a target said nothing, or refused the request."""
    file = written(schema)
    own = report_of(file, "--for", target)["schemas"][0]["targets"][target]
    assert own["verdict"] == verdict
    assert any(sentence in finding["sentence"] for finding in own["findings"])


def test_a_users_schema_needs_no_large_library(schema_file: Path) -> None:
    """The whole command imports no numpy, polars, pyarrow, matplotlib or plug-in."""
    program = (
        "import sys; sys.argv = ['csbdata', 'fit', sys.argv[1]]\n"
        "import csbdata\n"
        "try: csbdata.main()\n"
        "except SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    command = [sys.executable, "-c", program, str(schema_file)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    *_, modules = result.stdout.splitlines()
    for name in ("numpy", "polars", "pyarrow", "matplotlib", "evaluation"):
        assert f"'{name}'" not in modules


def test_a_schema_that_is_taken_starts_no_child(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rewrites are looked for only of what a target does not take, ignored or not."""
    monkeypatch.setattr(schema_fit, "_fix", lambda *_: None)
    assert run(written(_CLOSED), "--for", "openai-strict,anthropic")[0] == 0
    assert run(written({**_CLOSED, "const": {}}), "--for", "gemini")[0] == 0


def test_a_schema_is_rewritten_and_its_answers_are_mapped_back(
    tmp_path: Path, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps, their proof, both schemas and the value of an answer."""
    monkeypatch.chdir(tmp_path)
    schema = {"type": "object", "properties": {"a": {**_STRING, "format": "uri"}}}
    written(schema, "a.json")
    files = ("--write", "sent.json", "--rest", "rest.json", "--diff")
    code, out = run("a.json", "--for", "openai-strict", *files)
    assert code == 0
    assert "openai-strict: accepted after" in out
    assert "closed: narrower (proven): (root)" in out
    assert '+  "additionalProperties": false' in out
    sent = (tmp_path / "sent.json").read_text("utf-8")
    assert run("sent.json", "--for", "openai-strict")[0] == 0
    assert json.loads(sent)["required"] == ["a"]
    assert (tmp_path / "rest.json").exists()
    (tmp_path / "answer.json").write_text('{"a": null}', "utf-8")
    more = ("--for", "openai-strict", "--decode", "answer.json")
    assert json.loads(run("a.json", *more)[1]) == {}


_MAP: dict[str, Json] = {"type": "object", "additionalProperties": {"type": "integer"}}
_PAIR: dict[str, Json] = {
    "type": "array",
    "prefixItems": [_STRING, {"type": "number"}],
    "items": False,
}
_RESHAPED: dict[str, Json] = {
    **_CLOSED,
    "required": [],
    "properties": {
        "nick": _STRING,
        "map": _MAP,
        "pair": {**_PAIR, "minItems": 2},
        "age": {"type": "integer", "not": {"const": 13}},
    },
}
_NONE: dict[str, Json] = dict.fromkeys(("nick", "map", "pair", "age"))


@pytest.mark.parametrize(
    ("answer", "decoded"),
    [
        (_NONE, {}),
        (_NONE | {"map": [{"key": "a", "value": 1}]}, {"map": {"a": 1}}),
        (_NONE | {"pair": {"item1": "x", "item2": 2}}, {"pair": ["x", 2]}),
        (_NONE | {"nick": "n", "age": 12}, {"nick": "n", "age": 12}),
    ],
)
def test_an_answer_of_another_shape_is_mapped_back(
    tmp_path: Path, written: Written, answer: UntypedJson, decoded: UntypedJson
) -> None:
    """Null for what is absent, pairs for a map, an object for a tuple; from stdin."""
    file = written(_RESHAPED)
    words = [file, "--for", "openai-strict", "--decode", "-"]
    words += ["--write", str(tmp_path / "sent.json")]
    done = CliRunner().invoke(APP, words, input=json.dumps(answer))
    assert (done.exit_code, json.loads(done.stdout)) == (0, decoded)
    sent = json.loads((tmp_path / "sent.json").read_text("utf-8"))
    assert jsonschema_rs.is_valid(sent, answer)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("", "/dev/stdin: not_json: Expecting value"),
        ("Sure! {}", "/dev/stdin: not_json: Expecting value"),
        ('{"map": [{"key": "a"}]}', "the answer: objects with key and value expected"),
        ('{"pair": {"item1": "x"}}', "an object with item1, item2 expected"),
        ('{"age": 13}', "its value at /age fails `not` at /properties/age/not"),
        ("[]", "its value fails `type` at /type of the original schema"),
    ],
)
def test_an_answer_that_stands_for_no_value_is_refused(
    written: Written, answer: str, sentence: str
) -> None:
    """Not JSON, another shape, valid by the rewritten schema alone: one line each."""
    file = written(_RESHAPED)
    words = [file, "--for", "openai-strict", "--decode", "-"]
    done = CliRunner().invoke(APP, words, input=answer)
    assert isinstance(done.exception, BadData)
    assert sentence in str(done.exception)


_BODY: dict[str, Json] = {"content": {"application/json": {"schema": _OPEN}}}
_OPERATION: dict[str, Json] = {"operationId": "send", "requestBody": _BODY}
#: By file: what it holds; the places of all findings are lines of it.
_KINDS: dict[str, Json] = {
    "api.json": {
        "openapi": "3.1.0",
        "paths": {
            "/a": {"post": _OPERATION, "put": {**_OPERATION, "operationId": "b"}}
        },
    },
    "tools.json": {"tools": [{"name": it, "inputSchema": _OPEN} for it in ("b", "c")]},
    "one tool.json": {"name": "x", "input_schema": _OPEN},
    "request.json": {"text": {"format": {"type": "json_schema", "schema": _OPEN}}},
    "plain.json": _OPEN,
}
_MODELS = """
from pydantic import BaseModel
class One(BaseModel):
    a: str
class Two(BaseModel):
    b: int = 1
"""


@pytest.mark.parametrize(
    "name",
    [*_KINDS, "shop.py", "shop", "shop:Two", "shop.py#Two", "rows.jsonl", "folder"],
)
def test_what_is_proposed_next_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """For each kind of source: one of several in full, then the rewritten schema."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(_MODELS)
    for file, content in _KINDS.items():
        (tmp_path / file).write_text(json.dumps(content, indent=1))
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(_OPEN)}\n" * 2)
    (tmp_path / "folder").mkdir()
    shutil.copy("api.json", "folder")
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    words = [name, "--for", "openai-strict"]
    for _ in range(3):
        told = CliRunner().invoke(APP, words, catch_exceptions=False)
        if "--write" in words:
            break
        (line,) = re.findall(r"^  csbdata fit (.*)$", told.output, re.MULTILINE)
        words = shlex.split(line)
    assert "--write" in words
    assert told.exit_code == 0
    assert is_closed(json.loads((tmp_path / "FILE").read_text()))
    if name in _KINDS:
        notes = run(name, "--for", "openai-strict", "--format", "github")[1]
        places = re.findall(r"::error file=([^,]+),line=(\d+)", notes)
        assert {file for file, _ in places} == {name}
        lines = (tmp_path / name).read_text().splitlines()
        starts = ("{", '"schema"', '"inputSchema"', '"input_schema"', '"a"')
        assert all(lines[int(at) - 1].strip().startswith(starts) for _, at in places)


def is_closed(schema: UntypedJson) -> bool:
    """Return whether a schema is an object that allows no other properties."""
    return schema["type"] == "object" and schema["additionalProperties"] is False


def test_what_no_safe_rewrite_fits_must_be_remodelled(written: Written) -> None:
    """Its exit code is 4; by any rewrite, or for another target, it is 0."""
    text = {**_STRING, "pattern": "^\\d+$", "maxLength": 8}
    file = written({**_CLOSED, "properties": {"a": text}})
    code, out = run(file, "--for", "anthropic", "--only", "safe", "--diff")
    assert code == 4
    assert "anthropic: rejected after" in out
    assert "still refused: /properties/a/maxLength" in out
    code, out = run(file, "--diff", "--for", "openai-strict,")
    assert code == 0
    assert "still" not in out


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"name": {"type": "string"}}, "parameters": {}, "name": "t"},
        {"name": "t", "type": "object", "parameters": {"type": "object"}},
        {"name": "t", "description": "d"},
    ],
)
def test_a_schema_with_members_of_its_own_is_no_tool(
    written: Written, schema: Json
) -> None:
    """`name` and `parameters` beside keywords are members that no draft knows."""
    file = written(schema)
    assert "tools:" not in run(file, "--for", "gemini")[1]


@pytest.mark.parametrize(
    ("schema", "place"),
    table(__file__, "unusable"),
)
def test_a_schema_that_no_validator_can_use_is_told_once(
    written: Written, schema: Json, place: str
) -> None:
    """Not once a target: it has no meaning, whatever they do with its keywords."""
    file = written(schema)
    code, out = run(file, "--for", "all", "--format", "json")
    (only,) = json.loads(out)["schemas"]
    assert (code, only["targets"]) == (4, {})
    assert place in only["fault"]
    assert f"run csbdata check {file}" in only["fault"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    table(__file__, "no_schemas"),
)
def test_what_is_no_schema_is_told_by_its_kind(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    """One line, once, and not once a target."""
    (tmp_path / name).write_text(text, "utf-8")
    words = [str(tmp_path / name), "--for", "gemini,openai"]
    told = CliRunner().invoke(APP, words)
    whole = told.stdout + str(told.exception or "")
    assert " ".join(whole.split()).count(sentence) == 1
    with pytest.raises(BadData, match=name):
        run(str(tmp_path / name), "--for", "gemini", "--diff")
