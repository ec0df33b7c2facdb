"""A turn of a conversation with a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    #: `system`, `user` or `assistant`.
    role: str
    content: str
