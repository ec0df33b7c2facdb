"""A file of rows: drawn one after the other, each once, every text checked."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadConfiguration, CsbdataError
from evaluation.suites.ifstruct.generator.row_draw import draw_row
from evaluation.suites.ifstruct.records.record import record_of
from evaluation.suites.ifstruct.rewriter.text_check import lost_requirements
from evaluation.suites.ifstruct.rewriter.voice import voices
from evaluation.suites.ifstruct.rewriter.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.ifstruct.core.row_spec import RowSpec
    from evaluation.suites.ifstruct.generator.row_draw import RowSource
    from evaluation.suites.ifstruct.records.record import IfstructRecord

#: Rows of one file; the seeds of two files with different seeds never meet.
MOST_ROWS: Final = 1_000_000
#: Draws of a row until it is like no other.
_ATTEMPTS: Final = 100


def generate_rows(source: RowSource, seed: int, rows: int) -> Iterator[IfstructRecord]:
    """Yield rows of which no two are equal in kind, schema, style and wishes.

    Row number `n` has the seed `seed * 1,000,000 + n`, and depends on the rows before
    it only where it would equal one of them.

    Raises:
        BadConfiguration: so many different rows cannot be had.
        CsbdataError: a text does not say what its row asks for; a defect of a voice.
    """
    if not 0 < rows <= MOST_ROWS or seed < 0:
        raise BadConfiguration(
            f"{rows} rows of seed {seed}", then=f"ask for 1 to {MOST_ROWS:,} rows"
        )
    seen: set[str] = set()
    for number in range(rows):
        own = seed * MOST_ROWS + number
        spec = _unlike(source, own, seen)
        yield record_of(own, spec, prompt_of(spec, own))


def prompt_of(spec: RowSpec, seed: int) -> str:
    """Return the text of a row, which says all that the row asks for.

    Raises:
        CsbdataError: the words of its voice do not.
    """
    draw = Random(f"ifstruct words {seed}")  # noqa: S311 (repeatable, no secret)
    text = Wording(spec, voices()[spec.voice], draw).prompt()
    lost = lost_requirements(spec, text)
    if lost:
        raise CsbdataError(
            f"the text of row {seed} lost: {'; '.join(lost)}",
            f"voice {spec.voice}",
            "correct the voice's file; no other row is affected",
        )
    return text


def _unlike(source: RowSource, seed: int, seen: set[str]) -> RowSpec:
    for attempt in range(_ATTEMPTS):
        spec = draw_row(source, seed, attempt)
        key = identity(spec)
        if key not in seen:
            seen.add(key)
            return spec
    raise BadConfiguration(
        f"after {len(seen):,} rows no new one is found",
        then="ask for fewer rows, or add kinds of things",
    )


def identity(spec: RowSpec) -> str:
    """Return what no two rows of a file share: kind, schema, style and wishes."""
    wanted = spec.requirements
    return json.dumps(
        [
            spec.entity,
            wanted.schema,
            spec.presentation,
            [spec.format, spec.wrapper, spec.least, spec.most],
            [spec.fence, spec.commentary],
        ]
    )
