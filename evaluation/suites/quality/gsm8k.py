"""GSM8K: word problems that take a few steps of arithmetic.

The published problems are those of Cobbe et al. 2021 (arXiv 2110.14168). The system
message is quoted from Figure 7 of the JSONSchemaBench paper (arXiv 2501.10868), because
it defines the measurement; the worked examples are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import cycle
from math import isfinite
from random import Random
from typing import Final, TypeAlias

from curation.core.json_types import Json
from evaluation.suites.quality.problems import (
    Problem,
    PublishedData,
    QualityTask,
    distinct_problems,
)

_PUBLISHED: Final = re.compile(r'"answer":\s*([1-9][0-9]{0,9})')
_SEPARATOR: Final = "#### "


def _read(row: Mapping[str, Json]) -> Problem:
    reasoning, _, number = str(row["answer"]).rpartition(_SEPARATOR)
    answer = canonical_number(Decimal(number.strip().replace(",", "")))
    if answer is None:
        raise ValueError(number)
    return Problem(
        question=str(row["question"]), reasoning=reasoning.strip(), answer=answer
    )


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
    return format(shortest, "f") if shortest else "0"


def _value(answer: str) -> Json:
    number = Decimal(answer)
    return int(number) if number == number.to_integral_value() else float(number)


def _wrong(answer: str) -> str:
    return format(Decimal(answer) + 1, "f")


def _published_answer(text: str) -> str | None:
    match = _PUBLISHED.search(text)
    return match[1] if match else None


#: Draws the numbers of one kind of problem; returns question, solution and answer.
_Kind: TypeAlias = "Callable[[Random, str], tuple[str, str, Decimal]]"
_PEOPLE: Final = (
    "Amina", "Bruno", "Celeste", "Dmitri", "Elena", "Faisal", "Gudrun", "Henrik",
    "Imani", "Joao", "Kenji", "Lotte", "Marek", "Nadia", "Otto", "Priya",
)  # fmt: skip


def _shelves(draw: Random, person: str) -> tuple[str, str, Decimal]:
    shelves, books, gift = draw.randint(3, 9), draw.randint(8, 30), draw.randint(2, 20)
    whole = shelves * books
    return (
        (
            f"{person} fills {shelves} shelves with {books} books each and then gives "
            f"{gift} books to a school. How many books does {person} keep?"
        ),
        (
            f"{shelves} shelves of {books} books are {shelves} * {books} = {whole} "
            f"books. {whole} - {gift} = {whole - gift} books are kept."
        ),
        Decimal(whole - gift),
    )


def _wages(draw: Random, person: str) -> tuple[str, str, Decimal]:
    hours, pay, extra = draw.randint(4, 8), draw.randint(11, 24), draw.randint(1, 3)
    days = draw.randint(2, 6)
    total_hours = days * hours + extra
    return (
        (
            f"{person} works {hours} hours a day for {days} days, and {extra} hours "
            f"more on the last day. An hour is paid with {pay} euros. How many euros "
            f"does {person} earn?"
        ),
        (
            f"The hours are {days} * {hours} + {extra} = {total_hours}. At {pay} euros "
            f"each they earn {total_hours} * {pay} = {total_hours * pay} euros."
        ),
        Decimal(total_hours * pay),
    )


def _temperature(draw: Random, person: str) -> tuple[str, str, Decimal]:
    start, up, down = draw.randint(-9, 4), draw.randint(2, 9), draw.randint(4, 18)
    noon = start + up
    return (
        (
            f"{person} reads a thermometer. At dawn it shows {start} degrees. Until "
            f"noon it rises by {up} degrees, and until the evening it falls by {down} "
            "degrees. What does it show in the evening, in degrees?"
        ),
        (
            f"At noon it shows {start} + {up} = {noon} degrees. In the evening it "
            f"shows {noon} - {down} = {noon - down} degrees."
        ),
        Decimal(noon - down),
    )


def _shopping(draw: Random, person: str) -> tuple[str, str, Decimal]:
    cents = [Decimal(draw.randrange(20, 400, 5)) / 100 for _ in range(2)]
    counts = [draw.randint(2, 6), draw.randint(1, 5)]
    parts = [count * price for count, price in zip(counts, cents, strict=True)]
    total = sum(parts, Decimal())
    return (
        (
            f"At the market {person} buys {counts[0]} pears at {cents[0]:.2f} euros "
            f"each and {counts[1]} melons at {cents[1]:.2f} euros each. How many euros "
            "is that together?"
        ),
        (
            f"The pears cost {counts[0]} * {cents[0]:.2f} = {parts[0]:.2f} euros, the "
            f"melons {counts[1]} * {cents[1]:.2f} = {parts[1]:.2f} euros. Together "
            f"that is {total:.2f} euros."
        ),
        total,
    )


def _debt(draw: Random, person: str) -> tuple[str, str, Decimal]:
    weeks, saved, price = draw.randint(3, 8), draw.randint(5, 15), draw.randint(40, 120)
    whole = weeks * saved
    return (
        (
            f"{person} saves {saved} euros a week for {weeks} weeks and then buys a "
            f"lamp and a lock for {price} euros in all, on credit where the savings do "
            f"not reach. How many euros does {person} own afterwards? A debt counts as "
            "a negative number."
        ),
        (
            f"The savings are {weeks} * {saved} = {whole} euros. Afterwards it is "
            f"{whole} - {price} = {whole - price} euros."
        ),
        Decimal(whole - price),
    )


def _sharing(draw: Random, person: str) -> tuple[str, str, Decimal]:
    friends, each_gets = draw.randint(3, 9), draw.randint(4, 12)
    surplus = draw.randint(0, friends - 1)
    whole = friends * each_gets + surplus
    return (
        (
            f"{person} shares {whole} marbles evenly among {friends} children, as many "
            "as each can get. How many marbles are left over?"
        ),
        (
            f"{whole} divided by {friends} is {each_gets}, and {friends} * {each_gets} "
            f"= {friends * each_gets}. {whole} - {friends * each_gets} = {surplus} "
            "are left."
        ),
        Decimal(surplus),
    )


def _recipe(draw: Random, person: str) -> tuple[str, str, Decimal]:
    persons, grams = draw.choice((2, 4, 5)), draw.randrange(100, 500, 50)
    guests = draw.randint(6, 15)
    one = Decimal(grams) / persons
    return (
        (
            f"A recipe for {persons} persons takes {grams} grams of flour. {person} "
            f"cooks for {guests} persons. How many grams of flour does {person} need?"
        ),
        (
            f"One person takes {grams} / {persons} = {one:f} grams. {guests} persons "
            f"take {guests} * {one:f} = {guests * one:f} grams."
        ),
        guests * one,
    )


def _walk(draw: Random, person: str) -> tuple[str, str, Decimal]:
    speed, hours = draw.randint(3, 6), draw.randint(2, 5)
    back = draw.randint(1, speed * hours)
    whole = speed * hours
    return (
        (
            f"{person} walks away from home at {speed} kilometres an hour for {hours} "
            f"hours, and then {back} kilometres back on the same way. How many "
            f"kilometres from home is {person} now?"
        ),
        (
            f"The way out is {speed} * {hours} = {whole} kilometres. {whole} - {back} "
            f"= {whole - back} kilometres from home."
        ),
        Decimal(whole - back),
    )


def _flock(draw: Random, person: str) -> tuple[str, str, Decimal]:
    hens, goats = draw.randint(3, 20), draw.randint(2, 12)
    sold = draw.randint(1, goats)
    legs = 2 * hens + 4 * (goats - sold)
    return (
        (
            f"{person} keeps {hens} hens and {goats} goats, and sells {sold} of the "
            "goats. How many legs do the animals that stay have together?"
        ),
        (
            f"{goats} - {sold} = {goats - sold} goats stay. The legs are {hens} * 2 + "
            f"{goats - sold} * 4 = {legs}."
        ),
        Decimal(legs),
    )


def _discount(draw: Random, person: str) -> tuple[str, str, Decimal]:
    price, percent = draw.randrange(20, 200, 4), draw.choice((10, 20, 25, 50, 75))
    off = Decimal(price) * percent / 100
    return (
        (
            f"A coat of {price} euros is sold at {percent} percent less. How many "
            f"euros does {person} pay for it?"
        ),
        (
            f"{percent} percent of {price} euros are {off:f} euros. {price} - {off:f} "
            f"= {price - off:f} euros."
        ),
        price - off,
    )


_KINDS: Final[tuple[_Kind, ...]] = (
    _shelves,
    _wages,
    _temperature,
    _shopping,
    _debt,
    _sharing,
    _recipe,
    _walk,
    _flock,
    _discount,
)


def word_problems(count: int, seed: int) -> Iterator[Problem]:
    """Yield so many problems, the kinds in turn, none of them twice."""
    draw = Random(f"word problems {seed}")  # noqa: S311 (data, no secret)
    kinds = cycle(_KINDS)

    def following() -> Problem:
        question, reasoning, number = next(kinds)(draw, draw.choice(_PEOPLE))
        answer = format(number.normalize(), "f") if number else "0"
        return Problem(question=question, reasoning=reasoning, answer=answer)

    return distinct_problems(count, following)


TASK: Final = QualityTask(
    name="gsm8k",
    instruction=(
        "You are an expert in solving grade school math tasks. You will be presented "
        "with a grade-school math word problem and be asked to solve it. Before "
        "answering, you should reason about the problem (using the "
        '"reasoning" field in the JSON response format described below). Always '
        'respond with JSON in the format: {form}. The "reasoning" field contains '
        'your logical explanation, and the "answer" field contains the final numeric '
        "result."
    ),
    shots=(
        Problem(
            question="A ferry carries 24 cars on each crossing. It crosses 5 times "
            "before noon and 3 times after. How many cars does it carry that day?",
            reasoning="It crosses 5 + 3 = 8 times. 8 crossings of 24 cars each are "
            "8 * 24 = 192 cars.",
            answer="192",
        ),
        Problem(
            question="Irma has 15 euros. She buys 4 notebooks at 2.25 euros each. How "
            "many euros does she have left?",
            reasoning="4 notebooks cost 4 * 2.25 = 9 euros. She has 15 - 9 = 6 euros "
            "left.",
            answer="6",
        ),
        Problem(
            question="At six in the morning it is 3 degrees below zero. By noon it is "
            "8 degrees warmer, and by midnight 7 degrees colder than at noon. How many "
            "degrees is it at midnight?",
            reasoning="At noon it is -3 + 8 = 5 degrees. At midnight it is 5 - 7 = -2 "
            "degrees.",
            answer="-2",
        ),
    ),
    answer_schema={"type": "number"},
    reasoning_length=1000,
    budget=384,
    published_budget=256,
    canonical=canonical_number,
    value=_value,
    wrong=_wrong,
    published_answer=_published_answer,
    generate=word_problems,
    published=PublishedData(repository="openai/gsm8k", files="main/test", read=_read),
)
