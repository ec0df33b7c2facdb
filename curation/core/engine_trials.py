"""Outcomes of a schema tried with engines and services, and who tries it.

`evaluation` knows engines: its `EngineRunner` is registered by the command line, and
made when `csbdata fit` is asked about an engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from curation.core.json_types import Json


class KnownEngine(NamedTuple):
    """An engine that a user names."""

    #: Name, version and preset: `xgrammar 0.2.8 faithful`.
    label: str
    #: Why it cannot be run here, and the command that changes it; empty if it can.
    unavailable: str = ""
    install: str = ""


class PassedValue(NamedTuple):
    """An invalid value that an engine lets through, and what forbids it."""

    #: JSON pointer of the schema, and its keyword.
    pointer: str
    keyword: str
    text: str


class EngineTrial(NamedTuple):
    """What an engine did with a schema and with the values made for it."""

    engine: str
    #: The message with which it refuses the schema, or how it fails under it.
    refusal: str = ""
    #: Why the answer is missing.
    late: str = ""
    #: Whether it is a service, asked with the schema alone.
    answered: bool = False
    #: How many valid and invalid values were tried.
    valid: int = 0
    invalid: int = 0
    #: Texts of valid values that cannot be written.
    blocked: tuple[str, ...] = ()
    passed: tuple[PassedValue, ...] = ()


class EngineRunner(Protocol):
    """Runs engines; a process that it starts lives until it is closed."""

    def engine(self, spec: str) -> KnownEngine | None:
        """Return the engine of `NAME` or `NAME==VERSION`, or a served model."""

    def run(self, spec: str, schema: Json) -> EngineTrial:
        """Compile a schema and walk its values; a service is asked once."""

    def close(self) -> None:
        """End all processes."""


_MAKERS: list[Callable[[], EngineRunner]] = []


def register_runner(make: Callable[[], EngineRunner]) -> None:
    """Set the function that makes the runner of engines."""
    _MAKERS[:] = [make]


def make_runner() -> EngineRunner | None:
    """Return a new runner of engines; None if none is registered or can be imported."""
    try:
        return _MAKERS[0]() if _MAKERS else None
    except ImportError:
        return None
