"""Shuffle Objects: follow a few exchanges among five people.

The form is that of BIG-bench's `tracking_shuffled_objects` with five objects
(Srivastava et al. 2022, arXiv 2206.04615). The answer is a letter from A to E. The
paper puts it in parentheses in section 6.1 and not in Table 14, so both are taken and
mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from curation.core.json_types import Json
from evaluation.suites.quality.problems import (
    Problem,
    PublishedData,
    QualityTask,
    distinct_problems,
)

LETTERS: Final = "ABCDE"
#: None of them is a person of the published problems.
NAMES: Final = (
    "Amara", "Bogdan", "Chiara", "Desta", "Elif", "Farid", "Greta", "Hamza", "Ines",
    "Jovan", "Katya", "Liam", "Mira", "Nuno", "Orla", "Pavel", "Quinn", "Rosa",
    "Samir", "Tuva", "Uxue", "Viktor", "Willa", "Yara", "Zeno",
)  # fmt: skip
_FORM: Final = re.compile(r"\(?([A-E])\)?")
_PUBLISHED: Final = re.compile(r'"answer":\s*"([A-Ea-e])"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The exchanged objects, and the sentences about them."""

    people: str
    start: str
    holds: str
    then: str
    swap: str
    end: str
    objects: tuple[str, ...]


_SETTINGS: Final = (
    Setting(
        people="share a garden shed",
        start="In spring each of them plants one seedling",
        holds="{person} plants the {thing}",
        then="Over the summer they trade seedlings in pairs",
        swap="{first} and {second} trade their seedlings",
        end="In autumn {person} is the keeper of the",
        objects=("pumpkin", "chilli", "fennel", "leek", "beetroot", "artichoke"),
    ),
    Setting(
        people="play in the same street band",
        start="Before the parade each of them picks up an instrument",
        holds="{person} picks up the {thing}",
        then="On the way they change instruments",
        swap="{first} and {second} change instruments",
        end="At the end of the parade {person} plays the",
        objects=("tuba", "accordion", "banjo", "oboe", "tambourine", "cello"),
    ),
    Setting(
        people="are on the night shift of an observatory",
        start="At dusk each of them is given one telescope",
        holds="{person} is given the {thing} one",
        then="As the hours pass they change places",
        swap="{first} and {second} change places",
        end="At dawn {person} sits at the telescope that is",
        objects=("red", "silver", "white", "copper", "black", "green"),
    ),
    Setting(
        people="meet to swap board games",
        start="Each of them brings one game",
        holds="{person} brings the game about {thing}",
        then="During the evening games are passed on",
        swap="{first} and {second} exchange the games that they hold",
        end="When they leave, {person} takes home the game about",
        objects=("trains", "castles", "whales", "spices", "robots", "windmills"),
    ),
    Setting(
        people="row in one boat club",
        start="In the morning each of them takes a boat",
        holds="{person} takes the boat called {thing}",
        then="At every buoy two of them change boats",
        swap="{first} and {second} change boats",
        end="Back at the pier, {person} steps out of the boat called",
        objects=("Heron", "Comet", "Maple", "Juniper", "Saffron", "Orbit"),
    ),
)
_ORDER: Final = ("First", "Then", "After that", "Next", "Finally")


def _problem(
    setting: Setting,
    people: Sequence[str],
    things: Sequence[str],
    swaps: Sequence[tuple[int, int]],
    place: int,
) -> Problem:
    """Return the problem, solved by carrying the exchanges out."""
    objects = list(things)
    steps: list[str] = []
    exchanges: list[str] = []
    for word, (first, second) in zip(_ORDER, swaps, strict=False):
        objects[first], objects[second] = objects[second], objects[first]
        sentence = setting.swap.format(first=people[first], second=people[second])
        exchanges.append(f"{word}, {sentence}.")
        now = ", ".join(
            f"{person} has {thing}"
            for person, thing in zip(people, objects, strict=True)
        )
        steps.append(f"{word}: {now}.")
    letter = LETTERS[list(things).index(objects[place])]
    starts = ", ".join(
        setting.holds.format(person=person, thing=thing)
        for person, thing in zip(people, things, strict=True)
    )
    options = "\n".join(
        f"({letter}) {thing}" for letter, thing in zip(LETTERS, things, strict=True)
    )
    question = (
        f"{', '.join(people[:-1])} and {people[-1]} {setting.people}. "
        f"{setting.start}: {starts}. {setting.then}. {' '.join(exchanges)} "
        f"{setting.end.format(person=people[place])}\nOptions:\n{options}"
    )
    ending = f"At the end {people[place]} has {objects[place]}, which is {letter}."
    return Problem(
        question=question, reasoning=" ".join([*steps, ending]), answer=letter
    )


def _drawn(draw: Random) -> Problem:
    setting = draw.choice(_SETTINGS)
    pairs = [(low, high) for high in range(5) for low in range(high)]
    return _problem(
        setting,
        draw.sample(NAMES, 5),
        draw.sample(setting.objects, 5),
        [draw.choice(pairs) for _ in _ORDER],
        draw.randrange(5),
    )


def _generate(count: int, seed: int) -> Iterator[Problem]:
    draw = Random(f"shuffled objects {seed}")  # noqa: S311 (data, no secret)
    return distinct_problems(count, lambda: _drawn(draw))


def _read(row: Mapping[str, Json]) -> Problem:
    answer = _canonical(str(row["target"]).strip())
    if answer is None:
        raise ValueError(row["target"])
    return Problem(question=str(row["input"]), reasoning="", answer=answer)


def _canonical(value: Json) -> str | None:
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    return match[1] if match else None


def _wrong(answer: str) -> str:
    return LETTERS[(LETTERS.index(answer) + 1) % len(LETTERS)]


def _published_answer(text: str) -> str | None:
    match = _PUBLISHED.search(text)
    return match[1].upper() if match else None


TASK: Final = QualityTask(
    name="shuffled-objects",
    instruction=(
        "You are good at keeping track of events. You are told how five people "
        "exchange things, one exchange after the other, and asked what one of them "
        "has at the end; five options are given. Follow the exchanges in the field "
        '"reasoning", and give the letter of the right option, A to E, in the field '
        '"answer". Answer with JSON only, in the form {form}.'
    ),
    shots=(
        _problem(
            _SETTINGS[1],
            ("Noor", "Ove", "Petra", "Ravi", "Suki"),
            ("oboe", "tuba", "cello", "banjo", "tambourine"),
            ((0, 1), (2, 4), (1, 2), (0, 3), (3, 4)),
            2,
        ),
    ),
    answer_schema={"type": "string", "enum": list(LETTERS)},
    reasoning_length=1200,
    budget=448,
    published_budget=256,
    canonical=_canonical,
    value=str,
    wrong=_wrong,
    published_answer=_published_answer,
    generate=_generate,
    published=PublishedData(
        repository="lukaemon/bbh",
        files="tracking_shuffled_objects_five_objects/test",
        read=_read,
        # The published comparison takes them for its worked examples.
        skip=2,
    ),
)
