"""The commands that look at a build: explain, diff and stats."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.diff import diff
from curation.commands.explain import explain
from curation.commands.stats import stats
from curation.core.benchmark import CONFIGS
from curation.core.documents import Reason
from curation.dataset.features import used
from curation.dataset.ledger import write_ledger
from curation.dataset.paper_tables import raw_figures
from curation.rules.sets import NAMES, rule_set
from curation.schema.dialects import DRAFT_07
from curation.system.errors import BadData, BadUsage, NoInput
from tests.builds import KEPT_ROWS, write_build
from tests.made import entry, record
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.records import BenchmarkRecord


HOSTILE = "\x1b\x07\u202e"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write one small build for all tests of this file."""
    return write_build(tmp_path_factory.mktemp("build"))


def run(command: Callable[..., None], *arguments: str) -> str:
    """Run a command; return its stdout, or raise what it raised."""
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_kept_record_is_told(build: Path) -> None:
    """Source, dialect, and each change with its rule, place, note and diff."""
    told = run(explain, "o13947", "--in", str(build))
    for part in (
        "Github_easy/o13947  kept, in ",
        "schemas/o13947.json",
        "draft-07, prior",
        "draft-07, 2020-12",
        "pattern: Repairs `pattern`.",
        "at /pattern  (an unescaped bracket)",
        '-"^[[]$"',
        '+"^[\\\\[]$"',
        'at /$schema\n    +"draft"',
    ):
        assert part in told


def test_a_rejection_is_told(build: Path) -> None:
    """The reason with its sentence, the rule, and what was seen."""
    told = run(explain, "o7", "--in", str(build))
    assert "Github_easy/o7  rejected: template" in told
    assert "reason      template: a template, not a schema" in told
    assert "rule        pattern: Repairs `pattern`." in told
    assert "detail      the key '${" in told


def test_all_documents_of_an_id_are_told(build: Path) -> None:
    """One id in two configs is two stories; `config/id` picks one."""
    both = run(explain, "shared", "--in", str(build))
    assert "Github_easy/shared" in both
    assert "Kubernetes/shared" in both
    one = run(explain, "Kubernetes/shared", "--in", str(build))
    assert "Github_easy/shared" not in one


def test_a_reason_lists_its_documents(build: Path) -> None:
    """A reason gives every document rejected for it, with the detail."""
    listed = run(explain, "duplicate", "--in", str(build))
    assert "duplicate: equal to an earlier record" in listed
    assert "1 document\n" in listed
    assert "o8" in listed
    assert "Github_easy/o13947" in listed


@pytest.mark.parametrize("name", ["o1394", "O13947.json", "schemas/o13947.json"])
def test_near_misses_are_offered(build: Path, name: str) -> None:
    """An unknown id ends with exit code 66 and the nearest ones."""
    with pytest.raises(NoInput, match="did you mean o13947"):
        run(explain, name, "--in", str(build))


def test_a_folder_that_is_no_build_is_a_fault(tmp_path: Path) -> None:
    """The fault names the folder and what would make it a build."""
    with pytest.raises(NoInput, match="csbdata build writes one"):
        run(explain, "o1", "--in", str(tmp_path))


def test_a_story_as_json(build: Path) -> None:
    """The same facts for programs; what was absent is null."""
    (story,) = json.loads(run(explain, "o13947", "--in", str(build), "--format=json"))
    assert story["outcome"] == "kept"
    assert story["changes"][1]["before"] is None
    assert story["record"]["unique_id"] == "o13947"


def test_hostile_text_does_not_reach_the_terminal(build: Path) -> None:
    """Names, details, pointers and values are shown with visible escapes."""
    names = ("sp_\x1b[31m\u202e", "o13947", "o7")
    told = [run(explain, name, "--in", str(build)) for name in names]
    told.append(run(explain, "template", "--in", str(build)))
    told.append(run(diff, str(build), str(build)))
    for text in told:
        assert not any(character in text for character in HOSTILE)
    assert "sp_\\u001b[31m\\u202e" in told[0]
    assert "/a\\u001b[2J" in told[1]


def test_a_build_does_not_differ_from_itself(build: Path) -> None:
    """All figures but the sizes are zero, and it says so."""
    assert "No differences." in run(diff, str(build), str(build))
    found = json.loads(run(diff, str(build), str(build), "--format", "json"))
    assert found["records"] == []
    assert found["configs"]["Github_easy"]["a"] == 2
    assert found["configs"]["Github_easy"]["changed"] == 0


def test_differences_are_counted_and_listed(build: Path, tmp_path: Path) -> None:
    """Added, removed, changed and moved records."""
    rows = [
        ("Github_easy", KEPT_ROWS[0][1]),
        ("Github_hard", record("shared2", json_schema=KEPT_ROWS[1][1].json_schema)),
        ("Kubernetes", record("shared", json_schema='{"format": "uri"}')),
        ("Glaiveai2K", record("new", json_schema='{"const": 1}')),
    ]
    other = write_build(tmp_path, rows)
    found = json.loads(run(diff, str(build), str(other), "--format", "json"))
    kinds = {
        (each["b"] or each["a"])["unique_id"]: each["kinds"]
        for each in found["records"]
    }
    assert kinds.pop("shared2")[0] == "moved_config"
    assert kinds == {
        "sp_\x1b[31m\u202e": ["removed"],
        "shared": ["changed"],
        "new": ["added"],
    }
    told = run(diff, str(build), str(other))
    assert "changed (1)" in told


def test_people_see_ten_of_a_kind(build: Path, tmp_path: Path) -> None:
    """The line below them says how many more there are."""
    added = [("Glaiveai2K", record(f"new{number}")) for number in range(13)]
    other = write_build(tmp_path, [*KEPT_ROWS, *added])
    told = run(diff, str(build), str(other))
    assert told.count("Glaiveai2K/") == 10
    assert "... and 3 more (--format json)" in told


_PERSON: dict[str, object] = {"properties": {"name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("after", "options", "relation", "code"),
    first_fast(
        3,
        [
            (_PERSON, ["--fail-on", "narrower"], "equal", 0),
            (
                {**_PERSON, "required": ["name"]},
                ["--fail-on", "narrower"],
                "narrower",
                1,
            ),
            ({}, [], "wider", 0),
            ({**_PERSON, "required": ["name"]}, ["--fail-on", "wider"], "narrower", 0),
            ({}, ["--fail-on", "wider"], "wider", 1),
        ],
    ),
)
def test_two_schemas_are_compared(
    tmp_path: Path, after: object, options: list[str], relation: str, code: int
) -> None:
    """The relation is that of the second schema, and decides the exit code."""
    paths = [tmp_path / "before.json", tmp_path / "after.json"]
    for path, schema in zip(paths, (_PERSON, after), strict=True):
        path.write_text(json.dumps(schema))
    app = typer.Typer()
    app.command()(diff)
    arguments = [*map(str, paths), "--format", "json", *options]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert (json.loads(result.stdout)["relation"], result.exit_code) == (relation, code)
    shown = CliRunner().invoke(app, [*map(str, paths), *options])
    assert shown.stdout.startswith(f"{relation}: ")


def test_parts_of_two_files_are_compared(tmp_path: Path) -> None:
    """Each is named after its file; of several schemas a name is proposed."""
    files = [tmp_path / "old tools.json", tmp_path / "new.json"]
    for file in files:
        tools = [{"name": name, "parameters": _PERSON} for name in ("a", "b")]
        file.write_text(json.dumps(tools))
    assert run(diff, *(f"{file}#b" for file in files)).startswith("equal: ")
    with pytest.raises(BadData) as caught:
        run(diff, *map(str, files))
    (name,) = shlex.split(str(caught.value).rpartition("name one: ")[2])
    assert run(diff, name, f"{files[1]}#a").startswith("equal: ")


def test_two_pipes_are_schemas_too() -> None:
    """As of the shell's `<(...)`."""
    ends = [os.pipe() for _ in range(2)]
    for _, writing in ends:
        os.write(writing, json.dumps(_PERSON).encode())
        os.close(writing)
    assert run(diff, *(f"/dev/fd/{end}" for end, _ in ends)).startswith("equal: ")
    for reading, _ in ends:
        os.close(reading)


_NO_TEXTS = ["5", "{", '{"type": 7}', '{"$ref": "https://example.com/a"}', None]


@pytest.mark.parametrize(
    "text", [*_NO_TEXTS, '{"title": "\xe9"}', '{"openapi": "3.1.0"}']
)
def test_a_file_without_a_usable_schema_is_named(
    tmp_path: Path, text: str | None
) -> None:
    """No schema, an illegal one, one that leads elsewhere or none there: one line.

    Nor are bytes that are not UTF-8 a schema, or a description of an interface.
    """
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text("{}")
    if text is not None:
        bad.write_bytes(text.encode("latin-1"))
    with pytest.raises(NoInput if text is None else BadData, match=r"bad\.json"):
        run(diff, str(good), str(bad))


def explained(*arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of the command."""
    app = typer.Typer()
    app.command()(explain)
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def test_json_holds_every_rule_and_reason() -> None:
    """The JSON object lists both sets in order, with sources, and all reasons."""
    code, output = explained("--format", "json")
    assert code == 0
    told = json.loads(output)
    assert [each["name"] for each in told["rule_sets"]] == list(NAMES)
    for each in told["rule_sets"]:
        expected = [rule.name for rule in rule_set(each["name"]).all_rules]
        assert [rule["name"] for rule in each["rules"]] == expected
        assert all(rule["source"] and rule["summary"] for rule in each["rules"])
    reasons = {each["reason"]: each for each in told["reasons"]}
    assert set(reasons) == {each.value for each in Reason}
    assert reasons["template"]["rules"]["clean"] == ["template"]
    assert all(each["explanation"] for each in reasons.values())


def test_text_names_each_rule_with_its_source() -> None:
    """For people the same stands in a table, with what each rule flags."""
    code, output = explained("clean")
    assert code == 0
    for rule in rule_set("clean").all_rules:
        assert rule.name in output
        assert rule.source in output
    assert "Flags mixed-drafts" in output
    assert "reading and limits" in output
    assert "paper: The rules" not in output


def test_one_set_can_be_asked_for() -> None:
    """With a name, only that set is listed; a wrong one is a usage error."""
    told = json.loads(explained("paper", "--format", "json")[1])
    assert [each["name"] for each in told["rule_sets"]] == ["paper"]
    with pytest.raises(BadUsage, match="did you mean paper"):
        rule_set("papr")


def test_a_rule_is_explained_in_each_set() -> None:
    """Its sentence and source, and where it stands."""
    code, output = explained("dead-keywords")
    assert code == 0
    assert "dead-keywords: a rule of clean #150" in output
    assert "Source: Comparison of the edited copies" in output
    described = json.loads(explained("dead-keywords", "--format", "json")[1])["rule"]
    assert [each["rule_set"] for each in described] == ["clean"]


def test_a_reason_is_explained_without_a_build(tmp_path: Path) -> None:
    """Its sentence and the rules that give it; a rule of that name is shown too."""
    code, output = explained("template", "--in", str(tmp_path))
    assert code == 0
    assert "template: a template, not a schema" in output
    assert "given by clean: template" in output
    assert "template: a rule of clean #100" in output
    assert "name a build with --in" in output


@pytest.mark.parametrize(
    "example", ["csbdata explain template", "csbdata explain clean --format"]
)
def test_the_help_has_an_example(example: str) -> None:
    """The help shows how the command is used."""
    assert example in explained("--help")[1]


SMALL = '{"$schema": "http://json-schema.org/draft-07/schema#", "minLength": 1}'
LARGE = '{"properties": {"a": {"format": "uri", "enum": ["x"]}}, "required": ["a"]}'


def _of(unique_id: str, schema: str, **given: str) -> BenchmarkRecord:
    """Return a record of a schema, with the features and formats that it has."""
    parsed = json.loads(schema)
    return record(
        unique_id,
        json_schema=schema,
        features=used(parsed, DRAFT_07).features,
        formats=used(parsed, DRAFT_07).formats,
        **given,
    )


ROWS = [
    ("Github_easy", _of("o1", SMALL)),
    ("Github_easy", _of("o2", LARGE)),
    ("Github_easy", _of("o3", LARGE)),
    ("mine", _of("m1", LARGE, origin="local")),
    ("Kubernetes", _of("k1", SMALL, origin="sample")),
]


def as_json(folder: Path) -> Any:  # noqa: ANN401 - a JSON value
    """Return the tables of a folder."""
    return json.loads(run(stats, str(folder), "--format", "json"))


def test_the_tables_of_a_build(tmp_path: Path) -> None:
    """Counts, measures, drafts and features come from the records' texts."""
    found = as_json(write_build(tmp_path, ROWS, []))
    assert found["table_1"] == {"Github_easy": 3, "mine": 1}
    assert found["table_8_of"] == "records"
    assert found["table_8"]["Github_easy"]["field_count"]["median"] == 5
    assert found["table_9"]["Github_easy"]["draft-07"] == 1
    assert found["table_9"]["Github_easy"]["unknown"] == 2
    assert found["figure_2"]["features"]["@minmaxLength"] == 1
    assert found["figure_2"]["formats"] == {"uri": 3}


def test_sample_rows_are_left_out_where_there_are_others(tmp_path: Path) -> None:
    """A partial build's figures are about real records; a sample's about its own."""
    (tmp_path / "mixed").mkdir()
    (tmp_path / "sample").mkdir()
    assert (
        "Kubernetes"
        not in as_json(write_build(tmp_path / "mixed", ROWS, []))["table_1"]
    )
    sample = as_json(write_build(tmp_path / "sample", ROWS[-1:], []))
    assert sample["table_1"] == {"Kubernetes": 1}


def test_totals_count_the_ten(tmp_path: Path) -> None:
    """What the user adds stands below the total, and is not in it."""
    lines = run(stats, str(write_build(tmp_path, ROWS, []))).splitlines()
    table = lines[: next(i for i, line in enumerate(lines) if "Table 8" in line)]
    total, mine = (
        next(i for i, line in enumerate(table) if line.split()[:1] == [word])
        for word in ("total", "mine")
    )
    assert total < mine
    assert table[total].split() == ["total", "3"]
    (tmp_path / "other").mkdir()
    alone = [row for row in ROWS if row[0] == "mine"]
    assert "total" not in run(stats, str(write_build(tmp_path / "other", alone, [])))


def test_raw_files_are_measured_where_the_ledger_knows_them(tmp_path: Path) -> None:
    """Table 8 is of the raw files then, and so is Table 9 for Kubernetes."""
    folder = write_build(tmp_path, [*ROWS[:2], ("Kubernetes", ROWS[4][1])], [])
    figures = asdict(raw_figures({"a": {"b": {"c": {}}}}))
    entries = [
        replace(entry(each, config), **figures)
        for config, each in (*ROWS[:2], ("Kubernetes", record("k1")))
    ]
    gone = replace(entries[-1], unique_id="k2", outcome="empty", split="")
    write_ledger([*entries, gone], folder)
    found = as_json(folder)
    assert found["table_8_of"] == "raw files"
    assert found["table_8"]["Github_easy"]["schema_depth"]["most"] == 4
    assert found["table_9"]["Kubernetes"]["unknown"] == 2


def test_hostile_formats_are_shown_harmlessly(tmp_path: Path) -> None:
    """A format is any text: no escape reaches the terminal, no name fills the page."""
    names = ["\x1b[31m", "\u202e", "x" * 10_000, "\u6f22\n$a_b$", "[bold]"]
    rows = [
        ("mine", _of(f"m{at}", json.dumps({"format": name})))
        for at, name in enumerate(names)
    ]
    folder = write_build(tmp_path, rows, [])
    out = run(stats, str(folder))
    assert not any(character in out for character in "\x1b\u202e")
    assert "[bold]" in out
    assert max(map(len, out.splitlines())) < 200


def test_a_folder_without_schemas_is_a_fault(tmp_path: Path) -> None:
    """Exit code 66."""
    with pytest.raises(NoInput):
        run(stats, str(tmp_path))


@pytest.mark.parametrize("width", first_fast(1, ["80", "200"]))
def test_an_edition_is_one_screen_that_names_every_other_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    """At most 40 lines; the rest comes by name, or all at once."""
    monkeypatch.setenv("COLUMNS", width)
    records = [record(config, json_schema=LARGE) for config in CONFIGS]
    folder = str(write_build(tmp_path, [*zip(CONFIGS, records, strict=True)], []))
    app = typer.Typer()
    app.command()(stats)
    answer = CliRunner().invoke(app, [folder])
    assert len(answer.output.splitlines()) <= 40
    *_, names = answer.stderr.splitlines()
    hidden = names.split(", ")
    assert "table-9" in hidden
    every = run(stats, folder, "--all")
    for name in hidden:
        shown = run(stats, folder, "--table", name)
        assert shown in every
        assert shown.splitlines()[0] not in answer.stdout
    with pytest.raises(BadUsage, match="no table 'x'"):
        run(stats, folder, "--table", "x")
