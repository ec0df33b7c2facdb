"""Problems of our own are solved right, drawn with a seed, and nobody else's."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from evaluation.suites.quality.tasks import TASKS

_EQUATION = re.compile(r"(-?[\d.]+(?: [-+*/] -?[\d.]+)+) = (-?[\d.]*\d)")
#: The persons of the published problems of each form.
_PUBLISHED_NAMES = frozenset(
    (
        "Alice",
        "Bob",
        "Claire",
        "Dave",
        "Eve",
        "Fred",
        "Gertrude",
        "Ian",
        "Peter",
        "Bernard",
        "Stephen",
    )
)


@pytest.mark.parametrize("name", TASKS)
def test_a_seed_draws_the_same_problems_and_another_seed_others(name: str) -> None:
    """Problems follow from the seed; none stands twice."""
    generate = TASKS[name].generate
    problems = list(generate(300, 7))
    assert problems == list(generate(300, 7))
    assert len({problem.question for problem in problems}) == 300
    assert problems != list(generate(300, 8))


@pytest.mark.parametrize("name", TASKS)
def test_a_shorter_draw_is_the_beginning_of_a_longer_one(name: str) -> None:
    """Asking for more problems changes none of those that there were."""
    generate = TASKS[name].generate
    assert list(generate(20, 0)) == list(generate(50, 0))[:20]


@pytest.mark.parametrize("name", TASKS)
def test_every_answer_is_in_the_form_asked_for(name: str) -> None:
    """The canonical answer is what its own JSON value is read as."""
    task = TASKS[name]
    for problem in (*task.generate(200, 1), *task.shots):
        canonical, value, wrong, *_ = task.reading
        assert canonical(value(problem.answer)) == problem.answer
        assert canonical(value(wrong(problem.answer))) != problem.answer


@pytest.mark.parametrize("name", TASKS)
def test_the_reasoning_fits_the_schema(name: str) -> None:
    """No reference answer is longer than the schema allows."""
    task = TASKS[name]
    longest = max(len(problem.reasoning) for problem in task.generate(300, 2))
    assert longest <= task.reasoning_length


def test_last_letters_are_those_of_the_names_in_the_question() -> None:
    """Solved again from the question alone."""
    for problem in TASKS["last-letter"].generate(200, 3):
        quoted = re.search('"(.*)"', problem.question)
        assert quoted is not None
        names = quoted[1].split(" ")
        assert len(names) == 4
        assert "".join(name[-1] for name in names) == problem.answer


def test_exchanges_lead_to_the_answer() -> None:
    """Solved again from the question alone: people, swaps and options read back."""
    for problem in TASKS["shuffled-objects"].generate(200, 4):
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
    for problem in TASKS["gsm8k"].generate(500, 5):
        equations = _EQUATION.findall(problem.reasoning)
        for left, right in equations:
            assert _value(left) == Fraction(right), problem.reasoning
        told = re.findall(r"-?\d+(?:\.\d+)?", problem.reasoning)
        assert Fraction(problem.answer) in {Fraction(number) for number in told}


def test_word_problems_have_zero_negative_and_decimal_answers() -> None:
    """What the published expression cannot read is there to be asked."""
    answers = [Fraction(problem.answer) for problem in TASKS["gsm8k"].generate(300, 6)]
    assert any(answer == 0 for answer in answers)
    assert any(answer < 0 for answer in answers)
    assert any(answer.denominator > 1 for answer in answers)


def test_no_person_of_ours_is_one_of_the_published_problems() -> None:
    """Names are disjoint, so that no problem was in anybody's training data as such."""
    problems = [one for task in TASKS.values() for one in task.generate(400, 9)]
    words = {word for one in problems for word in re.findall(r"\w+", one.question)}
    assert not words & _PUBLISHED_NAMES


def test_a_number_and_its_noun_agree() -> None:
    """Nothing is 1 kilometres, and nothing 2 kilometre."""
    nouns = set()
    for problem in TASKS["gsm8k"].generate(3_000, 10):
        text = f"{problem.question} {problem.reasoning}"
        nouns |= set(re.findall(r"(?<![-\d.])[2-9]\d* (\w+)s\b", text))
    for problem in TASKS["gsm8k"].generate(3_000, 10):
        text = f"{problem.question} {problem.reasoning}"
        assert not re.search(rf"(?<![-\d.])1 ({'|'.join(nouns)})s\b", text), text
        assert not re.search(rf"(?<![-\d.])[2-9]\d* ({'|'.join(nouns)})\b", text), text


@pytest.mark.parametrize("name", TASKS)
def test_problems_have_many_forms(name: str) -> None:
    """What stands in a question beside names and figures has ten forms at least."""
    task = TASKS[name]
    stories = {problem.story for problem in task.generate(300, 11)}
    assert len(stories) == (1 if name == "last-letter" else len(task.stories))
    assert len(task.stories) >= {"gsm8k": 20, "shuffled-objects": 10}.get(name, 4)


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
