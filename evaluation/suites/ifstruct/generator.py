"""Generate rows: kinds of things, fields, choices, retractions, and texts.

Kinds of things are in `entities/train` and `entities/test`, one TOML file a subject,
and share no name; `mixes.toml` has how often each choice is drawn. Tests check the
files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from evaluation.suites.ifstruct.rows import (
    Field,
    IfstructRecord,
    IfstructSettings,
    Retraction,
    RowSpec,
    all_fields,
    list_schema,
    number_text,
    read_toml,
)
from evaluation.suites.ifstruct.wording import VOICES, Wording

_FOLDER: Final = Path(__file__).parent
#: Rows of one file; the seeds of two files with different seeds never meet.
MAX_ROWS: Final = 1_000_000
#: General keys of a wrapper, keys that are taken back, and fields; no kind has these.
_KEYS: Final = ("items_list", "result_set", "output_data")
_WRONG_KEYS: Final = ("payload_items", "export_rows", "record_set")
_WRONG_FIELDS: Final = (
    *("internal_reference", "last_edited_by", "extra_remarks", "legacy_code"),
)
#: A maximum that leaves no room for a smaller one.
_SMALL: Final = 4


class EntityKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of thing, and all fields that a row may ask for."""

    name: str
    #: The noun of one, and of several.
    label: str
    plural: str
    #: Purposes, as endings of a sentence: `for a spring catalogue`.
    contexts: tuple[str, ...]
    fields: tuple[Field, ...]
    #: Sentences on the manner of the values, those of its file.
    manners: tuple[str, ...] = ()


def read_kinds(content: bytes) -> list[EntityKind]:
    """Return the kinds of a file, each with the file's manners."""
    file = msgspec.toml.decode(content)
    kinds = msgspec.convert(file["entity"], list[EntityKind])
    return [replace(kind, manners=tuple(file["manners"])) for kind in kinds]


@cache
def entity_kinds(split: str) -> tuple[EntityKind, ...]:
    """Return the kinds of a taxonomy, in the order of files and of their lines.

    Args:
        split: `train` or `test`.
    """
    paths = sorted((_FOLDER / "entities" / split).glob("*.toml"))
    return tuple(kind for path in paths for kind in read_kinds(path.read_bytes()))


#: The weight of each alternative of each choice, by the names of mixes.
MIXES: Final[Mapping[str, Mapping[str, Mapping[str, float]]]] = read_toml("mixes.toml")


def generate_rows(
    source: IfstructSettings, seed: int, rows: int
) -> Iterator[IfstructRecord]:
    """Yield rows, each of which depends on its own seed alone.

    Row number `n` has the seed `seed * 1,000,000 + n`.
    """
    for row_seed in range(seed * MAX_ROWS, seed * MAX_ROWS + rows):
        yield draw_row(source, row_seed)


def draw_row(source: IfstructSettings, seed: int) -> IfstructRecord:
    """Return one row, which depends on nothing but the arguments.

    Args:
        source: Taxonomy and mix.
        seed: The row's own seed.
    """
    draw = Random(f"ifstruct {source.split} {seed} 0")  # noqa: S311 (repeatable, no secret)

    def drawn(choice: str) -> Any:  # noqa: ANN401 (one of the choice's alternatives)
        weights = MIXES[source.mix][choice]
        return draw.choices([*weights], [*weights.values()])[0]

    kind = draw.choice(entity_kinds(source.split))
    language = drawn("format")
    escaping = drawn("escaping") == "stressed"
    is_exact = drawn("count") == "exact"
    minimum = draw.randint(1, 5 if is_exact else 4)
    maximum = minimum if is_exact else minimum + draw.randint(1, 3)
    fence = drawn("fence").replace("_language", f":{language}")
    is_required = fence.startswith("required")
    fields = draw_fields(kind, escaping=escaping, draw=draw)
    spec = RowSpec(
        label=kind.label,
        plural=kind.plural,
        context=_maybe(draw, 0.7, kind.contexts),
        manner=_maybe(draw, 0.6, kind.manners),
        fields=fields,
        escaping=escaping,
        mix=source.mix,
    )
    key = _key(kind, draw) if drawn("wrapper") == "wrapped" else None
    row = IfstructRecord(
        seed=seed,
        entity_type=f"test__{kind.name}" if source.split == "test" else kind.name,
        prompt="",
        json_schema=list_schema(fields, minimum, maximum),
        top_level_count=minimum if is_exact else (minimum, maximum),
        top_level_key=key,
        require_wrapper_key=key is not None,
        require_code_block=is_required,
        # Without a block, words cannot be separated from an answer.
        require_no_commentary=drawn("commentary") != "allowed" or not is_required,
        output_format=language,
        fence=fence,
        presentation=drawn("presentation"),
        voice=drawn("voice"),
    )
    if "musings" in VOICES[row.voice]:
        spec = replace(spec, retractions=draw_retractions(row, spec, draw))
    words = Random(f"ifstruct words {seed}")  # noqa: S311 (repeatable, no secret)
    return replace(row, prompt=Wording(row, spec, words).prompt(), spec=spec)


def _is_drawn(draw: Random, odds: float) -> bool:
    return draw.random() < odds


def _maybe(draw: Random, odds: float, texts: Sequence[str]) -> str:
    return draw.choice(texts) if _is_drawn(draw, odds) else ""


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
    count = draw.randint(4, 8)
    fields = draw.sample(flat, min(len(flat), count))
    if nested and _is_drawn(draw, 0.8):
        fields.append(draw.choice(nested))
    if escaping:
        stressed = [field for field in kind.fields if field.stress]
        fields += draw.sample(stressed, min(len(stressed), draw.randint(1, 2)))
    if _is_drawn(draw, 0.5):
        draw.shuffle(fields)
    else:
        fields.sort(key=kind.fields.index)
    return _vary_all(fields, escaping=escaping, draw=draw)


def _vary_all(
    fields: Sequence[Field], *, escaping: bool, draw: Random
) -> tuple[Field, ...]:
    """Return the varied fields, with one required one at least.

    An object without members can be written in YAML as JSON only, which is refused.
    """
    varied = [_vary(field, escaping=escaping, draw=draw) for field in fields]
    if all(field.optional for field in varied):
        varied[0] = replace(varied[0], optional=False)
    return tuple(varied)


def _vary(field: Field, *, escaping: bool, draw: Random) -> Field:
    """Return a field with limits, values and inner fields of this row's own."""
    field = replace(
        field,
        optional=_is_drawn(draw, 0.8 if field.optional else 0.1) and not field.stress,
        about=field.about if _is_drawn(draw, 0.6) else "",
        stress=tuple(draw.sample(field.stress, min(len(field.stress), 1))),
    )
    if field.type in ("integer", "number"):
        return _vary_bounds(field, draw)
    if field.values:
        count = draw.randint(2, len(field.values))
        sample = sorted(draw.sample(field.values, count), key=field.values.index)
        return replace(field, values=tuple(sample))
    inner = [member for member in field.fields if escaping or not member.stress]
    if inner:
        count = draw.randint(1, len(inner))
        inner = sorted(draw.sample(inner, count), key=field.fields.index)
        varied = _vary_all(inner, escaping=escaping, draw=draw)
        field = replace(field, fields=varied)
    if field.min_items is None or field.max_items is None:
        return field
    minimum = draw.randint(field.min_items, field.max_items)
    maximum = draw.randint(minimum, field.max_items)
    return replace(field, min_items=minimum, max_items=maximum)


def _vary_bounds(field: Field, draw: Random) -> Field:
    """Return a number with both bounds, the upper one often lower, or with one."""
    low, high = field.minimum or 0, field.maximum or 0
    if not _is_drawn(draw, 0.75):
        bound = "minimum" if _is_drawn(draw, 0.5) else "maximum"
        return replace(field, **{bound: None})
    part = draw.choice((1, 0.8, 0.6, 0.5))
    # A bound that a person would write: of two digits, then zeros.
    short = float(f"{low + (high - low) * part:.2g}")
    is_whole = field.type == "integer" or short == int(short)
    upper = int(short) if is_whole else short
    return replace(field, maximum=upper) if part < 1 and low < upper else field


def draw_retractions(
    row: IfstructRecord, spec: RowSpec, draw: Random
) -> tuple[Retraction, ...]:
    """Return one to three retractions for the text of a row."""
    choices = _choice_retractions(row, spec.plural, draw)
    possible = [*choices, *_field_retractions(spec, draw)]
    count = draw.randint(1, 3)
    return tuple(draw.sample(possible, min(count, len(possible))))


def _choice_retractions(
    row: IfstructRecord, plural: str, draw: Random
) -> Iterator[Retraction]:
    least, most = row.counts
    wrong = "YAML" if row.output_format == "json" else "JSON"
    yield Retraction(choice="format", wrong=wrong, final=row.output_format.upper())
    count = draw.choice([n for n in range(2, 9) if not least <= n <= most])
    yield Retraction(choice="count", wrong=f"{count} {plural}")
    wrong = f"the key `{draw.choice(_WRONG_KEYS)}` around it"
    if row.wrapper is not None and not _is_drawn(draw, 0.5):
        wrong = "a bare list"
    yield Retraction(choice="wrapper", wrong=wrong, final=row.wrapper or "")
    if row.fence != "free":
        wrong = "without a code block" if row.require_code_block else "in a code block"
        yield Retraction(choice="fence", wrong=wrong, final=row.fence)


def _field_retractions(spec: RowSpec, draw: Random) -> Iterator[Retraction]:
    """Yield a smaller maximum of a whole number, if there is one, and another field."""
    numbers = [it for _, it in all_fields(spec.fields) if it.type == "integer"]
    if large := [field for field in numbers if (field.maximum or 0) > _SMALL]:
        field = draw.choice(large)
        minimum, maximum = int(field.minimum or 0), int(field.maximum or 0)
        wrong = minimum + max(1, (maximum - minimum) // draw.choice((2, 3, 4)))
        if minimum < wrong < maximum:
            yield Retraction(
                choice="limit",
                wrong=number_text(wrong),
                final=number_text(maximum),
                field=field.name,
            )
    yield Retraction(choice="field", wrong=draw.choice(_WRONG_FIELDS))
