"""Last Letter: concatenate the last letters of four names.

The task is from Wei et al. 2022 (arXiv 2201.11903); the form of the answer is that of
the paper's Table 14: four letters from a to z, compared case and all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final

from curation.core.json_types import Json
from evaluation.suites.quality.problems import (
    Problem,
    PublishedData,
    QualityTask,
    distinct_problems,
)

#: Given names of many languages, none of them common in English: the published
#: problems are made of names that are.
NAMES: Final = (
    "Aino", "Akos", "Alazne", "Anneke", "Aroha", "Bautista", "Bjarki", "Blerim",
    "Bogna", "Branwen", "Cerys", "Chidi", "Danica", "Deniz", "Dewi", "Dirk", "Duarte",
    "Eilidh", "Ekrem", "Emese", "Eniko", "Fadzai", "Farrokh", "Fionn", "Gwilym",
    "Haruki", "Hinemoa", "Ilkay", "Imre", "Isolde", "Jakub", "Jarmila", "Jokin",
    "Jozef", "Kaisa", "Kwabena", "Laszlo", "Leocadia", "Lubomir", "Maarja", "Malik",
    "Mehmet", "Mirjam", "Moana", "Nadezhda", "Naoki", "Nevenka", "Nkechi", "Oddvar",
    "Oihana", "Olamide", "Oriol", "Pakize", "Pelagia", "Radoslav", "Rangi", "Ruadh",
    "Saoirse", "Senad", "Shinobu", "Sigrun", "Solveig", "Tamsyn", "Tariq", "Thandiwe",
    "Tomaz", "Ugne", "Umberto", "Vesna", "Vytautas", "Wambui", "Wiremu", "Wolfgang",
    "Xabier", "Yannick", "Yetunde", "Zbigniew", "Zeynep", "Zoltan",
)  # fmt: skip
_PUBLISHED: Final = re.compile(r'"answer":\s*"([a-z]{4})"')
_FORM: Final = re.compile(r"[a-z]{4}")
_NAMES_IN_QUESTION: Final = re.compile(r'"([^"]+)"')


def problem_of(names: Sequence[str]) -> Problem:
    """Return the problem that these names make."""
    letters = [name[-1].lower() for name in names]
    spelled = ", ".join(
        f"{name} ends in {letter}" for name, letter in zip(names, letters, strict=True)
    )
    answer = "".join(letters)
    words = " ".join(names)
    return Problem(
        question=f'Take the last letters of the words in "{words}" '
        "and concatenate them.",
        reasoning=f"{spelled}. Put together they read {answer}.",
        answer=answer,
    )


def _generate(count: int, seed: int) -> Iterator[Problem]:
    draw = Random(f"last letter {seed}")  # noqa: S311 (data, no secret)
    return distinct_problems(count, lambda: problem_of(draw.sample(NAMES, 4)))


def _read(row: Mapping[str, Json]) -> Problem:
    question = str(row["question"])
    names = _NAMES_IN_QUESTION.search(question)
    reasoning = problem_of(names[1].split()).reasoning if names else ""
    answer = str(row["answer"]).strip().lower()
    return Problem(question=question, reasoning=reasoning, answer=answer)


def _canonical(value: Json) -> str | None:
    return value if isinstance(value, str) and _FORM.fullmatch(value) else None


def _wrong(answer: str) -> str:
    return answer[:-1] + ("a" if answer[-1] != "a" else "b")


def _published_answer(text: str) -> str | None:
    match = _PUBLISHED.search(text.lower())
    return match[1] if match else None


TASK: Final = QualityTask(
    name="last-letter",
    instruction=(
        "You are good at word puzzles. You are given a list of four names. Look at "
        "the last letter of each name in turn, and put these letters together in "
        "the order of the names, in lower case. Explain how you do it in the field "
        '"reasoning", and give the four letters in the field "answer". Answer with '
        "JSON only, in the form {form}."
    ),
    shots=(problem_of(("Ian", "Peter", "Bernard", "Stephen")),),
    answer_schema={"type": "string", "pattern": "^[a-z]{4}$"},
    reasoning_length=300,
    budget=192,
    published_budget=128,
    canonical=_canonical,
    value=str,
    wrong=_wrong,
    published_answer=_published_answer,
    generate=_generate,
    published=PublishedData(
        repository="ChilleD/LastLetterConcat", files="test", read=_read
    ),
)
