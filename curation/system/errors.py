"""Errors that end a command, each with its exit code.

    CsbdataError                 70  a defect of csbdata itself
    +-- BadData                  65  bytes of the wrong content
    |   +-- BadArchive           65  an archive that cannot or must not be read
    |   +-- WrongDigest          65  content that differs from its pin
    +-- NoInput                  66  a file or a folder that is not there
    +-- Unavailable              69  a host or a service that cannot be used
    +-- CannotCreate             73  a place where nothing can be written
    +-- TemporarilyUnavailable   75  the same command may succeed later
    +-- NotPermitted             77  rights that are missing
    +-- BadConfiguration         78  settings that make no sense
    |   +-- BadUsage              2  a command line that makes no sense
    +-- Stopped                 130  the user has stopped the command

A problem of the data is a value, not an exception: `curation.core.documents.Rejected`.
Exit codes follow sysexits.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar


class CsbdataError(Exception):
    """What happened, where, and what to do next: one line on stderr."""

    #: What the process exits with.
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, where: str = "", hint: str = "") -> None:
        """Name the fact, its place (a path or an address), and the next step."""
        super().__init__(message, where, hint)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        """Join the parts to one line; line breaks inside become spaces."""
        parts = (self.where, self.message, self.hint)
        return ": ".join(" ".join(part.split()) for part in parts if part)


def list_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, outermost first."""
    current: BaseException | None = error
    visited: set[int] = set()
    while current is not None and id(current) not in visited:
        yield current
        visited.add(id(current))
        current = current.__cause__ or current.__context__


class BadData(CsbdataError):
    """Bytes of the wrong content."""

    exit_code = 65


def other_version(error: Exception, where: object) -> BadData:
    """Return the fault of a file that another version of csbdata has written."""
    return BadData(
        f"not of this version of csbdata ({error})", str(where), "build again"
    )


class BadArchive(BadData):
    """An archive that cannot be read, or that no honest hand has made."""


class WrongDigest(BadData):
    """Content that differs from its pin."""


class NoInput(CsbdataError):
    """A file or a folder that is not there or cannot be read."""

    exit_code = 66


class Unavailable(CsbdataError):
    """A host or a service that cannot be used."""

    exit_code = 69


class CannotCreate(CsbdataError):
    """A place where nothing can be written: full, read-only, forbidden."""

    exit_code = 73


class TemporarilyUnavailable(CsbdataError):
    """The same command may succeed later."""

    exit_code = 75


class NotPermitted(CsbdataError):
    """Rights that are missing."""

    exit_code = 77


class BadConfiguration(CsbdataError):
    """Settings that make no sense together or at all."""

    exit_code = 78


class BadUsage(BadConfiguration):
    """A command line that makes no sense: a name that nothing has, a value of no form.

    Names that the data do not hold are `NoInput`.
    """

    exit_code = 2


class Stopped(CsbdataError):
    """The user has stopped the command."""

    exit_code = 130


_OF_AN_EXTRA = re.compile(
    r"""^(?P<library>[\w-]+).*;\s*extra\s*==\s*['"](?P<extra>[^'"]+)['"]\s*$""",
    re.MULTILINE,
)


def install_extra(extra: str) -> str:
    """Return the command that installs an extra's libraries."""
    return f"python -m pip install 'csbdata[{extra}]'"


def missing_library(error: ModuleNotFoundError) -> Unavailable | None:
    """Return the error for a library that belongs to an extra of csbdata.

    It names the smallest such extra. None if no extra holds it: then its absence is a
    defect.
    """
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - takes time

    library = (error.name or "").partition(".")[0]
    try:
        declared = "\n".join(requires("csbdata") or [])
    except PackageNotFoundError:
        return None
    held = [
        (match["library"].replace("-", "_"), match["extra"])
        for match in _OF_AN_EXTRA.finditer(declared)
    ]
    extras = [extra for _, extra in held]
    holding = [extra for name, extra in held if name == library]
    if not holding:
        return None
    # An extra lists its included ones in full: the shortest brings the least.
    hint = install_extra(min(holding, key=extras.count))
    return Unavailable(f"this needs the library {library}", "", hint)
