"""Sources: readers of raw documents out of pinned archives.

Each other file of this package holds one `SOURCE`; third parties add theirs
through the entry point group `csbdata.sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.core.documents import Files, Origin, RawDocument
    from curation.download.acquire import Acquired, FetchSettings

#: What a row of the embedded sample says of its commit and licence, whom its pin
#: names, and why a config of it is partial.
SAMPLE_COMMIT = "sample"
SAMPLE_LICENCE = "Apache-2.0"
SAMPLE_ATTRIBUTION = "The csbdata developers"
SAMPLE_REASON = "taken from the embedded sample"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader is given: files, and what is known of the archive."""

    files: Files
    #: Name of the archive in `raw/sources.toml`.
    archive: str
    #: Commit, revision or version: what a row's `commit` says.
    commit: str
    #: SPDX expression for the single files.
    licence: str
    #: SPDX expression of the archive as a whole.
    collection_licence: str = "NOASSERTION"
    origin: Origin
    #: Name of the rule set that asks.
    rules: str
    #: Folder of id lists and pairs: `raw/lists`, or the sample's own.
    lists: Path
    #: Config name that the user chose; only `local` reads it.
    config: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source: which archives it can be read from, and how."""

    name: str
    title: str
    #: The configs that it fills, in benchmark order.
    configs: tuple[str, ...]
    #: Rule set to the archives it can be read from, best first.
    archives: Mapping[str, tuple[str, ...]]
    #: Yield the raw documents in natural order of their ids.
    read: Callable[[Reading], Iterable[RawDocument]]
    #: Absolute URI (no fragment) to path, for references between documents.
    uris: Callable[[Reading], Mapping[str, str]] = lambda _reading: {}
    #: Return the archive with what was fetched beside it, and what it still lacks; from
    #: the archive as it is published, where things are kept (nothing is fetched here),
    #: and the name of the rule set.
    complete: Callable[[Acquired, FetchSettings, str], tuple[Acquired, str | None]] = (
        lambda archive, _settings, _rules: (archive, None)
    )
    #: Outside the ten configs; only with `--with` or `--only`, unless `by_default`.
    extra: bool = False
    #: Read by every build of rule set `clean`, and none is partial without it.
    by_default: bool = False
    #: Each archive holds a part, and all are read; else the first that can be had.
    #: Their commits are `PACKAGE@VERSION`.
    in_parts: bool = False
    #: At most so many kept records, chosen by digest order; None for all.
    quota: int | None = None
    #: Kept records must have at least this field count.
    least_fields: int = 0
