"""The published problems: read from the Hub at a revision, or from a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.suites.quality.problems import Problem, QualityTask

_SUFFIXES: Final = (".parquet", ".jsonl", ".json")


def hub_problems(task: QualityTask, revision: str | None) -> tuple[str, list[Problem]]:
    """Return where a task's published problems are from, and the problems.

    Args:
        task: Names the dataset.
        revision: A branch, tag or commit; None for the newest.

    Raises:
        NoInput: the Hub has no such dataset, revision or files.
        BadData: a row cannot be read.
        Unavailable: the Hub cannot be reached, and its cache has no copy.
    """
    from curation.huggingface import hub_snapshot  # noqa: PLC0415 - heavy

    published = task.published
    patterns = [f"{published.files}*{suffix}" for suffix in _SUFFIXES]
    folder = hub_snapshot(published.repository, revision, patterns)
    problems = _read(task, _files(folder, published.files))
    return f"{published.repository}@{folder.name}", problems


def problems_in_folder(task: QualityTask, place: Path) -> list[Problem]:
    """Return a task's published problems in a folder, or in the file of this name.

    Raises:
        NoInput: there is neither.
        BadData: a row cannot be read.
    """
    if place.is_dir():
        return _read(task, _files(place, task.published.files) or _files(place, ""))
    found = [place.with_name(f"{place.name}{suffix}") for suffix in _SUFFIXES]
    existing = [path for path in found if path.is_file()]
    if not existing:
        names = ", ".join(f"{place.name}{suffix}" for suffix in _SUFFIXES)
        message = f"--data {place.parent}: there is no folder {place.name}, nor {names}"
        raise NoInput(message)
    return _read(task, existing[:1])


def _files(folder: Path, start: str) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in _SUFFIXES
        and path.is_file()
        and path.relative_to(folder).as_posix().startswith(start)
    )


def _read(task: QualityTask, files: Sequence[Path]) -> list[Problem]:
    if not files:
        published = task.published
        message = f"{published.repository}: no file {published.files}*.parquet or .json"
        raise NoInput(message)
    problems: list[Problem] = []
    for path in files:
        for number, row in enumerate(_rows(path), 1):
            try:
                problems.append(task.published.read(row))
            except (KeyError, ValueError, ArithmeticError) as error:
                message = f"{path.name}, row {number}: no problem of {task.name}"
                raise BadData(f"{message} ({type(error).__name__}: {error})") from error
    return problems[task.published.skip :]


def _rows(path: Path) -> list[dict[str, Json]]:
    try:
        if path.suffix == ".parquet":
            frame = pl.read_parquet(path)
        elif path.suffix == ".jsonl":
            frame = pl.read_ndjson(path)
        else:
            frame = pl.read_json(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadData(f"{path}: no table can be read ({error})") from error
    return frame.to_dicts()
