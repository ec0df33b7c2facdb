"""Hold `csbdata eval --task masks` against MaskBench's own runner and scripts.

`CSBDATA_MASKBENCH` names a checkout of guidance-ai/jsonschemabench: its runner, `python
-m maskbench.runner`; its script `scripts/run_maskbench.py`, which starts the runner in
a process of its own for every hundred files; `scripts/maskbench_results.py`, which
prints its table. Without a checkout this part is "not run".

All walk the same files with the same engine: `--llg`, which is llguidance as it is by
itself, and `--xgr-compliant`, which is XGrammar with any white space, not strict, with
one thread and its cache. They take turns, one process at a time. Compared are processor
seconds of all processes, start included, what becomes of each file, and the number of
masks. Ours is read from the export in its form, of which its table is printed, too.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from bench.engine.engines import drawn_files, timed_eval
from bench.engine.maskbench_programs import FLAGS, MaskBench, write_hub_cache
from curation.download.acquire import FetchSettings
from evaluation.results.reader import open_run
from evaluation.tasks.masks.maskbench_files import write_maskbench
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

#: Most that `csbdata eval` may take of its script's processor time.
TARGETS: Final = {"llguidance": 0.33, "xgrammar": 0.9}
#: What makes ours the same as theirs.
_OPTIONS: Final = {"llguidance": (), "xgrammar": ("--option", "cache=true")}


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Declare the options of this part."""
    parser.add_argument("--maskbench-files", type=int, default=600, help="how many")
    parser.add_argument(
        "--maskbench-data", type=Path, help="folder of them; the checkout's by default"
    )
    parser.add_argument("--maskbench-engines", nargs="*", default=list(FLAGS))
    parser.add_argument("--maskbench-vocabulary", default="llama3.1")
    parser.add_argument("--maskbench-turns", type=int, default=2)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of every engine; without a checkout, that it was not run."""
    named = os.environ.get("CSBDATA_MASKBENCH")
    checkout = Path(named or os.devnull).resolve() / "maskbench"
    if not (checkout / "maskbench" / "runner.py").is_file():
        return {"not_run": "CSBDATA_MASKBENCH names no checkout"}
    source = options.maskbench_data or checkout / "data"
    files = drawn_files(source, options.maskbench_files)
    if not files:
        return {"not_run": f"{source} has no *.json"}
    vocabulary = options.maskbench_vocabulary
    tokenizer = get_tokenizer(vocabulary, FetchSettings.from_environment())
    found = {"targets": TARGETS, "files": len(files), "tokenizer": vocabulary}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = folder / "data"
        data.mkdir()
        for file in files:
            shutil.copy(file, data)
        write_hub_cache(folder / "hub", tokenizer)
        for engine in options.maskbench_engines:
            theirs = MaskBench(checkout, engine, data, folder / "hub")
            found[engine] = _engine(theirs, folder / engine, options)
    return found


def _engine(
    theirs: MaskBench, folder: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the figures of one engine: its turns, and what the last one came to."""
    folder.mkdir()
    trouble = theirs.trouble(folder / "trial")
    if trouble:
        return {"not_run": f"MaskBench's runner: {trouble}"}
    turns = []
    for turn in range(options.maskbench_turns):
        place = folder / str(turn)
        words = [
            "--task",
            "masks",
            "--data",
            str(theirs.data),
            "--set",
            "given_only=true",
        ]
        words += ["--tokenizer", options.maskbench_vocabulary, *_OPTIONS[theirs.engine]]
        ours = timed_eval(place / "run", words, theirs.engine)
        script = theirs.script(place / "script")
        runner = theirs.runner(place / "runner")
        turns.append({"eval": ours, "script": script, "runner": runner})
    (export,) = write_maskbench(open_run(place / "run"), place / "export")
    return {
        "turns": turns,
        "processor_ratios": {
            name: _ratio(turns, name) for name in ("script", "runner")
        },
        **compared(_results(export), _results(place / "script")),
        "tables": {
            "csbdata": theirs.table(export, place),
            "MaskBench": theirs.table(place / "script", place),
        },
    }


def _ratio(turns: list[dict[str, Any]], name: str) -> float | str:
    """Return ours by theirs, the median over the turns; or why there is none."""
    failed = [turn[name] for turn in turns if isinstance(turn[name], str)]
    if failed:
        return str(failed[0])
    taken: list[tuple[float, float]] = [
        (turn["eval"]["processor_seconds"], turn[name]["processor_seconds"])
        for turn in turns
    ]
    return round(median(ours / theirs for ours, theirs in taken), 3)


def _results(folder: Path) -> dict[str, dict[str, Any]]:
    return {file.name: json.loads(file.read_bytes()) for file in folder.glob("*.json")}


def compared(
    ours: Mapping[str, Mapping[str, Any]], theirs: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return how many files come to the same, which do not, and how many masks.

    Args:
        ours: By the name of its file what became of a schema, in MaskBench's form.
        theirs: The same of MaskBench.
    """
    different = {
        name: {"csbdata": outcome(ours.get(name)), "MaskBench": outcome(result)}
        for name, result in theirs.items()
        if outcome(ours.get(name)) != outcome(result)
    }
    both = [name for name in theirs if name in ours]
    return {
        "equal": len(theirs) - len(different),
        "of": len(theirs),
        "outcomes": dict(Counter(map(outcome, theirs.values()))),
        "different": different,
        "masks": {
            "csbdata": sum(ours[name].get("num_tokens", 0) for name in both),
            "MaskBench": sum(theirs[name].get("num_tokens", 0) for name in both),
        },
    }


def outcome(result: Mapping[str, Any] | None) -> str:
    """Return what became of a schema, by what its file says."""
    if result is None:
        return "no file"
    if "num_tests" not in result:
        return "died"
    if "compile_error" in result:
        return "compile error"
    error = str(result.get("validation_error", ""))
    kinds = {"EXN": "engine error", "accept": "refused", "reject": "let through"}
    said = [kind for word, kind in kinds.items() if word in error]
    if said:
        return said[0]
    return "passed" if result["num_tests"] else "compiled, no tests"
