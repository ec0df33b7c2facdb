"""The conditions that runs must share before figures are compared or published.

Command, paths, jobs and free memory may differ.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

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
#: Facts on a machine that decide times and outcomes.
_OF_MACHINE: Final = ("processor", "cores", "platform", "python")
#: Facts on the data: its digest, the selection, and the origin of instances.
_OF_DATA: Final = ("sha256", "configs", "splits", "instances")
#: Names of members in messages, where the member's name is unclear.
_LABELS: Final = {
    "sha256": "content",
    **dict.fromkeys(("csbdata", "code", "limit", "only"), ""),
}
#: Of models, what decides nothing but a sum of money, and what moves by itself.
_NOT_OF_MODELS: Final = MOVING_FACTS | {"prices"}
#: Facts on a suite: its name here, and who answers.
_NOT_OF_SUITES: Final = frozenset({"data", "models"})
_DEVICE_NUMBER: Final = re.compile(r":\d+$")


class ConditionDifference(NamedTuple):
    """A condition that two runs do not share."""

    #: What messages call it.
    name: str
    #: What it means for a comparison.
    consequence: str
    #: What exactly differs: `dtype float32, not bfloat16`.
    detail: str

    def __str__(self) -> str:
        """Return the condition's name with what exactly differs."""
        return f"{self.name} ({self.detail})"


def _member(name: str) -> Callable[[Header, Header], Header]:
    return lambda header, _other: {name: header.get(name)}


def _members(part: str, *names: str) -> Callable[[Header, Header], Header]:
    """Return what takes these members of a part of a header, or all of them."""

    def members(header: Header, _other: Header) -> Header:
        section = _mapping(header.get(part))
        return {name: section.get(name) for name in names or section}

    return members


def _data(header: Header, baseline: Header) -> Header:
    """Return what decides the data; a run that reads none goes with every other."""
    compared = header.get("data") and baseline.get("data")
    return _members("data", *_OF_DATA)(header, baseline) if compared else {}


def _settings(header: Header, baseline: Header) -> Header:
    """Return the settings of tasks; single tasks only if both runs have them."""
    shared = set(header.get("tasks") or ()) & set(baseline.get("tasks") or ())
    settings = _mapping(header.get("settings"))
    return {name: settings[name] for name in settings if shared or name != "values"}


def _models(header: Header, baseline: Header) -> Header:
    """Return what writes; a run in which no model does goes with every other."""
    return _model(header) if _model(baseline) else {}


def _model(header: Header) -> dict[str, UntypedJson]:
    """Return what decides a model's texts; graphics cards are alike."""
    about = _mapping(header.get("models"))
    parts = {name: part for name, part in about.items() if name not in _NOT_OF_MODELS}
    if isinstance(parts.get("device"), str):
        parts["device"] = _DEVICE_NUMBER.sub("", parts["device"])
    if parts:
        parts["code that writes and judges"] = header.get("writing")
    return parts


def _sources(header: Header, baseline: Header) -> Header:
    """Return what tasks read alongside the data, where both runs have the task."""
    sources = _mapping(header.get("sources"))
    baseline_sources = _mapping(baseline.get("sources"))
    return {
        f"{task}: content": _mapping(sources[task]).get("sha256")
        for task in sources
        if task in baseline_sources
    }


def _suite(header: Header, baseline: Header) -> Header:
    """Return a suite but for who answered: models are the participants there."""
    suite = _mapping(header.get("suite")) if baseline.get("suite") else {}
    return {name: suite[name] for name in suite if name not in _NOT_OF_SUITES}


_OTHER_SCHEMAS: Final = (
    "their schemas differ: only schemas with the same name are compared"
)
#: What runs must have in common: its name; the consequence for a comparison if it
#: differs; and what returns the members of a header that must equal another header's.
CONDITIONS: Final = (
    (
        "version of csbdata",
        "the measurement may have changed in between",
        _member("csbdata"),
    ),
    ("measuring code", "other code of csbdata has measured them", _member("code")),
    ("data", _OTHER_SCHEMAS, _data),
    ("--limit", _OTHER_SCHEMAS, _member("limit")),
    ("--id", _OTHER_SCHEMAS, _member("only")),
    ("sources of tasks", "a task's own cases are of another edition", _sources),
    (
        "tokenizer",
        "they have another tokenizer: other tokens, other masks",
        _members("tokenizer", "sha256", "vocab_size"),
    ),
    ("limits", "what one cuts off, the other may finish", _members("limits")),
    ("settings", "their tasks had other settings", _settings),
    ("model", "another model wrote, or the same one otherwise", _models),
    ("suite", "other records, or answers scored otherwise", _suite),
    (
        "machine",
        "they ran on another machine: their times are not comparable",
        _members("machine", *_OF_MACHINE),
    ),
)
#: Facts on a participant that decide its answers; the path of its Python does not.
_OF_PARTICIPANT: Final = ("version", "preset", "options", "sha256", "model", "server")


def differences(header: Header, baseline: Header) -> list[ConditionDifference]:
    """Return the conditions that two runs do not share, by their whole headers."""
    differing = []
    for name, consequence, part in CONDITIONS:
        values = part(header, baseline)
        baseline_values = part(baseline, header)
        if detail := _each(values, baseline_values, (*values, *baseline_values)):
            differing.append(ConditionDifference(name, consequence, detail))
    return differing


def check_participants(runs: Sequence[RecordedRun]) -> None:
    """Check that participants of one label are the same in all runs.

    Raises:
        BadConfiguration: two differ; the message names the difference.
    """
    first_entries: dict[str, tuple[RecordedRun, Mapping[str, UntypedJson]]] = {}
    for run in runs:
        for entry in run.raw_header.get("engines") or ():
            earlier, expected = first_entries.setdefault(entry["engine"], (run, entry))
            if difference := _each(expected, entry, _OF_PARTICIPANT):
                raise BadConfiguration(
                    f"another {entry['engine']} than in "
                    f"{earlier.folder} ({difference})",
                    str(run.folder),
                    "rerun it in the same way",
                )


def _mapping(value: UntypedJson) -> Mapping[str, UntypedJson]:
    return value if isinstance(value, dict) else {}


def _each(values: Header, baseline: Header, names: Iterable[str]) -> str:
    """Return what two parts do not share, a few words each."""
    differing = []
    for name in dict.fromkeys(names):
        if values.get(name) == baseline.get(name):
            continue
        label = _LABELS.get(name, name)
        texts = [_text(part.get(name)) for part in (baseline, values)]
        if any(len(text) > _LONG for text in texts):
            differing.append(f"another {label or name}")
        else:
            differing.append(f"{label} {texts[0]}, not {texts[1]}".strip())
    return ", ".join(differing)


def _text(value: UntypedJson) -> str:
    return "none" if value is None or value in ("", [], {}) else str(value)
