"""Write a small file for each failure, and the command that reproduces it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.documents import Rejected
from curation.json.text import parse
from curation.system.atomic_files import atomic_file
from curation.system.file_names import safe_name
from curation.system.user_files import absolute
from evaluation.core.cases import Case, Result, Row, WalkVerdict
from evaluation.results.outcomes import FAULTS
from evaluation.walking.run_folder import REPRODUCERS, ResultsFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.core.run_header import RunHeader
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.walking.plan import RunPlan

#: Options whose value is a path wherever there is one, and where it looks like one.
_PATHS = frozenset({"--data", "--model"})
_NAMES = frozenset({"--engine", "--tokenizer", ""})
_SEVERE = frozenset(Result) - {Result.OK, Result.COMPILE_ERROR}


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


def is_engine_defect(row: Row) -> bool:
    """Return whether the engine died, hung, failed or contradicted itself."""
    return row.result in _SEVERE or any(
        walk.verdict in FAULTS or walk.verdict is WalkVerdict.MASK_GAP
        for walk in row.walks
    )


def write_reproducer(
    row: Row,
    case: Case,
    participant: EngineUnderTest,
    plan: RunPlan,
    out: ResultsFolder,
) -> Path:
    """Write a file in MaskBench's form, with the command that runs it.

    Raises:
        CannotCreate: it cannot be written.
    """
    name = f"{safe_name(participant.file.name)}-{row.fingerprint[:16]}"
    path = out.folder / REPRODUCERS / f"{name}.json"
    about = {
        "command": shlex.join(
            reproducing_command(participant, plan, str(path.resolve()))
        ),
        "task": row.task,
        "config": row.config,
        "id": row.id,
        "result": row.result,
        "phase": row.phase,
        "detail": row.detail,
        "printed": row.warnings,
    }
    members = {
        "description": json.dumps(f"{row.engine}: {row.result} {row.detail}".strip()),
        "csbdata": json.dumps(about, indent=1),
        "schema": case.schema,
        "tests": _list([_test(walk.text, valid=walk.valid) for walk in case.walks]),
    }
    inner = ",\n".join(f'"{name}": {value}' for name, value in members.items())
    with atomic_file(path) as temporary:
        temporary.write_text(f"{{{inner}}}\n", "utf-8")
    return path


def reproducing_command(
    participant: EngineUnderTest, plan: RunPlan, data: str
) -> list[str]:
    """Return the command that puts one file to one engine as this run does."""
    bounds = plan.bounds
    spec = f"{participant.file.spec}@{participant.preset}"
    words = ["csbdata", "eval", "--engine", spec]
    for name, text in participant.assigned.items():
        words += ["--option", f"{name}={text}"]
    words += ["--tokenizer", plan.tokenizer.name, "--task", "masks", "--data", data]
    words += ["--set", f"compile_seconds={bounds.compile_seconds:g}"]
    words += ["--set", f"run_seconds={bounds.run_seconds:g}"]
    words += ["--set", f"memory={bounds.memory_mb}"]
    return absolute_words(words)


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
    words += [
        "--task",
        task,
        *_place(header),
        *_other_options(header),
        "--id",
        f"{config}/{case_id}",
    ]
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
_OWN = frozenset(
    {
        *("--engine", "--option", "--task", "--id"),
        *("--limit", "--jobs", "--executor", "--run-dir", "--format"),
    }
)


def _other_options(header: RunHeader) -> list[str]:
    """Return the options of a run that decide what a case is, as they were given."""
    options: list[list[str]] = []
    for word in header.command:
        if word.startswith("--"):
            options.append([word])
        elif options:
            options[-1].append(word)
    return [
        word
        for option in options
        if not _is_own(option[0], header)
        and not (option[0] == "--set" and option[-1].partition("=")[0] in _SET_ANEW)
        for word in option
    ]


def _place(header: RunHeader) -> list[str]:
    """Return the option by which the run's data is found from any folder."""
    return ["--data", header.data.place] if header.data.place else []


def _is_own(option: str, header: RunHeader) -> bool:
    name = option.partition("=")[0]
    return name in _OWN or (name == "--data" and bool(header.data.place))


def _list(items: Sequence[str]) -> str:
    return "[\n" + ",\n".join(items) + "\n]"


def _test(text: str, *, valid: bool) -> str:
    """Return one test as JSON; texts are put in as they are, spelling and all."""
    members = f'"valid": {json.dumps(valid)}, "text": {json.dumps(text)}'
    if isinstance(parse(text.encode("utf-8", "surrogatepass")), Rejected):
        return f"{{{members}}}"
    return f'{{{members}, "data": {text}}}'
