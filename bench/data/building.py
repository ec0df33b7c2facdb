"""Measure the build against the floor, interleaved, in processor seconds.

Those of a build are the whole command's, its workers included. Needs the archives to
be there (`CSBDATA_MIRROR`, or `csbdata sources --fetch`).
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.commands import timed
from curation.download.acquire import UnavailableArchive, acquire
from curation.download.cache import FetchSettings
from curation.download.packs import open_pack
from curation.download.pins import load_pins

if TYPE_CHECKING:
    import argparse

_FLOOR = Path(__file__).with_name("floor.py")
_TEN = "witness-generation"
_CORPUS = "json-schema-corpus"
Figures = dict[str, Any]


def _json_of(*command: str) -> Figures:
    """Run a command and return the JSON object on its stdout, with its seconds.

    `cpu_seconds` are those that the object has, or the command's and its children's.

    Raises:
        SystemExit: the command failed.
    """
    run = timed([sys.executable, *command])
    figures: Figures = json.loads(run.output)
    return {"cpu_seconds": run.cpu_seconds, **figures, "wall_seconds": run.wall_seconds}


def _warm(folder: Path, *unpacked: str) -> None:
    """Fetch every archive that is there into the cache, outside the measuring.

    The files of those named are written under the folder, for the floor.
    """
    settings = FetchSettings.from_environment()
    for pin in load_pins().values():
        got = acquire(pin, settings, _say)
        if isinstance(got, UnavailableArchive):
            _say(f"{pin.name}: {got.why}")
        elif pin.name in unpacked:
            pack = open_pack(got.pack)
            for path in pack.paths:
                file = folder / pin.name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(pack.read(path))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _floor(files: Path) -> Figures:
    return _json_of(str(_FLOOR), str(files))


def _build(out: Path, *options: str) -> Figures:
    command = ("-m", "curation", "build", "--format", "json", "--out", str(out))
    figures = _json_of(*command, "--skip-missing", *options)
    configs = figures.pop("configs")
    figures["documents"] = sum(config["raw"] for config in configs.values())
    figures["kept"] = sum(config["kept"] for config in configs.values())
    return figures


def _runs(*, corpus: bool, archives: Path, folder: Path) -> dict[str, Figures]:
    """Return one round of everything, each build into a folder of its own."""
    found = {"floor": _floor(archives / _TEN)}
    for rules in ("paper", "clean"):
        found[rules] = _build(folder / rules, "--rules", rules)
        found[f"{rules} again"] = _build(folder / rules, "--rules", rules)
    if corpus:
        found["floor of the corpus"] = _floor(archives / _CORPUS)
        found["clean with corpus"] = _build(folder / "corpus", "--with", "corpus")
    return found


def _summed(rounds: list[dict[str, Figures]]) -> dict[str, Figures]:
    """Return the median and the range of each run's times, and its worst memory."""
    summed = {}
    for name, first in rounds[0].items():
        walls = [turn[name]["wall_seconds"] for turn in rounds]
        seconds = [turn[name]["cpu_seconds"] for turn in rounds]
        middle = median(seconds)
        summed[name] = {
            "documents": first["documents"],
            "cpu_seconds": middle,
            "cpu_seconds_all": seconds,
            "wall_seconds": median(walls),
            "peak_rss_mb": max(turn[name]["peak_rss_mb"] for turn in rounds),
            "ms_per_document": round(1000 * middle / first["documents"], 3),
            "steps": first.get("steps") or first.get("phases"),
        }
    return summed


def _ratios(runs: dict[str, Figures]) -> dict[str, float]:
    """Return how many floors, document for document, each build costs."""
    pairs = {"paper": "floor", "clean": "floor"}
    if "clean with corpus" in runs:
        pairs["clean with corpus"] = "floor of the corpus"
    return {
        f"{build} / {floor}": round(
            runs[build]["ms_per_document"] / runs[floor]["ms_per_document"], 2
        )
        for build, floor in pairs.items()
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--repeats", type=int, default=3, help="rounds of builds")
    parser.add_argument("--corpus", action="store_true", help="the 82,094 files too")


def measure(options: argparse.Namespace) -> Figures:
    """Return the figures of every build, and how many floors it costs."""
    rounds = []
    with tempfile.TemporaryDirectory() as temporary:
        archives = Path(temporary)
        _warm(archives, _TEN, *([_CORPUS] if options.corpus else []))
        for _ in range(options.repeats):
            with tempfile.TemporaryDirectory() as folder:
                turn = _runs(
                    corpus=options.corpus, archives=archives, folder=Path(folder)
                )
            rounds.append(turn)
    runs = _summed(rounds)
    return {"repeats": options.repeats, "runs": runs, "ratios": _ratios(runs)}
