"""A build as a whole, and what is decided of its documents and records."""

from __future__ import annotations

import datetime as dt
import gc
import json
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.commands.build import report
from curation.core.benchmark import CONFIGS
from curation.core.documents import Origin, Provenance, RawDocument, Reason
from curation.core.rule import Context, Rule
from curation.dataset.decisions import SourceDocument, held_results
from curation.dataset.ledger import open_ledger
from curation.download.cache import FetchSettings
from curation.download.packs import FolderFiles
from curation.packaging.manifest import FILE, Pin
from curation.pipeline.build import (
    BuildRequest,
    BuildResult,
    build,
    decide_benchmark,
    in_clusters,
    refuse_other_build,
    write_notices,
)
from curation.pipeline.inputs import BuildInput, ExtraSource, choose_inputs
from curation.pipeline.process_document import (
    DocumentRequest,
    apply_rules,
)
from curation.pipeline.read_batches import (
    DRAWN,
    NO_RULE,
    BatchReader,
    OptOut,
    find_rule_faults,
    make_setup,
    read_opt_outs,
)
from curation.references.closure import NO_LIBRARY
from curation.rules.sets import CLEAN, rule_set
from curation.sources.readers import Reading
from curation.sources.registry import source_named
from curation.system.checksums import read_sums
from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    CannotCreate,
    NoInput,
    Unavailable,
)
from curation.system.progress import Quiet
from curation.workers.limits import DOCUMENT_BYTES
from tests.builds import write_build
from tests.curation.rules.documents_made import CONTEXT, PROVENANCE, raw_document
from tests.made import rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curation.core.documents import Document
    from curation.core.json_types import UntypedJson
    from curation.core.records import BenchmarkRecord


def request_for(folder: Path) -> BuildRequest:
    """Return a request for the sample that touches nothing but the folder."""
    settings = FetchSettings(mirror=None, cache=folder / "cache", offline=True)
    return BuildRequest(out=folder / "out", sample=True, jobs=2, fetch=settings)


class _Watched(Quiet):
    """Progress that notes what a build is doing when it says that it writes."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.collecting: bool | None = None
        self.done = 0
        self.total = 0

    def log(self, message: str) -> None:
        if " Writing " in f" {message}":
            self.collecting = gc.isenabled()
            if self.fault is not None:
                raise self.fault

    @contextmanager
    def bar(
        self, title: str, total: int, found: int = 0, note: Callable[[], str] = str
    ) -> Iterator[Callable[[int], None]]:
        del title, found, note
        self.done, self.total = 0, total

        def advance(steps: int) -> None:
            self.done += steps

        yield advance


@pytest.fixture(scope="module")
def built(
    sample_result: BuildResult, tmp_path_factory: pytest.TempPathFactory
) -> BuildResult:
    """Return what building the sample gave, its folders copied: they may be changed."""
    request = sample_result.request
    moved = replace(request, out=tmp_path_factory.mktemp("build") / "out")
    copytree(request.out, moved.out)
    copytree(request.run_folder, moved.run_folder)
    return replace(sample_result, request=moved)


def test_the_same_request_finds_its_work_done(built: BuildResult) -> None:
    """A second build with nothing changed reads the manifest and writes nothing."""
    again = build(built.request, Quiet())
    assert again.unchanged
    assert not built.unchanged
    assert again.manifest == built.manifest


@pytest.mark.slow
def test_a_damaged_file_is_built_anew(built: BuildResult) -> None:
    """What someone changed in the folder is not taken for the build's work."""
    file = built.request.out / "Snowplow" / "test-00000-of-00001.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    again = build(built.request, Quiet())
    assert not again.unchanged
    assert file.read_bytes() == whole


def test_the_report_has_the_figures_that_programs_read(built: BuildResult) -> None:
    """`--format json` prints one object; raw is kept and rejected together."""
    answer = json.loads(json.dumps(report(built)))
    assert {"rules", "out", "seconds", "peak_rss_mb", "configs"} <= set(answer)
    for figures in answer["configs"].values():
        assert figures["raw"] == figures["kept"] + sum(figures["rejected"].values())
        assert figures["kept"] == sum(figures["splits"].values())
        assert {"changed", "origin"} <= set(figures)


def test_paper_refuses_to_leave_out_what_it_cannot_have(tmp_path: Path) -> None:
    """`paper` takes only its pins: without them it ends with 69, naming them."""
    paper = replace(request_for(tmp_path), rules="paper", sample=False)
    with pytest.raises(Unavailable, match="glaive") as caught:
        build(paper, Quiet())
    assert caught.value.exit_code == 69


@pytest.mark.slow
def test_an_extra_leaves_the_ten_as_they_are(
    built: BuildResult, tmp_path: Path
) -> None:
    """The user's own schemas are a config beside the ten, without their copies."""
    own = tmp_path / "schemas"
    own.mkdir()
    copied = polars.read_parquet(built.request.out / "Snowplow" / "train*.parquet")
    (own / "copy.json").write_text(copied["json_schema"][0])
    (own / "new.json").write_text('{"type": "string", "maxLength": 77123}')
    extra = ExtraSource(source=str(own), config="Acme")
    with_own = build(
        replace(built.request, out=tmp_path / "out", extras=(extra,)), Quiet()
    )
    figures = with_own.manifest.configs.pop("Acme")
    assert figures.origin == "local"
    assert (figures.kept, figures.rejected) == (1, {"duplicate": 1})
    assert with_own.manifest.configs == built.manifest.configs
    files = {
        name: digest
        for name, digest in read_sums(with_own.request.out).items()
        if name.split("/")[0] in CONFIGS
    }
    assert files.items() <= read_sums(built.request.out).items()


@pytest.mark.parametrize(
    ("extra", "fault"),
    [
        (ExtraSource(source="cloudfromation"), BadConfiguration),
        (ExtraSource(source="github"), BadConfiguration),
        (ExtraSource(source="local"), NoInput),
        (ExtraSource(source=__file__, config="Snowplow"), BadConfiguration),
        (ExtraSource(source=__file__, config="default"), BadConfiguration),
        *(
            (ExtraSource(source=__file__, config=name), BadConfiguration)
            for name in (
                "instances",
                "plots",
                "LICENSES",
                "ledger",
                "licenses",
                "snowplow",
            )
        ),
    ],
)
def test_an_extra_that_makes_no_sense_is_refused(
    extra: ExtraSource, fault: type[Exception], tmp_path: Path
) -> None:
    """So are unknown sources, one of the ten, no path, and a name that is taken."""
    with pytest.raises(fault):
        build(replace(request_for(tmp_path), extras=(extra,)), Quiet())


@pytest.mark.slow
def test_one_source_builds_by_itself(tmp_path: Path) -> None:
    """In place of the ten, which the build says that it lacks; own schemas join it."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.json").write_text('{"type": "object", "required": ["a"]}')
    only = (ExtraSource(source="washingtonpost"),)
    extras = (ExtraSource(source=str(own), config="Acme"),)
    request = replace(request_for(tmp_path), only=only, extras=extras)
    manifest = build(request, Quiet()).manifest
    assert list(manifest.configs) == ["WashingtonPost", "Acme"]
    assert [pin.source for pin in manifest.pins] == ["washingtonpost", "local"]
    assert manifest.name == "JSONSchemaBench-partial"
    assert manifest.partial[-1].startswith("Glaiveai2K, Github_trivial")
    assert manifest.partial[-1].endswith("left out, as --only names other sources.")


def test_a_source_that_the_sample_lacks_is_the_pinned_one(tmp_path: Path) -> None:
    """With `--sample` too: here it can be had nowhere, which is the reason given."""
    tools, sample = (ExtraSource(source="tool-schemas"),), request_for(tmp_path)
    for request in (replace(sample, only=tools), replace(sample, extras=tools)):
        with pytest.raises(Unavailable, match="neither mirrored nor cached"):
            build(request, Quiet())


@pytest.mark.parametrize(
    ("only", "extras"),
    [((), ("github",)), (("corpus",), ("corpus",)), (("corpus",) * 2, ())],
)
def test_a_source_is_named_once(
    only: tuple[str, ...], extras: tuple[str, ...], tmp_path: Path
) -> None:
    """And none of the ten beside all ten."""
    request = replace(
        request_for(tmp_path),
        only=tuple(ExtraSource(source=name) for name in only),
        extras=tuple(ExtraSource(source=name) for name in extras),
    )
    with pytest.raises(BadUsage, match="part of this build already"):
        build(request, Quiet())


@pytest.mark.slow
def test_cycles_are_collected_again_after_a_build(tmp_path: Path) -> None:
    """A build collects none; the process that called it does again, come what may."""
    assert gc.isenabled()
    watched = _Watched()
    build(request_for(tmp_path), watched)
    assert watched.collecting is False
    assert gc.isenabled()
    failing = _Watched(OSError("no space"))
    with pytest.raises(OSError, match="no space"):
        build(
            replace(request_for(tmp_path), replace=True, fastjsonschema=True), failing
        )
    assert gc.isenabled()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[BuildInput]:
    """Return what a build of the sample reads."""
    cache = tmp_path_factory.mktemp("cache")
    settings = FetchSettings(mirror=None, cache=cache, offline=True)
    return choose_inputs("clean", (), settings, sample=True, progress=Quiet())[0]


OTHER_PIN = Pin(source="github", archive="other", origin=Origin.SAMPLE)
WITH, PLAIN = ("instances",), ()


@pytest.mark.parametrize(
    ("rules", "options", "change", "said"),
    [
        # What was asked before may be asked again.
        ("clean", WITH, lambda read: read, ""),
        ("paper", WITH, lambda read: read, "rules clean, not paper"),
        ("clean", PLAIN, lambda read: read, "made with instances"),
        ("clean", WITH, lambda read: read[1:], "other files of "),
        (
            "clean",
            WITH,
            lambda read: [replace(read[0], pin=OTHER_PIN), *read[1:]],
            "other files of ",
        ),
    ],
)
def test_another_build_is_replaced_only_where_that_is_asked(  # noqa: PLR0913, PLR0917 (a row of the table)
    rules: str,
    options: tuple[str, ...],
    change: Callable[[list[BuildInput]], list[BuildInput]],
    said: str,
    sample_build: Path,
    inputs: list[BuildInput],
) -> None:
    """Exit code 73, with what differs."""
    asked = rules, options, change(inputs)
    if not said:
        refuse_other_build(sample_build, *asked)
        return
    with pytest.raises(CannotCreate, match=said) as caught:
        refuse_other_build(sample_build, *asked)
    assert caught.value.exit_code == 73
    assert "--replace overwrites it" in str(caught.value)


def test_only_what_can_be_read_is_replaced(
    inputs: list[BuildInput], tmp_path: Path
) -> None:
    """An empty place may be taken; what is unreadable may be anything."""
    refuse_other_build(tmp_path, "clean", (), inputs)
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(CannotCreate, match="cannot be read"):
        refuse_other_build(tmp_path, "clean", (), inputs)


@pytest.mark.slow
def test_what_was_finished_is_found_when_the_options_come_back(tmp_path: Path) -> None:
    """Without instances and with them again: none of them is made a second time."""
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache", offline=True)
    plain = BuildRequest(out=tmp_path / "out", sample=True, jobs=2, fetch=settings)
    whole = replace(plain, instances=True)
    first = build(whole)
    with pytest.raises(CannotCreate, match="with instances"):
        build(plain)
    assert (tmp_path / "out/instances/Snowplow").is_dir()
    paper = replace(plain, rules="paper", replace=True)
    assert build(paper).manifest.rules == "paper"
    completions = {
        path: path.stat().st_mtime_ns
        for path in whole.run_folder.rglob("instances-*")
        if path.is_file()
    }
    assert completions
    again = build(replace(whole, replace=True))
    assert not again.unchanged
    assert again.manifest == first.manifest
    assert completions == {path: path.stat().st_mtime_ns for path in completions}
    assert build(whole).unchanged


@pytest.mark.slow
def test_a_file_beyond_all_limits_is_refused_alone(tmp_path: Path) -> None:
    """80 MB, more than a worker may take: it is `too_large`, and all others stay."""
    own = tmp_path / "own"
    own.mkdir()
    for number in range(4):
        schema = {"type": "object", "properties": {f"p{number}": {"maxLength": 77123}}}
        (own / f"a{number}.json").write_text(json.dumps(schema))
    (own / "b.json").write_bytes(b'"' + b"x" * 5 * DOCUMENT_BYTES + b'"')
    (own / "c.json").write_text('{"type": "string", "maxLength": 77124}')
    extra = ExtraSource(source=str(own), config="Acme")
    request = replace(request_for(tmp_path), extras=(extra,))
    figures = build(request, Quiet()).manifest.configs["Acme"]
    assert (figures.kept, figures.rejected) == (5, {Reason.TOO_LARGE: 1})
    (row,) = open_ledger(request.out).entries(config="Acme", unique_id="b")
    assert (row.outcome, row.rule) == ("too_large", "limits")


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
    with TemporaryDirectory() as name:
        path, batch = Path(name, "batch"), msgspec.json.encode(results)
        path.write_bytes(batch)
        held = dict(enumerate(held_results(path, batch)))
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
    line = msgspec.json.encode(DocumentRequest(3, raw))
    request = msgspec.json.decode(line, type=DocumentRequest)
    assert request == DocumentRequest(3, raw)
    assert request.document.provenance.origin is Origin.SAMPLE


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
    assert fault == (
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


def test_a_repository_is_known_by_the_address_of_a_file_or_of_its_origin() -> None:
    """What SchemaStore links to is in no archive: its path is its URL.

    The original's owner need not know in which collection a copy stands.
    """
    url = "https://raw.githubusercontent.com/Some/Thing/main/schema.json"
    home = "https://github.com/Some/Thing"
    linked = replace(RAW.provenance, path=url)
    copied = replace(RAW.provenance, original_repository=home)
    for raw in (replace(RAW, provenance=linked), replace(RAW, provenance=copied)):
        assert OptOut(day=DAY, repository="some/thing").names(raw, HOME)
        assert not OptOut(day=DAY, repository="some/thin").names(raw, HOME)


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


@pytest.mark.slow
def test_no_build_has_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its ledger row says so and holds no text of it; everything else is as before."""
    before = build(request_for(tmp_path / "one"), Quiet())
    kept = open_ledger(before.request.out).entries(config="Snowplow", outcome="kept")
    wanted = OptOut(day=DAY, id=f"Snowplow/{kept[0].unique_id}")
    monkeypatch.setattr("curation.pipeline.build.read_opt_outs", lambda: [wanted])
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
        (library,) = make_setup(rules, [item], wanted).libraries
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


def test_of_a_source_with_a_quota_a_draw_is_worked_on(tmp_path: Path) -> None:
    """The first contents by digest, copies once; the ledger gets the others' reason."""
    contents = [b'{"minimum": %d}' % number for number in range(12)]
    raws = [
        replace(RAW, unique_id=f"{number}", content=content)
        for number, content in enumerate([*contents, contents[0]])
    ]
    source = replace(source_named("washingtonpost"), quota=2, read=lambda _: raws)
    reader = BatchReader([replace(_input(tmp_path), source=source)], [])
    worked = [each.document.content for batch in reader.batches() for _, each in batch]
    first = sorted(contents, key=lambda content: sha256(content).digest())[: 2 * DRAWN]
    assert sorted(worked) == sorted(first)
    assert len(reader.documents) == len(raws)
    assert len(reader.refused) == len(contents) - len(first)
    assert all(b'"over_quota"' in result for result in reader.refused.values())


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
