"""Choices that a voice states first and takes back later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.core.fields import FieldType, all_fields
from evaluation.suites.ifstruct.core.requirements import (
    AnswerFormat,
    Fence,
    FenceWish,
)
from evaluation.suites.ifstruct.core.row_spec import Choice, Retraction
from evaluation.suites.ifstruct.presentation.wording import number_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from evaluation.suites.ifstruct.core.row_spec import RowSpec

#: Fields that are named and taken back; no kind has them.
_DECOYS: Final = (
    "internal_reference",
    "last_edited_by",
    "extra_remarks",
    "legacy_code",
)
_OTHER_KEYS: Final = ("payload_items", "export_rows", "record_set")
_MOST: Final = 3
#: A maximum below this leaves no room for a smaller one.
_SMALLEST: Final = 4


def draw_retractions(spec: RowSpec, draw: Random) -> tuple[Retraction, ...]:
    """Return one to three choices that the text of a row takes back."""
    possible = list(_possible(spec, draw))
    count = draw.randint(1, _MOST)
    return tuple(draw.sample(possible, min(count, len(possible))))


def _possible(spec: RowSpec, draw: Random) -> Iterator[Retraction]:
    is_json = spec.format is AnswerFormat.JSON
    other = AnswerFormat.YAML if is_json else AnswerFormat.JSON
    yield Retraction(
        choice=Choice.FORMAT, wrong=other.upper(), final=spec.format.upper()
    )
    wrong = draw.choice([n for n in range(2, 9) if not spec.least <= n <= spec.most])
    yield Retraction(
        choice=Choice.COUNT,
        wrong=f"{wrong} {spec.plural}",
        final=str(spec.least) if spec.least == spec.most else "",
    )
    key = f"the key `{draw.choice(_OTHER_KEYS)}` around it"
    yield Retraction(
        choice=Choice.WRAPPER,
        wrong=key if spec.wrapper is None or draw.random() < 1 / 2 else "a bare list",
        final=spec.wrapper or "",
    )
    wish = Fence.parse(spec.fence).wish
    if wish is not FenceWish.FREE:
        wanted = wish is FenceWish.REQUIRED
        wrong_fence = "without a code block" if wanted else "in a code block"
        yield Retraction(choice=Choice.FENCE, wrong=wrong_fence, final=spec.fence)
    yield from _limit(spec, draw)
    yield Retraction(choice=Choice.FIELD, wrong=draw.choice(_DECOYS))


def _limit(spec: RowSpec, draw: Random) -> Iterator[Retraction]:
    """Yield a smaller maximum of one whole number, where there is one."""
    fields = [
        field
        for _, field in all_fields(spec.fields)
        if field.type is FieldType.INTEGER and (field.maximum or 0) > _SMALLEST
    ]
    if fields:
        field = draw.choice(fields)
        most = int(field.maximum or 0)
        least = int(field.minimum or 0)
        wrong = least + max(1, (most - least) // draw.choice((2, 3, 4)))
        if least < wrong < most:
            yield Retraction(
                choice=Choice.LIMIT,
                wrong=number_text(wrong),
                final=number_text(most),
                field=field.name,
            )
