"""Known answers are judged as intended, and reported in the paper's forms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import Response, Verdict
from evaluation.core.suite import ScoredRun
from evaluation.reporting.printing import as_markdown
from evaluation.reporting.tables import Rate
from evaluation.suites.concodeeval.report import macro_f1, tables
from evaluation.suites.concodeeval.representations import write_sample
from evaluation.suites.concodeeval.scorer import concode_scorer
from evaluation.suites.concodeeval.suite import (
    ConcodeSettings,
)
from tests.evaluation.suites.concodeeval.drawn import (
    made_records,
    made_schemas,
    scored,
)
from tests.evaluation.suites.known.concodeeval import known_answers

if TYPE_CHECKING:
    from evaluation.reporting.tables import Table


def _run(settings: ConcodeSettings, kind: str) -> ScoredRun:
    """Return a run in which every record got its known answer of one kind."""
    scorer = concode_scorer(settings)
    answers = []
    for record in made_records(settings):
        known = known_answers(record, settings)
        answer = next((it for it in known if it.kind == kind), None)
        if answer is not None:
            verdict = scorer(record)(answer.response(record))
            answers.append(scored(verdict, record.key, record.group))
    return ScoredRun(facts={"settings": {}}, by_label={"mine free": answers})


def _validation(*pairs: tuple[str, str]) -> ScoredRun:
    """Return a run of task 2 with these labels and replies."""
    answers = []
    for number, (label, reply) in enumerate(pairs):
        facts = {"schema": f"s{number}", "label": label, "reply": reply}
        verdict = Verdict(
            passed=label == reply,
            scores={"val_acc": float(label == reply), "answered": 1.0},
            details={"representation": "json", "length": 1, **facts},
        )
        answers.append(scored(verdict, f"f/validation-json-json:{number}_s"))
    return ScoredRun(facts={}, by_label={"mine free": answers})


def _tables(run: ScoredRun) -> dict[str, Table]:
    return {table.slug: table for table in tables(run)}


@pytest.mark.parametrize(
    ("pairs", "f1", "accuracy"),
    [
        # An always-yes has the macro-F1 of the paper: nothing tells the classes apart.
        ([("yes", "yes")] * 55 + [("no", "yes")] * 45, 2 * 55 / 155 / 2, 55.0),
        # An unclear answer is missed by its class: nobody else's F1 falls.
        (
            [("yes", "yes")] * 2
            + [("yes", "unclear"), ("yes", "no_answer")]
            + [("no", "no")] * 4,
            (2 * 2 / 6 + 1) / 2,
            75.0,
        ),
    ],
)
def test_macro_f1_is_the_mean_of_both_classes(
    pairs: list[tuple[str, str]], f1: float, accuracy: float
) -> None:
    """In Table 6 with two decimals, as in the paper."""
    run = _validation(*pairs)
    assert macro_f1(run.by_label["mine free"]) == pytest.approx(f1)
    found = _tables(run)
    assert found["table-6"].rows == (("json", "mine free", round(f1, 2)),)
    assert found["table-1"].rows == (("json", "mine free", accuracy),)


def test_the_papers_forms_are_among_the_tables() -> None:
    """Reference answers have 100 % everywhere; Tables 1 and 3 to 6 and Figure 1."""
    settings = ConcodeSettings(representations="xml,nl", outputs="json,yaml", samples=2)
    found = _tables(_run(settings, "reference"))
    names = ("table-1", "table-3", "table-4", "table-5", "table-6", "figure-1")
    assert set(names) < set(found)
    columns = ("schema", "model", "JSON Gen", "JSON Val", "YAML Gen", "YAML Val")
    assert found["table-1"].columns == columns
    assert found["table-1"].rows == tuple(
        (name, "mine free", *[100.0] * 4) for name in ("xml", "nl")
    )
    name, schemas, most, mean = found["table-3"].rows[0]
    assert (name, schemas) == ("xml", 24)
    assert isinstance(most, int)
    assert isinstance(mean, float)
    assert most > mean
    cells = [row[1:3] for row in found["generation-cells"].rows]
    assert len(cells) == 5
    assert (cells[0][0], cells[4][0]) == ("xml > json", "all")
    assert [str(rate)[:7] for _, rate in cells] == ["100.0 %"] * 5
    for table in found.values():
        assert as_markdown(table)


def test_a_run_with_examples_prints_table_2() -> None:
    """The form is that of Table 1."""
    run = _validation(("yes", "yes"))
    shown = ScoredRun(facts={"settings": {"few_shot": True}}, by_label=run.by_label)
    assert "table-2" in _tables(shown)
    assert "table-1" not in _tables(shown)


def test_mutated_answers_fill_tables_4_and_5_and_figure_1() -> None:
    """Each has another type than the root, which is the first key of its schema."""
    settings = ConcodeSettings(
        representations="json", outputs="json", task="generation"
    )
    tables = _tables(_run(settings, "wrong_root"))
    assert tables["table-4"].rows == (("type", 24),)
    assert tables["table-5"].rows == (("json", "mine free", 0.0, 100.0),)
    assert tables["figure-1"].rows[0] == ("mine free", "begin", 24, 100.0)
    assert tables["generation-cells"].rows[0][2] == Rate(0, 24)
    for kind in ("no_fence", "syntax"):
        unread = _tables(_run(settings, kind))["table-5"].rows
        assert unread == (("json", "mine free", 100.0, 0.0),)


def test_an_answer_on_which_scoring_failed_is_a_failed_answer_of_its_cell() -> None:
    """Its id says what it was about, since its verdict does not."""
    lost = Verdict(passed=False, failure_class="scoring_timeout", reasons=("late",))
    answer = scored(lost, "f/generation-nl-xml:f_i_0")
    run = ScoredRun(facts={}, by_label={"mine free": [answer]})
    assert _tables(run)["table-1"].rows == (("nl", "mine free", 0.0),)


@pytest.mark.parametrize(
    "settings",
    [
        ConcodeSettings(representations="nl"),
        ConcodeSettings(representations="yaml", form="base"),
        ConcodeSettings(representations="json", reading="paper", form="base"),
    ],
)
def test_every_known_answer_gets_its_verdict(settings: ConcodeSettings) -> None:
    """Over representations, formats, both tasks and both readings."""
    scorer, classes = concode_scorer(settings), set()
    for record in made_records(settings)[::7]:
        judge = scorer(record)
        for known in known_answers(record, settings):
            verdict = judge(known.response(record))
            assert known.is_met(verdict), (record.key, known, verdict)
            classes.add(known.expected)
    assert len(classes) >= 13


def test_with_the_papers_xml_the_decoder_is_measured() -> None:
    """A right answer fails unless its schema accepts any object."""
    settings = ConcodeSettings(
        representations="json",
        outputs="xml",
        task="generation",
        reading="paper",
    )
    scorer = concode_scorer(settings)
    for made, record in zip(made_schemas(), made_records(settings), strict=True):
        sample = next(json.loads(it.text) for it in made.instances if it.valid)
        text = f"```\n{write_sample(sample, 'xml')}\n```"
        verdict = scorer(record)(Response(record=record.key, text=text))
        schema = json.loads(made.constraint)
        is_object = schema["type"] == "object"
        takes_any = schema.get("additionalProperties") and not schema.get("required")
        assert verdict.scores["rtv"] == (not is_object)
        assert verdict.passed == bool(is_object and takes_any)
