"""The figures of a build, which the card, the manifest and the command share.

Everything is counted from the ledger's entries, so that no two of them differ.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from curation.core.benchmark import MAJOR, SPLITS, in_benchmark_order
from curation.core.documents import KEPT, Origin, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


#: The dataset's name, and its name while a part of it is missing.
NAME = "JSONSchemaBench"
PARTIAL_NAME = "JSONSchemaBench-partial"
#: The version of data that is not released yet.
UNRELEASED = f"{MAJOR}.0.0-dev"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSummary:
    """The figures of one config."""

    config: str
    #: `upstream`, `index`, `sample` or `local`; a config never mixes the sample
    #: with real rows. Several names are joined with `+`.
    origin: str
    #: Raw documents read.
    raw: int
    kept: int
    #: Reason to the number of raw documents rejected for it.
    rejected: Mapping[str, int]
    #: Rule to the number of kept records that it changed.
    changed: Mapping[str, int]
    #: Split to kept records, in the order of the splits.
    splits: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One archive that the build read."""

    source: str
    archive: str
    origin: Origin
    #: Commit, revision or version.
    commit: str
    #: Digest over the selected files, path and content.
    sha256: str
    licence: str
    #: SPDX terms aside, whom to name.
    attribution: str = ""
    #: Address of the upstream archive or package, without any host's credentials.
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleNote:
    """One rule, as the card and the manifest list it."""

    name: str
    summary: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Where a dataset is published, as whoever publishes it says; empty if unknown."""

    #: `OWNER/NAME` on the Hub.
    repository: str = ""
    #: `10.PREFIX/SUFFIX`, without a resolver's address.
    doi: str = ""
    #: Address of the code that built it.
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One build."""

    #: `clean` or `paper`.
    rules: str
    #: Semantic version of the data.
    version: str = UNRELEASED
    #: Day of its release, `YYYY-MM-DD`; empty before it.
    released: str = ""
    rule_notes: tuple[RuleNote, ...]
    #: In benchmark order, then the extras by name.
    configs: tuple[ConfigSummary, ...]
    #: Configs outside the ten and outside `default`.
    extras: frozenset[str] = frozenset()
    pins: tuple[Pin, ...] = ()
    #: Config to split to instances; empty where none were made.
    instances: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: One plain sentence for each reason why the build is partial.
    partial: tuple[str, ...] = ()
    publication: Publication = field(default_factory=Publication)
    #: What was asked beside the rules: `fastjsonschema`, `instances`; None where it is
    #: not known.
    options: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The dataset's name, which says so when it is partial."""
        return PARTIAL_NAME if self.partial else NAME

    def of(self, config: str) -> ConfigSummary:
        """Return one config's figures; KeyError where the build has none."""
        for summary in self.configs:
            if summary.config == config:
                return summary
        raise KeyError(config)


class Counted(Protocol):
    """What of a raw document is counted: a row of the ledger has it, and what it says.

    A build counts its decided documents, which need not be read again for it.
    """

    @property
    def config(self) -> str:
        """The config it ended in, or would have."""

    @property
    def origin(self) -> Origin:
        """Where it came from."""

    @property
    def outcome(self) -> str:
        """`kept`, or the value of a `Reason`."""

    @property
    def split(self) -> str:
        """Its split; empty unless kept."""

    @property
    def rules(self) -> Iterable[str]:
        """The rules that changed it, each once."""


def summarise(entries: Iterable[Counted]) -> tuple[ConfigSummary, ...]:
    """Count documents by config, in benchmark order."""
    tallies: dict[str, _Tally] = {}
    for entry in entries:
        tally = tallies.get(entry.config)
        if tally is None:
            tally = tallies[entry.config] = _Tally()
        tally.count(entry)
    return tuple(tallies[name].done(name) for name in in_benchmark_order(tallies))


def total_of(configs: Iterable[ConfigSummary], name: str) -> ConfigSummary:
    """Return the sum of several configs' figures, under a name of its own."""
    listed = list(configs)
    origins = {summary.origin for summary in listed}
    return ConfigSummary(
        config=name,
        origin="+".join(origin for origin in Origin if origin in origins),
        raw=sum(summary.raw for summary in listed),
        kept=sum(summary.kept for summary in listed),
        rejected=_added(summary.rejected for summary in listed),
        changed=_added(summary.changed for summary in listed),
        splits=_added(summary.splits for summary in listed),
    )


def _added(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total


class _Tally:
    def __init__(self) -> None:
        self._raw = 0
        self._origins: set[str] = set()
        self._rejected: Counter[str] = Counter()
        self._changed: Counter[str] = Counter()
        self._splits: Counter[str] = Counter()

    def count(self, entry: Counted) -> None:
        self._raw += 1
        self._origins.add(str(entry.origin))
        if entry.outcome == KEPT:
            self._splits[entry.split] += 1
            self._changed.update(entry.rules)
        else:
            self._rejected[entry.outcome] += 1

    def done(self, config: str) -> ConfigSummary:
        return ConfigSummary(
            config=config,
            origin="+".join(origin for origin in Origin if origin in self._origins),
            raw=self._raw,
            kept=self._splits.total(),
            rejected={
                reason.value: self._rejected[reason]
                for reason in Reason
                if self._rejected[reason]
            },
            changed=dict(sorted(self._changed.items())),
            splits={split: self._splits[split] for split in SPLITS},
        )
