"""The header of a run, `run.json`: participants, data, limits, settings, machine.

From it the command of each of its cases is made (`rerun_command`).

Runs of other versions have other members: an unknown one is ignored, a missing one has
its default. `RecordedRun.raw_header` has the file's whole content.
"""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
import psutil

from curation.core.json_types import Json, UntypedJson
from curation.system.user_files import absolute
from evaluation.core.cases import Label

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettings:
    """The settings of a run that its tasks read; recorded in the run's header."""

    #: Decides every draw: which samples a limit keeps, which orders are tried.
    seed: int = 0
    #: Seeded permutations of the members of each valid instance's objects.
    orders: int = 0
    #: What one task alone understands, by name: `drafts`, `sizes`, ... (`--set`).
    values: Label = field(default_factory=dict)


class RefusalPattern(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of message of an engine, when it refuses a schema or warns about it."""

    #: A regular expression searched for in the message. Groups that it may
    #: have: `keys`, text with keywords in double quotes, each of them meant; `keyword`,
    #: one keyword; `format`, a value of `format`; `node`, the schema refused,
    #: as JSON or as Python writes it: the keywords at its top are meant.
    pattern: str
    #: Further keywords, besides those that a group matches.
    keywords: tuple[str, ...] = ()


class Constraint(Protocol):
    """An engine, or a way to ask a server: `EngineUnderTest`, `ModelServer`."""

    @property
    def label(self) -> str:
        """What rows and tables call it."""

    @property
    def identity(self) -> str:
        """Fingerprint of everything about it that decides its answers."""

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header; see `ParticipantHeader`."""

    @property
    def condition(self) -> str:
        """`free` if it constrains nothing, otherwise its name."""

    @property
    def unavailable(self) -> str:
        """Why it cannot be used here; empty if it can."""


#: Member of a run's header that names the suite and its settings.
SUITE: Final = "suite"
_NS_PER_SECOND = 1_000_000_000
#: Facts on a model that vary by themselves: a rerun resumes even if they changed.
MOVING_FACTS: Final = frozenset({"gpu_settings"})


class ParticipantHeader(msgspec.Struct, frozen=True, kw_only=True):
    """One engine, or one served model, as it took part."""

    #: What rows and tables call it: name, version and preset.
    engine: str
    #: Its name alone.
    name: str | None = None
    #: What `--engine` named it by.
    spec: str | None = None
    version: str | None = None
    preset: str | None = None
    #: All its options, including the preset's.
    options: dict[str, UntypedJson] | None = None
    #: Options that the command line gave beyond the preset, as text.
    assigned: dict[str, str] | None = None
    #: Why it could not be run; None if it could.
    unavailable: str | None = None
    #: The command that makes it available.
    install: str | None = None
    #: Meanings of its messages, from `ABOUT` in its file; see `RefusalPattern`.
    refusals: tuple[RefusalPattern, ...] = ()


class DataHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured with."""

    #: What the user called it.
    name: str | None = None
    #: What `--data` takes from any folder.
    place: str = ""
    #: Digest of all the data, chosen or not.
    sha256: str | None = None
    #: Number of schemas.
    schemas: int | None = None
    #: Number of a suite's records.
    records: int | None = None
    #: Where instances come from: `given`, `made`, `given and made` or `none`.
    instances: str | None = None
    #: The only configs and splits asked for; empty for all.
    configs: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    #: How many of the schemas are invalid and count all the same.
    invalid: int = 0
    #: Number of files or rows skipped because they are not schemas.
    left_out: int = 0
    #: How many vacuous records were left out (`--set vacuous=true` counts them).
    vacuous: int = 0
    #: Reasons why its figures are not the benchmark's, a line each.
    partial: tuple[str, ...] = ()


class SourceHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a task brought itself."""

    sha256: str | None = None


class TokenizerHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The tokenizer whose tokens were walked."""

    name: str | None = None


class LimitsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What one case might cost."""

    compile_seconds: float | None = None
    run_seconds: float | None = None
    #: How many times as long either might take by the wall clock; None where both were
    #: by the wall clock.
    wall_times: float | None = None
    #: MiB.
    memory_mb: float | None = None

    @property
    def compile_ns(self) -> int | None:
        """The deadline of a compile call in nanoseconds; None without one."""
        return _nanoseconds(self.compile_seconds)

    @property
    def run_ns(self) -> int | None:
        """The deadline of a case's walks in nanoseconds; None without one."""
        return _nanoseconds(self.run_seconds)


def _nanoseconds(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * _NS_PER_SECOND)


class ModelHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The model that wrote, and how it was asked."""

    model: str | None = None
    #: Commit of the Hub, or the digest of the folder.
    revision: str = ""
    device: str = ""
    #: Name of the GPU, its driver and CUDA; empty on a CPU.
    device_name: str = ""
    driver: str = ""
    cuda: str = ""
    #: What times were taken with; empty in older runs.
    clock: str = ""
    #: What was run before any text.
    warm_up: str = ""
    #: Clocks and power cap of a GPU when the model was loaded, by name and unit.
    gpu_settings: dict[str, str] = {}
    dtype: str = ""
    threads: int | None = None
    #: Version by the library's name.
    libraries: dict[str, str] = {}
    #: The date given to the chat template; empty without a template.
    template_date: str = ""
    #: Why a feature of the cache was not used; empty if all were.
    limits: str = ""
    prompt: str = ""
    #: Schema and output of each worked example.
    shots: tuple[tuple[str, str], ...] = ()
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    #: Tokens of every text; None: by the schema's own witnesses.
    budget: int | None = None
    batch: int = 1
    compat: str = ""


class FinishedPart(msgspec.Struct, frozen=True, kw_only=True):
    """The number of rows of one participant and task in a finished run."""

    engine: str
    task: str
    rows: int


class FinishedHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The row counts of a finished run; written last."""

    parts: tuple[FinishedPart, ...] = ()


class RunHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of whom, and under which limits."""

    #: The command line; empty where a program asked by `csbdata.run`.
    command: tuple[str, ...] = ()
    engines: tuple[ParticipantHeader, ...] = ()
    tasks: tuple[str, ...] = ()
    data: DataHeader = DataHeader()
    #: By task.
    sources: dict[str, SourceHeader] = {}
    tokenizer: TokenizerHeader = TokenizerHeader()
    limits: LimitsHeader = LimitsHeader()
    settings: TaskSettings = TaskSettings()
    #: Without a name where no model wrote.
    models: ModelHeader = ModelHeader()
    #: When it was begun first, as ISO 8601 in UTC.
    started: str = ""
    #: The version that measured.
    csbdata: str = ""
    #: Expected rows of all participants that can run; None if unknown.
    rows: int | None = None
    #: None during a run, and in an interrupted one.
    finished: FinishedHeader | None = None

    def participant(self, engine: str) -> ParticipantHeader:
        """Return a participant by its label; without details if it is unknown."""
        return next(
            (entry for entry in self.engines if entry.engine == engine),
            ParticipantHeader(engine=engine),
        )

    def names(self) -> dict[str, str]:
        """Return every engine's name without version, by its label in rows."""
        return {
            engine.engine: engine.name
            for engine in self.engines
            if engine.name is not None
        }


#: Options whose value is a path wherever there is one, and where it looks like one.
_PATHS = frozenset({"--data", "--model"})
_NAMES = frozenset({"--engine", "--tokenizer", ""})


def absolute_words(words: Sequence[str]) -> list[str]:
    """Return a command line whose paths hold in every folder.

    Arguments, and values of options that take paths, are paths if they exist;
    `@PRESET` may follow them.
    """
    found: list[str] = []
    option = ""
    for word in words:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            found.append(_absolute(option, word))
            option = ""
        elif equals:
            found.append(name + equals + _absolute(name, value))
        else:
            found.append(word)
            option = word
    return found


def _absolute(option: str, value: str) -> str:
    looks_like_path = "/" in value or "." in value
    if option not in _PATHS and not (option in _NAMES and looks_like_path):
        return value
    path, at, preset = value.rpartition("@")
    whole = absolute(value)
    return absolute(path) + at + preset if at and whole == value else whole


def rerun_command(
    header: RunHeader, engine: str, task: str, config: str, case_id: str
) -> str:
    """Return the command that runs one case of a run again, from the run's header.

    Empty if the header has no command: the data are unknown then.
    """
    if not header.command:
        return ""
    participant = header.participant(engine)
    preset = f"@{participant.preset}" if participant.preset else ""
    words = ["csbdata", "eval", "--engine", f"{participant.spec or engine}{preset}"]
    for name, text in (participant.assigned or {}).items():
        words += ["--option", f"{name}={text}"]
    # By its place the run's data is found from any folder.
    place = ["--data", header.data.place] if header.data.place else []
    anew = _GIVEN_ANEW | {*place[:1]}
    words += ["--task", task, *place, *_other_options(header.command, anew)]
    words += ["--id", f"{config}/{case_id}"]
    for name, setting in _LIMITS.items():
        limit: float | None = getattr(header.limits, name)
        if limit is not None:
            words += ["--set", f"{setting}={limit:g}"]
    digest = header.sources.get(task, header.data).sha256
    if digest:
        words += ["--set", f"sha256={digest[:12]}"]
    return shlex.join(words)


_LIMITS = {
    "compile_seconds": "compile_seconds",
    "run_seconds": "run_seconds",
    "memory_mb": "memory",
}
_SET_ANEW = {*_LIMITS.values(), "sha256"}
#: Options of a run that are given again, or do not matter to a single case.
_GIVEN_ANEW = frozenset(
    {
        *("--engine", "--option", "--task", "--id"),
        *("--limit", "--jobs", "--run-dir", "--format"),
    }
)


def _other_options(command: Sequence[str], anew: AbstractSet[str]) -> list[str]:
    """Return the options of a run that decide the identity of a case, as given."""
    options: list[list[str]] = []
    for word in command:
        if word.startswith("--"):
            options.append([word])
        elif options:
            options[-1].append(word)
    return [
        word
        for option in options
        if option[0].partition("=")[0] not in anew
        and not (option[0] == "--set" and option[-1].partition("=")[0] in _SET_ANEW)
        for word in option
    ]


#: Seconds for which cores are watched, and per cent of them below which one is idle.
_WATCHED = 0.04
_IDLE = 50


def machine() -> dict[str, Json]:
    """Return what decides times on this machine; no name of host or user is in it."""
    return {
        "processor": _processor(),
        "cores": len(usable_cores()),
        "memory_bytes": psutil.virtual_memory().total,
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def usable_cores() -> list[int]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def idle_last(cores: Sequence[int]) -> list[int]:
    """Return cores in their order, those last that have nothing to do just now.

    Another run may keep its engine on one of them.
    """
    load = dict(enumerate(psutil.cpu_percent(_WATCHED, percpu=True)))
    return sorted(cores, key=lambda core: (load.get(core, 0) < _IDLE, core))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - not a file to write about
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
