"""What engines do with a schema: measured by an edition of results, or tried here.

Three parts: the table of an edition, verdicts from the measured results of a schema's
keywords, and trials of installed engines, which `evaluation` runs.

The table, `engines.jsonl.gz` (`python -m bench.edition.engines`), has the outcomes
of single features of real schemas, and a line for each set of features that they have,
with their outcomes by engine. Schemas that use all features of another and few more
are similar to it.
"""

from __future__ import annotations

import datetime
import gzip
from collections import Counter
from contextlib import AbstractContextManager, ExitStack
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from curation.core.engine_trials import make_runner
from curation.fit.checks import QUIET
from curation.fit.profile import Effect, Profile, SourceKind, TargetKind, load_profiles
from curation.fit.scan import scan_schema
from curation.fit.verdict import FitFinding
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.system.user_files import results_folder
from curation.system.words import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.core.engine_trials import EngineRunner, EngineTrial
    from curation.core.json_types import Json

#: The file of an edition.
ENGINES: Final = "engines.jsonl.gz"


class FeatureSet(msgspec.Struct, frozen=True):
    """The real schemas with one set of features."""

    features: list[int]
    #: Engine, by its index in the head, to outcomes.
    outcomes: dict[int, dict[str, int]]


class LearntFeatures(msgspec.Struct, frozen=True):
    """Measured results of single features, by their index in the head."""

    #: Enough schemas have them, and hardly any fails for them.
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


@cache
def _table() -> tuple[Head, list[tuple[int, FeatureSet]]]:
    """Return the newest edition's head and feature sets, each with a bit a feature."""
    files = sorted(results_folder().glob(f"*/{ENGINES}"))
    if not files:
        return Head("", [], [], []), []
    head, *lines = gzip.decompress(files[-1].read_bytes()).splitlines()
    sets = [msgspec.json.decode(line, type=FeatureSet) for line in lines]
    masks = [(sum(1 << feature for feature in group.features), group) for group in sets]
    return msgspec.json.decode(head, type=Head), masks


def _measured_names() -> list[str]:
    return [label.partition(" ")[0] for label in _table()[0].engines]


def measured_label(name: str) -> str:
    """Return name, version and preset of an engine in the table; empty if absent.

    Args:
        name: `NAME`, or `NAME==VERSION`.
    """
    words = name.replace("==", " ") + " "
    labels = [engine for engine in _table()[0].engines if engine.startswith(words)]
    return labels[-1] if labels else ""


_LIVE: Final = KNOWN_KEYWORDS - QUIET
#: Keywords that are one feature in every context.
_ANYWHERE: Final = frozenset({"properties", "items", "required", "enum"})
#: Share of an engine's verdicts that must have been right, and of how many records,
#: which were left out when the features were learnt.
MIN_RIGHT: Final = 0.98
MIN_RECORDS: Final = 50
#: How many features a similar schema may have, as a multiple and more.
_TIMES: Final = 1.5
_MORE: Final = 2
#: Outcomes of an edition in words; others are of engines that did not end.
_WORDS: Final = {
    "passed": "right",
    "compile_error": "rejected",
    "under_constrained": "lets invalid values through",
    "over_constrained": "blocks valid values",
    "wrong_both_ways": "does both",
}


_NOT_MEASURED: Final = "not measured on real schemas with these keywords"


class Judgement(NamedTuple):
    """What an engine does with a schema."""

    findings: tuple[FitFinding, ...] = ()
    #: The outcome in words, and its source.
    measured: tuple[str, ...] = ()


def features_of_schema(schema: Json) -> frozenset[str]:
    """Return the keywords of a schema, each with the keyword that holds its schema.

    Example:
        >>> sorted(features_of_schema({"items": {"minimum": 1}}))
        ['items', 'minimum in items']
    """
    scan = scan_schema(schema)
    features: set[str] = set()
    if scan is None:
        return frozenset()
    for location in scan.places:
        holder = scan.holders.get(location.tokens, ((), "root"))[1]
        live = location.keywords.keys() & _LIVE
        if not live:
            values = "False" if location.schema is False else "any"
            features.add(f"{values} in {holder}")
        for name in live:
            value = location.keywords[name]
            if name == "type":
                types = value if isinstance(value, list) else [value]
                features.update(f"type {type_} in {holder}" for type_ in types)
            elif name == "format":
                features.add(f"format {value}")
            elif name == "additionalProperties":
                kind = value if isinstance(value, bool) else "schema"
                features.add(f"{name} {kind}")
            else:
                features.add(name if name in _ANYWHERE else f"{name} in {holder}")
    return frozenset(features)


def find_evidence(schema: Json, engine: str) -> Judgement:
    """Return the measurements of an engine on real schemas similar to one.

    It is accepted if all of its features are sure, rejected if each real schema with
    one of them was; otherwise it is unknown, and the doubtful feature is named.

    Args:
        schema: The schema.
        engine: Its name, version and preset.
    """
    head, _ = _table()
    if engine not in head.engines:
        finding = _finding(Effect.UNKNOWN, "no edition measured it", "no edition")
        return Judgement((finding,), (f"{engine}: {_NOT_MEASURED}",))
    features, index = features_of_schema(schema), head.engines.index(engine)
    judged = judge_features(features, head, head.learnt[index])
    return Judgement(tuple(judged), (f"{engine}: {_outcomes(features, index)}",))


def judge_features(
    features: Iterable[str], head: Head, learnt: LearntFeatures
) -> Iterator[FitFinding]:
    """Yield why a schema is not accepted, by its features alone; nothing if it is.

    Args:
        features: The schema's.
        head: The indices of all features.
        learnt: The engine's results.
    """
    source, names = f"edition {head.edition}", {*features}
    measured = {at: name for at, name in enumerate(head.features) if name in names}
    rejected = sorted(measured.keys() & learnt.rejected.keys())
    doubtful = sorted(
        measured.keys() & learnt.doubtful.keys(),
        key=lambda at: learnt.doubtful[at][0] / learnt.doubtful[at][1],
    )
    rare = sorted(names - {measured[at] for at in learnt.sure if at in measured})
    right, count, _ = learnt.accepted_right
    effect, sentence = Effect.UNKNOWN, ""
    if rejected and _is_trusted(learnt.rejected_right):
        schemas = counted(learnt.rejected[rejected[0]], "real schema")
        sentence = f"{schemas} with {measured[rejected[0]]} were all rejected"
        effect = Effect.REFUSED
    elif doubtful:
        wrong, total = learnt.doubtful[doubtful[-1]]
        name = measured[doubtful[-1]]
        sentence = f"{wrong:,} of {total:,} real schemas with {name} fail"
    elif rare:
        sentence = f"too few real schemas have {rare[0]}"
    elif not _is_trusted(learnt.accepted_right):
        sentence = (
            "measured results of its keywords do not predict well enough: "
            f"{right:,} of {count:,} verdicts were right, "
            f"{100 * MIN_RIGHT:.0f} % of at least {MIN_RECORDS} needed"
        )
    if sentence:
        yield _finding(effect, sentence, source)


def _is_trusted(right: tuple[int, int, int]) -> bool:
    return right[1] >= MIN_RECORDS and right[0] >= MIN_RIGHT * right[1]


def _outcomes(features: frozenset[str], index: int) -> str:
    """Return the outcomes of an engine on the real schemas with all features of one."""
    head, sets = _table()
    bits = sum(1 << at for at, name in enumerate(head.features) if name in features)
    similar, wider = Counter[str](), Counter[str]()
    limit = _TIMES * len(features) + _MORE
    for mask, feature_set in sets if bits.bit_count() == len(features) else ():
        if mask & bits == bits:
            group = similar if mask.bit_count() <= limit else wider
            group.update(feature_set.outcomes.get(index, {}))
    counts = Counter[str]()
    for outcome, count in (similar or wider).items():
        counts[_WORDS.get(outcome, "did not end")] += count
    if not counts:
        return _NOT_MEASURED
    total, right = counts.total(), counts.pop("right", 0)
    failures = "".join(f", {words} {n:,}" for words, n in sorted(counts.items()))
    schemas = "real schemas with these keywords at these places"
    schemas += "" if similar else " and many others"
    return f"right on {right:,} of {total:,} {schemas}{failures}"


def _finding(
    effect: Effect, sentence: str, source: str, pointer: str = "", keyword: str = ""
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


#: Characters of a value and of a message that are shown.
_VALUE, _MESSAGE = 60, 300


def _today() -> str:
    return str(datetime.datetime.now(datetime.UTC).date())


def read_judgement(trial: EngineTrial) -> Judgement:
    """Return the verdict of a trial of an engine on the schema."""
    source = f"{trial.engine}, {_today()}"
    summary = "accepted, by its answer" if trial.answered else "accepted"
    findings = []
    if trial.refusal:
        summary = "rejected"
        refusal = f"{summary}: {shortened(trial.refusal, _MESSAGE)}"
        findings.append(_finding(Effect.REFUSED, refusal, source))
    elif trial.late or not (trial.valid or trial.answered):
        summary = trial.late or "compiled; no valid value could be made to try it with"
        findings.append(_finding(Effect.UNKNOWN, summary, source))
    if trial.blocked:
        summary = f"blocks {len(trial.blocked)} of {trial.valid} valid values"
        example = f"{summary}, such as `{shortened(trial.blocked[0], _VALUE)}`"
        findings.append(_finding(Effect.BLOCKED, example, source))
    if trial.passed:
        lets = f"lets {len(trial.passed)} of {trial.invalid} invalid values through"
        summary = f"{summary}, {lets}" if trial.blocked else lets
    texts = {(value.pointer, value.keyword): value.text for value in trial.passed}
    for (pointer, keyword), text in texts.items():
        example = f"lets `{shortened(text, _VALUE)}` through"
        findings.append(_finding(Effect.IGNORED, example, source, pointer, keyword))
    tried = trial.valid + trial.invalid
    end = f"; {counted(tried, 'value')} tried" if tried else ""
    return Judgement(tuple(findings), (f"{trial.engine}: {summary}{end}",))


class Engines(AbstractContextManager["Engines"]):
    """The engines among the targets of a command; a context that ends their processes.

    Nothing of `evaluation` is imported before an engine is named.
    """

    def __init__(self, served: str | None = None) -> None:
        """Start nothing yet.

        Args:
            served: A served model that may be asked, as a further target.
        """
        self._served = served
        self._open = ExitStack()
        #: The runner of each engine that is run here, and the command that installs
        #: each of the others.
        self._runs: dict[str, EngineRunner] = {}
        self._installs: dict[str, str] = {}

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        self._open.close()

    @cached_property
    def _runner(self) -> EngineRunner | None:
        runner = make_runner()
        if runner is not None:
            self._open.callback(runner.close)
        return runner

    def targets(self, names: str) -> list[Profile]:
        """Return the profiles of a list of names; see `load_profiles`."""
        served = f",{self._served}" if self._served else ""
        return load_profiles(names + served, self._target, _measured_names)

    def _target(self, name: str) -> Profile | None:
        if ":" in name and name != self._served:
            return None
        engine = self._runner.engine(name) if self._runner else None
        title = measured_label(name)
        date = _table()[0].edition if title else ""
        if self._runner and engine and not engine.unavailable:
            title, date = engine.label, _today()
            self._runs[name] = self._runner
        elif engine:
            title = title or engine.label
            self._installs[name] = engine.install
        if not title:
            return None
        return Profile(name=name, title=title, date=date, kind=TargetKind.ENGINE)

    def judge(self, schema: Json, profile: Profile) -> Judgement:
        """Return the behaviour of an engine, or a server's engines, with a schema."""
        if runner := self._runs.get(profile.name):
            return read_judgement(runner.run(profile.name, schema))
        if profile.kind is TargetKind.ENGINE:
            judged = find_evidence(schema, profile.title)
            install = self._installs.get(profile.name)
            hint = (f"to try it here: {install}",) if install else ()
            return Judgement(judged.findings, (*judged.measured, *hint))
        measured: list[str] = []
        for label in filter(None, map(measured_label, profile.engines)):
            measured += find_evidence(schema, label).measured
        return Judgement((), tuple(measured))
