"""The dataset card: its metadata, its body, and hostile names in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pytest
from huggingface_hub import DatasetCard
from hypothesis import example, given
from hypothesis import strategies as st

import csbdata
from curation.core.benchmark import CANARY, SPLITS
from curation.core.documents import Origin, Reason
from curation.dataset.content_digest import DIGESTS, content_digest, record_digests
from curation.dataset.edition_statistics import EditionStatistics
from curation.dataset.editions import open_edition
from curation.dataset.ledger import write_ledger
from curation.dataset.parquet import COLUMNS
from curation.download.pins import load_pins
from curation.packaging import derived_files as module
from curation.packaging.card import (
    DETAILS,
    FILE,
    FITS_PICTURE,
    CardContents,
    card_columns,
    hub_configs,
    write_card,
)
from curation.packaging.counts import count_rows, data_files
from curation.packaging.derived_files import results_text
from curation.packaging.licences import (
    FOLDER,
    OWN,
    identifiers,
    shipped_texts,
    write_texts,
)
from curation.packaging.manifest import NAME, PARTIAL_NAME, Pin
from curation.packaging.markdown import (
    anchor,
    code,
    escape_markdown,
    link,
    sentence,
)
from curation.system.errors import NoInput
from tests.builds import write_config
from tests.made import (
    change,
    count_entries,
    entry,
    facts,
    in_split,
    record,
    rejected,
)
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import UntypedJson
    from curation.core.records import BenchmarkRecord
    from curation.dataset.ledger import LedgerRow


ROWS = [
    *(("Github_easy", in_split(split)) for split in SPLITS),
    ("Kubernetes", in_split("test", "k")),
    ("mine", in_split("train", "m")),
]
GONE = [rejected("kb_1", "Kubernetes", Reason.TEMPLATE, rule="pattern")]


def _entries() -> list[LedgerRow]:
    kept = [
        entry(
            each,
            config,
            changes=(change(),) if config == "Kubernetes" else (),
            origin=Origin.LOCAL if config == "mine" else Origin.UPSTREAM,
        )
        for config, each in ROWS
    ]
    return [*kept, *GONE]


def contents(
    folder: Path, entries: Sequence[LedgerRow] | None = None, **given: UntypedJson
) -> CardContents:
    """Write rows and ledger of some entries, and return what the folder holds."""
    listed = list(_entries() if entries is None else entries)
    known, configs = facts(**{"extras": ["mine"], **given}), count_entries(listed)
    for config in configs:
        splits: dict[str, list[BenchmarkRecord]] = {split: [] for split in SPLITS}
        for one in listed:
            if one.config == config and one.split:
                splits[one.split].append(record(one.unique_id, licence=one.licence))
        write_config(folder, config, splits)
    write_ledger(listed, folder)
    columns = pl.DataFrame(COLUMNS.empty_table()).schema
    rows = pl.DataFrame(schema={"config": pl.String, "split": pl.String, **columns})
    with suppress(NoInput):  # none is kept
        rows = open_edition(str(folder)).rows
    return CardContents(
        facts=known,
        configs=configs,
        counts=count_rows(folder, rows, [*configs]),
        files=data_files(folder, configs, known.extras),
        statistics=EditionStatistics(),
    )


def body(text: str) -> str:
    """Return the card without its metadata."""
    return text.split("\n---\n", 1)[1]


def card_text(made: CardContents, file: str = FILE) -> str:
    """Return README.md, or another written page."""
    with TemporaryDirectory() as folder:
        write_card(made, Path(folder))
        return Path(folder, file).read_text("utf-8")


def details(made: CardContents) -> str:
    """Return the page behind the card."""
    return card_text(made, DETAILS)


def test_the_hub_reads_the_metadata_as_meant(tmp_path: Path) -> None:
    """huggingface_hub's own model of a card reads the head, configs included."""
    made = contents(tmp_path)
    read = DatasetCard(card_text(made)).data
    assert read.get("configs") == hub_configs(made.files)
    assert read.get("license_link") == "LICENSE"


def test_extras_are_outside_the_default_config(tmp_path: Path) -> None:
    """`default` holds every config's files but the extras'."""
    configs = hub_configs(contents(tmp_path).files)
    names = [each["config_name"] for each in configs]
    records = ["default", "Github_easy", "Kubernetes", "mine"]
    assert names == [*records, "ledger", "ledger-changes"]
    assert "mine" not in str(configs[0])
    assert [each for each in configs if each.get("default")] == configs[:1]


def test_splits_without_rows_are_not_announced(tmp_path: Path) -> None:
    """`datasets` cannot open an empty split, so the metadata does not name one."""
    configs: UntypedJson = hub_configs(contents(tmp_path).files)
    splits = [each["split"] for each in configs[2]["data_files"]]
    assert splits == ["test"]


def test_a_config_without_records_is_not_announced(tmp_path: Path) -> None:
    """A config all of whose documents were rejected is in the table only."""
    made = contents(tmp_path, [rejected("o1", "Snowplow", Reason.EMPTY)])
    assert made.files.keys() == {"ledger"}
    assert "| `Snowplow` | upstream | 403 | 1 | 0 |" in details(made)


def test_a_record_of_its_own_kind_is_and_several_are(tmp_path: Path) -> None:
    """The verb after the number of records with an answer agrees with it."""
    made = contents(tmp_path)
    numbers = {"witnesses": 8, "unrefused": 8, "near_misses": 30, "judged_by_both": 38}
    numbers["disputed"] = 0
    counts = {"records": {"satisfiable": 2, "unknown": 1}, "missing": {}, **numbers}
    text = details(made._replace(counts={**made.counts, "instances": counts}))
    assert "Of 3 records 2 are `satisfiable`, 1 is `unknown`:" in text


def test_a_partial_build_says_so(tmp_path: Path) -> None:
    """The name and one plain sentence say that a part is missing."""
    made = contents(tmp_path / "part", partial=["Kubernetes is not complete."])
    assert f"# {PARTIAL_NAME}\n\nThis build is partial: Kubernetes is" in card_text(
        made
    )
    assert DatasetCard(card_text(made)).data.get("pretty_name") == PARTIAL_NAME
    whole = contents(tmp_path / "whole")
    assert "partial" not in card_text(whole)
    assert DatasetCard(card_text(whole)).data.get("pretty_name") == NAME


def test_totals_leave_sample_rows_out(tmp_path: Path) -> None:
    """The last row of the table counts no row of the embedded sample."""
    sample = entry(record("kb_7"), "Kubernetes", origin=Origin.SAMPLE)
    text = details(contents(tmp_path, [*_entries()[:3], sample]))
    assert "| all but the sample's | | | 3 | 3 | |" in text


def test_every_reason_is_explained(tmp_path: Path) -> None:
    """The glossary is that of the enum."""
    text = details(contents(tmp_path))
    assert all(f"| `{reason.value}` |" in text for reason in Reason)
    assert "| `template` | a template" in text


def test_every_column_has_a_meaning() -> None:
    """Those of records are the fields of `BenchmarkRecord`, with their comments."""
    tables = card_columns()
    assert [name for name, _, _ in tables["Records"]] == COLUMNS.names
    assert len(tables) == 6
    assert all(meaning for table in tables.values() for _, _, meaning in table)


def test_the_canary_is_in_the_card_and_not_in_a_schema(tmp_path: Path) -> None:
    """The page has the GUID once; the prompt gives a part of it only."""
    text = details(contents(tmp_path))
    assert text.count(CANARY) == 1
    assert CANARY[:9] in text.replace(CANARY, "")


def test_a_card_without_records_and_sources_can_be_written(tmp_path: Path) -> None:
    """Nothing kept, nothing pinned: the card still says what became of what."""
    gone = [rejected("o1", "Snowplow", Reason.EMPTY)]
    text = details(contents(tmp_path, gone, pins=[]))
    assert "There is no record to count." in text


@pytest.mark.parametrize("rules", ["clean", "paper"])
def test_each_rule_set_tells_how_it_differs(tmp_path: Path, rules: str) -> None:
    """Both compare with the published sizes; only `clean` departs from its rules."""
    text = details(contents(tmp_path, rules=rules))
    assert "| `Github_easy` | upstream | 1,943 | 3 | 3 |" in text
    assert ("The rule set `paper` of csbdata follows" in text) == (rules == "clean")


def test_licence_texts_come_with_the_records(tmp_path: Path) -> None:
    """Every licence that a record or an archive names has its text in the folder."""
    pins = [
        Pin(
            source="github",
            archive="a",
            origin=Origin.UPSTREAM,
            commit="0" * 40,
            sha256="2",
            licence="GPL-3.0-only",
            attribution="Someone (some-where)",
        ),
    ]
    made = _entries()
    made[0] = entry(ROWS[0][1], "Github_easy", licence="(MIT OR NotKnown-1.0)")
    known = contents(tmp_path, made, pins=pins)
    written = write_card(known, tmp_path)
    texts = {each.name for each in (tmp_path / FOLDER).iterdir()}
    assert texts == {"Apache-2.0.txt", "GPL-3.0-only.txt", "MIT.txt"}
    assert {f"{FOLDER}/{each}" for each in texts} <= set(written)
    assert "NotKnown-1.0: not shipped" in (tmp_path / "LICENSE").read_text()
    assert "\\(MIT OR NotKnown-1.0\\) 1, NOASSERTION 4" in (
        (tmp_path / DETAILS).read_text()
    )


HOSTILE = [
    "<script>alert(1)</script>",
    "a | b",
    "`code` ![x](javascript:y)",
    "\x1b[31mred",
    "\u202egnp.exe",
    "line\nbreak",
    "{{ summary }}",
    "=cmd|' /C calc'!A0",
    "see https://evil.example and www.evil.example",
]


@pytest.mark.parametrize("name", first_fast(3, HOSTILE))
def test_hostile_names_stay_in_their_cell(tmp_path: Path, name: str) -> None:
    """A name cannot end its table cell, become HTML or reach a terminal."""
    pin = Pin(
        source="github",
        archive=name,
        origin=Origin.UPSTREAM,
        commit=name,
        sha256="",
        licence="MIT",
        attribution=name,
        url=name,
    )
    entries = [entry(record("o1"), "Snowplow", commit=name, licence=name)]
    made = contents(tmp_path, entries, partial=[name], pins=[pin])
    head, text = card_text(made), details(made)
    (row,) = [line for line in text.splitlines() if line.startswith("| github")]
    assert row.replace("\\|", "").count("|") == 10
    code = "`<script>alert(1)</script>`"
    for page in (text, body(head)):
        assert "<script>" not in page.replace(code, "")
        assert not any(character in page for character in "\x1b\u202e")
        plain = page.replace(f"`{name}`", "")
        assert "https://evil" not in plain
        assert "www.evil" not in plain
    assert DatasetCard(head).data.get("pretty_name") == PARTIAL_NAME


def test_the_snippet_names_the_place_where_it_is_published(tmp_path: Path) -> None:
    """Without one it is the folder."""
    known = contents(tmp_path)
    assert 'load_dataset(os.getcwd(), "Github_easy"' in card_text(known)
    published = msgspec.structs.replace(known.facts, repository="some/where")
    text = card_text(known._replace(facts=published))
    assert 'load_dataset("some/where", "Github_easy"' in text


#: A stranger's questions, and what answers each.
QUESTIONS = {
    "How do I load it?": "rows = load_dataset(",
    "Which config do I want?": "| config | train | val | test | effective |",
    "What is a row?": '"json_schema": ',
    "What changed?": 'revision="v1"',
    "May I use it?": "the column `licence` names",
}


def test_the_card_answers_a_strangers_questions_in_a_hundred_lines(
    sample_build: Path,
) -> None:
    """At most 200 lines, with a row, a witness and a near miss; links lead on."""
    card = (sample_build / "README.md").read_text()
    lines = card.splitlines()
    assert len(lines) <= 200
    first = "\n".join(lines[:100])
    for question, answer in QUESTIONS.items():
        assert answer in first.partition(f"## {question}")[2]
    (picture,) = re.findall(r"!\[.*\]\((.*)\)", card)
    assert (sample_build / picture).is_file()
    row, listed = re.findall(r"```json\n(.*?)```", first, re.DOTALL)
    schema = json.loads(json.loads(row)["json_schema"])
    witness, near_miss = (json.loads(line) for line in listed.splitlines())
    assert csbdata.judge(witness["text"], schema).valid
    assert not csbdata.judge(near_miss["text"], schema).valid
    assert near_miss["keyword"] != "type"
    titles = re.findall("^## (.*)$", (sample_build / DETAILS).read_text(), re.MULTILINE)
    anchors = set(re.findall(r"\(DETAILS\.md#([^)]*)\)", card))
    assert anchors == {anchor(title) for title in titles}


@pytest.mark.slow
def test_the_snippet_of_the_card_runs(sample_build: Path, tmp_path: Path) -> None:
    """As it is typed, in the folder, without a network."""
    (snippet,) = re.findall(
        r"```python\n(import.*?)```",
        (sample_build / "README.md").read_text(),
        re.DOTALL,
    )
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=sample_build,
        env={"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"properties"' in done.stdout
    assert done.stdout.rstrip().endswith("True")


def test_the_row_shown_cannot_end_its_fence(tmp_path: Path) -> None:
    """Foreign text in it is ASCII without a back quote, and still the same JSON."""
    schema = json.dumps(
        {"title": "``` \u202e \x1b[31m" + "x" * 200}, ensure_ascii=False
    )
    shown = replace(in_split("test"), json_schema=schema)
    write_config(tmp_path, "Snowplow", {"test": [shown]})
    write_ledger([], tmp_path)
    rows = open_edition(str(tmp_path)).rows
    text = count_rows(tmp_path, rows, ["Snowplow"])["example"]
    assert text.isascii()
    assert "`" not in text
    assert json.loads(text)["json_schema"] == schema


@given(st.text())
def test_text_holds_no_markup(value: str) -> None:
    """No bare bracket, backtick, pipe, angle, line end or control character is left."""
    escaped = escape_markdown(value)
    bare = re.sub(r"\\[\\`*_{}\[\]()#+!|~$]", "", escaped)
    assert not set(bare) & set("`*_[]()|<>\n\r\x1b")


@given(st.text(min_size=1))
@example("a`b``c")
def test_a_code_span_ends_where_it_shall(value: str) -> None:
    """The fence is longer than any run of backticks inside."""
    span = code(value)
    fence = re.match("`+", span)
    assert fence is not None
    inside = span[len(fence[0]) : -len(fence[0])]
    runs = {len(run) for run in re.findall("`+", inside)}
    assert len(fence[0]) not in runs
    assert "|" not in inside.replace("\\|", "")


@given(st.lists(st.sampled_from(["`", "a", " ", "|", "<b>", "\\", "*", "\n", "["])))
def test_of_a_sentence_only_code_spans_are_markup(parts: list[str]) -> None:
    """Every span is a single backtick, some text without one, and a backtick."""
    escaped = sentence("".join(parts))
    bare = re.sub(r"\\[\\`*_{}\[\]()#+!|~$]|`[^`]+`", "", escaped)
    assert not set(bare) & set("`*_[]()|<>\n")


def test_a_command_in_a_sentence_is_a_code_span() -> None:
    """What stands around it is text, whoever wrote it."""
    found = sentence("2 of 5_000; `csbdata fetch *` gets <b>")
    assert found == r"2 of 5\_000; `csbdata fetch *` gets &lt;b&gt;"


def test_only_plain_addresses_become_links() -> None:
    """Whatever is no plain https address is left out."""
    home = "https://github.com/owner/name"
    others = ("javascript:alert(1)", "https://x> <b>", "http://plain.example", "a|b")
    assert [*map(link, (home, *others, ""))] == [f"<{home}>", *[""] * 5]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", ["MIT"]),
        ("NOASSERTION", []),
        ("(MIT OR Apache-2.0) AND NOASSERTION", ["MIT", "Apache-2.0"]),
        (
            "GPL-2.0-only WITH Classpath-exception-2.0",
            ["GPL-2.0-only", "Classpath-exception-2.0"],
        ),
        ("", []),
    ],
)
def test_an_expression_names_its_licences(expression: str, expected: list[str]) -> None:
    """Operators, brackets and SPDX's word for "nobody says" are no licences."""
    assert identifiers(expression) == expected


def test_every_pinned_licence_has_its_text() -> None:
    """A new source whose licence has no text here is noticed."""
    pins = load_pins().values()
    named = {
        one
        for pin in pins
        for expression in (pin.licence, pin.file_licence)
        for one in identifiers(expression)
    }
    assert named
    assert {*named, OWN} <= shipped_texts().keys()


@pytest.mark.parametrize("name", ["../README.md", "..", "", "/etc/passwd", "MIT.txt"])
def test_a_name_that_is_no_licence_leads_nowhere(tmp_path: Path, name: str) -> None:
    """A row's licence is foreign text: it never becomes a path."""
    assert write_texts([name], tmp_path) == {}
    assert list((tmp_path / "LICENSES").iterdir()) == []


_RECORD = {"unique_id": "o1", "json_schema": "{}", "dialect": "2020-12", "weight": 1.0}
_INSTANCE = {
    "unique_id": "o1",
    "text": "1",
    "valid": True,
    "kind": "minimal",
    "keyword": None,
    "seed": 1,
}


def _dataset(
    folder: Path, record: dict[str, object], instance: dict[str, object]
) -> str:
    """Write a dataset of one record and one instance; return its digest."""
    for name, row in (
        ("Github_easy/train-0.parquet", {**_RECORD, **record}),
        ("instances/Github_easy/train-0.parquet", {**_INSTANCE, **instance}),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame([row]).write_parquet(folder / name)
    return content_digest(record_digests(folder))


@pytest.mark.parametrize(
    ("record", "instance"),
    [
        ({"unique_id": "o2"}, {}),
        ({"json_schema": "{} "}, {}),
        ({}, {"text": "2"}),
        ({}, {"valid": False}),
    ],
)
def test_the_digest_is_of_content_alone(
    tmp_path: Path, record: dict[str, object], instance: dict[str, object]
) -> None:
    """Id, schema, text and label decide it; a computed column does not."""
    first = _dataset(tmp_path, {}, {})
    assert _dataset(tmp_path, {"weight": 0.5}, {"seed": 2}) == first
    assert _dataset(tmp_path, record, instance) != first


@pytest.mark.parametrize(
    ("changed", "shown"), [(0, "2026.11"), (1, "2026.11"), (2, None)]
)
def test_results_are_shown_where_nine_tenths_are_as_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: int, shown: str | None
) -> None:
    """Of the newest edition of which they are; the card says how many have changed."""
    build, results = tmp_path / "build", tmp_path / "results"
    _dataset(build, {}, {})
    records = [{**_RECORD, "unique_id": f"o{number}"} for number in range(10)]
    table = build / "Github_easy/train-0.parquet"
    pl.DataFrame(records).write_parquet(table)
    measured = record_digests(build)
    other = measured.with_columns(digest=pl.lit("other"))
    for edition, digests in (
        *(("2026.10", measured), ("2026.11", measured), ("2026.12", other)),
    ):
        (results / edition).mkdir(parents=True)
        (results / edition / "table.md").write_text("engines\n")
        (results / edition / "index.json").write_text("{}")
        digests.write_parquet(results / edition / DIGESTS)
    for row in records[:changed]:
        row["json_schema"] = '{"a": 1}'
    pl.DataFrame(records).write_parquet(table)
    monkeypatch.setattr(module, "results_folder", lambda: results)
    found = module.measured_edition(build)
    assert (found.folder.name if found else None) == shown
    if found:
        assert (found.records, found.unchanged) == (10, 10 - changed)
        says = f"{changed} of the 10 records that were measured" in results_text(found)
        assert says == bool(changed)


def test_the_card_shows_what_targets_take_where_an_edition_says_it(
    tmp_path: Path,
) -> None:
    """After the table of engines, with its picture; an edition without it has one."""
    (tmp_path / "table.md").write_text("engines\n")
    measured = module.MeasuredEdition(tmp_path, records=1, unchanged=1)
    assert results_text(measured) == "engines\n"
    (tmp_path / "fits.md").write_text("targets\n")
    assert re.fullmatch(
        rf"engines\n\ntargets\n\n!\[.*\]\({FITS_PICTURE}\)\n", results_text(measured)
    )
