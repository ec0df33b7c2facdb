"""Gather what `python -m bench gpu` needs on a machine without a network.

Usage: python -m bench.model.gpu_slot FOLDER

The machine has Python 3.12 on Linux x86_64 with `PRESENT`; the rest is carried: wheels,
and Llama's tokenizer in a cache. A Python 3.12 here proves that the wheels resolve and
import, where torch alone is a stand-in. A dry run proves sizes, order and budget on the
CPU: from a bare copy of the tree, without a network, and with no other package.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import Any, Final

from bench.model.gpu import RESERVE, SECONDS
from curation.download.cache import FetchSettings
from evaluation.tokenizers.wheels import pinned_tokenizers, wheel_file

_TREE: Final = Path(__file__).parents[2]
#: Packages of the machine, with all that they require.
PRESENT: Final = (
    *("torch", "triton", "transformers", "accelerate", "numpy", "psutil", "requests"),
    *("scipy", "pyyaml"),
)
#: Packages that it lacks.
CARRIED: Final = (
    *("msgspec", "orjson", "platformdirs", "stamina", "tenacity", "llguidance"),
    *("xgrammar", "apache-tvm-ffi", "pydantic", "pydantic_core", "annotated-types"),
    *("typing-inspection", "pooch", "typer", "rich", "fastjsonschema", "google-re2"),
    *("jsonschema", "jsonschema_rs", "jsonschema-specifications", "referencing"),
    *("regress", "rpds-py", "attrs", "httpx2", "httpcore2", "truststore"),
    "typing_extensions",
)
_TOKENIZER: Final = "llama3.1"
_MAX_GATHERED: Final = 48_000_000
_MAX_FILES: Final = 8
_MAX_FILE: Final = 16_000_000
_MINUTES: Final = 9
#: pip takes each of these literally: a wheel for glibc 2.31 has no other tag.
_GLIBC: Final = (17, 24, 27, 28, 31, 34, 35)
#: Lets a Python and its children import named packages alone, and open no socket.
_ALONE: Final = """
import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

allowed = {{*{allowed}, *sys.stdlib_module_names}}

class Alone:
    find_distributions = PathFinder.find_distributions

    @staticmethod
    def find_spec(name, path=None, target=None):
        if path is None and name not in allowed and not name.startswith("_"):
            return None
        return PathFinder.find_spec(name, path, target)

def no_network(event, _arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise OSError("no network there")

sys.meta_path[:] = [BuiltinImporter, FrozenImporter, Alone]
sys.addaudithook(no_network)
"""
#: Imports what some distributions hold; XGrammar last, with a stand-in for torch.
_IMPORTS: Final = """
import importlib, sys
from importlib.metadata import files
from evaluation.engines.xgrammar import StandIn

for name in sorted(sys.argv[1:], key="xgrammar".__eq__):
    if name == "xgrammar":
        for each in ("torch", "torch.utils", "torch.utils.cpp_extension"):
            sys.modules[each] = StandIn(each)
    modules = [file for file in files(name) if file.suffix == ".py"]
    for package in {file.parts[0].partition(".")[0] for file in modules} - {""}:
        importlib.import_module(package)
"""


def gather(folder: Path) -> None:
    """Fill a folder with wheels and a cache."""
    shutil.rmtree(folder, ignore_errors=True)
    wheels = folder / "wheels"
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in _GLIBC]
    platforms.append("manylinux2014_x86_64")
    _run(
        *(sys.executable, "-m", "pip", "download", "-qq", "--no-deps"),
        *("--only-binary=:all:", "--python-version", "3.12"),
        *("--implementation", "cp", "-d", str(wheels)),
        *(part for name in platforms for part in ("--platform", name)),
        *("--constraint", "constraints.txt", *CARRIED),
    )
    settings = FetchSettings.from_environment()
    tokenizer = wheel_file(pinned_tokenizers()[_TOKENIZER], settings, _say)
    kept = folder / "cache" / "wheels"
    kept.mkdir(parents=True)
    shutil.copy(tokenizer, kept)


def _sizes(folder: Path) -> list[int]:
    return [file.stat().st_size for file in folder.rglob("*") if file.is_file()]


def _run(*command: str) -> None:
    subprocess.run(command, check=True, cwd=_TREE)


def check_wheels(folder: Path) -> str:
    """Return which Python 3.12 imports every wheel; torch is not installed for it."""
    python = ("env", "PYENV_VERSION=3.12", "python3.12")
    with tempfile.TemporaryDirectory() as parent:
        made = subprocess.run(
            [*python, "-m", "venv", parent], capture_output=True, check=False
        )
        if made.returncode:
            return "not run: no python3.12 here"
        inside = f"{parent}/bin/python"
        pip = (inside, "-m", "pip", "install", "-q")
        wheels = [str(file) for file in (folder / "wheels").glob("*.whl")]
        there = [
            each for each in PRESENT if each not in ("torch", "triton", "accelerate")
        ]
        _run(*pip, *there, "--find-links", str(folder / "wheels"))
        # XGrammar requires torch.
        _run(*pip, "--no-deps", *wheels)
        _run(inside, "-c", _IMPORTS, *CARRIED, *there)
    return f"it resolves and imports {len(wheels)} wheels"


def _importable() -> list[str]:
    """Return the top-level packages of what is there and of what is carried."""
    waiting, names = [*PRESENT, *CARRIED], set[str]()
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in names:
            continue
        names.add(name)
        try:
            required = requires(name) or []
        except PackageNotFoundError:
            continue
        plain = [line for line in required if "extra ==" not in line]
        waiting += [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in plain]
    return [
        *("bench", "curation", "evaluation", "csbdata", "sitecustomize"),
        # setuptools brings what it needs inside of it.
        *("jaraco", "more_itertools", "backports"),
        *(
            package
            for package, owners in packages_distributions().items()
            if names & {owner.lower().replace("_", "-") for owner in owners}
        ),
    ]


def dry_run(cache: Path) -> list[dict[str, Any]]:
    """Go through all figures in tiny, from a bare copy of the tree; return the lines.

    Args:
        cache: Holds the tokenizer.

    Raises:
        SystemExit: it failed, wrote too much, or not every figure in its order.
    """
    if sum(SECONDS.values()) > 60 * _MINUTES - RESERVE:
        raise SystemExit(f"the figures take more than {_MINUTES} minutes: {SECONDS}")
    with tempfile.TemporaryDirectory() as parent:
        tree, copied, alone = (Path(parent, name) for name in ("tree", "cache", "site"))
        # What is made of the tokenizer there is not to be carried.
        shutil.copytree(cache, copied)
        alone.mkdir()
        site = _ALONE.format(allowed=json.dumps(_importable()))
        (alone / "sitecustomize.py").write_text(site, "utf-8")
        bare = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build")
        shutil.copytree(_TREE, tree, ignore=bare)
        out = Path(parent, "out")
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "bench", "gpu", "--dry-run"),
                *("--out", str(out), "--minutes", "20"),
            ],
            cwd=tree,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": parent,
                "CSBDATA_CACHE": str(copied),
                "PYTHONPATH": str(alone),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            raise SystemExit(f"the dry run has failed:\n{ended.stderr[-4000:]}")
        sizes = _sizes(out)
        if len(sizes) > _MAX_FILES or max(sizes) > _MAX_FILE:
            raise SystemExit(f"files of {sizes} bytes are written, more than come back")
        text = (out / "figures.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    if [line["figure"] for line in lines] != [*SECONDS]:
        raise SystemExit(f"not every figure in its order:\n{text}")
    return lines


def main() -> None:
    """Gather, prove, and print what to run on the machine."""
    folder = Path(sys.argv[1])
    gather(folder)
    size = sum(_sizes(folder))
    if size > _MAX_GATHERED:
        raise SystemExit(f"{folder}: {size:,} bytes; at most {_MAX_GATHERED:,} travel")
    _say(f"Python 3.12: {check_wheels(folder)}")
    for line in dry_run(folder / "cache"):
        state = line["found"].get("not_run", "ok")
        _say(f"dry run: {line['figure']}, {line['seconds']} s: {state}")
    _say(f"{folder}: {size / 1e6:.1f} MB. Copy the tree with it to the machine; there:")
    print(
        f"python3 -m pip install -q --no-index --no-deps {folder}/wheels/*.whl && "
        f"CSBDATA_CACHE={folder}/cache python3 -m bench gpu --minutes {_MINUTES} "
        f"--out ${{OUT:-{folder}/out}}"
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
