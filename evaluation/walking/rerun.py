"""The command that runs one case of a run again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from curation.system.user_files import absolute

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from evaluation.core.run_header import RunHeader

#: Options whose value is a path wherever there is one, and where it looks like one.
_PATHS = frozenset({"--data", "--model"})
_NAMES = frozenset({"--engine", "--tokenizer", ""})


def absolute_words(words: Sequence[str]) -> list[str]:
    """Return a command line whose paths hold in every folder.

    Arguments, and values of options that take paths, are paths if they are there;
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
#: Options of a run that are given anew, or do not matter to a single case.
_GIVEN_ANEW = frozenset(
    {
        *("--engine", "--option", "--task", "--id"),
        *("--limit", "--jobs", "--run-dir", "--format"),
    }
)


def _other_options(command: Sequence[str], anew: AbstractSet[str]) -> list[str]:
    """Return the options of a run that decide what a case is, as they were given."""
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
