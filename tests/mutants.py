"""Draw one-line mutants of the product, and count those that a test notices.

    python -m tests.mutants [--count N] [--seed TEXT] [--jobs N] [FOLDER ...]

A mutant changes one operator, constant or statement of one line. The seed, by default
the commit before the last, draws them from all candidates in the folders (`curation`
and `evaluation` by default), the same ones on every machine. Each is tried in a copy of
the tree, by the tests of its module, then by those of its folder. Exits with 1 if fewer
than 85 % die.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SHARE: Final = 0.85
#: Seconds for the tests of one mutant; a mutant that never ends is noticed.
_SECONDS: Final = 600
_COPIED: Final = (
    *("bench", "cards", "curation", "docs", "evaluation", "raw", "results", "tests"),
)
_OPERATORS: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: (" is ", " is not "),
    ast.IsNot: (" is not ", " is "),
    ast.In: (" in ", " not in "),
    ast.NotIn: (" not in ", " in "),
    ast.And: (" and ", " or "),
    ast.Or: (" or ", " and "),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one line; columns count bytes of UTF-8."""

    file: str
    line: int
    start: int
    end: int
    text: str

    def apply(self, root: Path) -> None:
        """Make the change in a copy of the tree."""
        path = root / self.file
        lines = path.read_bytes().splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = (
            line[: self.start] + self.text.encode() + line[self.end :]
        )
        path.write_bytes(b"".join(lines))


def candidates(file: str, source: str) -> Iterator[Mutant]:  # noqa: C901 (a branch a kind of node)
    """Yield every mutant of a module."""
    lines = [line.encode() for line in source.splitlines()]

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[Mutant]:
        """Yield the change of an operator between two operands on one line."""
        words = _OPERATORS.get(type(operator))
        if words is None or left.end_lineno != right.lineno:
            return
        start = left.end_col_offset or 0
        gap = lines[right.lineno - 1][start : right.col_offset].decode()
        if gap.count(words[0]) == 1:
            yield Mutant(
                file=file,
                line=right.lineno,
                start=start,
                end=right.col_offset,
                text=gap.replace(*words),
            )

    def whole(node: ast.expr | ast.stmt, text: str) -> Iterator[Mutant]:
        """Yield the replacement of a node that stands on one line."""
        if node.lineno == node.end_lineno:
            yield Mutant(
                file=file,
                line=node.lineno,
                start=node.col_offset,
                end=node.end_col_offset or 0,
                text=text,
            )

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for index, operator in enumerate(node.ops):
                yield from between(operands[index], operands[index + 1], operator)
        elif isinstance(node, ast.BoolOp):
            for index in range(len(node.values) - 1):
                yield from between(node.values[index], node.values[index + 1], node.op)
        elif isinstance(node, ast.BinOp):
            yield from between(node.left, node.right, node.op)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield from whole(node, f"({ast.unparse(node.operand)})")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
            is_bool = isinstance(node.value, bool)
            yield from whole(node, str(not node.value if is_bool else node.value + 1))
        elif isinstance(node, ast.Continue):
            yield from whole(node, "break")
        elif isinstance(node, ast.Raise):
            yield from whole(node, "pass")


def draw(seed: str, count: int, folders: list[str]) -> list[Mutant]:
    """Return the mutants that a seed draws."""
    found = [
        mutant
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        for mutant in candidates(str(path.relative_to(ROOT)), path.read_text("utf-8"))
    ]
    return sorted(found, key=lambda it: sha256(f"{seed} {it}".encode()).digest())[
        :count
    ]


def _tests_of(file: str) -> list[list[str]]:
    """Return the tests to run, in turn: those of the module, those of its folder."""
    path = Path("tests") / file
    steps = [[str(path.with_name(f"test_{path.name}"))], [str(path.parent)]]
    while not (ROOT / steps[-1][0]).is_dir():
        steps[-1] = [str(Path(steps[-1][0]).parent)]
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
        options = ("-q", "-x", "-n", "0", "-p", "no:randomly", "-m", "not nightly")
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
            place = f"{mutant.file}:{mutant.line}:{mutant.start}"
            sys.stdout.write(f"{place}: {mutant.text.strip()}: {how}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dead} of {len(drawn)} mutants die, drawn by {seed}\n")
    return int(dead < SHARE * len(drawn))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
