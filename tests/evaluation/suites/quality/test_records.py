"""Problems of others and of our own: drawn, solved right, asked."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from curation.download.cache import FetchSettings
from curation.system.errors import BadConfiguration, BadData, NoInput
from evaluation.core.records import RecordRequest
from evaluation.runner.request import choose_suite
from evaluation.suites.quality.suite import (
    SUITE,
    TASKS,
    Problem,
    QualitySettings,
    as_records,
    quality_records,
    sample,
)
from tests.evaluation.suites.envelopes import own_records
from tests.evaluation.suites.known.quality import WRONG
from tests.publishing import connected

if TYPE_CHECKING:
    from pathlib import Path


SETTINGS = QualitySettings()
MATHS = [
    {"question": f"{number}?", "answer": f"So <<1+1=2>>\n#### 1,{number:03d}"}
    for number in range(5)
]


@pytest.fixture
def request_for_all(tmp_path: Path) -> RecordRequest:
    """A request for everything there is, of our own."""
    return RecordRequest(data=None, fetch=FetchSettings(mirror=None, cache=tmp_path))


def _maths(request: RecordRequest, folder: Path) -> RecordRequest:
    return replace(request, data=str(folder), configs=("gsm8k",))


def test_tasks_come_in_turn_and_problems_of_one_story_are_one_cluster(
    request_for_all: RecordRequest,
) -> None:
    """The answer may build on the reasoning; an unknown group names those there are."""
    found = quality_records(request_for_all, SETTINGS)
    assert (found.name, found.generated) == ("quality-sample", True)
    assert [record.group for record in found.records] == [*TASKS] * 18
    for record in found.records:
        assert [*json.loads(record.constraint)["properties"]] == ["reasoning", "answer"]
    one = quality_records(replace(request_for_all, configs=("gsm8k",)), SETTINGS)
    assert list(one.records) == list(found.records[2::3])
    with pytest.raises(BadConfiguration, match="last-letter, shuffled-objects, gsm8k"):
        quality_records(replace(request_for_all, configs=("maths",)), SETTINGS)
    problems = [
        Problem(question="?", reasoning="", answer="1", story=story)
        for story in ("ferry", "ferry", "")
    ]
    clusters = [it.fields["cluster"] for it in as_records("gsm8k", problems)]
    assert clusters == ["gsm8k ferry", "gsm8k ferry", "gsm8k 0002"]


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
    assert prompt.messages[0].content.startswith('In {"reasoning": <')
    assert prompt.messages[0].content.endswith('"answer": <final answer>}')
    with pytest.raises(BadData, match="no prompt of shuffled-objects"):
        SUITE.prompt(others[0], settings)
    for record, published, budget in zip(others, (256, 256), (448, 384), strict=True):
        assert paper.prompt(record).budget == published
        prompt = SUITE.prompt(record, SETTINGS)
        assert prompt.budget == budget
        assert prompt.messages[-1].content == record.fields["question"]
        roles = ["system", *["user", "assistant"] * len(TASKS[record.group].shots)]
        assert [turn.role for turn in prompt.messages] == [*roles, "user"]


@pytest.mark.parametrize(
    "name", ["gsm8k.jsonl", "gsm8k.json", "gsm8k.parquet", "gsm8k/main/test-0.parquet"]
)
def test_published_problems_are_read_from_a_folder(
    request_for_all: RecordRequest, tmp_path: Path, name: str
) -> None:
    """In each form that the Hub's files have; the number stands after `####`."""
    frame, path = pl.DataFrame(MATHS), tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name("train-0.jsonl").write_text("{")
    write: dict[str, Any] = {".jsonl": frame.write_ndjson, ".json": frame.write_json}
    write.get(path.suffix, frame.write_parquet)(path)
    if path.suffix == ".jsonl":  # the same problems in two forms are read once
        frame.write_parquet(path.with_suffix(".parquet"))
    asked = _maths(request_for_all, tmp_path)
    found = quality_records(asked, SETTINGS)
    assert (found.origin, found.generated) == (f"folder {tmp_path}", False)
    # A problem has one name, however many are asked.
    assert [(it.id, it.fields["answer"]) for it in found.records] == [
        (f"000{number}", f"100{number}") for number in range(5)
    ]
    assert found.records[0].fields["reasoning"] == "So <<1+1=2>>"
    assert {it.split for it in found.records} == {"test"}


def test_published_problems_come_from_the_hub_at_a_revision(
    request_for_all: RecordRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The commit that was read is named; other files are left where they are."""
    asked = replace(request_for_all, data="published", configs=("gsm8k",))
    content = "\n".join(map(json.dumps, MATHS)).encode()
    with connected(monkeypatch, tmp_path / "home") as connection:
        store = connection.hub.store
        store.put(
            "openai/gsm8k", {"main/test.jsonl": content, "socratic/test.jsonl": b"x"}
        )
        found = quality_records(asked, SETTINGS)
    assert len(found.records) == 5
    assert {record.split for record in found.records} == {"test"}
    assert found.name == asked.data
    assert found.origin.startswith("openai/gsm8k@")
    assert len(found.origin.partition("@")[2]) == 40


def test_the_first_two_of_the_shuffled_objects_are_no_problems(
    request_for_all: RecordRequest, tmp_path: Path
) -> None:
    """The published comparison uses them as worked examples."""
    rows = [{"input": f"{number}?", "target": "(B)"} for number in range(5)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "shuffled-objects.jsonl")
    asked = replace(_maths(request_for_all, tmp_path), configs=("shuffled-objects",))
    records = quality_records(asked, SETTINGS).records
    assert [record.fields["question"] for record in records] == ["2?", "3?", "4?"]


@pytest.mark.parametrize("row", [{"question": "?", "answer": "no number"}, {"a": "1"}])
def test_what_is_no_problem_is_named(
    request_for_all: RecordRequest, tmp_path: Path, row: dict[str, str]
) -> None:
    """File and row; without a file the names that would be read."""
    asked = _maths(request_for_all, tmp_path)
    for _ in range(2):
        with pytest.raises(NoInput, match=r"main/test\*\.parquet, nor gsm8k\.parquet"):
            quality_records(asked, SETTINGS)
        (tmp_path / "gsm8k").mkdir(exist_ok=True)
    lines = map(json.dumps, [*MATHS[:2], row])
    (tmp_path / "gsm8k.jsonl").write_text("\n".join(lines))
    with pytest.raises(BadData, match=r"gsm8k\.jsonl:3"):
        quality_records(asked, SETTINGS)
    frame = pl.from_dicts([*MATHS[:2], row], infer_schema_length=None)
    (tmp_path / "gsm8k").joinpath("main").mkdir()
    frame.write_parquet(tmp_path / "gsm8k/main/test.parquet")
    with pytest.raises(BadData, match=r"main/test\.parquet:3"):
        quality_records(asked, SETTINGS)


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
        for left, right in _EQUATION.findall(problem.reasoning):
            # Every number as an exact fraction; the text has numbers and signs alone.
            exact = re.sub(r"\d+(?:\.\d+)?", r"Fraction('\g<0>')", left)
            value = eval(exact, {"Fraction": Fraction})  # noqa: S307 (as above)
            assert value == Fraction(right), problem.reasoning
        told = re.findall(r"-?\d+(?:\.\d+)?", problem.reasoning)
        assert Fraction(problem.answer) in {Fraction(number) for number in told}
