"""Task `scaling`: schemas of growing size, one family for each thing that grows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadConfiguration
from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.task import AcceptedSetting, RunRows, Task, TaskInput
from evaluation.tasks.scaling import NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from curation.core.json_types import Json
    from evaluation.core.cases import Sample
    from evaluation.core.task_settings import TaskSettings
    from evaluation.reporting.report import Report

#: What a text repeats at most: masks are to be compared, not lengths of texts.
_MOST: Final = 32
#: The largest size for which a text is written that is longer than its bound.
_BROKEN_TO: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedSchema:
    """One schema of a family, as texts."""

    schema: str
    valid: str
    #: Breaks what grows; None where it would be very long.
    invalid: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One respect in which schemas grow."""

    #: What `--set families=[...]` calls it.
    name: str
    #: What n counts.
    counts: str
    #: The keyword that the broken text violates.
    keyword: str
    sizes: tuple[int, ...]
    sized_schema: Callable[[int], SizedSchema]


def families() -> Mapping[str, Family]:
    """Return all families by name."""
    twos = tuple(2**power for power in range(11))
    fours = tuple(4**power for power in range(9))
    listed = (
        Family(
            name="depth",
            counts="levels of objects",
            keyword="type",
            # Twice as many levels of JSON: what readers of JSON take is not the point.
            sizes=tuple(2**power for power in range(9)),
            sized_schema=_depth,
        ),
        Family(
            name="enum",
            counts="values of an enum",
            keyword="enum",
            sizes=fours[:8],
            sized_schema=_enum,
        ),
        Family(
            name="maxItems",
            counts="items that are allowed",
            keyword="maxItems",
            sizes=fours,
            sized_schema=_max_items,
        ),
        Family(
            name="maxLength",
            counts="characters that are allowed",
            keyword="maxLength",
            sizes=fours,
            sized_schema=_max_length,
        ),
        Family(
            name="optional",
            counts="optional properties",
            keyword="additionalProperties",
            sizes=twos,
            sized_schema=_optional,
        ),
        Family(
            name="anyOf",
            counts="branches",
            keyword="anyOf",
            sizes=twos,
            sized_schema=_any_of,
        ),
    )
    return {family.name: family for family in listed}


def _sized(schema: Json, valid: Json, invalid: Json | None) -> SizedSchema:
    return SizedSchema(
        schema=json.dumps(schema),
        valid=json.dumps(valid),
        invalid=None if invalid is None else json.dumps(invalid),
    )


def _depth(size: int) -> SizedSchema:
    """Nest objects; written as text, since a value so deep is none for Python."""
    start = '{"type": "object", "properties": {"a": '
    end = '}, "required": ["a"], "additionalProperties": false}'
    deep = '{"a": ' * size
    return SizedSchema(
        schema=start * size + '{"type": "integer"}' + end * size,
        valid=deep + "1" + "}" * size,
        invalid=deep + "true" + "}" * size,
    )


def _enum(size: int) -> SizedSchema:
    values: list[Json] = [_word(number) for number in range(size)]
    # Each value is a digest, so that none begins like the others.
    return _sized({"enum": values}, values[size // 2], _word(size))


def _max_items(size: int) -> SizedSchema:
    schema: Json = {"type": "array", "items": {"type": "integer"}, "maxItems": size}
    broken: Json = [7] * (size + 1) if size <= _BROKEN_TO else None
    return _sized(schema, [7] * min(size, _MOST), broken)


def _max_length(size: int) -> SizedSchema:
    schema: Json = {"type": "string", "maxLength": size}
    broken = _letters(size + 1) if size <= _BROKEN_TO else None
    return _sized(schema, _letters(min(size, _MOST)), broken)


def _optional(size: int) -> SizedSchema:
    names = [f"p{number}" for number in range(size)]
    schema: Json = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "additionalProperties": False,
    }
    step = max(1, size // _MOST)
    return _sized(schema, dict.fromkeys(names[::step], 1), {"q": 1})


def _any_of(size: int) -> SizedSchema:
    branches: list[Json] = [
        {
            "type": "object",
            "properties": {
                "kind": {"const": _word(number)},
                "value": {"type": "integer" if number % 2 else "string"},
            },
            "required": ["kind", "value"],
            "additionalProperties": False,
        }
        for number in range(size)
    ]
    last = size - 1
    good, bad = (1, "x") if last % 2 else ("x", 1)
    kind = _word(last)
    return _sized(
        {"anyOf": branches}, {"kind": kind, "value": good}, {"kind": kind, "value": bad}
    )


def _word(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:12]


def _letters(count: int) -> str:
    return "".join(_word(number) for number in range(count // 12 + 1))[:count]


#: Times that every size is measured; `--set repeats=N`.
REPEATS: Final = 3


def cases(_samples: Iterable[Sample], settings: TaskSettings) -> Iterator[Case]:
    """Yield a case for every family, size and repetition; small sizes first.

    The settings `families` (a list of names), `largest` (no size above it) and
    `repeats` choose.

    Raises:
        BadConfiguration: a setting makes no sense.
    """
    known = families()
    chosen = _chosen(settings, known)
    largest = _number(settings, "largest", 1 << 30)
    for repetition in range(_number(settings, "repeats", REPEATS)):
        for name in chosen:
            for size in known[name].sizes:
                if size <= largest:
                    yield _case(known[name], size, repetition)


def _chosen(settings: TaskSettings, known: Mapping[str, Family]) -> list[str]:
    """Return the names of the setting `families`; without it all."""
    given = settings.values.get("families") or list(known)
    if isinstance(given, list):
        names = [name for name in given if isinstance(name, str)]
        unknown = [name for name in given if name not in known]
        if not unknown:
            return names
        wrong = ", ".join(f"no {name!r}" for name in unknown)
    else:
        wrong = "not a list"
    then = f"known: {', '.join(known)}"
    raise BadConfiguration(f"--set families=[...]: {wrong}", then=then)


def _number(settings: TaskSettings, name: str, default: int) -> int:
    value = settings.values.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadConfiguration(f"--set {name}=N takes a number from 1, not {value!r}")
    return value


def _case(family: Family, size: int, repetition: int) -> Case:
    sized = family.sized_schema(size)
    return Case(
        task=NAME,
        id=f"{family.name}-{size:06}-{repetition + 1}",
        config=family.name,
        schema=sized.schema,
        walks=tuple(_walks(sized, family)),
        label={"family": family.name, "size": size, "repetition": repetition + 1},
    )


def _walks(sized: SizedSchema, family: Family) -> Iterator[InstanceWalk]:
    yield InstanceWalk(text=sized.valid, valid=True, label={"kind": "witness"})
    if sized.invalid is not None:
        label = {"kind": "near_miss", "keyword": family.keyword}
        yield InstanceWalk(text=sized.invalid, valid=False, label=label)


def report(run: RunRows) -> Report:
    """Return the curves and their exponents, as tables and plots."""
    from evaluation.tasks.scaling.report import report_of  # noqa: PLC0415 - not light

    return report_of(run)


TASK: Final = Task(
    name=NAME,
    summary="Compile and mask cost against depth, enum size, maxItems, maxLength, "
    "optional properties and anyOf width: curves and exponents.",
    timed=True,
    input=TaskInput.OWN,
    cases=cases,
    report=report,
    settings=(
        AcceptedSetting(name="families", meaning="a list of families of schemas"),
        AcceptedSetting(name="largest", meaning="no size above it"),
        AcceptedSetting(name="repeats", meaning="how often each size is measured"),
    ),
    repeats=lambda case: case.id.rpartition("-")[0],
)
