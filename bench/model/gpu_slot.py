"""Gather what `python -m bench gpu` needs on a machine without a network.

Usage: python -m bench.model.gpu_slot FOLDER

The machine has Python 3.12 on Linux x86_64, with torch, triton, transformers,
accelerate, psutil and requests; the rest is carried: wheels, and Llama's tokenizer in a
cache. Then a dry run proves here, on the processor, that nothing else is wanted: from a
bare copy of the tree, with no network, and no other package to be imported.
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

from curation.download.acquire import FetchSettings
from curation.download.cache import Cache
from evaluation.tokenizers.wheels import pinned_tokenizers, wheel_file

_TREE: Final = Path(__file__).parents[2]
#: Folders and files of the tree that a run needs.
_NEEDED: Final = (
    "bench",
    "curation",
    "evaluation",
    "csbdata.py",
    "raw",
    "requirements",
)
#: What the machine has, with all that they ask for.
PRESENT: Final = (
    *("torch", "triton", "transformers", "accelerate", "numpy", "psutil", "requests"),
)
#: What it has not.
CARRIED: Final = (
    *("msgspec", "orjson", "platformdirs", "stamina", "tenacity", "llguidance"),
    *("xgrammar", "apache-tvm-ffi", "pydantic", "pydantic_core", "annotated-types"),
    *("typing-inspection", "pooch"),
)
_TOKENIZER: Final = "llama3.1"
_MOST_BYTES: Final = 20_000_000
#: pip takes each of these literally: a wheel for glibc 2.31 has no other tag.
_GLIBC: Final = (17, 24, 27, 28, 31, 34, 35)
#: Runs a module where only named packages can be imported, and no socket opened.
_ALONE: Final = """
import json, os, runpy, sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

allowed = {*json.loads(sys.argv.pop(1)), *sys.stdlib_module_names}

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
sys.path.insert(0, os.getcwd())
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def gather(folder: Path) -> None:
    """Fill a folder with wheels for the machine, and a cache with the tokenizer."""
    wheels = folder / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    wheels.mkdir(parents=True)
    pins = _pins()
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in _GLIBC]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "-qq", "--no-deps"),
            *("--only-binary=:all:", "--python-version", "3.12"),
            *("--implementation", "cp", "-d", str(wheels)),
            *(part for name in platforms for part in ("--platform", name)),
            *("--platform", "manylinux2014_x86_64"),
            *(f"{name}=={pins[name.lower()]}" for name in CARRIED),
        ],
        check=True,
    )
    settings = FetchSettings.from_environment()
    cache = Cache(settings.cache)
    tokenizer = wheel_file(pinned_tokenizers()[_TOKENIZER], settings, cache, _say)
    kept = folder / "cache" / "wheels"
    kept.mkdir(parents=True)
    shutil.copy(tokenizer, kept)


def _pins() -> dict[str, str]:
    """Return the versions of constraints.txt by name."""
    lines = (_TREE / "constraints.txt").read_text("utf-8").splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {name.lower(): version for name, version in pairs}


def carried_bytes(folder: Path) -> int:
    """Return the bytes of everything gathered.

    Raises:
        SystemExit: they are too many to be carried.
    """
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if size > _MOST_BYTES:
        raise SystemExit(f"{folder} has {size:,} bytes; {_MOST_BYTES:,} can be carried")
    return size


def _importable() -> list[str]:
    """Return the top-level packages of what is there and of what is carried."""
    waiting, names = [*PRESENT, *CARRIED], set[str]()
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in names:
            continue
        names.add(name)
        try:
            wanted = requires(name) or []
        except PackageNotFoundError:
            continue
        plain = [line for line in wanted if "extra ==" not in line]
        waiting += [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in plain]
    return [
        *("bench", "curation", "evaluation"),
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
        SystemExit: it did not end well.
    """
    with tempfile.TemporaryDirectory() as parent:
        bare, own = Path(parent, "tree"), Path(parent, "cache")
        bare.mkdir()
        # What is made there of the tokenizer is not to be carried.
        shutil.copytree(cache, own)
        for name in _NEEDED:
            source = _TREE / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, bare / name, ignore=ignored)
            else:
                shutil.copy(source, bare)
        file = Path(parent, "figures.jsonl")
        done = subprocess.run(
            [
                *_without_network(),
                *(sys.executable, "-P", "-c", _ALONE, json.dumps(_importable())),
                *("bench", "gpu", "--dry-run", "--figures", str(file)),
            ],
            cwd=bare,
            env={"PATH": "/usr/bin:/bin", "HOME": parent, "CSBDATA_CACHE": str(own)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not file.exists():
            raise SystemExit(f"the dry run has failed:\n{done.stderr[-4000:]}")
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _without_network() -> tuple[str, ...]:
    """Return what runs a command without any network; nothing where it is forbidden.

    Sockets of the run itself are refused in any case.
    """
    command = ("unshare", "--map-root-user", "--net")
    if shutil.which(command[0]) is None:
        return ()
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    return () if tried.returncode else command


def main() -> None:
    """Gather, prove, and print what to run on the machine."""
    folder = Path(sys.argv[1])
    gather(folder)
    size = carried_bytes(folder)
    for line in dry_run(folder / "cache"):
        found = line["found"]
        absent = isinstance(found, dict) and (
            found.get("not_measured") or found.get("not_run")
        )
        _say(f"dry run: {line['figure']}: {absent or 'ok'}")
    print(
        f"{folder}: {size / 1e6:.1f} MB. Copy the tree with it to the machine; there:"
    )
    print(
        f"  python3 -m pip install -q --no-index --no-deps {folder}/wheels/*.whl && "
        f"CSBDATA_CACHE={folder}/cache python3 -m bench gpu --minutes 9 "
        f"--figures {folder}/figures.jsonl"
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
