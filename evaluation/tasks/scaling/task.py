"""Task `scaling`: schemas of growing size, one family for each thing that grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.system.errors import BadUsage
from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.task import AcceptedSetting, RunRows, Task, TaskInput
from evaluation.tasks.scaling import NAME
from evaluation.tasks.scaling.families import Family, SizedSchema, families

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evaluation.core.records import Record
    from evaluation.core.run_header import TaskSettings
    from evaluation.reporting.report import Report

#: Times that every size is measured; `--set repeats=N`.
REPEATS: Final = 3


def cases(_records: Iterable[Record], settings: TaskSettings) -> Iterator[Case]:
    """Yield a case for every family, size and repetition; small sizes first.

    The settings `families` (a list of names), `largest` (no size above it) and
    `repeats` choose.

    Raises:
        BadUsage: a setting makes no sense.
    """
    available = families()
    names = _select(settings, available)
    largest = _number(settings, "largest", 1 << 30)
    for repetition in range(_number(settings, "repeats", REPEATS)):
        for name in names:
            for size in available[name].sizes:
                if size <= largest:
                    yield _case(available[name], size, repetition)


def _select(settings: TaskSettings, available: Mapping[str, Family]) -> list[str]:
    selected = settings.values.get("families") or list(available)
    if isinstance(selected, list):
        names = [name for name in selected if isinstance(name, str)]
        # Anything may stand in a list, a list too.
        unknown = [name for name in selected if name not in [*available]]
        if not unknown:
            return [*dict.fromkeys(names)]
        wrong = ", ".join(f"no {name!r}" for name in unknown)
    else:
        wrong = "not a list"
    then = f"known: {', '.join(available)}"
    raise BadUsage(f"--set families=[...]: {wrong}", then=then)


def _number(settings: TaskSettings, name: str, default: int) -> int:
    value = settings.values.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadUsage(f"--set {name}=N takes a number from 1, not {value!r}")
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
