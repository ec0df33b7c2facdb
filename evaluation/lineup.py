"""Who takes part in a run: engines with version, options and interpreter decided."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from curation.faults import BadConfiguration
from curation.runs import fingerprint
from evaluation.engines.registry import FAITHFUL, EngineFile, chosen, find
from evaluation.environments import Unavailable, install_line, interpreter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.documents import Json

#: Prints the version of a distribution; run by another environment's interpreter.
_ASK = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One engine as it takes part."""

    file: EngineFile
    preset: str = FAITHFUL
    options: Mapping[str, Json] = field(default_factory=dict)
    #: What was said on the command line beyond the preset.
    assigned: Mapping[str, str] = field(default_factory=dict)
    interpreter: str = sys.executable
    #: Version of the distribution; the file's digest where there is none.
    version: str = ""
    #: Why it cannot be run here; empty where it can.
    unavailable: str = ""

    @property
    def label(self) -> str:
        """What rows and tables call it."""
        words = [self.file.name]
        # What needs no distribution has no versions where it says so itself.
        if self.file.about.get("version") != "":
            words.append(self.version)
        if self.file.presets:
            words.append(self.preset)
        words += (f"{name}={text}" for name, text in self.assigned.items())
        return " ".join(words)

    @property
    def identity(self) -> str:
        """Fingerprint of everything about it that decides its answers."""
        return fingerprint(
            name=self.file.name,
            file=self.file.digest(),
            version=self.version,
            options=dict(self.options),
        )

    def header(self) -> dict[str, Json]:
        """Return what the run's header says of it."""
        return {
            "engine": self.label,
            "name": self.file.name,
            "spec": self.file.spec,
            "version": self.version,
            "preset": self.preset,
            "options": dict(self.options),
            "assigned": dict(self.assigned),
            "interpreter": self.interpreter,
            "sha256": self.file.digest(),
            "unavailable": self.unavailable or None,
            "install": install_line(self.file),
        }


def lineup(
    specs: Sequence[str], preset: str, assignments: Sequence[str]
) -> list[Entrant]:
    """Return the entrants of a command line, each spec once.

    An assignment is `NAME=VALUE` for every engine that has the option, or
    `ENGINE.NAME=VALUE` for one.

    Raises:
        NoInput, BadConfiguration: a spec, preset or option that makes no sense.
    """
    files = [find(each) for each in dict.fromkeys(specs)]
    for_each = _assigned(files, assignments)
    return [
        _entrant(file, preset, assigned)
        for file, assigned in zip(files, for_each, strict=True)
    ]


def _assigned(
    files: Sequence[EngineFile], assignments: Sequence[str]
) -> list[dict[str, str]]:
    found: list[dict[str, str]] = [{} for _ in files]
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise BadConfiguration(f"--option takes NAME=VALUE, not {assignment!r}")
        engine, _, option = name.rpartition(".")
        meant = [
            index
            for index, file in enumerate(files)
            if (file.name == engine if engine else option in file.options)
        ]
        if not meant:
            options = sorted({each for file in files for each in file.options})
            raise BadConfiguration(
                f"no engine of this run has the option {name!r}",
                then=f"there are {', '.join(options) or 'none'}",
            )
        for index in meant:
            found[index][option] = text
    return found


def _entrant(file: EngineFile, preset: str, assigned: Mapping[str, str]) -> Entrant:
    options = chosen(file, preset, assigned)
    where = interpreter(file)
    if isinstance(where, Unavailable):
        return Entrant(
            file=file,
            preset=preset,
            options=options,
            assigned=assigned,
            version=file.version or "(no version)",
            unavailable=where.reason,
        )
    return Entrant(
        file=file,
        preset=preset,
        options=options,
        assigned=assigned,
        interpreter=str(where),
        version=_version(file, str(where)) or "(no version)",
    )


def _version(file: EngineFile, interpreter: str) -> str:
    """Return the version of the engine's distribution; empty if it is not there."""
    if not file.distribution:
        return file.digest()[:8]
    if interpreter == sys.executable:
        try:
            return version(file.distribution)
        except PackageNotFoundError:
            return ""
    return _foreign_version(interpreter, file.distribution)


@cache
def _foreign_version(interpreter: str, distribution: str) -> str:
    command = [interpreter, "-I", "-c", _ASK, distribution]
    try:
        said = subprocess.run(command, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.decode("utf-8", "replace").strip()
