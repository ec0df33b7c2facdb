"""The three tasks of the paper's Table 14: their problems, and how answers are read.

Last Letter (Wei et al. 2022, arXiv 2201.11903): concatenate the last letters of four
names. Shuffle Objects (Srivastava et al. 2022, arXiv 2206.04615, with five objects):
follow exchanges among five people; the answer is a letter, which the paper puts in
parentheses in section 6.1 and not in Table 14, so both are taken. GSM8K (Cobbe et al.
2021, arXiv 2110.14168): a few steps of arithmetic. Prompts and stories stand in
`tasks.toml`.
"""

from __future__ import annotations

import json
import operator
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from itertools import cycle
from math import isfinite
from random import Random
from typing import Any, Final, NamedTuple

from curation.core.json_types import Json
from curation.system.words import counted

#: The two members of every answer, in the paper's order: the reasoning comes first.
REASONING: Final = "reasoning"
ANSWER: Final = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem, solved."""

    question: str
    #: The steps to the answer, in a few sentences; empty if the authors publish none.
    reasoning: str
    #: The right answer in its canonical form (`AnswerForm.canonical`).
    answer: str
    #: What its problem shares with others; empty for one by itself.
    story: str = ""


class AnswerForm(NamedTuple):
    """How the answers to one task are read and drawn."""

    #: Returns an answer in canonical form; None if it does not have the form.
    canonical: Callable[[Json], str | None]
    #: Returns the JSON value of a canonical answer.
    value: Callable[[str], Json]
    #: Returns a wrong answer of the right form, for the self-test.
    wrong: Callable[[str], str]
    #: Returns the problem of a published row.
    read: Callable[[Mapping[str, Json]], Problem]
    #: The published code's expression for the answer in a text, and its case.
    published: str
    fold: Callable[[str], str]
    #: Draws a problem of a story; the stories have their turns.
    draw: Callable[[Any, Random], Problem]


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTask:
    """One task."""

    #: Its group in records and tables.
    name: str
    reading: AnswerForm
    #: The system message; `{form}` stands for the form of the answer.
    instruction: str
    #: Worked examples before the question, none of them a problem of the set.
    shots: Sequence[Problem]
    stories: Sequence[Any]
    #: The schema of the answer.
    answer_schema: Mapping[str, Json]
    #: Most characters of the reasoning.
    reasoning_length: int
    #: Tokens of an answer, the same free and constrained; those of published free runs.
    budget: int
    published_budget: int
    #: The published problems on the Hub: `owner/name`, the start of the paths of the
    #: files that hold the test split, and rows at the start that are no problems.
    repository: str
    files: str
    skip: int = 0

    def generate(self, count: int, seed: int) -> Iterator[Problem]:
        """Yield so many problems of our own, the stories in turn, none twice."""
        draw = Random(f"{self.name} {seed}")  # noqa: S311 (data, no secret)
        questions: set[str] = set()
        for story in cycle(self.stories):
            problem = self.reading.draw(story, draw)
            if len(questions) == count:
                return
            if problem.question not in questions:
                questions.add(problem.question)
                yield problem

    def published_answer(self, text: str) -> str | None:
        """Return the answer that the published code extracts from a text, if any."""
        match = re.search(self.reading.published, text)
        return self.reading.fold(match[1]) if match else None

    def schema(self, order: tuple[str, str]) -> str:
        """Return the schema of an answer, its members in this order, as JSON text."""
        members: dict[str, Json] = {
            REASONING: {"type": "string", "maxLength": self.reasoning_length},
            ANSWER: dict(self.answer_schema),
        }
        schema: dict[str, Json] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {name: members[name] for name in order},
            "required": list(order),
            "additionalProperties": False,
        }
        return json.dumps(schema)

    def answer_text(self, problem: Problem, order: tuple[str, str]) -> str:
        """Return the right answer to a problem as JSON text."""
        members: dict[str, Json] = {
            REASONING: problem.reasoning[: self.reasoning_length],
            ANSWER: self.reading.value(problem.answer),
        }
        return json.dumps({name: members[name] for name in order}, ensure_ascii=False)


_TABLES: Final[dict[str, Any]] = tomllib.loads(
    files(__package__).joinpath("tasks.toml").read_text("utf-8")
)
_LETTERS_TABLE, _OBJECTS_TABLE, _MATHS_TABLE = _TABLES.values()


def _last_letters(names: Sequence[str], question: str) -> Problem:
    answer = "".join(name[-1].lower() for name in names)
    spelled = ", ".join(f"{name} ends in {name[-1].lower()}" for name in names)
    return Problem(
        question=question.format(words=" ".join(names)),
        reasoning=f"{spelled}. Put together they read {answer}.",
        answer=answer,
    )


def _read_letters(row: Mapping[str, Json]) -> Problem:
    question = str(row["question"])
    names = re.search(r'"([^"]+)"', question)
    reasoning = _last_letters(names[1].split(), "").reasoning if names else ""
    answer = str(row["answer"]).strip().lower()
    return Problem(question=question, reasoning=reasoning, answer=answer)


def _four_letters(value: Json) -> str | None:
    fits = isinstance(value, str) and re.fullmatch("[a-z]{4}", value)
    return str(value) if fits else None


LETTERS: Final = "ABCDE"
_ORDER: Final = ("First", "Then", "After that", "Next", "Finally")


def _exchanges(
    story: Mapping[str, Any],
    people: Sequence[str],
    things: Sequence[str],
    swaps: Sequence[Sequence[int]],
    place: int,
) -> Problem:
    """Return the problem, solved by carrying the exchanges out."""
    objects = list(things)
    steps: list[str] = []
    exchanges: list[str] = []
    for word, (first, second) in zip(_ORDER, swaps, strict=True):
        objects[first], objects[second] = objects[second], objects[first]
        swap = story["swap"].format(first=people[first], second=people[second])
        exchanges.append(f"{word}, {swap}.")
        pairs = zip(people, objects, strict=True)
        now = ", ".join(f"{person} has {thing}" for person, thing in pairs)
        steps.append(f"{word}: {now}.")
    letter = LETTERS[list(things).index(objects[place])]
    pairs = zip(people, things, strict=True)
    starts = [story["holds"].format(person=one, thing=thing) for one, thing in pairs]
    options = [f"({one}) {thing}" for one, thing in zip(LETTERS, things, strict=True)]
    question = (
        f"{', '.join(people[:-1])} and {people[-1]} {story['people']}. "
        f"{story['start']}: {', '.join(starts)}. {story['then']}. "
        f"{' '.join(exchanges)} {story['end'].format(person=people[place])}\n"
    )
    ending = f"At the end {people[place]} has {objects[place]}, which is {letter}."
    return Problem(
        question="\n".join((f"{question}Options:", *options)),
        reasoning=" ".join((*steps, ending)),
        answer=letter,
        story=story["name"],
    )


def _draw_exchanges(story: Mapping[str, Any], draw: Random) -> Problem:
    people = draw.sample(_OBJECTS_TABLE["people"], 5)
    things = draw.sample(story["objects"], 5)
    swaps = [draw.sample(range(5), 2) for _ in _ORDER]
    return _exchanges(story, people, things, swaps, draw.randrange(5))


def _option(value: Json) -> str | None:
    match = re.fullmatch(r"\(?([A-E])\)?", value) if isinstance(value, str) else None
    return match[1] if match else None


def _read_exchanges(row: Mapping[str, Json]) -> Problem:
    answer = _option(str(row["target"]).strip())
    if answer is None:
        raise ValueError(row["target"])
    return Problem(question=str(row["input"]), reasoning="", answer=answer)


class _Figure(Decimal):
    """A number in a text: `{n}`, `{n:.2f}`, or with its noun `{n:book}`."""

    def __format__(self, form: str, /, *_: object) -> str:
        if form[:1] == ".":
            return super().__format__(form)
        noun = counted(1 if self == 1 else 2, form)[2:]
        return f"{canonical_number(self)} {noun}".strip() if form else str(self)

    def __str__(self) -> str:
        return str(canonical_number(self))


_OPERATIONS: Final[Mapping[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _draw_figures(lines: Sequence[str], draw: Random) -> dict[str, Decimal]:
    """Return the numbers that lines of `tasks.toml` draw and reckon."""
    figures: dict[str, Decimal] = {}

    def of(word: str) -> Decimal:
        return figures[word] if word in figures else Decimal(word)

    for line in lines:
        name, *words = line.split()
        match words:
            case ["=", left, sign, right]:
                figures[name] = _OPERATIONS[sign](of(left), of(right))
            case ["of", *options]:
                figures[name] = Decimal(draw.choice(options))
            case [low, high, *step]:
                numbers = range(int(of(low)), int(of(high)) + 1, *map(int, step))
                figures[name] = Decimal(draw.choice(numbers))
    return figures


def _draw_sums(story: Mapping[str, Any], draw: Random) -> Problem:
    figures = _draw_figures(story["draws"], draw)
    words: dict[str, object] = {
        "person": draw.choice(_MATHS_TABLE["people"]),
        **{name: _Figure(figure) for name, figure in figures.items()},
    }
    return Problem(
        question=story["question"].format_map(words),
        reasoning=story["reasoning"].format_map(words),
        answer=str(words[ANSWER]),
        story=story["name"],
    )


def _read_sums(row: Mapping[str, Json]) -> Problem:
    reasoning, _, number = str(row["answer"]).rpartition("#### ")
    answer = canonical_number(Decimal(number.strip().replace(",", "")))
    if answer is None:
        raise ValueError(number)
    question = str(row["question"])
    return Problem(question=question, reasoning=reasoning.strip(), answer=answer)


def canonical_number(value: Json | Decimal) -> str | None:
    """Return a number in its shortest decimal form; None for what is no number.

    `18`, `18.0` and `1.8e1` are one number; a text or a Boolean is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if not isinstance(value, int) and not isfinite(value):
        return None
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
        shortest = number.normalize()
    except InvalidOperation:
        return None
    return format(Decimal(shortest), "f") if shortest else "0"


def _number(answer: str) -> Json:
    number = Decimal(answer)
    return int(number) if number == number.to_integral_value() else float(number)


def _task(
    name: str, reading: AnswerForm, shots: Sequence[Problem], stories: Sequence[Any]
) -> QualityTask:
    names = {field.name for field in fields(QualityTask)}
    own = {key: value for key, value in _TABLES[name].items() if key in names}
    known = {"name": name, "reading": reading, "shots": shots, "stories": stories}
    return QualityTask(**{**own, **known})


def _tasks() -> Iterator[QualityTask]:
    letters = AnswerForm(
        canonical=_four_letters,
        value=str,
        wrong=lambda answer: answer[:-1] + ("a" if answer[-1] != "a" else "b"),
        read=_read_letters,
        published=r'(?i:"answer":\s*"([a-z]{4})")',
        fold=str.lower,
        draw=lambda form, draw: _last_letters(
            draw.sample(_LETTERS_TABLE["names"], 4), form
        ),
    )
    questions = _LETTERS_TABLE["questions"]
    shots = [_last_letters(names, questions[0]) for names in _LETTERS_TABLE["shots"]]
    yield _task("last-letter", letters, shots, questions)
    options = AnswerForm(
        canonical=_option,
        value=str,
        wrong=lambda answer: LETTERS[(LETTERS.index(answer) + 1) % len(LETTERS)],
        read=_read_exchanges,
        published=r'"answer":\s*"([A-Ea-e])"',
        fold=str.upper,
        draw=_draw_exchanges,
    )
    shot = dict(_OBJECTS_TABLE["shot"])
    stories = _OBJECTS_TABLE["stories"]
    (story,) = (one for one in stories if one["name"] == shot["story"])
    solved = _exchanges(**{**shot, "story": story})
    yield _task("shuffled-objects", options, [solved], stories)
    sums = AnswerForm(
        canonical=canonical_number,
        value=_number,
        wrong=lambda answer: format(Decimal(answer) + 1, "f"),
        read=_read_sums,
        published=r'"answer":\s*([1-9][0-9]{0,9})',
        fold=str,
        draw=_draw_sums,
    )
    shots = [Problem(**shot) for shot in _MATHS_TABLE["shots"]]
    yield _task("gsm8k", sums, shots, _MATHS_TABLE["stories"])


#: The three tasks, in the order of the paper's Table 7.
TASKS: Final[Mapping[str, QualityTask]] = {task.name: task for task in _tasks()}
