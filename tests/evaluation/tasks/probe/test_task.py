"""The task `probe`: cases, outcomes, tables, and the facts of `support.toml`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.system.errors import BadConfiguration, BadUsage
from evaluation.core.cases import Result
from evaluation.core.run_header import (
    ParticipantHeader,
    RefusalPattern,
    RunHeader,
    TaskSettings,
)
from evaluation.reporting.printing import as_markdown
from evaluation.reporting.tables import NOT_RUN, Rate
from evaluation.results.attempts import make_attempt
from evaluation.results.reader import open_run
from evaluation.setup.engine_files import engine_paths
from evaluation.tasks import task_named
from evaluation.tasks.probe.outcomes import (
    Declaration,
    ProbeOutcome,
    ProbeResult,
    Support,
    coverage,
    declarations,
    features,
    judge_probe,
    outcome,
    proven,
)
from evaluation.tasks.probe.probe import KEYWORD_PROBES, pairs
from evaluation.tasks.probe.task import PROBES, TASK, all_placed, make_case
from tests.evaluation import measuring, policies
from tests.evaluation.made_runs import row, write_run
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Case, Row
    from evaluation.reporting.tables import Cell, Table
    from evaluation.results.reader import RecordedRun


GOLDEN = Path(__file__).parents[2] / "golden"
HEAD: Mapping[str, UntypedJson] = {
    "engines": [{"engine": "llguidance==1.9.1 faithful", "name": "llguidance"}]
}
LLGUIDANCE = "llguidance==1.9.1 faithful"


def _case(name: str, context: str = "root") -> Case:
    (found,) = [
        each
        for each in all_placed()
        if each.probe.name == name and each.context == context
    ]
    return make_case(found)


BOTH = _case("minLength")


def test_it_asks_for_every_probe_in_every_context() -> None:
    """Once each without a draft, with every schema's own walks."""
    cases = list(TASK.cases((), TaskSettings()))
    assert task_named("probe") is TASK
    assert len(cases) == sum(len(each.contexts) for each in PROBES)
    assert len({(each.config, each.id) for each in cases}) == len(cases)
    assert {len(each.walks) for each in cases} == {1, 2, 3}


def test_a_draft_has_its_own_probes() -> None:
    """Those that the draft knows, however it is called."""
    cases = list(TASK.cases((), TaskSettings(values={"drafts": ["7", "draft-04"]})))
    assert {each.config for each in cases} == {"draft-07", "draft-04"}
    keywords = {str(e.label["keyword"]) for e in cases if e.config == "draft-07"}
    assert "dependencies" in keywords
    assert not keywords & {"prefixItems", "id", "$anchor"}
    with pytest.raises(BadConfiguration, match="draft-03"):
        next(TASK.cases((), TaskSettings(values={"drafts": ["draft-03"]})))
    with pytest.raises(BadUsage, match="not a list of drafts"):
        next(TASK.cases((), TaskSettings(values={"drafts": "draft-07"})))


def test_a_unit_is_a_schema_and_two_texts() -> None:
    """The schema says its draft; the texts are as people write them."""
    found = _case("format (email)", "property")
    assert json.loads(found.schema) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"a": {"type": "string", "format": "email"}},
        "required": ["a"],
    }
    assert [(each.text, each.valid) for each in found.walks] == [
        ('{"a": "a@example.com"}', True),
        ('{"a": "a"}', False),
    ]


@pytest.mark.parametrize(("name", "facts", "wanted"), table(__file__, "outcomes"))
def test_an_outcome_is_what_the_two_values_say(
    name: str, facts: dict[str, str], wanted: str
) -> None:
    """A keyword that asserts nothing can only be tolerated.

    A warning counts that names the keyword, in quotes if it is a word; a refusal is
    one only if the engine said so.
    """
    engine = "xgrammar 0.2.8 faithful"
    if "result" in facts:
        row = policies.died(_case(name), engine, Result(facts["result"]))
    else:
        rule = getattr(policies, facts["rule"])
        row = policies.answered(_case(name), rule, engine)
    warnings = (facts["warning"],) if "warning" in facts else ()
    assert _judged(replace(row, warnings=warnings)).outcome == wanted
    without_warnings = "ignored" if wanted == "warned" else wanted
    assert outcome(row) == without_warnings


def _judged(row: Row, header: RunHeader | None = None) -> ProbeResult:
    attempt = msgspec.structs.asdict(make_attempt(row, header or RunHeader()))
    return judge_probe({**attempt, "label": bytes(attempt["label"])})


def test_a_warning_excuses_what_its_pattern_says_it_means() -> None:
    """An engine may name a keyword in words of its own."""
    row = policies.answered(BOTH, policies.accepts_all, "mine")
    warned = replace(row, warnings=("lengths are not looked at",))
    own = RefusalPattern(pattern="lengths", keywords=("minLength",))
    header = RunHeader(engines=(ParticipantHeader(engine="mine", refusals=(own,)),))
    assert _judged(warned).outcome is ProbeOutcome.IGNORED
    assert _judged(warned, header).outcome is ProbeOutcome.WARNED


def test_a_row_with_too_few_walks_proves_nothing() -> None:
    """One right answer of two is no enforcement."""
    row = policies.answered(BOTH, policies.knows_all, "x")
    lacking = replace(row, walks=row.walks[:1])
    assert outcome(lacking) is _judged(lacking).outcome is ProbeOutcome.CRASH


def _rows(*names: str) -> list[Row]:
    cases = [
        make_case(each)
        for each in all_placed()
        if not names or each.probe.name in names
    ]
    rules: dict[str, Callable[[Case, str], Row]] = {
        "accept-all": lambda each, name: policies.answered(
            each, policies.accepts_all, name
        ),
        LLGUIDANCE: lambda each, name: policies.answered(
            each, policies.knows_all, name
        ),
        "refuse-all": policies.refused,
    }
    return [rule(each, name) for name, rule in rules.items() for each in cases]


def _table(run: RecordedRun, name: str) -> Table:
    return next(each for each in TASK.tables(run) if each.slug == name)


def test_accepting_all_is_caught_by_every_probe_that_asserts(tmp_path: Path) -> None:
    """It ignores each of them, and tolerates the others; refusing all refuses all."""
    run = open_run(write_run(tmp_path, _rows(), HEAD))
    cases = [make_case(each) for each in all_placed() if each.probe in KEYWORD_PROBES]
    mere = sum(len(each.walks) == 1 for each in cases)
    table = _table(run, "probes-outcomes")
    assert table.columns[1:] == (
        "as specified",
        "enforced",
        "tolerated",
        "ignored",
        "refused",
    )
    every = len(cases)
    assert {row[0]: row[1:] for row in table.rows} == {
        "accept-all": (Rate(mere, every), 0, mere, every - mere, 0),
        LLGUIDANCE: (Rate(every, every), every - mere, mere, 0, 0),
        "refuse-all": (Rate(0, every), 0, 0, 0, every),
    }


def test_pairs_are_counted_by_what_each_engine_makes_of_them(tmp_path: Path) -> None:
    """Enforced, one ignored, over-constrained, refused or failed."""
    pair = pairs()[1]
    assert pair.name == "properties + required"
    cases = [make_case(e) for e in all_placed() if e.probe.name == pair.name]
    lax = [
        policies.answered(
            case,
            lambda walk: (
                policies.knows_all(walk)
                if walk.label.get("keyword") != "required"
                else policies.accepts_all(walk)
            ),
            "lax",
        )
        for case in cases
    ]
    strict = [policies.answered(case, policies.blocks_all, "strict") for case in cases]
    rows = [*lax, *strict, policies.refused(cases[0], "refuse-all")]
    rows += [policies.answered(case, policies.knows_all, "right") for case in cases]
    rows += [policies.died(cases[0], "dead", Result.CRASH)]
    run = open_run(write_run(tmp_path, rows, HEAD))
    outcomes = {row[0]: row[1:] for row in _table(run, "pairs-outcomes").rows}
    every = len(cases)
    assert outcomes == {
        "lax": (Rate(0, every), every, 0, 0, 0),
        "strict": (Rate(0, every), 0, every, 0, 0),
        "refuse-all": (Rate(0, 1), 0, 0, 1, 0),
        "right": (Rate(every, every), 0, 0, 0, 0),
        "dead": (Rate(0, 1), 0, 0, 0, 1),
    }
    assert _table(run, "probes-outcomes").rows == ()


def test_a_feature_is_proven_by_all_its_probes() -> None:
    """In part by some, and not by none."""
    rows = [
        policies.answered(_case("minLength"), policies.knows_all, "x"),
        policies.answered(_case("maxLength"), policies.accepts_all, "x"),
        policies.answered(_case("not (value)"), policies.accepts_all, "x"),
        policies.answered(_case("enum"), policies.knows_all, "x"),
    ]
    assert proven(map(_judged, rows)) == {
        "@minmaxLength": (Support.PARTLY, 1, 2),
        "not": (Support.NO, 0, 1),
        "enum": (Support.YES, 1, 1),
    }


def test_contexts_that_a_probe_has_not_are_not_run(tmp_path: Path) -> None:
    """Never shown as if they had failed."""
    run = open_run(write_run(tmp_path, _rows("$ref (to the root)"), HEAD))
    (line,) = _table(run, "probe-refuse-all").rows
    assert line[2:] == ("refused", *[NOT_RUN] * 6)


def _theoretical(
    tmp_path: Path, rows: list[Row], config: str = "all"
) -> dict[tuple[Cell, ...], tuple[Cell, ...]]:
    """Return the table's figures by engine and basis."""
    run = open_run(write_run(tmp_path, rows, HEAD))
    table = _table(run, "theoretical-coverage")
    return {line[1:3]: line[3:] for line in table.rows if line[0] == config}


def _schema_row(id_: str, features: list[str], **named: UntypedJson) -> Row:
    label = {"features": features, **named}
    return row(engine=LLGUIDANCE, task="masks", id=id_, label=label)


def test_theoretical_coverage_is_of_the_schemas_in_the_run(tmp_path: Path) -> None:
    """By each document and by the probes, beside what compiled; each schema once."""
    schemas = [
        _schema_row("o0", ["required", "enum"]),
        _schema_row("o1", ["required", "oneOf"]),
        replace(_schema_row("o2", ["not"]), result=Result.COMPILE_ERROR),
    ]
    probes = _rows("required", "enum", "oneOf (disjoint)")
    compiled = Rate(2, 3)
    assert _theoretical(tmp_path, [*probes, *schemas], "Github_easy") == {
        ("accept-all", "probes"): (Rate(0, 3), Rate(0, 3), None),
        (LLGUIDANCE, "llguidance 0.2.0rc (paper)"): (Rate(1, 3), Rate(1, 3), compiled),
        (LLGUIDANCE, "llguidance"): (Rate(1, 3), Rate(2, 3), compiled),
        (LLGUIDANCE, "probes"): (Rate(2, 3), Rate(2, 3), compiled),
        ("refuse-all", "probes"): (Rate(0, 3), Rate(0, 3), None),
    }


def test_coverage_counts_only_contexts_that_a_schema_has(tmp_path: Path) -> None:
    """What is not enforced in `oneOf` costs the schemas with a `oneOf` alone."""
    placed = [make_case(each) for each in all_placed() if each.probe.name == "enum"]
    rows = [
        policies.answered(
            case,
            policies.accepts_all
            if case.label["context"] == "oneOf"
            else policies.knows_all,
            LLGUIDANCE,
        )
        for case in placed
    ]
    rows += [
        policies.answered(_case("oneOf (disjoint)"), policies.knows_all, LLGUIDANCE),
        _schema_row("a", ["enum"]),
        _schema_row("b", ["enum", "oneOf"]),
    ]
    found = _theoretical(tmp_path, rows)
    assert found[LLGUIDANCE, "probes"][:2] == (Rate(1, 2), Rate(2, 2))


def test_a_format_counts_by_its_value(tmp_path: Path) -> None:
    """A schema with a date is covered where dates are, whatever other formats do."""
    date, email = _case("format (date)"), _case("format (email)")
    rows = [
        policies.answered(date, policies.knows_all, LLGUIDANCE),
        policies.answered(email, policies.accepts_all, LLGUIDANCE),
        policies.refused(_case("format (unknown)"), LLGUIDANCE),
        *(
            _schema_row(f"o{number}", ["format"], formats=formats)
            for number, formats in enumerate(
                [["date"], ["email"], ["date", "email"], ["x-odd"], []]
            )
        ),
    ]
    found = _theoretical(tmp_path, rows)
    assert found[LLGUIDANCE, "probes"][:2] == (Rate(1, 5), Rate(2, 5))
    paper = found[LLGUIDANCE, "llguidance 0.2.0rc (paper)"]
    assert paper[:2] == (Rate(5, 5), Rate(5, 5))


def test_the_report_reads_as_it_did(
    tmp_path: Path, compare_golden: Callable[[Path, str], None]
) -> None:
    """Figure 4 with the documents of all engines, and a matrix for each."""
    run = open_run(
        write_run(tmp_path, _rows("minLength", "not (value)", "title"), HEAD)
    )
    text = "\n".join(as_markdown(each) for each in TASK.tables(run) if each.rows)
    compare_golden(GOLDEN / "probe.md", text)


def test_miniature_engines_are_caught_through_the_driver(tmp_path: Path) -> None:
    """What accepts all ignores every keyword; one that dies is no refusal."""
    cases = [make_case(each) for each in all_placed() if each.probe.name == "minLength"]
    request = measuring.request_of(
        tmp_path,
        (),
        tasks=("probe",),
        only=frozenset(f"{each.config}/{each.id}" for each in cases),
    )
    engines = [measuring.miniature(each) for each in ("accept_all", "refuse_all")]
    _, run = measuring.measured(tmp_path, engines, request)
    *_, first, second = TASK.tables(run)
    (ignoring, refusing) = [set(line[2:]) for line in (*first.rows, *second.rows)]
    assert (ignoring, refusing) == ({"ignored"}, {"refused"})


LEVELS = st.sampled_from(Support)
#: How many features the figure marks as supported.
_FIGURE_4 = {
    "llguidance": 18,
    "llama_cpp": 16,
    "outlines_core": 14,
    "xgrammar": 13,
    "openai": 6,
    "gemini": 6,
}


def test_the_papers_figure_4_is_whole() -> None:
    """Six systems, 29 features, each either supported or not; counted by hand."""
    paper = [each for each in declarations() if each.paper]
    assert len(features()) == len(set(features())) == 29
    for each in paper:
        assert set(each.features) == set(features())
        assert set(each.features.values()) <= {Support.YES, Support.NO}
    marked = {each.engines: [*each.features.values()] for each in paper}
    counts = {
        name: values.count(Support.YES)
        for engines, values in marked.items()
        for name in engines
        if name in _FIGURE_4
    }
    assert (len(paper), counts) == (6, _FIGURE_4)


def test_every_declaration_has_its_document() -> None:
    """With known features only; every engine here has one, the closed ones too."""
    for each in declarations():
        assert each.document
        assert set(each.features) <= set(features())
        assert set(each.engines) <= {*engine_paths(), "openai", "gemini"}
    said = {name for each in declarations() if not each.paper for name in each.engines}
    assert set(engine_paths()) - {"none"} <= said


def _today(engine: str) -> Declaration:
    (found,) = [e for e in declarations() if not e.paper and engine in e.engines]
    return found


def test_what_no_document_says_is_unknown() -> None:
    """And it covers no schema; Figure 4 has no `then`, but what has `if` has it."""
    silent = _today("outlines_core")
    assert silent.of("required") is Support.UNKNOWN
    assert coverage(["required"], silent.features) is Support.NO
    llama = _today("llama_cpp")
    assert llama.of("then") is llama.of("if") is Support.NO


@given(st.dictionaries(st.sampled_from(features()), LEVELS), st.data())
def test_more_features_never_cover_better(
    support: dict[str, Support], data: st.DataObject
) -> None:
    """Coverage of a schema is that of its worst feature."""
    order = [Support.NO, Support.PARTLY, Support.YES]
    used = data.draw(st.lists(st.sampled_from(features())))
    more = data.draw(st.lists(st.sampled_from(features())))
    little, much = coverage(used, support), coverage([*used, *more], support)
    assert order.index(much) <= order.index(little)
    assert coverage([], support) is Support.YES
