"""The conditions that runs must share before figures are compared or published.

Command, paths, jobs and free memory may differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from curation.system.errors import BadConfiguration
from evaluation.core.run_header import MOVING_FACTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.results.reader import RecordedRun

    #: The whole content of `run.json`.
    Header: TypeAlias = Mapping[str, UntypedJson]

#: Texts longer than this are not printed in a message.
_LONG: Final = 40
#: Of a machine, what decides times and outcomes.
_OF_MACHINE: Final = ("processor", "cores", "platform", "python")
#: Of the data: all of it, what was chosen, and where instances come from.
_OF_DATA: Final = ("sha256", "configs", "splits", "instances")
#: What messages call a member where its name says little.
_LABELS: Final = {"sha256": "content"}
#: Of models, what decides nothing but a sum of money, and what moves by itself.
_NOT_OF_MODELS: Final = MOVING_FACTS | {"prices"}
#: Of a suite, what it is called here, and who answers.
_NOT_OF_SUITES: Final = frozenset({"data", "models"})
_DEVICE_NUMBER: Final = re.compile(r":\d+$")


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that runs must have in common."""

    #: What messages call it.
    name: str
    #: What it means for a comparison if it differs.
    consequence: str
    #: Returns what differs between two headers; empty if nothing does.
    differ: Callable[[Header, Header], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionDifference:
    """A condition that two runs do not share."""

    condition: Condition
    #: What exactly differs: `dtype float32, not bfloat16`.
    detail: str

    def __str__(self) -> str:
        """Return the condition's name with what exactly differs."""
        return f"{self.condition.name} ({self.detail})"


def _member(name: str) -> Callable[[Header, Header], str]:
    return lambda first, other: _one(name, first.get(name), other.get(name), "")


def _parts(member: str, names: tuple[str, ...] = ()) -> Callable[[Header, Header], str]:
    def differ(first: Header, other: Header) -> str:
        one, two = _mapping(first.get(member)), _mapping(other.get(member))
        return _each(one, two, names or (*one, *two))

    return differ


def _data(first: Header, other: Header) -> str:
    """Compare the data; a run whose tasks read none goes with every other."""
    one, two = _mapping(first.get("data")), _mapping(other.get("data"))
    return _each(one, two, _OF_DATA) if one and two else ""


def _settings(first: Header, other: Header) -> str:
    """Compare what tasks were told; single tasks only where both runs have them."""
    one, two = _mapping(first.get("settings")), _mapping(other.get("settings"))
    shared = set(first.get("tasks") or ()) & set(other.get("tasks") or ())
    names = [name for name in (*one, *two) if shared or name != "values"]
    return _each(one, two, names)


def _models(first: Header, other: Header) -> str:
    """Compare what writes; a run in which no model does goes with every other."""
    one, two = _model(first), _model(other)
    return _each(one, two, (*one, *two)) if one and two else ""


def _model(header: Header) -> Mapping[str, UntypedJson]:
    """Return what decides what a model writes; one graphics card is like the next."""
    about = _mapping(header.get("models"))
    parts = {name: part for name, part in about.items() if name not in _NOT_OF_MODELS}
    if isinstance(parts.get("device"), str):
        parts["device"] = _DEVICE_NUMBER.sub("", parts["device"])
    if parts:
        parts["code that writes and judges"] = header.get("writing")
    return parts


def _sources(first: Header, other: Header) -> str:
    """Compare what tasks read beside the data, where both runs have the task."""
    one, two = _mapping(first.get("sources")), _mapping(other.get("sources"))
    return ", ".join(
        f"{task}: {text}"
        for task in one
        if task in two
        if (text := _each(_mapping(one[task]), _mapping(two[task]), ("sha256",)))
    )


def _suite(first: Header, other: Header) -> str:
    """Compare suites but for who answered: models are the participants there."""
    one, two = _mapping(first.get("suite")), _mapping(other.get("suite"))
    names = [name for name in (*one, *two) if name not in _NOT_OF_SUITES]
    return _each(one, two, names) if one and two else ""


_OTHER_SCHEMAS: Final = (
    "they were asked other schemas: only those of one name are compared"
)
CONDITIONS: Final = (
    Condition(
        "version of csbdata",
        "what is measured may have changed in between",
        _member("csbdata"),
    ),
    Condition(
        "measuring code", "other code of csbdata has measured them", _member("code")
    ),
    Condition("data", _OTHER_SCHEMAS, _data),
    Condition("--limit", _OTHER_SCHEMAS, _member("limit")),
    Condition("--id", _OTHER_SCHEMAS, _member("only")),
    Condition(
        "sources of tasks", "a task's own cases are of another edition", _sources
    ),
    Condition(
        "tokenizer",
        "they have another tokenizer: other tokens, other masks",
        _parts("tokenizer", ("sha256", "vocab_size")),
    ),
    Condition("limits", "what one cuts off, the other may finish", _parts("limits")),
    Condition("settings", "their tasks were told otherwise", _settings),
    Condition("model", "another model wrote, or the same one otherwise", _models),
    Condition("suite", "other records, or answers that were scored otherwise", _suite),
    Condition(
        "machine",
        "they ran on another machine: their times are not comparable",
        _parts("machine", _OF_MACHINE),
    ),
)
#: Of a participant, what decides its answers; where its Python lies does not.
_OF_PARTICIPANT: Final = ("version", "preset", "options", "sha256", "model", "server")


def differences(first: Header, other: Header) -> list[ConditionDifference]:
    """Return the conditions that two runs do not share, by their whole headers."""
    return [
        ConditionDifference(condition=condition, detail=detail)
        for condition in CONDITIONS
        if (detail := condition.differ(first, other))
    ]


def check_participants(runs: Sequence[RecordedRun]) -> None:
    """Check that participants of one label are the same in all runs.

    Raises:
        BadConfiguration: two are not; says in what.
    """
    first_entries: dict[str, tuple[RecordedRun, Mapping[str, UntypedJson]]] = {}
    for run in runs:
        for entry in run.raw_header.get("engines") or ():
            first, expected = first_entries.setdefault(entry["engine"], (run, entry))
            if difference := _each(expected, entry, _OF_PARTICIPANT):
                raise BadConfiguration(
                    f"another {entry['engine']} than in {first.folder} ({difference})",
                    str(run.folder),
                    "run it anew in the same way",
                )


def _mapping(value: UntypedJson) -> Mapping[str, UntypedJson]:
    return value if isinstance(value, dict) else {}


def _each(first: Header, other: Header, names: Iterable[str]) -> str:
    return ", ".join(
        text
        for name in dict.fromkeys(names)
        if (text := _one(name, first.get(name), other.get(name), name))
    )


def _one(name: str, first: UntypedJson, other: UntypedJson, label: str) -> str:
    if first == other:
        return ""
    label = _LABELS.get(label, label)
    texts = [_text(value) for value in (other, first)]
    if any(len(text) > _LONG for text in texts):
        return f"another {label or name}"
    return f"{label} {texts[0]}, not {texts[1]}".strip()


def _text(value: UntypedJson) -> str:
    return "none" if value is None or value in ("", [], {}) else str(value)
