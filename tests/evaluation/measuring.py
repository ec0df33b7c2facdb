"""A run in a few lines, for the tests that need one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from curation.download.cache import FetchSettings
from evaluation.core.cases import Bounds
from evaluation.core.records import Instance, Record
from evaluation.runner.request import ModelOptions, RunRequest
from evaluation.runner.run import run
from evaluation.tokenizers import get_tokenizer
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.masks.run import RunTotals
    from evaluation.results.reader import RecordedRun
    from evaluation.tokenizers import TokenizerFiles

MINIATURES = Path(__file__).with_name("miniatures")
#: Enough for what ends by itself, short enough for what does not.
BRISK = Bounds(compile_seconds=1.0, run_seconds=1.0, wall_times=3.0, memory_mb=192)


def miniature(name: str) -> str:
    """Return what to write after `--engine` for a miniature."""
    return str(MINIATURES / f"{name}.py")


def miniature_with(folder: Path, code: str) -> str:
    """Return what to write after `--engine`: what accepts all, with more code."""
    path = folder / "accept_all.py"
    path.write_text(f"{Path(miniature('accept_all')).read_text('utf-8')}\n\n{code}")
    return str(path)


def engine_processes(pid: int) -> list[psutil.Process]:
    """Return the workers of engines that a process has started."""
    return [
        child
        for child in psutil.Process(pid).children()
        if any(word.endswith("/engine_process.py") for word in child.cmdline())
    ]


def _fetch(folder: Path) -> FetchSettings:
    return FetchSettings(mirror=None, cache=folder / "cache", offline=True)


def tokenizer(folder: Path, *, padding: int = 0) -> TokenizerFiles:
    """Return a tiny tokenizer, kept below a folder."""
    path = made.byte_level(folder / "tokenizer", padding=padding)
    return get_tokenizer(str(path), _fetch(folder))


def sample(title: str, *texts: str, valid: bool = True) -> Record:
    """Return a sample whose schema has that title; miniatures act on it."""
    return Record(
        id=title,
        group="Made",
        schema=f'{{"title": "{title}"}}',
        dialect="2020-12",
        instances=tuple(
            Instance(text=each, valid=valid, kind="made") for each in texts
        ),
    )


def request_of(folder: Path, samples: Sequence[Record], **fields: Any) -> RunRequest:  # noqa: ANN401 (fields of the request)
    """Return a request for task `masks` over a tiny tokenizer, one worker."""
    padding = fields.pop("padding", 0)
    defaults = {"tasks": ("masks",), "bounds": BRISK, "jobs": 1}
    return RunRequest(
        data=samples,
        tokenizer=str(made.byte_level(folder / "tokenizer", padding=padding)),
        fetch=_fetch(folder),
        **{**defaults, **fields},
    )


def texts_request(
    folder: Path,
    records: Sequence[Record],
    model: ModelOptions,
    *engines: str,
    **fields: Any,  # noqa: ANN401 (fields of the request)
) -> RunRequest:
    """Return a request for what a model behind a server writes, to `folder`/run."""
    return request_of(
        folder,
        records,
        tasks=("coverage",),
        bounds=replace(BRISK, run_seconds=60.0),
        engines=engines,
        models=[model],
        **{"run_dir": folder / "run", **fields},
    )


def measured(
    folder: Path,
    engines: Sequence[str],
    request: RunRequest,
    options: Sequence[str] = (),
) -> tuple[RunTotals, RecordedRun]:
    """Run a request with these engines and open what it has written."""
    own = replace(request, engines=engines, options=options, run_dir=folder / "run")
    result = run(own)
    return result.totals, result.open()
