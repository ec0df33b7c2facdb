"""What a metaschema has against a schema."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """The first error of a check: where it stands, and what it says."""

    pointer: str
    message: str

    def __str__(self) -> str:
        """Return the complaint as one line."""
        return f"{self.pointer or '(root)'}: {self.message}"
