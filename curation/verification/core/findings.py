"""What verifying a folder ends with: facts, each of which is a failure or a note."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.system.errors import BadData
from curation.system.escaping import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The check whose failures say that something could not even be read.
READABLE = "readable"
#: What a command exits with when everything was read and a check failed.
FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact about a folder."""

    #: Name of the check that found it.
    check: str
    #: A path in the folder, `config/unique_id`, or both; empty for the whole.
    where: str
    #: What is the case. A credential's value is never in here.
    detail: str
    #: Whether the folder must not be published so; else it is worth knowing.
    failure: bool = True

    def __str__(self) -> str:
        """Return the finding as one line."""
        parts = (self.check, self.where, self.detail)
        return ": ".join(safe(" ".join(part.split())) for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All that was found, and what was looked at."""

    #: By check, in the order in which the checks are registered.
    findings: tuple[Finding, ...]
    #: Names of what was counted, to how many there are.
    counted: Mapping[str, int] = field(default_factory=dict)
    #: Whether the folder says of itself that it is a partial build.
    partial: bool = False

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings with which the folder must not be published."""
        return tuple(finding for finding in self.findings if finding.failure)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The findings that are worth knowing."""
        return tuple(finding for finding in self.findings if not finding.failure)

    @property
    def exit_code(self) -> int:
        """0: all is well; 1: a check failed; 65: something cannot be read at all."""
        if any(failure.check == READABLE for failure in self.failures):
            return BadData.exit_code
        return FAILED if self.failures else 0
