"""What engines do with a schema: tried here, or measured by an edition of results.

An installed engine is run on the schema by what `evaluation` registers. For any other
`engines.jsonl.gz` of an edition has what is learnt of single features of real schemas,
and a line for each set of features that they have, with their outcomes by engine
(`python -m bench.edition.engines`). Like a schema are those that use all of its
features and few others.
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
    from collections.abc import Iterable, Iterator, Mapping

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
#: A verdict of an edition is told of an engine with which this share was right, of so
#: many records or more that were left out when the features were learnt.
TRUSTED: Final = 0.98
LEAST: Final = 50
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


class LearntFeatures(msgspec.Struct, frozen=True):
    """What real schemas tell of their features, by their places in the head."""

    #: Enough schemas have them, of which hardly any fails for them.
    sure: list[int]
    #: How many schemas failed, of how many, where no doubt was greater.
    doubtful: dict[int, tuple[int, int]]
    #: How many schemas have them: each was rejected.
    rejected: dict[int, int]
    #: Of records left out when this was learnt: how many verdicts were right, how many
    #: were given, and how many could have been.
    accepted_right: tuple[int, int, int]
    rejected_right: tuple[int, int, int]


class Head(msgspec.Struct, frozen=True):
    """The first line of the file."""

    edition: str
    engines: list[str]
    features: list[str]
    #: One for each engine.
    learnt: list[LearntFeatures]


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
                found.update(f"type {type_} in {held}" for type_ in types)
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
    masks = [(sum(1 << feature for feature in like.features), like) for like in likes]
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

    It is accepted if all of its features are sure, rejected if each real schema with
    one of them was; else it is unknown, and the doubtful feature is named.

    Args:
        schema: The schema.
        engine: Its name, version and preset.
    """
    features = features_of_schema(schema)
    measured = (_measured_sentence(features, engine),)
    table = _table()
    if table is None or engine not in table[0].engines:
        return Judgement((_unknown("no edition measured it", "no edition"),), measured)
    head = table[0]
    learnt = head.learnt[head.engines.index(engine)]
    return Judgement(tuple(judge_features(features, head, learnt)), measured)


def judge_features(
    features: Iterable[str], head: Head, learnt: LearntFeatures
) -> Iterator[FitFinding]:
    """Yield why a schema is not accepted, by its features alone; nothing if it is.

    Args:
        features: Those of the schema.
        head: Their places.
        learnt: What is known of them.
    """
    source, wanted = f"edition {head.edition}", {*features}
    known = {at: name for at, name in enumerate(head.features) if name in wanted}
    for place in sorted(known.keys() & learnt.rejected.keys()):
        if _is_trusted(learnt.rejected_right):
            schemas = counted(learnt.rejected[place], "real schema")
            sentence = f"{schemas} with {known[place]} were all rejected"
            yield _finding(source, Effect.REFUSED, sentence)
            return
    doubtful = sorted(
        known.keys() & learnt.doubtful.keys(),
        key=lambda place: learnt.doubtful[place][0] / learnt.doubtful[place][1],
    )
    rare = sorted(wanted - {known[it] for it in known.keys() & {*learnt.sure}})
    if doubtful:
        wrong, total = learnt.doubtful[doubtful[-1]]
        name = known[doubtful[-1]]
        yield _unknown(f"{wrong:,} of {total:,} real schemas with {name} fail", source)
    elif rare:
        yield _unknown(f"too few real schemas have {rare[0]}", source)
    elif not _is_trusted(learnt.accepted_right):
        yield _unknown("what its edition tells of keywords is not sure enough", source)


def _is_trusted(right: tuple[int, int, int]) -> bool:
    return right[1] >= LEAST and right[0] >= TRUSTED * right[1]


def _measured_sentence(features: frozenset[str], engine: str) -> str:
    outcomes, has_more = outcomes_like(features, engine)
    total = sum(outcomes.values())
    if not total:
        return f"{engine}: not measured on real schemas with these keywords"
    counts: Counter[str] = Counter()
    for outcome, count in outcomes.items():
        counts[_WORDS.get(outcome, "did not end")] += count
    right = counts.pop("right", 0)
    others = "".join(f", {it} {count:,}" for it, count in sorted(counts.items()))
    where = "real schemas with these keywords at these places"
    where += " and many others" if has_more else ""
    return f"{engine}: right on {right:,} of {total:,} {where}{others}"


def _unknown(sentence: str, source: str) -> FitFinding:
    return _finding(source, Effect.UNKNOWN, sentence)


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
        found = [evidence_of(schema, label).measured for label in labels if label]
        return Judgement((), tuple(it for each in found for it in each))


def measured_label(name: str) -> str:
    """Return name, version and preset of an engine in the table; empty if not there.

    Args:
        name: `NAME`, or `NAME==VERSION`.
    """
    table = _table()
    words = name.replace("==", " ") + " "
    labels = (
        [engine for engine in table[0].engines if engine.startswith(words)]
        if table
        else []
    )
    return labels[-1] if labels else ""
