"""Hold `csbdata eval --task test-suite` against a second, plainly written loop.

Both walk the same texts with the same engines, as these are by themselves (preset
`vendor`), and every case is compared: what came of it is `passed` or a set of failures.
The loop (`official_suite_loop.py`) shares no code with csbdata but the selection of
cases, the tokens of texts, and for llama.cpp the file with a vocabulary.

Engines that are not installed here are "not run". A case that the loop has not finished
after `--suite-seconds` counts as `died`, as it does in csbdata.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from curation.download.cache import FetchSettings
from evaluation.core.cases import Bounds
from evaluation.core.run_header import TaskSettings
from evaluation.masks.engine_process import Vocabulary
from evaluation.masks.engine_worker import tokenizer_setup
from evaluation.runner.request import RunRequest
from evaluation.runner.run import run
from evaluation.setup.engine_files import VENDOR, find_engine
from evaluation.setup.environments import find_interpreter
from evaluation.tasks.official_suite import NAME
from evaluation.tasks.official_suite.outcomes import list_failures
from evaluation.tasks.official_suite.task import with_suite
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from evaluation.core.cases import Case
    from evaluation.masks.engine_process import TokenizerSetup
    from evaluation.tokenizers import TokenizerFiles

_LOOP = Path(__file__).with_name("official_suite_loop.py")
_ENGINES = ("llguidance", "xgrammar", "llama_cpp", "outlines_core")
_PASSED = "passed"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--suite-engines", nargs="*", default=_ENGINES)
    parser.add_argument("--suite-seconds", type=float, default=250.0)
    parser.add_argument("--suite-limit", type=int, help="so many cases, for a trial")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return for each engine how many cases are equal, and which are not."""
    fetch = FetchSettings.from_environment()
    tokenizer = get_tokenizer("smollm2", fetch)
    task = with_suite(fetch, lambda _message: None)
    cases = list(task.cases((), TaskSettings()))[: options.suite_limit]
    found: dict[str, Any] = {"cases": len(cases)}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary) / "work.json"
        work.write_text(json.dumps(_work(cases, tokenizer, Path(temporary))), "utf-8")
        for engine in options.suite_engines:
            python = find_interpreter(fetch.cache, find_engine(engine))
            if isinstance(python, str):
                found[engine] = f"not run: {python}"
                continue
            folder = Path(temporary) / engine
            folder.mkdir()
            ours = _ours(engine, cases, folder / "run", options.suite_seconds)
            words = [str(python), str(_LOOP), engine, str(work), str(folder / "out")]
            theirs = _loop(words, cases, options.suite_seconds)
            found[engine] = compare(ours, theirs)
    return found


def compare(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, Any]:
    """Return how often both say the same, and every case where they do not."""
    differing = {
        name: {"csbdata": ours.get(name, "no row"), "loop": verdict}
        for name, verdict in theirs.items()
        if ours.get(name) != verdict
    }
    return {
        "equal": len(theirs) - len(differing),
        "of": len(theirs),
        "outcomes": dict(Counter(theirs.values())),
        "different": differing,
    }


def _work(
    cases: Sequence[Case], tokenizer: TokenizerFiles, folder: Path
) -> dict[str, Any]:
    known = Vocabulary(cast("TokenizerSetup", tokenizer_setup(tokenizer)))
    encode = tokenizer.encoder()
    adapter = runpy.run_path(str(find_engine("llama_cpp").path))
    gguf = folder / "vocabulary.gguf"
    gguf.write_bytes(b"".join(adapter["vocabulary"](known)))
    return {
        "tokenizer_json": str(tokenizer.tokenizer_json),
        "vocab_size": tokenizer.vocab_size,
        "eos": tokenizer.eos_id,
        "vocabulary": [word.hex() if word else None for word in known.token_bytes],
        "gguf": str(gguf),
        "cases": [
            [case.schema, encode([walk.text for walk in case.walks])] for case in cases
        ],
    }


def _ours(
    engine: str, cases: Sequence[Case], folder: Path, seconds: float
) -> dict[str, str]:
    """Return what csbdata makes of every case."""
    request = RunRequest(
        engines=[engine],
        tasks=[NAME],
        tokenizer="smollm2",
        preset=VENDOR,
        bounds=Bounds(compile_seconds=seconds, run_seconds=seconds),
        jobs=1,
        only=[f"{case.config}/{case.id}" for case in cases],
        run_dir=folder,
    )
    return {
        row.id: "+".join(sorted(list_failures(row))) or _PASSED
        for row in run(request).open().rows()
    }


def _loop(
    words: Sequence[str], cases: Sequence[Case], seconds: float
) -> dict[str, str]:
    """Run the loop until every case has a line, again where it dies or hangs."""
    out = Path(words[-1])
    out.touch()
    while (before := len(out.read_text().splitlines())) < len(cases):
        process = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        size, since = -1, time.monotonic()
        while process.poll() is None:
            time.sleep(0.2)  # Its lines are all that it says: a file has no event.
            if out.stat().st_size != size:
                size, since = out.stat().st_size, time.monotonic()
            elif time.monotonic() - since > seconds:
                process.kill()
        lines = out.read_text().splitlines()
        if len(lines) < len(cases):
            if before == len(lines) == 0 and process.returncode == 1:
                raise SystemExit(f"{words[2]}: the loop does not start")
            with out.open("a") as file:
                file.write(json.dumps({"case": len(lines), "died": True}) + "\n")
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    return {
        case.id: judge(answer, [walk.valid for walk in case.walks])
        for case, answer in zip(cases, answers, strict=True)
    }


def judge(answer: Mapping[str, Any], valid: Sequence[bool]) -> str:
    """Return what the paper's criteria make of one line of the loop.

    Example:
        >>> judge({"written": [True, True]}, [True, False])
        'under_constrained'
        >>> judge({"refused": "no"}, [False])
        'passed'
    """
    if "refused" in answer:
        return "compile_error" if any(valid) else _PASSED
    if "written" not in answer:
        return "died"
    failures = {
        "over_constrained" if text_is_valid else "under_constrained"
        for written, text_is_valid in zip(answer["written"], valid, strict=True)
        if written is not text_is_valid
    }
    return "+".join(sorted(failures)) or _PASSED
