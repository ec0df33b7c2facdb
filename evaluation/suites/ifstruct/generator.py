"""Generate rows: kinds of things, fields, choices, retractions, and texts.

Kinds of things are in `entities/train` and `entities/test`, one TOML file a subject,
and share no name; `mixes.toml` has how often each choice is drawn. Tests check the
files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import msgspec
from msgspec.structs import replace

from curation.system.errors import BadUsage
from evaluation.suites.ifstruct.rows import (
    Field,
    IfstructRecord,
    IfstructSettings,
    Retraction,
    RowSpec,
    all_fields,
    number_text,
)
from evaluation.suites.ifstruct.wording import Wording, voices

_FOLDER: Final = Path(__file__).parent
#: What the `entity_type` of a row of the test taxonomy begins with.
TEST_PREFIX: Final = "test__"
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


class EntityKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of thing, and all fields that a row may ask for."""

    name: str
    #: The noun of one, and of several.
    label: str
    plural: str
    #: Purposes, as endings of a sentence: `for a spring catalogue`.
    contexts: tuple[str, ...]
    fields: tuple[Field, ...]
    #: Sentences on the manner of the values; by default the file's sentences.
    manners: tuple[str, ...] = ()


class EntityFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Kinds of one subject."""

    manners: tuple[str, ...]
    entity: tuple[EntityKind, ...]

    def kinds(self) -> Iterator[EntityKind]:
        """Yield the kinds, each with its manners."""
        for kind in self.entity:
            yield replace(kind, manners=kind.manners or self.manners)


@cache
def entity_kinds(split: str) -> tuple[EntityKind, ...]:
    """Return the kinds of a taxonomy, in the order of files and of their lines.

    Args:
        split: `train` or `test`.
    """
    paths = sorted((_FOLDER / "entities" / split).glob("*.toml"))
    files = (msgspec.toml.decode(path.read_bytes(), type=EntityFile) for path in paths)
    return tuple(kind for file in files for kind in file.kinds())


@cache
def mixes() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return the weight of each alternative of each choice, by the names of mixes."""
    content = (_FOLDER / "mixes.toml").read_bytes()
    return msgspec.toml.decode(content, type=dict[str, dict[str, dict[str, float]]])


def generate_rows(
    source: IfstructSettings, seed: int, rows: int
) -> Iterator[IfstructRecord]:
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
        yield _record(row_seed, _unlike(source, row_seed, keys))


def _record(seed: int, spec: RowSpec) -> IfstructRecord:
    """Return the row of a drawn specification, with its text."""
    draw = Random(f"ifstruct words {seed}")  # noqa: S311 (repeatable, no secret)
    is_exact = spec.least == spec.most
    return IfstructRecord(
        seed=seed,
        entity_type=spec.entity,
        prompt=Wording(spec, draw).prompt(),
        json_schema=spec.schema,
        top_level_count=spec.least if is_exact else (spec.least, spec.most),
        top_level_key=spec.wrapper,
        require_wrapper_key=spec.wrapper is not None,
        require_code_block=spec.fence.startswith("required"),
        require_no_commentary=not spec.commentary,
        output_format=spec.format,
        fence=spec.fence,
        presentation=spec.presentation,
        voice=spec.voice,
        spec=spec,
    )


def _unlike(source: IfstructSettings, seed: int, keys: set[str]) -> RowSpec:
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


def draw_row(source: IfstructSettings, seed: int, attempt: int) -> RowSpec:
    """Return the choices of one row, which depend on nothing but the arguments.

    Args:
        source: Taxonomy and mix.
        seed: The row's own seed.
        attempt: The number of earlier draws for this seed, all of them repetitions.
    """
    draw = Random(f"ifstruct {source.split} {seed} {attempt}")  # noqa: S311 (repeatable, no secret)

    def drawn(choice: str) -> str:
        weights = mixes()[source.mix][choice]
        return draw.choices([*weights], [*weights.values()])[0]

    kind = draw.choice(entity_kinds(source.split))
    is_json = drawn("format") == "json"
    escaping = drawn("escaping") == "stressed"
    minimum, maximum = _count(drawn("count"), draw)
    fence = drawn("fence")
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
        format="json" if is_json else "yaml",
        wrapper=_key(kind, draw) if drawn("wrapper") == "wrapped" else None,
        fence=fence.replace("_language", ":json" if is_json else ":yaml"),
        # Without a block, words cannot be separated from an answer.
        commentary=drawn("commentary") == "allowed" and "required" in fence,
        escaping=escaping,
        presentation=drawn("presentation"),
        voice=drawn("voice"),
        mix=source.mix,
    )
    if voices()[spec.voice]["revises"]:
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
        case "integer" | "number":
            return _vary_bounds(field, draw)
        case "enum":
            count = draw.randint(2, len(field.values))
            sample = set(draw.sample(field.values, count))
            values = tuple(value for value in field.values if value in sample)
            return replace(field, values=values)
        case "object" | "objects" | "strings":
            return _vary_inside(field, escaping, draw)
    return field


def _vary_bounds(field: Field, draw: Random) -> Field:
    low = field.minimum or 0
    high = field.maximum or 0
    if draw.random() < _BOTH_BOUNDS:
        part = draw.choice(_PARTS)
        is_integer = field.type == "integer"
        lower = high
        if part != 1:
            lower = _rounded(low + (high - low) * part, is_integer=is_integer)
        return replace(field, maximum=lower) if low < lower else field
    if draw.random() < 1 / 2:
        return replace(field, minimum=None)
    return replace(field, maximum=None)


def _rounded(bound: float, *, is_integer: bool) -> int | float:
    """Return a bound that a person would write: of two digits, then zeros."""
    short = float(f"{bound:.2g}")
    return int(short) if is_integer or short == int(short) else short


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
    other_format = "yaml" if spec.format == "json" else "json"
    yield Retraction(
        choice="format", wrong=other_format.upper(), final=spec.format.upper()
    )
    wrong = draw.choice([n for n in range(2, 9) if not spec.least <= n <= spec.most])
    yield Retraction(
        choice="count",
        wrong=f"{wrong} {spec.plural}",
        final=str(spec.least) if spec.least == spec.most else "",
    )
    key = f"the key `{draw.choice(_OTHER_KEYS)}` around it"
    yield Retraction(
        choice="wrapper",
        wrong=key if spec.wrapper is None or draw.random() < 1 / 2 else "a bare list",
        final=spec.wrapper or "",
    )
    if spec.fence != "free":
        is_required = spec.fence.startswith("required")
        wrong_fence = "without a code block" if is_required else "in a code block"
        yield Retraction(choice="fence", wrong=wrong_fence, final=spec.fence)
    yield from _limit(spec, draw)
    yield Retraction(choice="field", wrong=draw.choice(_DECOYS))


def _limit(spec: RowSpec, draw: Random) -> Iterator[Retraction]:
    """Yield a smaller maximum of one whole number, if there is one."""
    fields = [
        field
        for _, field in all_fields(spec.fields)
        if field.type == "integer" and (field.maximum or 0) > _SMALLEST
    ]
    if fields:
        field = draw.choice(fields)
        maximum = int(field.maximum or 0)
        minimum = int(field.minimum or 0)
        wrong = minimum + max(1, (maximum - minimum) // draw.choice((2, 3, 4)))
        if minimum < wrong < maximum:
            yield Retraction(
                choice="limit",
                wrong=number_text(wrong),
                final=number_text(maximum),
                field=field.name,
            )
