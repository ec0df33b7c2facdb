"""The conditions that runs must share before figures are compared or published.

Command, paths, jobs and free memory may differ.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from curation.system.errors import BadConfiguration
from evaluation.core.run_header import MOVING_FACTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.results.reader import RecordedRun

    #: The whole content of `run.json`.
    Header: TypeAlias = Mapping[str, UntypedJson]

#: Texts longer than this are not printed in a message.
_LONG: Final = 40
#: Facts on a machine that decide times and outcomes.
_OF_TOKENIZER: Final = ("sha256", "vocab_size")
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


#: Facts on a participant that decide its answers; the path of its Python does not.
_OF_PARTICIPANT: Final = ("version", "preset", "options", "sha256", "model", "server")


_OTHER_SCHEMAS: Final = (
    "their schemas differ: only schemas with the same name are compared"
)
#: What runs must have in common, and the consequence for a comparison if it differs.
CONSEQUENCES: Final = {
    "version of csbdata": "the measurement may have changed in between",
    "measuring code": "other code of csbdata has measured them",
    "data": _OTHER_SCHEMAS,
    "--limit": _OTHER_SCHEMAS,
    "--id": _OTHER_SCHEMAS,
    "sources of tasks": "a task's own cases are of another edition",
    "tokenizer": "they have another tokenizer: other tokens, other masks",
    "limits": "what one cuts off, the other may finish",
    "settings": "their tasks had other settings",
    "model": "another model wrote, or the same one otherwise",
    "suite": "other records, or answers scored otherwise",
    "machine": "they ran on another machine: their times are not comparable",
}


def _conditions(header: Header, other: Header) -> dict[str, Header]:
    """Return the conditions of a run that another run must share, by their names.

    A run without data, model or suite goes with every other; single tasks' settings and
    sources are conditions only if both runs have the tasks.
    """
    parts: dict[str, dict[str, UntypedJson]] = defaultdict(dict)
    parts |= {name: part for name, part in header.items() if isinstance(part, dict)}
    for name in ("data", "models", "suite"):
        if not other.get(name):
            parts[name] = {}
    models = {**parts["models"]}
    if isinstance(models.get("device"), str):
        models["device"] = _DEVICE_NUMBER.sub("", models["device"])
    if models:
        models["code that writes and judges"] = header.get("writing")
    settings = {**parts["settings"]}
    if not {*(header.get("tasks") or ())} & {*(other.get("tasks") or ())}:
        settings.pop("values", None)
    sources = {
        f"{task}: content": source.get("sha256")
        for task, source in parts["sources"].items()
        if task in (other.get("sources") or ())
    }
    return {
        "version of csbdata": {"csbdata": header.get("csbdata")},
        "measuring code": {"code": header.get("code")},
        "data": _members(parts["data"], _OF_DATA),
        "--limit": {"limit": header.get("limit")},
        "--id": {"only": header.get("only")},
        "sources of tasks": sources,
        "tokenizer": _members(parts["tokenizer"], _OF_TOKENIZER),
        "limits": parts["limits"],
        "settings": settings,
        "model": _others(models, _NOT_OF_MODELS),
        "suite": _others(parts["suite"], _NOT_OF_SUITES),
        "machine": _members(parts["machine"], _OF_MACHINE),
    }


def differences(header: Header, baseline: Header) -> list[ConditionDifference]:
    """Return the conditions that two runs do not share, by their whole headers."""
    differing = []
    expected = _conditions(baseline, header)
    for name, values in _conditions(header, baseline).items():
        if detail := _each(values, expected[name], (*values, *expected[name])):
            differing.append(ConditionDifference(name, CONSEQUENCES[name], detail))
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


def _members(section: Header, names: Iterable[str]) -> Header:
    return {name: section.get(name) for name in names}


def _others(section: Header, names: frozenset[str]) -> Header:
    return {name: part for name, part in section.items() if name not in names}


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
