"""Problems of others and of our own: drawn, solved right, in which order."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.download.cache import FetchSettings
from curation.system.errors import BadConfiguration, BadData, NoInput
from evaluation.asking.request import choose_suite
from evaluation.core.records import RecordRequest
from evaluation.suites.quality.records import (
    MEMBERS,
    TASKS,
    QualitySettings,
    quality_records,
    sample,
)
from evaluation.suites.quality.suite import SUITE
from tests.evaluation.suites.envelopes import own_records
from tests.evaluation.suites.known.quality import WRONG
from tests.publishing import connected

if TYPE_CHECKING:
    from pathlib import Path


SETTINGS = QualitySettings(problems=4)
MATHS = [
    {"question": f"{number}?", "answer": f"So <<1+1=2>>\n#### 1,{number:03d}"}
    for number in range(5)
]


@pytest.fixture
def request_for_all(tmp_path: Path) -> RecordRequest:
    """A request for everything there is, of our own."""
    return RecordRequest(data=None, fetch=FetchSettings(mirror=None, cache=tmp_path))


def test_every_problem_is_asked_in_both_orders(request_for_all: RecordRequest) -> None:
    """The same problem has the same id, so that orders can be paired."""
    found = quality_records(request_for_all, SETTINGS)
    assert found.name == (request_for_all.data or "quality-sample")
    records = found.records
    assert len(records) == 4 * 3 * 2
    first = {
        (r.fields["task"], r.id): r
        for r in records
        if r.fields["order"] == "reasoning-first"
    }
    for record in records:
        twin = first[record.fields["task"], record.id]
        assert twin.fields["question"] == record.fields["question"]
        members = list(json.loads(record.schema or "")["properties"])
        assert members[0] == str(record.fields["order"]).removesuffix("-first")


def test_a_limit_is_shared_by_tasks_and_orders(request_for_all: RecordRequest) -> None:
    """Pairs stay whole: every task and order has the same problems."""
    records = quality_records(replace(request_for_all, limit=12), SETTINGS).records
    groups = {record.group for record in records}
    assert len(records) == 12
    assert len(groups) == 6
    seven = quality_records(replace(request_for_all, limit=7), SETTINGS).records
    assert seven == records[:7]


@pytest.mark.parametrize("group", ["gsm8k", "gsm8k (answer-first)"])
def test_only_the_groups_asked_for_are_there(
    request_for_all: RecordRequest, group: str
) -> None:
    """An unknown one is refused with those that there are."""
    one = replace(request_for_all, configs=(group,), limit=3)
    records = quality_records(one, SETTINGS).records
    assert [record.group for record in records] == [group] * 3
    with pytest.raises(BadConfiguration, match="last-letter, shuffled-objects, gsm8k"):
        quality_records(replace(request_for_all, configs=("maths",)), SETTINGS)


def test_between_the_orders_only_the_form_and_the_examples_differ() -> None:
    """A minimal pair, or the order would not be what makes the difference."""
    records = own_records(choose_suite("quality"), 6, 0)
    by_order = {
        order: [r for r in records if r.fields["order"] == order] for order in MEMBERS
    }
    for first, second in zip(*by_order.values(), strict=True):
        one, other = (SUITE.prompt(record, SETTINGS) for record in (first, second))
        assert one.budget == other.budget
        assert one.messages[-1] == other.messages[-1]
        assert one.messages != other.messages
        assert [m.role for m in one.messages] == [m.role for m in other.messages]
        assert len(one.messages[0].content) == len(other.messages[0].content)


def test_the_published_comparison_has_its_budgets_and_any_prompts(
    tmp_path: Path,
) -> None:
    """128 tokens for Last Letter, 256 for the others; a file without one is refused."""
    file = tmp_path / "prompts.toml"
    paper = choose_suite("quality", {}, "paper")
    settings = QualitySettings(reading="paper", prompts=str(file))
    first, *others = own_records(paper, 3, 0)
    with pytest.raises(NoInput):
        SUITE.prompt(first, settings)
    file.write_text('last-letter = { instruction = "In {form}", shots = [] }')
    prompt = SUITE.prompt(first, settings)
    assert [len(prompt.messages), prompt.budget] == [2, 128]
    assert prompt.messages[0].content.startswith('In {"reasoning"')
    with pytest.raises(BadData, match="no prompt of shuffled-objects"):
        SUITE.prompt(others[0], settings)
    budgets = [paper.prompt(record).budget for record in others]
    assert budgets == [256, 256]


@pytest.mark.parametrize("suffix", ["jsonl", "json", "parquet"])
def test_published_problems_are_read_from_a_folder(
    request_for_all: RecordRequest, tmp_path: Path, suffix: str
) -> None:
    """In each form that the Hub's files have; the number stands after `####`."""
    frame, path = pl.DataFrame(MATHS), tmp_path / f"gsm8k.{suffix}"
    if suffix == "parquet":
        frame.write_parquet(path)
    elif suffix == "jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_json(path)
    asked = replace(request_for_all, data=str(tmp_path), configs=("gsm8k",), first=True)
    settings = QualitySettings(orders="reasoning-first", problems=3)
    records = quality_records(asked, settings).records
    assert [record.fields["answer"] for record in records] == ["1000", "1001", "1002"]
    assert records[0].fields["reasoning"] == "So <<1+1=2>>"


def test_published_problems_come_from_the_hub_at_a_revision(
    request_for_all: RecordRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The commit that was read is named; other files are left where they are."""
    asked = replace(request_for_all, data="published", configs=("gsm8k",))
    settings = QualitySettings(orders="reasoning-first")
    content = "\n".join(map(json.dumps, MATHS)).encode()
    with connected(monkeypatch, tmp_path / "home") as connection:
        store = connection.hub.store
        store.put(
            "openai/gsm8k", {"main/test.jsonl": content, "socratic/test.jsonl": b"x"}
        )
        found = quality_records(asked, settings)
    assert len(found.records) == 5
    assert found.name == asked.data
    assert found.origin.startswith("openai/gsm8k@")
    assert len(found.origin.partition("@")[2]) == 40


def test_the_first_two_of_the_shuffled_objects_are_no_problems(
    request_for_all: RecordRequest, tmp_path: Path
) -> None:
    """The published comparison uses them as worked examples."""
    rows = [{"input": f"{number}?", "target": "(B)"} for number in range(5)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "shuffled-objects.jsonl")
    asked = replace(
        request_for_all, data=str(tmp_path), configs=("shuffled-objects",), first=True
    )
    settings = QualitySettings(orders="reasoning-first")
    records = quality_records(asked, settings).records
    assert [record.fields["question"] for record in records] == ["2?", "3?", "4?"]


def test_a_published_row_that_is_none_is_named(
    request_for_all: RecordRequest, tmp_path: Path
) -> None:
    """File and row, and what is wrong with it."""
    bad = [*MATHS[:2], {"question": "?", "answer": "no number"}]
    pl.DataFrame(bad).write_ndjson(tmp_path / "gsm8k.jsonl")
    asked = replace(request_for_all, data=str(tmp_path), configs=("gsm8k",))
    with pytest.raises(BadData, match=r"gsm8k\.jsonl:3"):
        quality_records(asked, SETTINGS)


def test_a_folder_without_a_task_is_said(
    request_for_all: RecordRequest, tmp_path: Path
) -> None:
    """With the names that would be read."""
    asked = replace(request_for_all, data=str(tmp_path), configs=("gsm8k",))
    for _ in range(2):
        with pytest.raises(NoInput, match=r"main/test\*\.parquet, nor gsm8k\.parquet"):
            quality_records(asked, SETTINGS)
        (tmp_path / "gsm8k").mkdir(exist_ok=True)


def test_a_problem_has_one_name_however_many_are_asked(
    tmp_path: Path, request_for_all: RecordRequest
) -> None:
    """Runs with other limits or seeds are paired by name."""
    (tmp_path / "gsm8k.jsonl").write_text("\n".join(map(json.dumps, MATHS * 9)))
    asked = replace(request_for_all, data=str(tmp_path), configs=("gsm8k",))
    by_limit = [
        {
            it.id: it.fields
            for it in quality_records(replace(asked, limit=n), it).records
        }
        for n, it in ((8, SETTINGS), (16, QualitySettings(problems=16)))
    ]
    shared = by_limit[0].keys() & by_limit[1].keys()
    assert all(by_limit[0][name] == by_limit[1][name] for name in shared)


_EQUATION = re.compile(r"(-?[\d.]+(?: [-+*/] -?[\d.]+)+) = (-?[\d.]*\d)")


@pytest.mark.parametrize("name", TASKS)
def test_every_answer_is_in_the_form_asked_for(name: str) -> None:
    """The canonical answer is what its own JSON value is read as."""
    task = TASKS[name]
    for problem in (*sample(name), *task.shots):
        assert task.canonical(task.value(problem.answer)) == problem.answer
        wrong = task.value(WRONG[name](problem.answer))
        assert task.canonical(wrong) not in {None, problem.answer}
        assert len(problem.reasoning) <= task.reasoning_length


def test_last_letters_are_those_of_the_names_in_the_question() -> None:
    """Solved again from the question alone, the sample and a published row."""
    task = TASKS["last-letter"]
    for problem in sample("last-letter"):
        quoted = re.search('"(.*)"', problem.question)
        assert quoted is not None
        names = quoted[1].split(" ")
        assert "".join(name[-1] for name in names) == problem.answer
        assert problem.reasoning.endswith(f"read {problem.answer}.")
        row = {"question": problem.question, "answer": problem.answer.upper()}
        assert task.problem(row).answer == problem.answer


def test_exchanges_lead_to_the_answer() -> None:
    """Solved again from the question alone: people, swaps and options read back."""
    for problem in sample("shuffled-objects"):
        story, options = problem.question.split("\nOptions:\n")
        things = dict(re.findall(r"\(([A-E])\) (.+)", options))
        people = re.split(r", | and ", re.match(r"((?:\w+, ){3}\w+ and \w+)", story)[1])  # type: ignore[index]  # it matches
        start = story[story.index(":") : story.index(". ", story.index(":"))]
        held = {}
        for person in people:
            told = start[start.index(person) :].split(", ")[0]
            held[person] = next(
                letter for letter, thing in things.items() if thing in told
            )
        turns = re.findall(
            r"(?:First|Then|After that|Next|Finally), (\w+) and (\w+) ", story
        )
        assert len(turns) == 5
        for first, second in turns:
            held[first], held[second] = held[second], held[first]
        last = story.rpartition(". ")[2]
        asked = next(person for person in people if person in last)
        assert held[asked] == problem.answer


def test_every_equation_of_a_solution_holds_and_the_last_one_gives_the_answer() -> None:
    """Exact arithmetic, done again from the solution's own words."""
    for problem in sample("gsm8k"):
        equations = _EQUATION.findall(problem.reasoning)
        for left, right in equations:
            assert _value(left) == Fraction(right), problem.reasoning
        told = re.findall(r"-?\d+(?:\.\d+)?", problem.reasoning)
        assert Fraction(problem.answer) in {Fraction(number) for number in told}


def _value(expression: str) -> Fraction:
    """Return the value of a chain of operations, products before sums."""
    terms = re.split(r" ([-+]) ", expression)
    total, sign = Fraction(0), 1
    for term in terms:
        if term in {"+", "-"}:
            sign = 1 if term == "+" else -1
            continue
        first, *rest = re.split(r" ([*/]) ", term)
        value = Fraction(first)
        for operation, number in zip(rest[::2], rest[1::2], strict=True):
            value = (
                value * Fraction(number)
                if operation == "*"
                else value / Fraction(number)
            )
        total += sign * value
    return total
