"""Task `test-suite`: the archive it reads, what it asks, the tables it ends in."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Origin
from curation.download.acquire import Acquired, UnavailableArchive
from curation.download.cache import FetchSettings
from curation.download.packs import write_pack
from curation.download.pins import load_pins
from curation.schema.dialects import BY_NAME, DIALECTS
from curation.system.errors import BadConfiguration, BadData, Unavailable
from curation.system.user_files import raw_folder
from evaluation.core.cases import Case, InstanceResult, Result, Row, WalkVerdict
from evaluation.core.run_header import TaskSettings
from evaluation.reporting.printing import as_markdown
from evaluation.reporting.tables import Rate
from evaluation.results.outcomes import FAULTS
from evaluation.results.reader import open_run
from evaluation.tasks import task_named
from evaluation.tasks.official_suite import task as suites
from evaluation.tasks.official_suite.outcomes import SuiteFailure, list_failures
from evaluation.tasks.official_suite.report import (
    LEVELS,
    _category_table,
    categories,
    published_suite,
    suite_cases,
    summary,
    tables,
)
from evaluation.tasks.official_suite.task import (
    TASK,
    SuiteCase,
    SuiteTest,
    acquire_suite,
    describe_suite,
    draft_cases,
    make_case,
    needs_remote,
    read_suite_cases,
)
from tests.evaluation import measuring, policies
from tests.evaluation.made_runs import row, write_run
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json, UntypedJson
    from curation.download.pins import ArchivePin


def suite_case(
    schema: UntypedJson, *tests: tuple[UntypedJson, bool], description: str = ""
) -> UntypedJson:
    """Return a case as the suite's files have it."""
    return {
        "description": description,
        "schema": schema,
        "tests": [
            {"description": "", "data": data, "valid": valid} for data, valid in tests
        ],
    }


def miniature(folder: Path, files: dict[str, UntypedJson]) -> Acquired:
    """Return a suite of these files, by path below `tests/`."""
    packed = [
        (f"tests/{path}", json.dumps(each).encode()) for path, each in files.items()
    ]
    pack = write_pack(folder, "miniature", packed)
    return Acquired(
        archive="mini",
        pack=pack,
        origin=Origin.INDEX,
        route="cache",
        commit="1",
        digest=pack.stem,
        licence="MIT",
    )


def test_cases_come_by_category_and_place(tmp_path: Path) -> None:
    """Mandatory ones alone, or the optional ones alone, of one draft."""
    suite = miniature(
        tmp_path,
        {
            "draft7/type.json": [
                suite_case({"$id": "x"}, (1, True)),
                suite_case({}, (1, True)),
            ],
            "draft7/const.json": [suite_case({"const": 1}, (1, True), (2, False))],
            "draft7/optional/format/date.json": [suite_case({}, ("", True))],
            "draft4/type.json": [suite_case({}, (1, True))],
        },
    )
    assert [name for name, *_ in read_suite_cases(suite, "7")] == [
        "const/0",
        "type/0",
        "type/1",
    ]
    (optional,) = draft_cases(suite, "draft-07", optional=True)
    named = (optional.id, optional.config)
    assert named == ("optional/format/date/0", "draft-07 optional")


@pytest.mark.parametrize(
    "listed", [{}, [1], [{"description": ""}], [suite_case(1) | {"tests": 3}]]
)
def test_a_file_that_is_none_of_the_suites_is_named(
    listed: UntypedJson, tmp_path: Path
) -> None:
    """Exit code 65."""
    suite = miniature(tmp_path, {"draft7/type.json": listed or [[]]})
    with pytest.raises(BadData, match="draft7/type"):
        list(read_suite_cases(suite, "7"))


def test_a_draft_that_the_suite_has_not_is_named(tmp_path: Path) -> None:
    """With those that it has."""
    with pytest.raises(BadConfiguration, match="2020-12"):
        list(read_suite_cases(miniature(tmp_path, {}), "3"))


@pytest.mark.parametrize(("schema", "remote"), table(__file__, "remote"))
def test_what_needs_the_suites_server_is_told(
    schema: UntypedJson,
    remote: bool,  # noqa: FBT001 (a case)
) -> None:
    """Only references that the schema does not answer itself."""
    assert needs_remote(schema, BY_NAME["2020-12"]) is remote


def test_a_suite_that_cannot_be_had_says_why_for_each_archive(tmp_path: Path) -> None:
    """And where to put it: exit code 69."""
    offline = FetchSettings(cache=tmp_path, offline=True)
    with pytest.raises(Unavailable) as caught:
        acquire_suite(offline)
    assert str(caught.value).count("neither mirrored nor cached") == 2
    assert "CSBDATA_MIRROR" in str(caught.value)


def test_what_is_at_hand_comes_before_what_must_be_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second archive in the cache, rather than the first from the network."""
    first, second = load_pins(raw_folder() / "test_suite.toml").values()
    asked = []

    def acquired(pin: ArchivePin, settings: FetchSettings, _say: object) -> object:
        asked.append((pin.name, settings.offline))
        if pin.name == first.name:
            return UnavailableArchive(archive=pin.name, reason="not here")
        return Acquired(
            archive=pin.name,
            pack=tmp_path,
            origin=Origin.INDEX,
            route="cache",
            commit=pin.commit,
            digest=pin.digest,
            licence=pin.licence,
        )

    monkeypatch.setattr(suites, "acquire", acquired)
    suite = acquire_suite(FetchSettings(mirror=None, cache=tmp_path))
    assert (suite.archive, suite.route) == (second.name, "cache")
    assert asked == [(first.name, True), (second.name, True)]


@pytest.mark.skipif("CSBDATA_MIRROR" not in os.environ, reason="needs CSBDATA_MIRROR")
def test_the_papers_43_categories_are_what_is_left_of_2020_12(tmp_path: Path) -> None:
    """46 files, less `format`, less `refRemote` and `vocabulary`, all of it remote."""
    suite = acquire_suite(
        replace(FetchSettings.from_environment(offline=True), cache=tmp_path)
    )
    assert suite.route == "mirror"
    listed = list(read_suite_cases(suite, "2020-12"))
    every = {name.rpartition("/")[0] for name, *_ in listed}
    kept = {name.rpartition("/")[0] for name, _, is_remote in listed if not is_remote}
    assert len(every) == 46
    assert every - kept == {"refRemote", "vocabulary"}
    assert len(kept - {"format"}) == 43


@pytest.mark.skipif("CSBDATA_MIRROR" not in os.environ, reason="needs CSBDATA_MIRROR")
@pytest.mark.parametrize("draft", [dialect.name for dialect in DIALECTS])
def test_every_draft_can_be_read(draft: str, tmp_path: Path) -> None:
    """Mandatory cases and optional ones, every id once."""
    suite = acquire_suite(
        replace(FetchSettings.from_environment(offline=True), cache=tmp_path)
    )
    ids = [
        name
        for optional in (False, True)
        for name, *_ in read_suite_cases(suite, draft, optional=optional)
    ]
    assert len(ids) > 180
    assert len(set(ids)) == len(ids)


def test_another_suite_than_the_published_is_said_in_the_table(tmp_path: Path) -> None:
    """Its cases differ, and so do its figures; the published one needs no word."""
    for suite, words in ((published_suite(), 0), ("package@1.0", 1)):
        label: UntypedJson = {"suite": suite, "category": "const", "valid": 1}
        rows = [row(task="test-suite", config="2020-12", label=label)]
        run = open_run(write_run(tmp_path / suite, rows))
        table = next(tables(run))
        assert suite in table.note
        assert table.note.count("Another suite than the published figures'") == words


VERDICTS = st.sampled_from(
    [each for each in WalkVerdict if each is not WalkVerdict.NOT_RUN]
)


def made(instances: str, category: str = "const", number: int = 0) -> Case:
    """Return a case: a valid instance for each v, an invalid one for i."""
    tests = tuple(
        SuiteTest(description=str(index), data=index, valid=each == "v")
        for index, each in enumerate(instances)
    )
    suite_case = SuiteCase(description="", schema={"const": 1}, tests=tests)
    return make_case("2020-12", f"{category}/{number}", suite_case, "mini@1")


BOTH, VALID, INVALID = made("vi"), made("v"), made("i")


@pytest.mark.parametrize(("instances", "rule", "failures"), table(__file__, "failures"))
def test_a_case_is_judged_by_the_papers_criteria(
    instances: str, rule: str, failures: list[str]
) -> None:
    """Valid instances to the end, the end included; invalid ones never."""
    answered = policies.answered(made(instances), getattr(policies, rule), "x")
    assert list_failures(answered) == {*failures}


def test_a_refused_schema_passes_only_without_valid_instances() -> None:
    """As listing 2 of the paper has it."""
    assert list_failures(policies.refused(INVALID, "x")) == set()
    for case in (BOTH, VALID):
        failures = list_failures(policies.refused(case, "x"))
        assert failures == {SuiteFailure.COMPILE_ERROR}


@pytest.mark.parametrize(
    "result", [each for each in Result if each not in {"ok", "compile_error"}]
)
def test_an_engine_that_dies_passes_nothing(result: Result) -> None:
    """Not even a case without valid instances: a crash is no refusal."""
    assert list_failures(policies.died(INVALID, "x", result)) == {SuiteFailure.DIED}


def test_walks_that_are_missing_are_no_success() -> None:
    """A row that says `ok` with fewer walks than tests has not answered all."""
    whole = policies.answered(BOTH, policies.knows_all, "x")
    short = replace(whole, walks=whole.walks[:1])
    assert list_failures(short) == {SuiteFailure.DIED}


@given(st.lists(st.tuples(st.booleans(), VERDICTS), max_size=6))
def test_passed_is_that_every_answer_is_right(
    walks: list[tuple[bool, WalkVerdict]],
) -> None:
    """And both kinds of failure are found, whichever comes first."""
    answers = tuple(
        InstanceResult(verdict=verdict, valid=valid, tokens=1)
        for valid, verdict in walks
    )
    valid_count = sum(valid for valid, _ in walks)
    label = {"category": "c", "tests": len(walks), "valid": valid_count}
    failures = list_failures(row(task="test-suite", walks=answers, label=label))
    right = [
        verdict not in FAULTS and (verdict is WalkVerdict.ACCEPTED) is valid
        for valid, verdict in walks
    ]
    assert (not failures) is all(right)
    assert (SuiteFailure.UNDER_CONSTRAINED in failures) is (
        (False, WalkVerdict.ACCEPTED) in walks
    )


def _cases(**engines: dict[str, tuple[int, int]]) -> pl.DataFrame:
    """Return cases of engines: by category how many are passed, and how many not."""
    return pl.DataFrame(
        [
            {"engine": engine, "category": category, "failures": failures}
            for engine, counts in engines.items()
            for category, (good, bad) in counts.items()
            for failures in [*[()] * good, *[("died",)] * bad]
        ],
        schema_overrides={"failures": pl.List(pl.String)},
    )


def test_levels_are_beyond_their_bounds_and_full_is_all() -> None:
    """A half is not more than 50 %: the row of the paper's Table 6."""
    shares = {"a": (0, 4), "b": (1, 3), "c": (2, 2), "d": (4, 1), "e": (3, 0)}
    assert summary(_cases(x=shares)).select(*LEVELS).rows() == [(4, 3, 2, 2, 1)]


def test_the_highest_counts_ties_and_never_nothing() -> None:
    """Single is alone, and nobody leads with 0."""
    x = {"a": (1, 1), "b": (1, 0), "c": (0, 1)}
    y = {"a": (2, 2), "b": (0, 1), "c": (0, 1)}
    led = categories(_cases(x=x, y=y)).filter("highest")
    assert led.select("engine", "category", "single").rows() == [
        ("x", "a", False),
        ("x", "b", True),
        ("y", "a", False),
    ]
    both, alone = (
        _category_table(_cases(**engines), "t", "n")
        for engines in ({"x": x, "y": y}, {"x": x})
    )
    assert both.rows == (
        ("a", "50 % (1 of 2)*", "50 % (2 of 4)*"),
        ("b", "100 % (1 of 1)**", "0 % (0 of 1)"),
        ("c", "0 % (0 of 1)", "0 % (0 of 1)"),
    )
    assert alone.rows[:2] == (("a", Rate(1, 2)), ("b", Rate(1, 1)))
    assert ("* the highest" in both.note, alone.note) == (True, "")


def test_categories_count_once_for_each_kind_of_failure(tmp_path: Path) -> None:
    """However many of its cases fail, and in however many ways."""
    rows = [
        policies.answered(made("vi", number=0), policies.accepts_all, "x"),
        policies.answered(made("vi", number=1), policies.blocks_all, "x"),
        policies.answered(made("vi", number=2), policies.blocks_all, "x"),
        policies.refused(made("v", category="not"), "x"),
    ]
    cases = suite_cases(open_run(write_run(tmp_path, rows)))
    (line,) = summary(cases).to_dicts()
    assert {failure: line[failure] for failure in SuiteFailure} == {
        **dict.fromkeys(SuiteFailure, 0),
        SuiteFailure.COMPILE_ERROR: 1,
        SuiteFailure.OVER_CONSTRAINED: 1,
        SuiteFailure.UNDER_CONSTRAINED: 1,
    }
    counts = categories(cases).select("category", "passed", "of").rows()
    assert counts == [("const", 0, 3), ("not", 0, 1)]


GOLDEN = Path(__file__).parents[2] / "golden"
#: The schema that accepts everything.
ANYTHING = True
FILES = dict(table(__file__, "files"))


@pytest.fixture
def cases(tmp_path: Path) -> list[Case]:
    """Return the cases of a miniature suite."""
    suite = miniature(tmp_path / "packs", FILES)
    return list(draft_cases(suite, "2020-12", optional=False))


def test_it_is_a_task() -> None:
    """By its name, without any data."""
    assert task_named("test-suite") is TASK
    assert not TASK.needs_data


def test_texts_are_written_as_the_papers_harness_does(cases: list[Case]) -> None:
    """`json.dumps` with its defaults: escapes, and a number's own spelling."""
    walks = {each.id: [walk.text for walk in each.walks] for each in cases}
    assert walks["allOf/1"] == ["1", '"\\u00e9"']
    assert walks["const/0"] == ["1", "1.0", "2"]


def test_format_and_remote_documents_are_left_out(cases: list[Case]) -> None:
    """As the paper leaves them out."""
    assert {each.label["category"] for each in cases} == {"allOf", "const", "not"}


def test_a_schema_says_its_draft_wherever_it_can(tmp_path: Path) -> None:
    """The suite's own are silent up to draft-07; an engine could not know."""
    suite = miniature(
        tmp_path, {"draft7/a.json": [suite_case({"a": 1}), suite_case(ANYTHING)]}
    )
    said, boolean = draft_cases(suite, "7", optional=False)
    assert json.loads(said.schema) == {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "a": 1,
    }
    assert boolean.schema == "true"


def _rows(cases: list[Case]) -> list[Row]:
    rules: dict[str, Callable[..., Row]] = {
        "accept-all": lambda each, name: policies.answered(
            each, policies.accepts_all, name
        ),
        "crash": policies.died,
        "liar": lambda each, name: policies.answered(each, policies.lies, name),
        "perfect": lambda each, name: policies.answered(each, policies.knows_all, name),
        "refuse-all": policies.refused,
    }
    return [rule(each, name) for name, rule in rules.items() for each in cases]


def test_the_report_reads_as_it_did(
    cases: list[Case], tmp_path: Path, compare_golden: Callable[[Path, str], None]
) -> None:
    """Cases, Table 5, Table 6 and Figure 6, as Markdown."""
    run = open_run(write_run(tmp_path / "run", _rows(cases)))
    text = "\n".join(as_markdown(each) for each in TASK.tables(run))
    compare_golden(GOLDEN / "test-suite.md", text)


def test_miniature_engines_end_in_the_same_tables_through_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers, masks and rows between; the header says which suite it was."""
    suite = miniature(tmp_path / "packs", FILES)
    monkeypatch.setattr(
        "evaluation.tasks.official_suite.task.acquire_suite", lambda *_: suite
    )
    engines = [measuring.miniature(name) for name in ("accept_all", "refuse_all")]
    request = measuring.request_of(tmp_path, (), tasks=("test-suite",))
    totals, run = measuring.measured(tmp_path, engines, request)
    assert totals.ran == 2 * 5
    assert run.raw_header["sources"] == {"test-suite": describe_suite(suite)}
    _, failing, level, _ = TASK.tables(run)
    assert [row[1:] for row in failing.rows] == [
        (3, 0, 0, 3, 0, 0, 0, 0),
        (3, 3, 0, 0, 0, 0, 0, 0),
    ]
    assert [row[1:] for row in level.rows] == [(3, 2, 2, 0, 0, 0, 2, 0)] * 2


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("drafts", ["5"], "draft '5'"),
        ("optional", "no", "neither true nor false"),
        ("optional", "False", "neither true nor false"),
        ("optional", 0, "neither true nor false"),
    ],
)
def test_a_value_that_is_none_is_refused_before_anything_is_fetched(
    name: str, value: Json, said: str, tmp_path: Path
) -> None:
    """Exit code 2; `optional=no` would ask the optional tests."""
    task = TASK.prepared(FetchSettings(cache=tmp_path, offline=True), print)
    with pytest.raises(BadConfiguration, match=said):
        next(task.cases((), TaskSettings(values={name: value})))
