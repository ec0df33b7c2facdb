"""The figures of a build, which the card, the manifest and the command share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from curation.core.documents import Origin

#: The dataset's name, and its name while a part of it is missing.
NAME = "JSONSchemaBench"
PARTIAL_NAME = "JSONSchemaBench-partial"


class ConfigFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one config, as the manifest lists them."""

    #: Raw documents read.
    raw: int
    kept: int
    #: Reason to the number of raw documents rejected for it.
    rejected: Mapping[str, int]
    #: Rule to the number of kept records that it changed.
    changed: Mapping[str, int]
    #: Split to kept records, in the order of the splits.
    splits: Mapping[str, int]
    #: `upstream`, `index`, `sample` or `local`; a config never mixes the sample
    #: with real rows. Several names are joined with `+`.
    origin: str


class ConfigSummary(ConfigFigures, frozen=True, kw_only=True):
    """The figures of one config, with its name."""

    config: str

    @property
    def figures(self) -> ConfigFigures:
        """The figures alone."""
        names = ConfigFigures.__struct_fields__
        return ConfigFigures(**{name: getattr(self, name) for name in names})


class Pin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One archive that the build read; the manifest leaves empty fields out."""

    source: str
    archive: str
    origin: Origin
    #: Commit, revision or version.
    commit: str = ""
    #: Digest over the selected files, path and content.
    sha256: str = ""
    licence: str = ""
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
class Summary:
    """One build."""

    #: `clean` or `paper`.
    rules: str
    rule_notes: tuple[RuleNote, ...]
    #: In benchmark order, then the extras by name; empty until they are counted.
    configs: tuple[ConfigSummary, ...] = ()
    #: Configs outside the ten and outside `default`.
    extras: frozenset[str] = frozenset()
    pins: tuple[Pin, ...] = ()
    #: Config to split to instances; empty where none were made.
    instances: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: One plain sentence for each reason why the build is partial.
    partial: tuple[str, ...] = ()
    #: `OWNER/NAME` on the Hub; empty if unknown.
    repository: str = ""
    #: Options beside the rules: `fastjsonschema`, `instances`.
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The dataset's name, which marks a partial one."""
        return PARTIAL_NAME if self.partial else NAME

    def of(self, config: str) -> ConfigSummary:
        """Return one config's figures; KeyError if there are none."""
        for summary in self.configs:
            if summary.config == config:
                return summary
        raise KeyError(config)


def total_of(configs: Iterable[ConfigSummary], name: str) -> ConfigSummary:
    """Return the sum of several configs' figures, under a name."""
    summaries = list(configs)
    origins = {summary.origin for summary in summaries}
    return ConfigSummary(
        config=name,
        origin="+".join(origin for origin in Origin if origin in origins),
        raw=sum(summary.raw for summary in summaries),
        kept=sum(summary.kept for summary in summaries),
        rejected=_added(summary.rejected for summary in summaries),
        changed=_added(summary.changed for summary in summaries),
        splits=_added(summary.splits for summary in summaries),
    )


def _added(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total
