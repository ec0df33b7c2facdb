"""Findings about a folder, and the verification that they make up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from curation.system.errors import BadData, Unavailable
from curation.system.words import safe

#: The check whose failures mean unreadable files.
READABLE = "readable"
#: Exit code if everything was read and a check failed.
FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact about a folder."""

    #: Name of the check.
    check: str = ""
    #: A path in the folder, `config/unique_id`, or both; empty for the whole.
    where: str
    #: The fact. A credential's value is never in here.
    detail: str
    #: False for a note: the folder may be published so.
    failure: bool = True
    #: Whether the check was not run, for want of a program; such a finding is a note.
    not_run: bool = False

    def __str__(self) -> str:
        """Return the finding as one line."""
        parts = (self.check, self.where, self.detail)
        return ": ".join(safe(" ".join(part.split())) for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All findings about a folder, with counts of the things checked."""

    #: By check, in the order in which the checks are registered.
    findings: tuple[Finding, ...]
    #: Nouns of the things counted, to their numbers.
    counted: Mapping[str, int] = field(default_factory=dict)
    #: Whether the build is partial, by its manifest.
    partial: bool = False
    #: The question of each check, by its name.
    questions: Mapping[str, str] = field(default_factory=dict)
    #: Seeds the sample of instances; empty if all were judged.
    nonce: str = ""

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that forbid publishing."""
        return tuple(finding for finding in self.findings if finding.failure)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The findings that do not."""
        return tuple(finding for finding in self.findings if not finding.failure)

    @property
    def exit_code(self) -> int:
        """Return 0 without a failure, 1 with one, otherwise the worst one.

        65: something cannot be read at all; 69: no check failed, one was not run.
        """
        if any(failure.check == READABLE for failure in self.failures):
            return BadData.exit_code
        if self.failures:
            return FAILED
        not_run = any(finding.not_run for finding in self.findings)
        return Unavailable.exit_code if not_run else 0
