"""Answers of task 2 whose verdicts are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.suite import KnownAnswer
from evaluation.suites.concodeeval.settings import AnswerClass, SuiteReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.concodeeval.settings import ConcodeSettings, RecordFields

#: Kinds of answers around the one word, fenced as every reading wants it.
_FENCED: Final[tuple[tuple[str, str], ...]] = (
    ("reference", "```\n{word}\n```"),
    ("with_capital", "```\n{Word}.\n```"),
)
#: The same without a fence, or with words around.
_RECOMMENDED: Final = (
    ("bare", "{word}"),
    ("bold", "**{Word}**"),
    ("explained", "{Word}, since that is what the schema says of it."),
    ("at_the_end", "Let me look at every member in turn.\n\n{Word}"),
    ("after_thinking", "<think>yes or no?</think>{word}"),
)
_UNCLEAR: Final = (
    ("neither", "I cannot tell."),
    ("word_inside", "Yesterday nobody noticed."),
    ("python_code", "import os; os.system('true')"),
    ("refers_to_fence", "```\nmaybe\n```"),
)
_BOTH: Final = (
    ("both", "yes or no"),
    ("both_with_slash", "Yes/No"),
    ("both_on_lines", "yes\nno"),
    ("both_in_prose", "It may be yes, it may be no."),
)


def known_answers(
    fields: RecordFields, settings: ConcodeSettings
) -> Iterator[KnownAnswer]:
    """Yield right, wrong and unclear answers to a record."""
    right, wrong = fields.label, "no" if fields.label == "yes" else "yes"
    kinds = _FENCED
    if settings.reading is not SuiteReading.PAPER:
        kinds += _RECOMMENDED
    for kind, text in kinds:
        yield KnownAnswer(kind=kind, text=_filled(text, right))
        yield KnownAnswer(
            kind=f"{kind}_wrong",
            text=_filled(text, wrong),
            expected=AnswerClass.WRONG_ANSWER.value,
            because=f"{wrong} where {right} is right",
        )
    yield from _no_answers(settings)


def _no_answers(settings: ConcodeSettings) -> Iterator[KnownAnswer]:
    for kind, text in _UNCLEAR:
        yield _unclear(kind, text, "neither")
    if settings.reading is not SuiteReading.PAPER:
        for kind, text in _BOTH:
            yield _unclear(kind, text, "both")
    for kind, empty in (("white_space", " \n"), ("null", None)):
        yield KnownAnswer(kind=kind, text=empty, expected=AnswerClass.NO_ANSWER.value)
    yield KnownAnswer(
        kind="server_error",
        text=None,
        error="the server answered 500",
        expected=AnswerClass.API_ERROR.value,
    )


def _unclear(kind: str, text: str, said: str) -> KnownAnswer:
    return KnownAnswer(
        kind=kind, text=text, expected=AnswerClass.UNCLEAR.value, because=f"{said}: "
    )


def _filled(text: str, word: str) -> str:
    return text.replace("{word}", word).replace("{Word}", word.capitalize())
