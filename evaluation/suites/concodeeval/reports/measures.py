"""The figures of answers: shares of them, and the macro-averaged F1 of two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.reporting.tables import Rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.suites.concodeeval.reports.answers import Answer


def rate_of_score(answers: Iterable[Answer], score: str) -> Rate:
    """Return the share of answers with a score of 1, clustered by schema.

    Args:
        answers: The answers that count.
        score: `gen_acc`, `rtv`, `invalid`, `incomplete`, `with_formats`, `val_acc`.
    """
    return Rate.of_answers(
        (answer.details.schema, answer.verdict.scores.get(score, 0.0) == 1.0)
        for answer in answers
    )


def per_cent(rate: Rate | None) -> float | None:
    """Return a share in per cent, as the paper's tables have it."""
    share = None if rate is None else rate.share
    return None if share is None else round(100 * share, 1)


def macro_f1(answers: Sequence[Answer]) -> float | None:
    """Return the mean of the F1 of `yes` and of `no`; None of no answers.

    An answer that is neither is missed by its class and claimed by none. A class that
    is neither right nor said has an F1 of 0, as scikit-learn has it by default.

    Example:
        Of 55 valid and 45 invalid samples, an always-yes has 2*55/(100+55) and 0:

        >>> macro_f1(always_yes)
        0.3548387096774194
    """
    if not answers:
        return None
    return (_f1(answers, "yes") + _f1(answers, "no")) / 2


def _f1(answers: Iterable[Answer], word: str) -> float:
    right = said = both = 0
    for answer in answers:
        right += answer.details.label == word
        said += answer.details.said == word
        both += answer.details.label == answer.details.said == word
    return 2 * both / (right + said) if right + said else 0.0
