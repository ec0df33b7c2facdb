"""Generate rows: fields, choices, retractions, and the text of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from msgspec.structs import replace

from curation.system.errors import BadUsage
from evaluation.suites.ifstruct.data_files import (
    TEST_PREFIX,
    EntityKind,
    entity_kinds,
    mixes,
    voices,
)
from evaluation.suites.ifstruct.rows import (
    AnswerFormat,
    Choice,
    Fence,
    FenceWish,
    Field,
    FieldType,
    IfstructRecord,
    Presentation,
    Retraction,
    RowSpec,
    all_fields,
    number_text,
    record_of,
)
from evaluation.suites.ifstruct.wording import Wording

#: Rows of one file; the seeds of two files with different seeds never meet.
MOST_ROWS: Final = 1_000_000
#: Draws of a row until it is like no other.
_ATTEMPTS: Final = 100
_MOST_ITEMS: Final = 5
_LEAST_OF_RANGE: Final = 4
_WIDEST: Final = 3
_CONTEXT: Final = 0.7
_MANNER: Final = 0.6
_KEYS: Final = ("items_list", "result_set", "output_data")
#: Fields of an item besides the ones with a text to escape.
_FEWEST_FIELDS, _MOST_FIELDS = 4, 8
#: How often a field keeps its description, and other odds.
_DESCRIBED: Final = 0.6
_NESTED: Final = 0.8
_OPTIONAL_KEPT: Final = 0.8
_OPTIONAL_ELSE: Final = 0.1
_BOTH_BOUNDS: Final = 0.75
_SHUFFLED: Final = 0.5
#: The parts of a range of numbers.
_PARTS: Final = (1, 0.8, 0.6, 0.5)
#: Fields of retractions; no kind has them.
_DECOYS: Final = (
    "internal_reference",
    "last_edited_by",
    "extra_remarks",
    "legacy_code",
)
_OTHER_KEYS: Final = ("payload_items", "export_rows", "record_set")
_MOST_RETRACTIONS: Final = 3
#: A maximum below this leaves no room for a smaller one.
_SMALLEST: Final = 4


class RowSource(NamedTuple):
    """The names of the taxonomy and of the mix that rows are drawn from."""

    split: str
    mix: str


def generate_rows(source: RowSource, seed: int, rows: int) -> Iterator[IfstructRecord]:
    """Yield rows of which no two are equal in kind, schema, style and wishes.

    Row number `n` has the seed `seed * 1,000,000 + n`, and depends on the rows before
    it only if it would equal one of them.

    Raises:
        BadUsage: not enough different rows.
    """
    if not 0 < rows <= MOST_ROWS or seed < 0:
        raise BadUsage(
            f"{rows} rows of seed {seed}", then=f"ask for 1 to {MOST_ROWS:,} rows"
        )
    keys: set[str] = set()
    for number in range(rows):
        row_seed = seed * MOST_ROWS + number
        spec = _unlike(source, row_seed, keys)
        yield record_of(row_seed, spec, prompt_of(spec, row_seed))


def prompt_of(spec: RowSpec, seed: int) -> str:
    """Return the text of a row."""
    draw = Random(f"ifstruct words {seed}")  # noqa: S311 (repeatable, no secret)
    return Wording(spec, voices()[spec.voice], draw).prompt()


def _unlike(source: RowSource, seed: int, keys: set[str]) -> RowSpec:
    """Draw a row until its key is new, and add that to the keys."""
    for attempt in range(_ATTEMPTS):
        spec = draw_row(source, seed, attempt)
        key = identity(spec)
        if key not in keys:
            keys.add(key)
            return spec
    raise BadUsage(
        f"after {len(keys):,} rows there is no new one",
        then="ask for fewer rows, or add kinds of things",
    )


def identity(spec: RowSpec) -> str:
    """Return the key of a row, unique in its file: kind, schema, style and wishes."""
    return json.dumps(
        [
            spec.entity,
            spec.schema,
            spec.presentation,
            [spec.format, spec.wrapper, spec.least, spec.most],
            [spec.fence, spec.commentary],
        ]
    )


def draw_row(source: RowSource, seed: int, attempt: int) -> RowSpec:
    """Return the choices of one row, which depend on nothing but the arguments.

    Args:
        source: Taxonomy and mix.
        seed: The row's own seed.
        attempt: The number of earlier draws for this seed, all of them repetitions.
    """
    draw = Random(f"ifstruct {source.split} {seed} {attempt}")  # noqa: S311 (repeatable, no secret)
    mix = mixes()[source.mix]
    kind = draw.choice(entity_kinds(source.split))
    answer_format = AnswerFormat(mix.draw("format", draw))
    escaping = mix.draw("escaping", draw) == "stressed"
    minimum, maximum = _count(mix.draw("count", draw), draw)
    fence = mix.draw("fence", draw)
    fields = draw_fields(kind, escaping=escaping, draw=draw)
    prefix = TEST_PREFIX if source.split == "test" else ""
    spec = RowSpec(
        entity=prefix + kind.name,
        label=kind.label,
        plural=kind.plural,
        context=draw.choice(kind.contexts) if draw.random() < _CONTEXT else "",
        manner=draw.choice(kind.manners) if draw.random() < _MANNER else "",
        fields=fields,
        least=minimum,
        most=maximum,
        format=answer_format,
        wrapper=_key(kind, draw) if mix.draw("wrapper", draw) == "wrapped" else None,
        fence=f"required:{answer_format}" if fence == "required_language" else fence,
        # Without a block, words cannot be separated from an answer.
        commentary=mix.draw("commentary", draw) == "allowed" and "required" in fence,
        escaping=escaping,
        presentation=Presentation(mix.draw("presentation", draw)),
        voice=mix.draw("voice", draw),
        mix=source.mix,
    )
    if voices()[spec.voice].revises:
        spec = replace(spec, retractions=draw_retractions(spec, draw))
    return spec


def _count(kind: str, draw: Random) -> tuple[int, int]:
    if kind == "exact":
        exact = draw.randint(1, _MOST_ITEMS)
        return exact, exact
    minimum = draw.randint(1, _LEAST_OF_RANGE)
    return minimum, minimum + draw.randint(1, _WIDEST)


def _key(kind: EntityKind, draw: Random) -> str:
    """Return a key for the wrapper: from the kind's name, or a general one."""
    return draw.choice((kind.name, f"{kind.name}_list", draw.choice(_KEYS)))


def draw_fields(kind: EntityKind, *, escaping: bool, draw: Random) -> tuple[Field, ...]:
    """Return the fields of a row's items.

    Args:
        kind: The kind of thing.
        escaping: Whether one or two texts need escaping; by default none does.
        draw: The source of randomness.
    """
    plain = [field for field in kind.fields if not field.stress]
    nested = [field for field in plain if field.fields]
    flat = [field for field in plain if not field.fields]
    count = draw.randint(_FEWEST_FIELDS, _MOST_FIELDS)
    fields = draw.sample(flat, min(len(flat), count))
    if nested and draw.random() < _NESTED:
        fields.append(draw.choice(nested))
    if escaping:
        stressed = [field for field in kind.fields if field.stress]
        fields += draw.sample(stressed, min(len(stressed), draw.randint(1, 2)))
    if draw.random() < _SHUFFLED:
        draw.shuffle(fields)
    else:
        fields.sort(key=kind.fields.index)
    return _never_empty(tuple(_vary(field, escaping, draw) for field in fields))


def _never_empty(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields with one required one at least.

    An object without members can be written in YAML as JSON only, which is refused.
    """
    if all(field.optional for field in fields):
        return (replace(fields[0], optional=False), *fields[1:])
    return fields


def _vary(field: Field, escaping: bool, draw: Random) -> Field:  # noqa: FBT001 (handed down)
    """Return a field with limits, values and inner fields of this row's own."""
    odds = _OPTIONAL_KEPT if field.optional else _OPTIONAL_ELSE
    field = replace(
        field,
        optional=draw.random() < odds and not field.stress,
        about=field.about if draw.random() < _DESCRIBED else "",
        stress=tuple(draw.sample(field.stress, min(len(field.stress), 1))),
    )
    match field.type:
        case FieldType.INTEGER | FieldType.NUMBER:
            return _vary_bounds(field, draw)
        case FieldType.ENUM:
            count = draw.randint(2, len(field.values))
            sample = set(draw.sample(field.values, count))
            values = tuple(value for value in field.values if value in sample)
            return replace(field, values=values)
        case FieldType.OBJECT | FieldType.OBJECTS | FieldType.STRINGS:
            return _vary_inside(field, escaping, draw)
    return field


def _vary_bounds(field: Field, draw: Random) -> Field:
    low = field.minimum or 0
    high = field.maximum or 0
    if draw.random() < _BOTH_BOUNDS:
        part = draw.choice(_PARTS)
        lower = high if part == 1 else _rounded(low + (high - low) * part, field.type)
        return replace(field, maximum=lower) if low < lower else field
    if draw.random() < 1 / 2:
        return replace(field, minimum=None)
    return replace(field, maximum=None)


def _rounded(bound: float, kind: FieldType) -> int | float:
    """Return a bound that a person would write: of two digits, then zeros."""
    short = float(f"{bound:.2g}")
    is_integer = kind is FieldType.INTEGER or short == int(short)
    return int(short) if is_integer else short


def _vary_inside(field: Field, escaping: bool, draw: Random) -> Field:  # noqa: FBT001 (handed down)
    inner = [member for member in field.fields if escaping or not member.stress]
    if inner:
        count = draw.randint(1, len(inner))
        inner = sorted(draw.sample(inner, count), key=field.fields.index)
        varied = tuple(_vary(member, escaping, draw) for member in inner)
        field = replace(field, fields=_never_empty(varied))
    if field.min_items is None or field.max_items is None:
        return field
    minimum = draw.randint(field.min_items, field.max_items)
    maximum = draw.randint(minimum, field.max_items)
    return replace(field, min_items=minimum, max_items=maximum)


def draw_retractions(spec: RowSpec, draw: Random) -> tuple[Retraction, ...]:
    """Return one to three retractions for the text of a row."""
    possible = list(_possible(spec, draw))
    count = draw.randint(1, _MOST_RETRACTIONS)
    return tuple(draw.sample(possible, min(count, len(possible))))


def _possible(spec: RowSpec, draw: Random) -> Iterator[Retraction]:
    is_json = spec.format is AnswerFormat.JSON
    another_format = AnswerFormat.YAML if is_json else AnswerFormat.JSON
    yield Retraction(
        choice=Choice.FORMAT, wrong=another_format.upper(), final=spec.format.upper()
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
        required = wish is FenceWish.REQUIRED
        wrong_fence = "without a code block" if required else "in a code block"
        yield Retraction(choice=Choice.FENCE, wrong=wrong_fence, final=spec.fence)
    yield from _limit(spec, draw)
    yield Retraction(choice=Choice.FIELD, wrong=draw.choice(_DECOYS))


def _limit(spec: RowSpec, draw: Random) -> Iterator[Retraction]:
    """Yield a smaller maximum of one whole number, if there is one."""
    fields = [
        field
        for _, field in all_fields(spec.fields)
        if field.type is FieldType.INTEGER and (field.maximum or 0) > _SMALLEST
    ]
    if fields:
        field = draw.choice(fields)
        maximum = int(field.maximum or 0)
        minimum = int(field.minimum or 0)
        wrong = minimum + max(1, (maximum - minimum) // draw.choice((2, 3, 4)))
        if minimum < wrong < maximum:
            yield Retraction(
                choice=Choice.LIMIT,
                wrong=number_text(wrong),
                final=number_text(maximum),
                field=field.name,
            )
