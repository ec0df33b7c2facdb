"""The figures of a build, which the card, the manifest and the command share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
