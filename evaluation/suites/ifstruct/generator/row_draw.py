"""One row, drawn: its kind, its fields, and every choice of the mix."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from evaluation.suites.ifstruct.core.requirements import AnswerFormat
from evaluation.suites.ifstruct.core.row_spec import Presentation, RowSpec
from evaluation.suites.ifstruct.generator.entity_kinds import TEST_PREFIX
from evaluation.suites.ifstruct.generator.extended_fields import extend_fields
from evaluation.suites.ifstruct.generator.field_draws import draw_fields
from evaluation.suites.ifstruct.generator.retractions import draw_retractions
from evaluation.suites.ifstruct.rewriter.voice import voices

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.generator.entity_kinds import EntityKind
    from evaluation.suites.ifstruct.generator.mixes import Mix

_MOST_ITEMS: Final = 5
_LEAST_OF_RANGE: Final = 4
_WIDEST: Final = 3
_CONTEXT: Final = 0.7
_MANNER: Final = 0.6
_KEYS: Final = ("items_list", "result_set", "output_data")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSource:
    """What rows are drawn from."""

    split: str
    kinds: tuple[EntityKind, ...]
    mix: Mix
    #: What the rows' `spec` calls the mix.
    mix_name: str
    extended: bool = False


def draw_row(source: RowSource, seed: int, attempt: int) -> RowSpec:
    """Return the choices of one row, which depend on nothing but the arguments.

    Args:
        source: Kinds and mix.
        seed: The row's own seed.
        attempt: How often a row of this seed was drawn before and was one too many.
    """
    draw = Random(f"ifstruct {source.split} {seed} {attempt}")  # noqa: S311 (repeatable, no secret)
    mix, kind = source.mix, draw.choice(source.kinds)
    answer_format = AnswerFormat(mix.draw("format", draw))
    escaping = mix.draw("escaping", draw) == "stressed"
    least, most = _count(mix.draw("count", draw), draw)
    fence = mix.draw("fence", draw)
    fields = draw_fields(kind, escaping=escaping, draw=draw)
    if source.extended:
        fields = extend_fields(fields, draw)
    prefix = TEST_PREFIX if source.split == "test" else ""
    spec = RowSpec(
        entity=prefix + kind.name,
        label=kind.label,
        plural=kind.plural,
        context=draw.choice(kind.contexts) if draw.random() < _CONTEXT else "",
        manner=draw.choice(kind.manners) if draw.random() < _MANNER else "",
        fields=fields,
        least=least,
        most=most,
        format=answer_format,
        wrapper=_key(kind, draw) if mix.draw("wrapper", draw) == "wrapped" else None,
        fence=f"required:{answer_format}" if fence == "required_language" else fence,
        commentary=mix.draw("commentary", draw) == "allowed",
        escaping=escaping,
        presentation=Presentation(mix.draw("presentation", draw)),
        voice=mix.draw("voice", draw),
        mix=source.mix_name,
        extended=source.extended,
    )
    if voices()[spec.voice].revises:
        spec = replace(spec, retractions=draw_retractions(spec, draw))
    return spec


def _count(kind: str, draw: Random) -> tuple[int, int]:
    if kind == "exact":
        exact = draw.randint(1, _MOST_ITEMS)
        return exact, exact
    least = draw.randint(1, _LEAST_OF_RANGE)
    return least, least + draw.randint(1, _WIDEST)


def _key(kind: EntityKind, draw: Random) -> str:
    """Return a key for the wrapper: of the kind's own name, or a general one."""
    return draw.choice((kind.name, f"{kind.name}_list", draw.choice(_KEYS)))
