"""What decides the records of a build: its inputs, its rules, and the code at work.

A run folder keeps finished work under the fingerprint of this, and the shards of a
build are joined only where it is the same.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import msgspec

from curation.pipeline.documents.process_document import LIMITS
from curation.workers.fingerprint import code_digest, fingerprint, versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.pipeline.inputs import BuildInput, MissingSource


class InputIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """One source as it is read."""

    source: str
    archive: str
    #: Digest over the selected files.
    digest: str
    configs: tuple[str, ...]
    #: Why its configs are not whole; None where they are.
    partial: str | None


class BuildIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What decides the records of a build.

    Options are no part of it: what was finished is found again when they come back.
    """

    #: Digest of our own code and lists.
    code: str
    #: Python and the libraries that decide a result.
    versions: dict[str, str]
    #: Name of the rule set.
    rules: str
    #: What one document may cost.
    limits: dict[str, float]
    inputs: tuple[InputIdentity, ...]
    #: Sources that could not be had.
    missing: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """The digest of all of it."""
        return fingerprint(**msgspec.to_builtins(self))

    def differences(self, wanted: BuildIdentity) -> list[str]:
        """Say in what this differs from what is wanted, a clause each.

        Example:
            >>> paper.differences(clean)
            ['rules paper, not clean']
        """
        return list(self._differences(wanted))

    def _differences(self, wanted: BuildIdentity) -> Iterator[str]:
        if self.rules != wanted.rules:
            yield f"rules {self.rules}, not {wanted.rules}"
        for name in dict.fromkeys([*self.versions, *wanted.versions]):
            own, other = self.versions.get(name), wanted.versions.get(name)
            if own != other:
                yield f"{name} {own}, not {other}"
        if self.code != wanted.code:
            yield "other code of csbdata"
        if self.limits != wanted.limits:
            yield "other limits"
        theirs = {given.source: given for given in wanted.inputs}
        ours = {given.source: given for given in self.inputs}
        changed = [
            source
            for source in dict.fromkeys([*ours, *theirs])
            if ours.get(source) != theirs.get(source)
        ]
        if changed:
            yield f"other files of {', '.join(changed)}"
        elif (self.inputs, self.missing) != (wanted.inputs, wanted.missing):
            yield "other sources, or in another order"


def identity_of(
    rules: str, inputs: Sequence[BuildInput], missing: Sequence[MissingSource]
) -> BuildIdentity:
    """Return what decides the records of a build here and now.

    Args:
        rules: Name of the rule set.
        inputs: What is read.
        missing: What could not be had.

    Raises:
        OSError: a file of the installation cannot be read.
    """
    return BuildIdentity(
        code=code_digest(),
        versions=versions(),
        rules=rules,
        limits=asdict(LIMITS),
        inputs=tuple(
            InputIdentity(
                source=given.source.name,
                archive=given.reading.archive,
                digest=given.digest,
                configs=tuple(given.configs),
                partial=given.partial,
            )
            for given in inputs
        ),
        missing=tuple(absent.source.name for absent in missing),
    )
