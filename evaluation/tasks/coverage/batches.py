"""How much a text turns on what was written beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.generation.text_generation import DecidedApart
from evaluation.reporting.tables import Table
from evaluation.tasks.coverage.paired import share_of_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.generation.generation_rows import GeneratedText
    from evaluation.reporting.tables import Cell

_NOTE: Final = (
    "Greedy texts of batches. decided apart: some token was so close to the chosen one "
    "that sums in another order might turn the choice; the text was written again "
    "alone, and that one counts. another text, another class: what the batch had "
    "written was not that, of those decided apart."
)


def decided_apart(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return how many texts were written again alone, and what that changed."""
    rows: list[tuple[Cell, ...]] = []
    for engine, side in sides.items():
        written = [text for text in side if text.generation.generated]
        again = [text for text in written if _was_written_again(text)]
        if again:
            rows.append(
                (
                    engine,
                    share_of_texts(
                        written,
                        lambda text: text.generation.apart is not DecidedApart.NO,
                    ),
                    share_of_texts(
                        again, lambda text: text.generation.apart is DecidedApart.OTHER
                    ),
                    share_of_texts(again, _changed_class),
                )
            )
    return Table(
        title="Texts that turn on their batch",
        columns=("engine", "decided apart", "another text", "another class"),
        rows=tuple(rows),
        note=_NOTE,
        name="batches",
    )


def _was_written_again(text: GeneratedText) -> bool:
    return text.generation.apart is not DecidedApart.NO


def _is_another_text(text: GeneratedText) -> bool:
    return text.generation.apart is DecidedApart.OTHER


def _changed_class(text: GeneratedText) -> bool:
    return text.class_in_batch not in (None, text.outcome)
