"""Draw one-line mutants of the product, and count those that a test notices.

    python -m tests.mutants [--count N] [--seed TEXT] [--jobs N] [FOLDER ...]

A mutant changes one operator, constant or statement. The seed, by default the commit
before the last, draws them from all candidates in the folders (`curation` and
`evaluation` by default), the same ones on every machine. Arguments of decorators and
of classes are left out: no answer depends on whether a class is frozen. Each is tried
in a copy of the tree, by the fast tests of its module, then of its folder, then of its
half. Exits with 1 if fewer than 85 % die.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, cast

ROOT: Final = Path(__file__).parents[1]
SHARE: Final = 0.85
#: Seconds for the tests of one mutant; a mutant that never ends is noticed.
_SECONDS: Final = 1800
_COPIED: Final = (
    *("bench", "cards", "curation", "docs", "evaluation", "raw", "results", "tests"),
)
_OTHERS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    first: second
    for one, other in (
        *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq)),
        *((ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.And, ast.Or)),
        (ast.Add, ast.Sub),
    )
    for first, second in ((one, other), (other, one))
}


class Mutant(NamedTuple):
    """One change of one module: the line, what it does, and its number there."""

    file: str
    line: int
    what: str
    number: int

    def apply(self, root: Path) -> None:
        """Make the change in a copy of the tree, whose comments it leaves out."""
        tree = ast.parse((root / self.file).read_text("utf-8"))
        *_, change = list(changes(tree))[self.number]
        change()
        source = ast.unparse(ast.fix_missing_locations(tree))
        (root / self.file).write_text(source, "utf-8")


def _undecorated(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a module that stand in no decorator."""
    left_out = {
        id(part)
        for node in ast.walk(tree)
        for option in (
            *getattr(node, "decorator_list", ()),
            *(node.keywords if isinstance(node, ast.ClassDef) else ()),
        )
        for part in ast.walk(option)
    }
    return (node for node in ast.walk(tree) if id(node) not in left_out)


def changes(tree: ast.Module) -> Iterator[tuple[int, str, Callable[[], None]]]:
    """Yield every change of a module: its line, what it does, what makes it."""
    for node in _undecorated(tree):
        if isinstance(node, ast.Compare):
            for place, operator in enumerate(node.ops):
                other = cast("type[ast.cmpop]", _OTHERS[type(operator)])
                what = f"{type(operator).__name__} is {other.__name__}"
                yield node.lineno, what, partial(node.ops.__setitem__, place, other())
        elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in _OTHERS:
            other_operator = _OTHERS[type(node.op)]()
            what = f"{type(node.op).__name__} is {type(other_operator).__name__}"
            yield node.lineno, what, partial(setattr, node, "op", other_operator)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            twice = ast.UnaryOp(ast.Not(), node.operand)
            yield (
                node.lineno,
                "not is left out",
                partial(setattr, node, "operand", twice),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
            is_bool = isinstance(node.value, bool)
            value = not node.value if is_bool else node.value + 1
            what = f"{node.value} is {value}"
            yield node.lineno, what, partial(setattr, node, "value", value)
        for _, body in ast.iter_fields(node):
            for place, part in enumerate(body if isinstance(body, list) else ()):
                if isinstance(part, ast.Raise | ast.Continue):
                    new = ast.Pass() if isinstance(part, ast.Raise) else ast.Break()
                    what = f"{type(part).__name__} is {type(new).__name__}"
                    yield part.lineno, what, partial(body.__setitem__, place, new)


def draw(seed: str, count: int, folders: list[str]) -> list[Mutant]:
    """Return the mutants that a seed draws."""
    found = [
        Mutant(str(path.relative_to(ROOT)), line, what, number)
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, (line, what, _) in enumerate(
            changes(ast.parse(path.read_text("utf-8")))
        )
    ]
    return sorted(found, key=lambda it: sha256(f"{seed} {it}".encode()).digest())[
        :count
    ]


def _tests_of(file: str) -> list[list[str]]:
    """Return the tests to run, in turn: of the module, of its folder, of its half."""
    path = Path("tests") / file
    half = str(Path(*path.parts[:2]))
    steps = [[str(path.with_name(f"test_{path.name}"))], [str(path.parent)], [half]]
    while not (ROOT / steps[1][0]).is_dir():
        steps[1] = [str(Path(steps[1][0]).parent)]
    return [step for step in steps if (ROOT / step[0]).exists()]


def is_noticed(mutant: Mutant) -> bool:
    """Return whether a test of a mutant fails, or never ends."""
    with TemporaryDirectory(prefix="csbdata-mutant-") as name:
        folder = Path(name)
        for part in _COPIED:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        for path in ROOT.iterdir():
            if path.is_file() and path.name != ".git":
                shutil.copy(path, folder)
        mutant.apply(folder)
        options = (
            "-q",
            "-x",
            "-n",
            "0",
            "-p",
            "no:randomly",
            "-m",
            "not slow and not nightly",
        )
        for tests in _tests_of(mutant.file):
            try:
                ended = subprocess.run(
                    [sys.executable, "-m", "pytest", *options, *tests],
                    cwd=folder,
                    env={**os.environ, "PYTHONPATH": str(folder)},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=False,
                    timeout=_SECONDS,
                )
            except subprocess.TimeoutExpired:
                return True
            if ended.returncode not in {0, 5}:
                return True
    return False


def main(arguments: list[str]) -> int:
    """Try the drawn mutants, print each, and the score."""
    parser = argparse.ArgumentParser(description="Draw mutants; count those that die.")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    commit = ["git", "rev-parse", "HEAD~1"]
    seed = options.seed or subprocess.check_output(commit, cwd=ROOT, text=True).strip()
    drawn = draw(seed, options.count, options.folders or ["curation", "evaluation"])
    dead = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, noticed in zip(drawn, pool.map(is_noticed, drawn), strict=True):
            dead += noticed
            how = "dies" if noticed else "survives"
            place = f"{mutant.file}:{mutant.line}"
            sys.stdout.write(f"{place}: {mutant.what}: {how}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dead} of {len(drawn)} mutants die, drawn by {seed}\n")
    return int(dead < SHARE * len(drawn))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
