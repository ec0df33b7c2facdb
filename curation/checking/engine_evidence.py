"""What engines do with a schema: tried here, or measured by an edition of results.

An installed engine is run on the schema by what `evaluation` registers. For any other
`engines.jsonl.gz` of an edition has a line for each set of features that real schemas
have, with their outcomes by engine (`python -m bench.edition.engines`). Like a schema
are those that use all of its features and few others.
"""

from __future__ import annotations

import datetime
import gzip
from collections import Counter
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import msgspec

from curation.core.engine_trials import make_runner
from curation.fit.checks import QUIET
from curation.fit.profile import Effect, Profile, SourceKind, TargetKind, load_profiles
from curation.fit.scan import scan_of
from curation.fit.verdict import FitFinding
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.system.escaping import shortened
from curation.system.package_data import results_folder
from curation.system.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.engine_trials import EngineRunner, EngineTrial
    from curation.core.json_types import Json

#: The file of an edition.
ENGINES: Final = "engines.jsonl.gz"
#: How many features a schema like another may have, as a multiple and more.
_TIMES: Final = 1.5
_MORE: Final = 2
_LIVE: Final = KNOWN_KEYWORDS - QUIET
#: Keywords that are one feature wherever they are.
_ANYWHERE: Final = frozenset({"properties", "items", "required", "enum"})
#: How many schemas like another decide a verdict, and which share must be right.
_ENOUGH: Final = 10
_MOSTLY: Final = 0.95
#: Characters of a value and of a message that are shown.
_VALUE, _MESSAGE = 60, 300
#: Outcomes of an edition in words; others are of engines that did not end.
_WORDS: Final = {
    "passed": "right",
    "compile_error": "rejected",
    "under_constrained": "lets invalid values through",
    "over_constrained": "blocks valid values",
    "wrong_both_ways": "does both",
}


class Likes(msgspec.Struct, frozen=True):
    """The real schemas with one set of features."""

    features: list[int]
    #: Engine, by its place in the head, to outcomes.
    outcomes: dict[int, dict[str, int]]


class Head(msgspec.Struct, frozen=True):
    """The first line of the file."""

    edition: str
    engines: list[str]
    features: list[str]


def features_of_schema(schema: Json) -> frozenset[str]:
    """Return the keywords of a schema, each with the keyword that holds its place.

    Example:
        >>> sorted(features_of_schema({"items": {"minimum": 1}}))
        ['items', 'minimum in items']
    """
    scan = scan_of(schema)
    found: set[str] = set()
    for place in scan.places if scan else ():
        held = scan.holders.get(place.tokens, ((), "root"))[1] if scan else ""
        live = place.keywords.keys() & _LIVE
        if not live:
            found.add(f"{place.schema if place.schema is False else 'any'} in {held}")
        for name in live:
            value = place.keywords[name]
            if name == "type":
                types = value if isinstance(value, list) else [value]
                found.update(f"type {it} in {held}" for it in types)
            elif name == "format":
                found.add(f"format {value}")
            elif name == "additionalProperties":
                kind = value if isinstance(value, bool) else "schema"
                found.add(f"{name} {kind}")
            else:
                found.add(name if name in _ANYWHERE else f"{name} in {held}")
    return frozenset(found)


@cache
def _table() -> tuple[Head, list[tuple[int, Likes]]] | None:
    files = sorted(results_folder().glob(f"*/{ENGINES}"))
    if not files:
        return None
    first, *lines = gzip.decompress(files[-1].read_bytes()).splitlines()
    likes = [msgspec.json.decode(line, type=Likes) for line in lines]
    masks = [(sum(1 << it for it in own.features), own) for own in likes]
    return msgspec.json.decode(first, type=Head), masks


def outcomes_like(
    features: frozenset[str], engine: str
) -> tuple[Mapping[str, int], bool]:
    """Return the outcomes of an engine on real schemas like one; empty for none.

    Args:
        features: Those of the schema.
        engine: Its name, version and preset.

    Returns:
        The outcomes, and whether they are of schemas that use many more features,
        since there are none like it.
    """
    table = _table()
    if table is None or engine not in table[0].engines:
        return {}, False
    head, likes = table
    known = sum(1 << at for at, name in enumerate(head.features) if name in features)
    index = head.engines.index(engine)
    like: Counter[str] = Counter()
    more: Counter[str] = Counter()
    for mask, own in likes:
        found = own.outcomes.get(index, {})
        if known.bit_count() < len(features) or mask & known != known:
            continue
        more.update(found)
        if mask.bit_count() <= _TIMES * len(features) + _MORE:
            like.update(found)
    return like or more, not like


class Judgement(NamedTuple):
    """What an engine does with a schema."""

    findings: tuple[FitFinding, ...] = ()
    #: The outcome in words, and what it is from.
    measured: tuple[str, ...] = ()


def evidence_of(schema: Json, engine: str) -> Judgement:
    """Return what was measured of an engine on real schemas like one.

    Args:
        schema: The schema.
        engine: Its name, version and preset.
    """
    return judge_outcomes(engine, *outcomes_like(features_of_schema(schema), engine))


def judge_outcomes(
    engine: str,
    outcomes: Mapping[str, int],
    has_more: bool,  # noqa: FBT001 - as told by the table
) -> Judgement:
    """Return what outcomes on real schemas like one say of it.

    They decide if they are ten or more that were all rejected, or nearly all right.

    Args:
        engine: Its name, version and preset.
        outcomes: How often each came.
        has_more: Whether they are of schemas that use many more features.
    """
    total = sum(outcomes.values())
    source = "no edition of results"
    sentence = f"{engine}: not measured on real schemas with these keywords"
    counts: Counter[str] = Counter()
    for outcome, count in outcomes.items():
        counts[_WORDS.get(outcome, "did not end")] += count
    right = counts.pop("right", 0)
    table = _table()
    if table is not None and total:
        source = f"edition {table[0].edition}"
        others = "".join(f", {it} {count:,}" for it, count in sorted(counts.items()))
        where = "real schemas with these keywords at these places"
        where += " and many others" if has_more else ""
        sentence = f"{engine}: right on {right:,} of {total:,} {where}{others}"
    is_enough = total >= _ENOUGH and not has_more
    if is_enough and right >= _MOSTLY * total:
        return Judgement((), (sentence,))
    finding = _finding(source, Effect.UNKNOWN, "real schemas like it decide nothing")
    if is_enough and counts["rejected"] == total:
        what = f"{counted(total, 'real schema')} like it were all rejected"
        finding = _finding(source, Effect.REFUSED, what)
    return Judgement((finding,), (sentence,))


def _finding(
    source: str, effect: Effect, sentence: str, pointer: str = "", keyword: str = ""
) -> FitFinding:
    return FitFinding(
        pointer=pointer,
        keyword=keyword,
        rule="measured",
        effect=effect,
        sentence=sentence,
        source=source,
        evidence=SourceKind.PROBED,
    )


def _today() -> str:
    return str(datetime.datetime.now(datetime.UTC).date())


def judgement_of(trial: EngineTrial) -> Judgement:
    """Return what a trial of an engine says of the schema."""
    source = f"{trial.engine}, {_today()}"
    summary = "accepted, by its answer" if trial.answered else "accepted"
    findings = []
    if trial.refusal:
        summary = f"rejected: {shortened(trial.refusal, _MESSAGE)}"
        findings.append(_finding(source, Effect.REFUSED, summary))
    elif trial.late or not (trial.valid or trial.answered):
        summary = trial.late or "compiled; no valid value could be made to try it with"
        findings.append(_finding(source, Effect.UNKNOWN, summary))
    if trial.blocked:
        summary = f"blocks {len(trial.blocked)} of {trial.valid} valid values"
        such = f"{summary}, such as `{shortened(trial.blocked[0], _VALUE)}`"
        findings.append(_finding(source, Effect.BLOCKED, such))
    if trial.passed:
        lets = f"lets {len(trial.passed)} of {trial.invalid} invalid values through"
        summary = f"{summary}, {lets}" if trial.blocked else lets
    for value in {(it.pointer, it.keyword): it for it in trial.passed}.values():
        such = f"lets `{shortened(value.text, _VALUE)}` through"
        place = value.pointer, value.keyword
        findings.append(_finding(source, Effect.IGNORED, such, *place))
    tried = trial.valid + trial.invalid
    end = f"; {counted(tried, 'value')} tried" if tried else ""
    return Judgement(tuple(findings), (f"{trial.engine}: {summary}{end}",))


class Engines:
    """The engines among the targets of a command; a context that ends their processes.

    Nothing of `evaluation` is imported before an engine is named.
    """

    def __init__(self, asked: str = "") -> None:
        """Start nothing yet.

        Args:
            asked: A served model that may be asked: one that is a target beside.
        """
        self._asked = asked
        self._open = ExitStack()
        self._runner: EngineRunner | None = None
        #: Names of the engines that are run here.
        self._runs: set[str] = set()
        self._installs: dict[str, str] = {}

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        self._open.close()

    def targets(self, names: str) -> list[Profile]:
        """Return the profiles of a list of names; see `load_profiles`."""
        asked = f",{self._asked}" if self._asked else ""
        return load_profiles(names + asked, self._target)

    def _target(self, name: str) -> Profile | None:
        if ":" in name and name != self._asked:
            return None
        if self._runner is None:
            self._runner = make_runner()
            if self._runner is not None:
                self._open.callback(self._runner.close)
        known = self._runner.engine(name) if self._runner is not None else None
        table, title = _table(), measured_label(name)
        date = table[0].edition if table is not None and title else ""
        if known is not None and not known.unavailable:
            title, date = known.label, _today()
            self._runs.add(name)
        elif known is not None:
            title = title or known.label
            self._installs[name] = known.install
        if not title:
            return None
        return Profile(name=name, title=title, date=date, kind=TargetKind.ENGINE)

    def judge(self, schema: Json, profile: Profile) -> Judgement:
        """Return what an engine, or those of a server, do with a schema."""
        if profile.kind is TargetKind.ENGINE:
            if self._runner is not None and profile.name in self._runs:
                return judgement_of(self._runner.run(profile.name, schema))
            measured = evidence_of(schema, profile.title)
            install = self._installs.get(profile.name)
            hint = (f"to try it here: {install}",) if install else ()
            return Judgement(measured.findings, (*measured.measured, *hint))
        labels = map(measured_label, profile.engines)
        found = [evidence_of(schema, it).measured for it in labels if it]
        return Judgement((), tuple(it for each in found for it in each))


def measured_label(name: str) -> str:
    """Return name, version and preset of an engine in the table; empty if not there.

    Args:
        name: `NAME`, or `NAME==VERSION`.
    """
    table = _table()
    words = name.replace("==", " ") + " "
    labels = [it for it in table[0].engines if it.startswith(words)] if table else []
    return labels[-1] if labels else ""
