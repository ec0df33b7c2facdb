"""Profiles for `csbdata fit`, made of the probes of engines and servers.

A keyword whose probes all came out alike has a rule, or is accepted; one that depends
on its use or place is unknown, and the profile's note names it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from curation.fit.profile import Effect, TargetKind, read_profile
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.system.atomic_files import atomic_write_bytes
from curation.system.errors import NoInput
from curation.system.file_names import safe_name
from evaluation.tasks.probe import NAME
from evaluation.tasks.probe.outcomes import GOOD, ProbeOutcome, outcome
from evaluation.tasks.probe.probe import FORMAT_OF_PROBE, UNKNOWN

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.cases import Row
    from evaluation.results.reader import RecordedRun

_EFFECTS: Final[Mapping[ProbeOutcome, Effect]] = {
    ProbeOutcome.REFUSED: Effect.REFUSED,
    ProbeOutcome.IGNORED: Effect.IGNORED,
    ProbeOutcome.WARNED: Effect.IGNORED,
}
#: Places inside other keywords tell of those.
_PLAIN_PLACES: Final = frozenset({"root", "property", "item"})


def write_profiles(run: RecordedRun, folder: Path) -> list[Path]:
    """Write `ENGINE.toml` for each engine of a run's task `probe`; return the files.

    Raises:
        NoInput: the run has no such rows, or is not finished.
    """
    if run.header.finished is None:
        then = "the command that began it goes on with it"
        raise NoInput("the run is not finished", str(run.folder), then)
    by_engine: dict[str, list[Row]] = defaultdict(list)
    for row in run.rows(NAME):
        is_plain = row.label.get("context") in _PLAIN_PLACES
        if is_plain and not row.label.get("pair"):
            by_engine[row.engine].append(row)
    if not by_engine:
        raise NoInput("no rows of task probe", str(run.folder))
    files = []
    named = Counter(run.header.participant(it).name for it in by_engine)
    for engine, rows in by_engine.items():
        header = run.header.participant(engine)
        # Versions and presets of one engine have files of their own.
        name = header.name if header.name and named[header.name] == 1 else engine
        outcomes: dict[str, dict[str, list[ProbeOutcome]]] = defaultdict(dict)
        for row in rows:
            keyword, probe = str(row.label.get("keyword")), str(row.label.get("probe"))
            own = outcome(row, header.refusals)
            outcomes[keyword].setdefault(probe, []).append(own)
        text = profile_text(name, engine, str(run.header.started)[:10], outcomes)
        file = folder / f"{safe_name(name)}.toml"
        atomic_write_bytes(file, text.encode())
        read_profile(file)
        files.append(file)
    return files


def profile_text(
    name: str,
    title: str,
    date: str,
    outcomes: Mapping[str, Mapping[str, Sequence[ProbeOutcome]]],
    maker: str = f"`csbdata results export --format profiles` from task {NAME}",
) -> str:
    """Return the TOML of an engine's profile.

    Args:
        name: The name of the engine.
        title: Its name, version and preset.
        date: The day of the run.
        outcomes: By keyword and name of a probe, one for each place and draft.
        maker: The command that makes it.
    """
    effects: dict[str, set[Effect | bool]] = {}
    for keyword, probes in outcomes.items():
        if keyword in KNOWN_KEYWORDS and keyword != "format":
            every = [one for results in probes.values() for one in results]
            effects[keyword] = {_effect(one) for one in every}
    formats = {
        FORMAT_OF_PROBE[probe]: {_effect(one) for one in results}
        for probe, results in outcomes.get("format", {}).items()
        if probe in FORMAT_OF_PROBE
    }
    partly = sorted(keyword for keyword, own in effects.items() if len(own) > 1)
    partly += sorted(it for it, own in effects.items() if own == {False})
    note = f"untested or inconsistent: {', '.join(partly)}"
    tables = [
        f"# Made by {maker}.\n",
        _lines(
            name=name,
            title=title,
            date=date,
            kind=TargetKind.ENGINE,
            compared="the engine, by probes",
            note=note if partly else "",
        ),
        _lines(accepted=[*_with(effects, {True}), *(["format"] if formats else [])]),
        "\n[sources.probes]\n",
        _lines(title=f"probes of {title}", date=date, evidence="probed"),
    ]
    for effect in (Effect.REFUSED, Effect.IGNORED):
        names = _with(effects, {effect})
        if names:
            tables.append(_rule(check="keyword", names=names, effect=effect))
    # What is said of a format that no draft defines is said of all that are not listed.
    unknown = formats.pop(UNKNOWN, {False})
    effect = Effect.REFUSED if unknown == {Effect.REFUSED} else Effect.IGNORED
    if unknown != {False}:
        others = sorted(name for name, own in formats.items() if own != {effect})
        check = "format" if others else "keyword"
        names = others or ["format"]
        tables.append(_rule(check=check, names=names, effect=effect))
    return "".join(tables)


def _effect(one: ProbeOutcome) -> Effect | bool:
    """Return what a target does; True if it is as specified, False if wrong."""
    return _EFFECTS.get(one, one in GOOD)


def _with(
    effects: Mapping[str, set[Effect | bool]], own: set[Effect | bool]
) -> list[str]:
    return sorted(keyword for keyword, each in effects.items() if each == own)


def _rule(**values: str | Iterable[str]) -> str:
    return "\n[[rules]]\n" + _lines(**values, source="probes")


def _lines(**values: Json | Iterable[str]) -> str:
    """Return keys and values as TOML, whose texts and lists are JSON's."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in values.items()
        if value or isinstance(value, list)
    )
