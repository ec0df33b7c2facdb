"""The rewriter by a model, as `csbdata suite ifstruct-rewrite` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.core.documents import Explained
from evaluation.core.messages import Message
from evaluation.core.suite import KnownAnswer, Suite
from evaluation.core.suite_records import SuitePrompt, Verdict
from evaluation.suites.ifstruct.settings import IfstructSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evaluation.core.suite import RecordRequest, RecordSet, ScoredRun, Scorer
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse
    from evaluation.reporting.report import Report

_TASK: Final = """\
Rewrite the request below as another person would write it to a chat assistant:
{manner}. Keep every requirement: the number of items, the format, the outermost shape
with its key, what is said of a code block and of commentary, and every field with its
exact name, its type, its limits, its allowed values and whether it is optional. Keep
schemas, tables and examples of structure character by character. Write nothing but the
new request.

{text}"""
#: Manners of writing, one for each row in turn.
_MANNERS: Final = (
    "friendly and in a hurry",
    "polite and a little long-winded",
    "thinking aloud, changing your mind once and then settling on what is asked for",
    "dry and exact",
    "telling first what it is for",
)


class RewriteFailure(Explained):
    """Why a rewritten request cannot take the place of ours."""

    NO_ANSWER = ("no_answer", "the server, the engine or the model failed")
    TRUNCATED = ("truncated", "cut off by the budget of tokens")
    UNCHANGED = ("unchanged", "the very text that was to be reworded")
    LOST = ("lost", "a requirement is no longer in it, or another one is final")


def _records(request: RecordRequest, settings: IfstructSettings) -> RecordSet:
    from evaluation.suites.ifstruct.rows import find_records  # noqa: PLC0415 - heavy

    return find_records(request, settings, extended=False)


def _generate(
    count: int, seed: int, settings: IfstructSettings
) -> Iterable[SuiteRecord]:
    from evaluation.suites.ifstruct.rows import draw_records  # noqa: PLC0415 - heavy

    return draw_records(count, seed, settings, extended=False)


def prompt(record: SuiteRecord, settings: IfstructSettings) -> SuitePrompt:
    """Return the request to reword a row's request."""
    manner = _MANNERS[sum(record.id.encode()) % len(_MANNERS)]
    asked = _TASK.format(manner=manner, text=record.fields["prompt"])
    turn = Message(role="user", content=asked)
    return SuitePrompt(messages=(turn,), budget=settings.budget)


def _scorer(_settings: IfstructSettings) -> Scorer:
    return judge_rewrite


def judge_rewrite(record: SuiteRecord, response: SuiteResponse) -> Verdict:
    """Return whether a rewritten request still says all that its row asks for."""
    from evaluation.answers.thinking import split_thinking  # noqa: PLC0415 - heavy
    from evaluation.suites.ifstruct.rewriter.rewrites import (  # noqa: PLC0415 - heavy
        lost_in_rewrite,
    )

    if response.text is None or response.error:
        return _failed(RewriteFailure.NO_ANSWER, response.error or "no text")
    if response.finish == "length":
        return _failed(RewriteFailure.TRUNCATED, "the budget was used up")
    text = split_thinking(response.text).answer.strip()
    if text == record.fields["prompt"]:
        return _failed(RewriteFailure.UNCHANGED, "nothing was reworded")
    lost = lost_in_rewrite(record, text)
    return _failed(RewriteFailure.LOST, *lost) if lost else Verdict(passed=True)


def _failed(failure: RewriteFailure, *reasons: str) -> Verdict:
    return Verdict(passed=False, failure_class=str(failure), reasons=reasons)


def _known_answers(
    record: SuiteRecord, _settings: IfstructSettings
) -> Iterator[KnownAnswer]:
    text = str(record.fields["prompt"])
    lost, truncated = RewriteFailure.LOST, RewriteFailure.TRUNCATED
    yield KnownAnswer(kind="reworded", text=f"Good morning! {text} Many thanks.")
    yield KnownAnswer(
        kind="the same text", text=text, expected=RewriteFailure.UNCHANGED
    )
    yield KnownAnswer(
        kind="first paragraph", text=text.split("\n", maxsplit=1)[0], expected=lost
    )
    for name, wrong in (("JSON", "YAML"), ("YAML", "JSON")):
        if record.group == name.lower():
            late = f"{text} In the end, make it {wrong}."
            yield KnownAnswer(
                kind="another format last", text=late, expected=lost, because="format"
            )
    yield KnownAnswer(
        kind="cut", text=f"Hi. {text}", finish="length", expected=truncated
    )
    yield KnownAnswer(kind="null", text=None, expected=RewriteFailure.NO_ANSWER)


def _report(run: ScoredRun) -> Report:
    from evaluation.reporting.report import Report  # noqa: PLC0415 - heavy
    from evaluation.results.suite_tables import (  # noqa: PLC0415 - heavy
        classes_table,
        costs,
        pass_rates,
    )

    explained = {str(failure): failure.explanation for failure in RewriteFailure}
    tables = (pass_rates(run), classes_table(run, explained), costs(run))
    return Report(tables=tables)


class RewriteSettings(IfstructSettings, frozen=True, kw_only=True):
    """The settings of IFStruct, with a budget for a whole request."""

    budget: int = 4096


SUITE: Final = Suite(
    name="ifstruct-rewrite",
    summary="Can a model reword a request and lose none of its requirements?",
    settings=RewriteSettings,
    classes={str(failure): failure.explanation for failure in RewriteFailure},
    records=_records,
    prompt=prompt,
    scorer=_scorer,
    report=_report,
    known_answers=_known_answers,
    generate=_generate,
)
