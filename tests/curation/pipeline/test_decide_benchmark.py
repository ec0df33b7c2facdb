"""What is decided of records together, of documents, and of those opted out."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.documents import Origin, Provenance, RawDocument, Reason
from curation.core.rule import Context, Rule
from curation.dataset.decisions import ResultFile, SourceDocument
from curation.dataset.ledger import open_ledger
from curation.dataset.summary import Pin
from curation.download.folder_files import FolderFiles
from curation.pipeline.build import build, write_notices
from curation.pipeline.inputs import BuildInput
from curation.pipeline.process_document import (
    BuildSetup,
    DocumentRequest,
    LibraryFiles,
    apply_rules,
    request_of,
)
from curation.pipeline.read_batches import (
    NO_RULE,
    OptOut,
    find_rule_faults,
    read_opt_outs,
    setup_of,
)
from curation.pipeline.steps import decide_benchmark, in_clusters
from curation.references.library import NO_LIBRARY
from curation.rules.sets import CLEAN, rule_set
from curation.sources.base import Reading
from curation.sources.registry import source_named
from curation.system.errors import BadConfiguration
from curation.system.progress import Quiet
from tests.builds import write_build
from tests.curation.pipeline.test_build import request_for
from tests.curation.rules.documents_made import CONTEXT, PROVENANCE, raw_document
from tests.made import rejected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.documents import Document
    from curation.core.json_types import UntypedJson
    from curation.core.records import BenchmarkRecord


#: Forty properties, a few of which differ: some pairs are near-duplicates.
SCHEMAS = st.lists(
    st.sets(st.integers(40, 46), max_size=3).map(
        lambda more: {
            "type": "object",
            "properties": {f"p{at}": {"type": "string"} for at in (*range(40), *more)},
        }
    ),
    min_size=1,
    max_size=5,
)


def _records(
    schemas: Sequence[UntypedJson], rules_name: str = "clean"
) -> dict[str, BenchmarkRecord]:
    """Return the records of Snowplow documents that hold these schemas, by name."""
    rules, context = rule_set(rules_name), Context(library=NO_LIBRARY)
    documents, results = [], []
    for position, schema in enumerate(schemas):
        raw = RawDocument(
            config="Snowplow",
            unique_id=f"made-{position}",
            provenance=Provenance(
                source="snowplow",
                path=f"{position}.json",
                commit="c",
                licence="MIT",
                origin=Origin.UPSTREAM,
            ),
            content=json.dumps(schema).encode(),
        )
        digest = sha256(raw.content).hexdigest()
        documents.append(
            SourceDocument(raw.config, raw.unique_id, raw.provenance, digest, position)
        )
        results.append(apply_rules(raw, rules, context))
    sources = {"snowplow": source_named("snowplow")}
    with TemporaryDirectory() as name, ResultFile(Path(name)) as file:
        held = {
            place: file.add(msgspec.json.encode(result))
            for place, result in enumerate(results)
        }
        decided = in_clusters(decide_benchmark(documents, held, rules, sources))
        return {one.source.unique_id: one.record() for one in decided if one.kept}


@given(schemas=SCHEMAS, others=SCHEMAS)
@settings(max_examples=10)
def test_others_change_no_column_but_cluster_and_weight(
    schemas: list[UntypedJson], others: list[UntypedJson]
) -> None:
    """A record is a function of its document; its cluster alone knows of others."""
    alone, together = _records(schemas), _records([*schemas, *others])
    for name, record in alone.items():
        both = together[name]
        assert replace(both, cluster=record.cluster, weight=record.weight) == record
        assert together[name].cluster <= record.cluster


def test_a_record_weighs_one_over_its_cluster() -> None:
    """Two near-duplicates weigh half each, and a stranger to both weighs one."""
    one = {"type": "object", "properties": {f"p{at}": {"const": 1} for at in range(40)}}
    schemas = [one, {**one, "required": ["p0"]}, {"type": "string", "minLength": 3}]
    weights = [record.weight for record in _records(schemas).values()]
    assert sorted(weights) == [0.5, 0.5, 1.0]


def test_others_do_change_a_cluster() -> None:
    """It has the name of its smallest digest, whichever of the two that is."""
    one = {"type": "object", "properties": {f"p{at}": {"const": 1} for at in range(40)}}
    other = {**one, "required": ["p0"]}
    names = {
        record.cluster
        for schemas in ([one], [other], [one, other])
        for record in _records(schemas).values()
    }
    both = _records([one, other]).values()
    assert len(names) == 2
    assert {record.cluster for record in both} == {min(names)}


def test_paper_draws_each_record_alone() -> None:
    """By the beginning of its skeleton's digest, as the published edition did."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    (paper,) = _records([schema], "paper").values()
    (clean,) = _records([schema]).values()
    assert paper.split_key == paper.skeleton_sha256[:16]
    assert clean.split_key != clean.skeleton_sha256[:16]


@given(st.binary(), st.none() | st.just("https://schemas.example/"))
def test_a_document_arrives_with_every_byte(content: bytes, base: str | None) -> None:
    """Its bytes need not be UTF-8, and its origin is an `Origin` again."""
    provenance = replace(PROVENANCE, origin=Origin.SAMPLE)
    raw = raw_document(content, provenance=provenance, base_uri=base)
    line = msgspec.json.encode(request_of(raw, 3))
    request = msgspec.json.decode(line, type=DocumentRequest)
    assert (request.input, request.raw_document()) == (3, raw)
    assert request.provenance.origin is Origin.SAMPLE


def test_a_setup_arrives_as_it_was() -> None:
    """The rule set by name, the path of modules, and a library for each input."""
    setup = BuildSetup(
        rules="clean",
        libraries=(LibraryFiles(files="/packs/x", uris={"https://a/b": "b.json"}),),
    )
    line = msgspec.json.encode(setup)
    assert msgspec.json.decode(line, type=BuildSetup) == setup


def _raise(_document: Document, _context: Context) -> NoReturn:
    raise ZeroDivisionError("a slip")


SLIP = Rule(name="slip", summary="Raises.", source="a test", apply=_raise)


def test_what_a_rule_raises_names_the_rule() -> None:
    """The document is `crashed`, by that rule, with what it raised and where."""
    rules = replace(CLEAN, rules=(SLIP,))
    result = apply_rules(raw_document(), rules, CONTEXT)
    assert result.rejected is not None
    assert (result.rejected.reason, result.rejected.rule) == (Reason.CRASHED, "slip")
    assert (
        f"ZeroDivisionError: a slip ({Path(__file__).name}:" in result.rejected.detail
    )


def test_memory_that_runs_out_is_no_slip_of_the_rule() -> None:
    """Its outcome has a name of its own."""

    def take_all(_document: Document, _context: Context) -> NoReturn:
        raise MemoryError

    rules = replace(CLEAN, rules=(replace(SLIP, apply=take_all),))
    with pytest.raises(MemoryError):
        apply_rules(raw_document(), rules, CONTEXT)


def test_the_rules_that_raised_are_found_again_in_the_build(tmp_path: Path) -> None:
    """Even where the build was there already; a process that died is none of them."""
    crashed = Reason.CRASHED
    gone = [
        rejected("a", "Snowplow", crashed, rule="slip", detail="ValueError: 1"),
        rejected("b", "Snowplow", crashed, rule="slip", detail="ValueError: 2"),
        rejected("c", "Snowplow", crashed, rule=NO_RULE, detail="SIGSEGV"),
        rejected("d", "Snowplow", Reason.EMPTY, rule="slip", detail=""),
    ]
    (fault,) = find_rule_faults(write_build(tmp_path, gone=gone))
    assert str(fault) == (
        "rule slip raised for 2 documents, first Snowplow/a (ValueError: 1)"
    )


DAY = dt.date(2026, 11, 22)
RAW = raw_document(
    config="Github",
    unique_id="o7",
    provenance=replace(PROVENANCE, source="github", path="corpus/pp_7.json"),
)
HOME = "https://github.com/Owner/Corpus"


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        (OptOut(day=DAY, id="Github_easy/o7"), True),
        (OptOut(day=DAY, id="Github_ultra/o7"), True),
        (OptOut(day=DAY, id="Github/o7"), True),
        (OptOut(day=DAY, id="Snowplow/o7"), False),
        (OptOut(day=DAY, id="Github_easy/o77"), False),
        (OptOut(day=DAY, path="corpus/pp_7.json"), True),
        (OptOut(day=DAY, path="corpus/*.json"), True),
        (OptOut(day=DAY, path="pp_7.json"), False),
        (OptOut(day=DAY, repository="owner/corpus"), True),
        (OptOut(day=DAY, repository="owner/corp"), False),
    ],
)
def test_a_request_names_a_record_a_path_or_a_repository(
    request_: OptOut, *, named: bool
) -> None:
    """By id whatever its subset came to be, by a pattern, or all of an archive."""
    assert request_.names(RAW, HOME) is named


def test_a_repository_is_known_by_the_address_of_a_file() -> None:
    """What SchemaStore links to is in no archive: its path is its URL."""
    url = "https://raw.githubusercontent.com/Some/Thing/main/schema.json"
    linked = replace(RAW, provenance=replace(RAW.provenance, path=url))
    assert OptOut(day=DAY, repository="some/thing").names(linked, HOME)
    assert not OptOut(day=DAY, repository="some/thin").names(linked, HOME)


def test_a_request_by_repository_meets_what_a_corpus_has_of_it() -> None:
    """The original's owner need not know in which collection a copy stands."""
    home = "https://github.com/Some/Thing"
    copied = replace(RAW, provenance=replace(RAW.provenance, original_repository=home))
    assert OptOut(day=DAY, repository="some/thing").names(copied, HOME)
    assert not OptOut(day=DAY, repository="some/thin").names(copied, HOME)


@pytest.mark.parametrize(
    "text",
    [
        "opt_out = 1",
        "[[opt_out]]\nid = 'a/b'",
        "[[opt_out]]\nday = 2026-11-22",
        "[[opt_out]]\nday = 2026-11-22\nid = 'b'",
        "[[opt_out]]\nday = 2026-11-22\nid = 'a/b'\npath = 'c'",
        "[[opt_out]]\nday = 2026-11-22\nname = 'a/b'",
        "[[",
    ],
)
def test_a_list_that_could_be_misread_is_refused(tmp_path: Path, text: str) -> None:
    """A slip must not put a schema back without anybody noticing."""
    path = tmp_path / "opt_out.toml"
    path.write_text(text)
    with pytest.raises(BadConfiguration, match="opt_out"):
        read_opt_outs(path)


def test_the_list_of_this_project_can_be_read() -> None:
    """Every build reads it."""
    assert isinstance(read_opt_outs(), list)


@pytest.mark.slow
def test_no_build_has_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its ledger row says so and holds no text of it; everything else is as before."""
    before = build(request_for(tmp_path / "one"), Quiet())
    kept = open_ledger(before.request.out).entries(config="Snowplow", outcome="kept")
    wanted = OptOut(day=DAY, id=f"Snowplow/{kept[0].unique_id}")
    monkeypatch.setattr("curation.pipeline.steps.read_opt_outs", lambda: [wanted])
    after = build(request_for(tmp_path / "two"), Quiet())
    (row,) = open_ledger(after.request.out).entries(
        config="Snowplow", unique_id=kept[0].unique_id
    )
    assert (row.outcome, row.detail) == (Reason.OPTED_OUT, "asked for on 2026-11-22")
    assert (row.sha256, row.changes) == ("", ())
    figures = after.manifest.configs
    assert figures["Snowplow"].kept == before.manifest.configs["Snowplow"].kept - 1
    assert figures["Kubernetes"] == before.manifest.configs["Kubernetes"]


def test_no_reference_leads_to_what_is_left_out() -> None:
    """Else its text would come back inside of what refers to it."""
    other = replace(RAW, content=b'{"type": "null"}', unique_id="o8")
    texts = {"a": RAW.content, "b": other.content}
    item: Any = SimpleNamespace(
        reading=SimpleNamespace(
            files=SimpleNamespace(paths=(*texts,), read=texts.__getitem__)
        ),
        source=SimpleNamespace(
            # The last names a file that is not there.
            uris=lambda _reading: {"x:a": "a", "x:b": "b", "x:c": "c"},
            read=lambda _reading: [RAW, other],
        ),
        pin=SimpleNamespace(url=HOME),
    )
    rules: Any = SimpleNamespace(name="clean", bundles=True)
    item.files = "files"
    for wanted, left in (([], {*"abc"}), ([OptOut(day=DAY, id="Github/o7")], {*"bc"})):
        (library,) = setup_of(rules, [item], wanted).libraries
        assert {*library.uris.values()} == left


TEXT = b"MIT License\r\n\r\nCopyright (c) 2020 \xc3\x89mile\n"


def _input(folder: Path, config: str | None = None) -> BuildInput:
    reading = Reading(
        files=FolderFiles(folder),
        archive="ans-schema",
        commit="1",
        licence="MIT",
        origin=Origin.UPSTREAM,
        rules="clean",
        lists=folder,
        config=config,
    )
    return BuildInput(
        source=source_named("washingtonpost"),
        reading=reading,
        files=folder,
        pin=Pin(
            source="washingtonpost",
            archive="ans-schema",
            origin=Origin.UPSTREAM,
            commit="1",
            sha256="",
            licence="MIT",
        ),
    )


def test_notices_come_from_the_archive_byte_for_byte(tmp_path: Path) -> None:
    """Those at its root, under its name; nothing else of it."""
    archive = tmp_path / "archive"
    (archive / "deep").mkdir(parents=True)
    for name in ("LICENSE", "NOTICE.txt", "licence-MIT", "LICENSED.json", "a.json"):
        (archive / name).write_bytes(TEXT)
    (archive / "deep" / "LICENSE").write_bytes(TEXT)
    out = tmp_path / "out"
    out.mkdir()
    write_notices([_input(archive)], out)
    written = {path.relative_to(out).as_posix() for path in out.rglob("*.*")}
    written |= {path.relative_to(out).as_posix() for path in out.rglob("[lL]*")}
    assert written == {
        f"NOTICES/ans-schema/{name}"
        for name in ("LICENSE", "NOTICE.txt", "licence-MIT")
    }
    assert (out / "NOTICES/ans-schema/LICENSE").read_bytes() == TEXT


def test_a_users_own_folder_gives_no_notices(tmp_path: Path) -> None:
    """What lies beside one's own schemas is not published unasked."""
    (tmp_path / "LICENSE").write_bytes(TEXT)
    write_notices([_input(tmp_path, config="Acme")], tmp_path / "out")
    assert not (tmp_path / "out").exists()
