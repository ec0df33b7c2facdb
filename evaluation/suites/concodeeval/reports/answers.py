"""The answers of a run, as the tables slice them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from evaluation.suites.concodeeval.fields import TextLength
from evaluation.suites.concodeeval.settings import TaskName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun
    from evaluation.core.suite_records import Verdict


class AnswerDetails(msgspec.Struct, frozen=True, kw_only=True):
    """What a verdict of this suite says beside its class."""

    task: TaskName
    representation: str
    output: str
    family: str
    schema: str
    length: TextLength
    #: Task 2: the right answer, the keyword that refuses the sample, what was said.
    label: str = ""
    keyword: str = ""
    said: str = ""
    #: Task 1: how often each keyword is violated, and how often in each part of the
    #: schema, with the number of keywords there that can be violated.
    keywords: dict[str, int] = {}
    locality: tuple[int, ...] = ()
    constraints: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, judged."""

    details: AnswerDetails
    verdict: Verdict
    #: The record and the repeat, without the representation: what is paired.
    pair: tuple[str, str, int]


#: The answers of each model and condition.
AnswersByLabel = dict[str, list[Answer]]


def answers_of(run: ScoredRun, task: TaskName) -> AnswersByLabel:
    """Return the answers to one task of each model and condition.

    What cannot be judged, or is not to be counted, is left out; scoring that failed is
    a failed answer of the record, whose cell its id names.
    """
    found: AnswersByLabel = {}
    for label, listed in run.by_label.items():
        own = [_answer(scored) for scored in listed if scored.verdict.counted]
        kept = [answer for answer in own if answer.details.task is task]
        if kept:
            found[label] = kept
    return found


def _answer(scored: ScoredResponse) -> Answer:
    cell, _, name = scored.record.removeprefix(f"{scored.group}/").partition(":")
    details = scored.verdict.details
    if "task" not in details:
        # Scoring it hung or died, so that only its id tells what it was about.
        task, representation, output = cell.split("-")
        details = {
            "task": task,
            "representation": representation,
            "output": output,
            "family": scored.group,
            "schema": name,
            "length": {"characters": 0, "lines": 0, "words": 0},
        }
    known = msgspec.convert(details, AnswerDetails)
    return Answer(
        details=known, verdict=scored.verdict, pair=(known.output, name, scored.repeat)
    )


def by_cell(
    answers: Iterable[Answer],
) -> Mapping[tuple[str, str], Sequence[Answer]]:
    """Return answers by representation and format of samples."""
    found: dict[tuple[str, str], list[Answer]] = {}
    for answer in answers:
        key = (answer.details.representation, answer.details.output)
        found.setdefault(key, []).append(answer)
    return found
