"""Select the engines of a run: versions, options and Pythons."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from curation.core.json_types import Json
from curation.system.errors import BadConfiguration, BadUsage
from curation.workers.fingerprint import fingerprint
from evaluation.core.records import FREE
from evaluation.setup.engine_files import (
    FAITHFUL,
    PRESETS,
    UNCONSTRAINED,
    VENDOR,
    EngineFile,
    choose_options,
    find_engine,
    install_line,
)

_NO_VERSION = "(no version)"
#: Libraries that would use more than the one core that they are given.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "RAYON_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
) | {"TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EngineUnderTest:
    """One engine as it takes part in a run."""

    file: EngineFile
    preset: str = FAITHFUL
    options: Mapping[str, Json] = field(default_factory=dict)
    #: Options assigned on the command line, which override the preset.
    assigned: Mapping[str, str] = field(default_factory=dict)
    interpreter: str = sys.executable
    #: Version of the distribution; otherwise the file's version; otherwise the
    #: beginning of the file's digest.
    version: str = ""
    #: Why it cannot be run here; empty where it can.
    unavailable: str = ""

    @property
    def label(self) -> str:
        """Its name in rows and tables: `xgrammar 0.1.8 faithful`."""
        words = [self.file.name]
        if self.version:
            words.append(self.version)
        if self.file.presets:
            words.append(self.preset)
        words += (f"{name}={text}" for name, text in self.assigned.items())
        return " ".join(words)

    @property
    def condition(self) -> str:
        """`free` if it constrains nothing, otherwise its label."""
        return FREE if self.file.name == UNCONSTRAINED else self.label

    @property
    def chooses_its_threads(self) -> bool:
        """Whether it has all cores, and as many threads as it makes by itself."""
        return self.preset == VENDOR

    def environment(self) -> dict[str, str]:
        """Return the extra environment variables of its process."""
        threads = {} if self.chooses_its_threads else _ONE_THREAD
        return threads | self.file.environment()

    @property
    def identity(self) -> str:
        """Fingerprint of everything about it that decides its answers."""
        return fingerprint(
            name=self.file.name,
            file=self.file.digest(),
            version=self.version,
            options=dict(self.options),
            variables={
                name: os.environ.get(name) for name in self.file.about.variables
            },
            chooses_its_threads=self.chooses_its_threads,
        )

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""
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
            "homepage": self.file.about.homepage,
            "refusals": msgspec.to_builtins(self.file.about.refusals),
        }


def select_engines(
    cache: Path, specs: Sequence[str], preset: str, assignments: Sequence[str]
) -> list[EngineUnderTest]:
    """Return the engines that a user names, each once.

    Args:
        cache: Where environments of engines are kept.
        specs: `NAME`, `NAME==VERSION` or the path of an engine's file.
        preset: The name of a preset that all of them have.
        assignments: `NAME=VALUE` for every engine that has the option, or
            `ENGINE.NAME=VALUE` for one.

    Raises:
        NoInput: a spec is the path of no file.
        BadUsage: unknown engine, preset or option, or two have one label.

    Example:
        >>> [engine.label for engine in select_engines(cache, ["none"], "faithful", [])]
        ['none']
    """
    named = []
    for spec in dict.fromkeys(specs):
        name, at, suffix = spec.rpartition("@")
        has_preset = at and name and suffix in PRESETS
        named.append((name, suffix) if has_preset else (spec, preset))
    files = [_find(spec) for spec, _ in named]
    if files and all(file.fault for file in files):
        find_engine(named[0][0])
    options = _options_by_engine(files, assignments)
    engines: dict[str, EngineUnderTest] = {}
    for file, (_, preset_name), assigned in zip(files, named, options, strict=True):
        engine = _engine_under_test(cache, file, preset_name, assigned)
        selected = engines.setdefault(engine.label, engine)
        if selected is not engine and selected.identity != engine.identity:
            places = f"{selected.file.path} and {engine.file.path}"
            raise BadUsage(
                f"two engines are called {engine.label}: {places}",
                hint="give one another name, or another version in its ABOUT",
            )
    return [*engines.values()]


def _find(spec: str) -> EngineFile:
    """Return an engine; for a broken file its fault, so that others still run."""
    try:
        return find_engine(spec)
    except BadConfiguration as fault:
        if isinstance(fault, BadUsage) or not spec.endswith(".py"):
            raise
        path = Path(spec).resolve()
        return EngineFile(name=path.stem, path=path, fault=str(fault))


def _options_by_engine(
    files: Sequence[EngineFile], assignments: Sequence[str]
) -> list[dict[str, str]]:
    assigned: list[dict[str, str]] = [{} for _ in files]
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise BadUsage(f"--option takes NAME=VALUE, not {assignment!r}")
        engine, _, option = name.rpartition(".")
        matching = [
            index
            for index, file in enumerate(files)
            if (file.name == engine if engine else option in file.options)
        ]
        if not matching:
            options = sorted({option for file in files for option in file.options})
            raise BadUsage(
                f"no engine of this run has the option {name!r}",
                hint=f"there are {', '.join(options) or 'none'}",
            )
        for index in matching:
            assigned[index][option] = text
    return assigned


def _engine_under_test(
    cache: Path, file: EngineFile, preset: str, assigned: Mapping[str, str]
) -> EngineUnderTest:
    if file.fault:
        return EngineUnderTest(
            file=file, preset=preset, version=_NO_VERSION, unavailable=file.fault
        )
    engine = EngineUnderTest(
        file=file,
        preset=preset,
        options=choose_options(file, preset, assigned),
        assigned=assigned,
        version=file.digest()[:8] if file.about.version is None else file.about.version,
    )
    if not (file.distribution or file.about.install):
        return engine
    from evaluation.setup.environments import (  # noqa: PLC0415 - of installed engines
        existing_environments,
        find_interpreter,
        installed_version,
    )

    where = find_interpreter(cache, file)
    if isinstance(where, str):
        version = file.version or _NO_VERSION
        return replace(engine, version=version, unavailable=where)
    engine = replace(engine, interpreter=str(where))
    if not file.distribution:
        return engine
    for environment in existing_environments(cache, file.name):
        if environment.interpreter == where:
            return replace(engine, version=environment.version)
    version = installed_version(file.distribution) or _NO_VERSION
    return replace(engine, version=version)
