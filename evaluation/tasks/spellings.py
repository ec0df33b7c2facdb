"""Task `spellings`: walk every witness as JSON allows to spell it otherwise.

Each spelling is the same JSON value, and both validators accept it, so a refusal is an
over-constraint; it counts here alone, and in no rate of task `masks`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.json.values import identity
from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.spelled_json import Spelled, read_spelled
from evaluation.core.task import RunRows, Task, TaskInput
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Rate, Table
from evaluation.results.outcomes import APART, engine_is_right, is_judged_apart
from evaluation.results.overview import overview
from evaluation.results.why_classes import classes_of
from evaluation.tasks.masks.task import permuted_texts

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import Record
    from evaluation.core.run_header import TaskSettings

NAME: Final = "spellings"
_UNIT: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_ZERO: Final = re.compile("0")
_FRACTION: Final = re.compile(r"-?[0-9]+\.[0-9]+")
_SHORT: Final = {
    '\\"': "\\u0022",
    "\\\\": "\\u005c",
    "\\b": "\\u0008",
    "\\f": "\\u000c",
    "\\n": "\\u000a",
    "\\r": "\\u000d",
    "\\t": "\\u0009",
}


def _escaped(unit: str) -> str:
    """Return a character as escapes: a pair of them beyond the first plane."""
    content = unit.encode("utf-16-be")
    pairs = (content[place : place + 2].hex() for place in range(0, len(content), 2))
    return "".join(f"\\u{pair}" for pair in pairs)


def _strings(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return what spells each unit of a string otherwise, and leaves all else."""
    return lambda raw: (
        f'"{_UNIT.sub(lambda unit: change(unit[0]), raw[1:-1])}"'
        if raw[0] == '"'
        else raw
    )


def _first_letter(raw: str) -> str:
    if raw[0] != '"' or not raw[1].isascii() or raw[1] in '"\\':
        return raw
    return f'"{_escaped(raw[1])}{raw[2:]}'


def _numbers(
    form: re.Pattern[str], change: Callable[[str], str]
) -> Callable[[str], str]:
    return lambda raw: change(raw) if form.fullmatch(raw) else raw


def _exponent(raw: str) -> str:
    """Return an integer with an exponent: `1e2` for 100, `5e0` for 5."""
    digits = raw.rstrip("0") if raw.strip("-0") else raw
    return f"{digits}e{len(raw) - len(digits)}"


def _each(change: Callable[[str], str]) -> Callable[[Spelled], str]:
    """Return what writes a value with every scalar changed, but for names."""
    return lambda value: value.mapped(
        lambda part: replace(part, text=change(part.text))
    ).written()


def _renamed(value: Spelled) -> Spelled:
    members = (
        replace(
            member,
            name=member.name
            and replace(member.name, text=_first_letter(member.name.text)),
        )
        for member in value.members
    )
    return replace(value, members=tuple(members))


def _spaced(before: str, after: str) -> Callable[[Spelled], str]:
    """Return what writes a value with white space around every mark."""

    def written(value: Spelled) -> str:
        if not value.is_container:
            return value.text
        inner = f"{before},{after}".join(
            f"{member.name.text}{before}:{after}{written(member.value)}"
            if member.name
            else written(member.value)
            for member in value.members
        )
        close = "}" if value.text == "{" else "]"
        return (
            f"{value.text}{after}{inner}{before}{close}" if inner else value.written()
        )

    return written


def _reversed(value: Spelled) -> Spelled:
    is_object = value.text == "{"
    return replace(value, members=value.members[::-1]) if is_object else value


#: What writes a value in each class of spellings.
_WRITERS: Final[Mapping[str, Callable[[Spelled], str]]] = {
    "letter as \\u0061": _each(_first_letter),
    "name as \\u0061": lambda value: value.mapped(_renamed).written(),
    "\\u00e9 for é": _each(
        _strings(lambda unit: _escaped(unit) if "\x7f" < unit <= "\uffff" else unit)
    ),
    "surrogate pair": _each(
        _strings(lambda unit: _escaped(unit) if unit > "\uffff" else unit)
    ),
    "\\/ for /": _each(_strings(lambda unit: "\\/" if unit == "/" else unit)),
    "\\u000a for \\n": _each(_strings(lambda unit: _SHORT.get(unit, unit))),
    "1.0 for 1": _each(_numbers(_INTEGER, lambda raw: f"{raw}.0")),
    "1e2 for 100": _each(_numbers(_INTEGER, _exponent)),
    "-0 for 0": _each(_numbers(_ZERO, lambda raw: f"-{raw}")),
    "1.50 for 1.5": _each(_numbers(_FRACTION, lambda raw: f"{raw}0")),
    "no white space": _spaced("", ""),
    "white space before marks": _spaced(" ", " "),
    "lines and tabs": _spaced("\n", "\n\t"),
    "white space around": lambda value: f" {value.written()}\n",
    "members reversed": lambda value: value.mapped(_reversed).written(),
}
_SHUFFLED: Final = "members shuffled"
#: The class of a text as the data has it.
_PLAIN: Final = "as written"


def spellings(text: str, seed: int) -> Iterator[tuple[str, str]]:
    """Yield other spellings of a text, each once, with the name of its class.

    Nothing comes of a text that is no JSON, or too deep for Python.

    Example:
        >>> dict(spellings("[100]", 0))["1e2 for 100"]
        '[1e2]'
    """
    seen = {text}
    try:
        value = read_spelled(text)
        found = [(name, write(value)) for name, write in _WRITERS.items()]
    except (ValueError, RecursionError):
        return
    found += [(_SHUFFLED, other) for _, other in permuted_texts(text, 1, seed)]
    for name, other in found:
        if other not in seen:
            seen.add(other)
            yield name, other


class _Judge:
    """Whether the validators accept another spelling of an instance of a record."""

    def __init__(self, record: Record) -> None:
        from curation.instances.constraints.interpretations import read_schema  # noqa: PLC0415 - heavy

        self._compiled = read_schema(record.constraint, record.dialect)
        self._verdicts: dict[str, bool] = {}

    def accepts(self, text: str, other: str) -> bool:
        """Return whether it is the same JSON value, and both accept it."""
        value = json.loads(other)
        try:
            if identity(value) != identity(json.loads(text)):
                return False
        except (ValueError, RecursionError):
            # Beyond a double, with half of a surrogate pair, or too deep.
            return False
        key = repr(value)
        if key not in self._verdicts:
            self._verdicts[key] = self._asked(value)
        return self._verdicts[key]

    def _asked(self, value: Json) -> bool:
        from curation.instances.validators import verdicts  # noqa: PLC0415 - heavy

        if isinstance(self._compiled, Rejected):
            return False
        both = verdicts(self._compiled, value, ask_jsonschema=True)
        return both.jsonschema_rs and both.jsonschema is True


def cases(records: Iterable[Record], settings: TaskSettings) -> Iterator[Case]:
    """Yield one case a record: each witness, and behind it its spellings."""
    for record in records:
        judge, walks = _Judge(record), list[InstanceWalk]()
        for instance in record.instances:
            if not instance.valid:
                continue
            walks.append(
                InstanceWalk(text=instance.text, valid=True, label={"spelling": _PLAIN})
            )
            walks += [
                InstanceWalk(
                    text=text, valid=True, label={"spelling": name, APART: True}
                )
                for name, text in spellings(instance.text, settings.seed)
                if judge.accepts(instance.text, text)
            ]
        yield Case(
            task=NAME,
            id=record.id,
            config=record.group,
            schema=record.constraint,
            weight=record.weight,
            walks=tuple(walks),
            label={"dialect": record.dialect, "size": len(record.constraint)},
        )


def report(run: RunRows) -> Report:
    """Return the share of each class of spellings that each engine accepts."""
    rows = [row for row in run.rows() if row.task == NAME]
    answers: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for row in rows:
        plain = False
        for walked in row.walks:
            right, name = engine_is_right(walked), str(walked.label.get("spelling"))
            if not is_judged_apart(walked):
                plain = right is True
            if right is not None and (plain or name == _PLAIN):
                key = row.engine, name
                answers.setdefault(key, []).append((f"{row.config}/{row.id}", right))
    engines = list(dict.fromkeys(row.engine for row in rows))
    table = Table(
        title="Spellings accepted",
        name="spellings",
        columns=("spelling", *engines),
        rows=tuple(
            (name, *(_rate(answers.get((engine, name))) for engine in engines))
            for name in (_PLAIN, *_WRITERS, _SHUFFLED)
            if any((engine, name) in answers for engine in engines)
        ),
        note="Each witness as the data has it, and the same JSON value spelled "
        "otherwise, which both validators accept; other spellings only of witnesses "
        "that the engine accepts as written. These refusals are over-constraint of a "
        "class of their own, and in no other rate. Brackets: Wilson's 95 % interval "
        "of as many answers as these are worth, since several are of one schema.",
    )
    why = classes_of(rows, apart=True).table("spellings-why")
    coverage, *_ = overview(run, NAME).tables
    return Report(tables=(table, *([why] if why.rows else []), coverage))


def _rate(answers: list[tuple[str, bool]] | None) -> Rate | None:
    return None if answers is None else Rate.of_answers(answers)


TASK: Final = Task(
    name=NAME,
    summary="Walk every witness with other escapes, numbers, white space and orders.",
    timed=False,
    input=TaskInput.INSTANCES,
    cases=cases,
    report=report,
    by_default=False,
)
