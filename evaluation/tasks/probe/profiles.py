"""A profile for `csbdata fit`, made of the probes of a server.

A keyword whose probes all came out alike has a rule, or is accepted; a keyword that
depends on its use or place is unknown, and the profile's note names it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from curation.fit.profile import Effect, TargetKind
from curation.schema.keywords import KNOWN_KEYWORDS
from evaluation.tasks.probe.outcomes import GOOD, ProbeOutcome
from evaluation.tasks.probe.probe import FORMAT_OF_PROBE, UNKNOWN

if TYPE_CHECKING:
    from curation.core.json_types import Json

_EFFECTS: Final[Mapping[ProbeOutcome, Effect]] = {
    ProbeOutcome.REFUSED: Effect.REFUSED,
    ProbeOutcome.IGNORED: Effect.IGNORED,
    ProbeOutcome.WARNED: Effect.IGNORED,
}


def profile_text(
    name: str,
    title: str,
    date: str,
    outcomes: Mapping[str, Mapping[str, Sequence[ProbeOutcome]]],
) -> str:
    """Return the TOML of a server's profile.

    Args:
        name: The name of the target.
        title: The model and the server.
        date: The day on which it was asked.
        outcomes: By keyword and name of a probe.
    """
    effects: dict[str, set[Effect | bool]] = {}
    for keyword, probes in outcomes.items():
        if keyword in KNOWN_KEYWORDS and keyword != "format":
            every = [outcome for results in probes.values() for outcome in results]
            effects[keyword] = {_effect(outcome) for outcome in every}
    formats = {
        FORMAT_OF_PROBE[probe]: {_effect(outcome) for outcome in results}
        for probe, results in outcomes.get("format", {}).items()
        if probe in FORMAT_OF_PROBE
    }
    partly = sorted(keyword for keyword, results in effects.items() if len(results) > 1)
    partly += sorted(
        keyword for keyword, results in effects.items() if results == {False}
    )
    note = f"untested or inconsistent: {', '.join(partly)}"
    tables = [
        "# Made by `csbdata probe`.\n",
        _lines(
            name=name,
            title=title,
            date=date,
            kind=TargetKind.SERVER,
            compared="the server, by probes",
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
    # The rule of an undefined format applies to all formats that are not listed.
    unknown = formats.pop(UNKNOWN, {False})
    effect = Effect.REFUSED if unknown == {Effect.REFUSED} else Effect.IGNORED
    if unknown != {False}:
        differing = sorted(
            name for name, results in formats.items() if results != {effect}
        )
        check = "format" if differing else "keyword"
        names = differing or ["format"]
        tables.append(_rule(check=check, names=names, effect=effect))
    return "".join(tables)


def _effect(outcome: ProbeOutcome) -> Effect | bool:
    """Return a target's behaviour; True if as specified, False if wrong."""
    return _EFFECTS.get(outcome, outcome in GOOD)


def _with(
    effects: Mapping[str, set[Effect | bool]], effect: set[Effect | bool]
) -> list[str]:
    return sorted(keyword for keyword, results in effects.items() if results == effect)


def _rule(**values: str | Iterable[str]) -> str:
    return "\n[[rules]]\n" + _lines(**values, source="probes")


def _lines(**values: Json | Iterable[str]) -> str:
    """Return keys and values as TOML, whose texts and lists are JSON's."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in values.items()
        if value or isinstance(value, list)
    )
