"""`csbdata score`: extractions against gold documents, field by field."""

from __future__ import annotations

import json
from collections import Counter
from statistics import pstdev
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from curation.system.errors import BadData
from tests.invoking import invoke
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from curation.core.json_types import UntypedJson


def _score(
    schema: UntypedJson, gold: UntypedJson, answer: UntypedJson
) -> dict[str, Counter[str]]:
    result = csbdata.score(schema, {"a": gold}, {"a": answer})
    return {name: +counts for name, counts in result.documents["a"].items()}


_TEXTS = {"type": "array", "items": {"type": "string"}}
_LINES = {"type": "array", "x-eval": "set", "items": {"type": "object"}}


@pytest.mark.parametrize(
    ("schema", "gold", "answer", "outcome"), table(__file__, "leaves")
)
def test_a_leaf_is_compared_by_its_rule(
    schema: UntypedJson, gold: UntypedJson, answer: UntypedJson, outcome: str
) -> None:
    """The declared rule, otherwise that of the type; null is absent."""
    whole = {"properties": {"f": schema}, "$defs": {"d": {"format": "date"}}}
    found = _score(whole, {"f": gold}, {"f": answer}).get("/f", Counter())
    del found["exact"]
    assert found == ({outcome: 1} if outcome else {})


def test_no_answer_is_a_mistake_where_all_of_the_gold_is_null() -> None:
    """An answer without members says what the gold does."""
    assert _score({}, {"f": None}, "I cannot.") == {"": {"omitted": 1}}
    assert _score({}, {"f": None}, "{}") == {}


@pytest.mark.parametrize(
    ("rule", "gold", "answer", "expected"), table(__file__, "arrays")
)
def test_arrays_are_aligned_by_their_rule(
    rule: str, gold: UntypedJson, answer: UntypedJson, expected: dict[str, int]
) -> None:
    """In order, in any order, or index by index."""
    schema = {"properties": {"f": {**_TEXTS, "x-eval": rule}}}
    found = _score(schema, {"f": gold}, {"f": answer}).get("/f/*", Counter())
    del found["exact"]
    assert found == expected


def test_objects_of_a_set_are_paired_for_the_most_right_leaves() -> None:
    """Each with the one that it is most like."""
    gold = [{"item": "a", "n": 1}, {"item": "b", "n": 2}]
    answer = [{"item": "b", "n": 3}, {"item": "a", "n": 1}]
    found = _score({"properties": {"f": _LINES}}, {"f": gold}, {"f": answer})
    assert found["/f/*/item"]["right"] == 2
    assert found["/f/*/n"] == {"right": 1, "exact": 1, "wrong": 1}


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (200, {"right": 199, "exact": 199, "omitted": 1}),
        (201, {"wrong": 200, "omitted": 1}),
    ],
)
def test_long_arrays_are_compared_by_index(size: int, expected: dict[str, int]) -> None:
    """To align them would take too long."""
    texts = [str(number) for number in range(size)]
    found = _score({"properties": {"f": _TEXTS}}, {"f": texts}, {"f": texts[1:]})
    assert found == {"/f/*": expected}


def test_members_have_the_rule_of_their_schema_and_other_values_their_type() -> None:
    """Of `properties` first, otherwise of `additionalProperties`."""
    schema = {
        "properties": {"a": {"x-eval": "exact"}, "o": {"properties": {}}},
        "additionalProperties": {"x-eval": "ignore"},
    }
    gold = {"a": "A", "b": "B", "o": {"c": "C", "n": 1, "z": None}}
    found = _score(schema, gold, {"a": "a", "b": "x", "o": {"c": "c", "n": "1"}})
    assert found == {"/a": {"wrong": 1}, "/o/c": {"right": 1}, "/o/n": {"wrong": 1}}
    expected = {"/o/c": {"omitted": 1}, "/o": {"invented": 1}}
    assert _score({}, {"o": {"c": 1}}, {"o": "x"}) == expected


def test_tables_count_by_document_and_field() -> None:
    """The worst field first; recall is of gold values, precision of answers."""
    gold = [(f"d{n}", {"a": "A", "b": n, "c": None}) for n in range(7)]
    answers: dict[str, Any] = {
        "d0": '```json\n{"a": "a", "b": 0}\n```',
        "d1": {"a": "A", "b": 9},
        "d2": {"a": "A", "b": 2, "c": "C"},
        "d3": {"b": 3},
        "d4": {"a": "A", "b": 4},
        "d5": "nothing",
        "x": "{}",
    }
    schema = {"properties": {"a": {"x-eval": "text"}}, "required": ["a"]}
    result = csbdata.score(schema, [*gold, ("d0", {})], answers)
    whole, fields = result.tables()
    assert [str(cell).partition(" [")[0] for cell in whole.rows[0]] == [
        *("28.6 %", "57.1 %", "80.0 %", "0.67", "0.46"),
    ]
    assert whole.note.endswith("Answers: 1 in fence, 1 bare.")
    assert [[str(cell).partition(" [")[0] for cell in row] for row in fields.rows] == [
        ["/c", "text", "0.00", "- (0 of 0)", "0", "0", "0", "1"],
        ["/b", "number", "0.67", "57.1 %", "4", "1", "2", "0"],
        ["/a", "text", "0.73", "57.1 %", "3", "0", "3", "0"],
    ]
    assert result.problems == [
        "gold documents of an id that was there already; the first one counts (1): d0",
        "answers without gold (1): x",
        "gold documents without an answer, which count as omitted (1): d6",
        "answers without JSON, or too long, which count as omitted (1): d5",
        "answers that the schema refuses, which are compared all the same (1): d3",
    ]
    many = csbdata.score({}, {f"d{n}": 1 for n in range(7)}, {})
    assert many.problems[0].endswith("(7): d0, d1, d2, d3, d4 and 2 more")
    long = csbdata.score({}, {"a": 1}, {"y" * 40_000_000: 1})
    assert max(map(len, long.problems)) < 200
    few = csbdata.score({}, {f"d{n}": 1 for n in range(5)}, {})
    assert few.problems[0].endswith("(5): d0, d1, d2, d3, d4")
    with pytest.raises(BadData, match="gold: no document"):
        csbdata.score({}, {}, {})
    empty = csbdata.score({}, {"d": {}}, {"d": {}}).tables()[0]
    assert str(empty.rows[0][3]) == "-"
    nothing = csbdata.score({}, {"d": {"a": 1}}, {}).tables()[0]
    assert [cell.value for cell in nothing.rows[0][3:]] == [0, 0]  # type: ignore[union-attr]  # estimates
    one: dict[str, Any] = {"d": {"a": 1}, "e": {}}
    for cell in csbdata.score({}, one, one).tables()[0].rows[0][3:]:
        assert (cell.value, cell.interval.low) == (1, 1)  # type: ignore[union-attr]  # estimates


def _write(path: Path, *lines: object) -> str:
    text = "\r\n".join(it if isinstance(it, str) else json.dumps(it) for it in lines)
    path.write_text(f"\ufeff{text}\r\n", "utf-8")
    return str(path)


def test_bad_input_is_named_and_counted_and_the_rest_is_scored(tmp_path: Path) -> None:
    """With a byte order mark and line ends of Windows."""
    schema = _write(tmp_path / "s.json", {"properties": {"a": {"type": "integer"}}})
    gold = _write(
        tmp_path / "g.jsonl",
        {"id": 1, "gold": {"a": 1}},
        {"id": 2, "gold": {"a": "x"}},
        {"id": 3, "gold": {"a": 3}},
        {"id": 1, "gold": {"a": 9}},
        {"id": 4, "a": 4},
        "{half",
    )
    answers = _write(
        tmp_path / "a.jsonl",
        {"id": 1, "text": '```json\n{"a": 1}\n```'},
        {"id": 2, "text": "I cannot."},
        {"id": 9, "text": "{}"},
        {"record": "4", "text": 'Here: {"a": 5}'},
        [],
    )
    page = tmp_path / "page.html"
    options = ("--schema", schema, "--gold", gold, "--answers", answers)
    done = invoke("score", *options, "--format", "json", "--page", page)
    report = json.loads(done.stdout)
    assert [
        line.partition(" (")[0].partition(": ")[0] for line in report["problems"]
    ] == [
        "g.jsonl:6",
        "a.jsonl:5",
        "gold documents of an id that was there already; the first one counts",
        "answers without gold",
        "gold documents without an answer, which count as omitted",
        "gold documents that their own schema refuses, which count like others",
        "answers without JSON, or too long, which count as omitted",
    ]
    whole, fields = report["tables"]
    assert whole["rows"][0]["all right"]["of"] == 4
    assert "1 in fence" in whole["note"]
    assert fields["rows"][0]["wrong"] == 1
    assert fields["rows"][0]["omitted"] == 2
    assert "<td>4<td>5" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("schema", "more", "said"),
    [
        ("{", [], "s.json: this schema cannot be used: not_json"),
        ("[1]", [], "s.json: this schema cannot be used"),
        ("{}", ["--preset", "sobs"], "there is no preset 'sobs'"),
        ("{}", ["--preset", "sob"], ""),
    ],
)
def test_what_cannot_be_scored_is_named(
    tmp_path: Path, schema: str, more: list[str], said: str
) -> None:
    """And no line after the fifth that is no document: they are counted."""
    path = tmp_path / "s.json"
    gold = _write(tmp_path / "g.jsonl", {"id": 1, "a": 2}, *["{"] * 5)
    path.write_text(schema, "utf-8")
    answers = _write(tmp_path / "a.jsonl", *["{"] * 7)
    done = invoke(
        "score", "--schema", path, "--gold", gold, "--answers", answers, *more
    )
    assert said in str(done.exception or "")
    assert bool(done.exception) is bool(said)
    if not said:
        assert done.stderr.count("no JSON: ") == 5 + 5
        assert "a.jsonl: 2 more lines that are no documents" in done.stderr
        assert "g.jsonl: 0 more" not in done.stderr


@pytest.mark.parametrize("schema", [{"type": "nothing"}, {"x-eval": "exactly"}])
def test_a_schema_or_rule_that_is_none_is_refused(schema: UntypedJson) -> None:
    """In one line."""
    with pytest.raises(BadData):
        csbdata.score(schema, {"a": 1}, {})


def test_intervals_are_by_leaving_each_document_out() -> None:
    """With Student's t of five degrees of freedom, and never outside 0 and 1."""
    gold = {str(number): {"a": number, "b": "x"} for number in range(6)}
    answers = {**gold, "1": {"a": 9, "b": "x"}, "2": {"a": 9}, "3": {"a": 3, "b": "y"}}

    def f1(names: Iterable[str]) -> tuple[Any, Any]:
        chosen = {name: gold[name] for name in names}
        summary = csbdata.score({}, chosen, answers).tables()[0]
        row = dict(zip(summary.columns, summary.rows[0], strict=True))
        return row["F1 micro"], row["F1 macro"]

    without_each = [f1(gold.keys() - {name}) for name in gold]
    for figure, others in zip(f1(gold), zip(*without_each, strict=True), strict=True):
        values = [other.value for other in others]
        reach = 2.5706 * pstdev(values) * 5**0.5
        low, high = figure.value - reach, min(1, figure.value + reach)
        assert figure.interval.low == pytest.approx(low, abs=1e-4)
        assert figure.interval.high == pytest.approx(high, abs=1e-4)


def test_the_metrics_of_sob_are_a_preset() -> None:
    """Seven figures with intervals by document."""
    gold = {str(it): {"a": it} for it in range(4)}
    answers = {**gold, "3": {"a": 0}}
    result = csbdata.score({"type": "object"}, gold, answers, preset="sob")
    (table,) = result.more
    assert len(table.rows) == 7
    assert str(table.rows[0][1]).startswith("0.75")
