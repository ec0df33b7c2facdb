"""Run every command of the README in its order, as a stranger would.

    python tests/project/run_readme.py FOLDER

FOLDER is a clean clone; its `.venv/bin` comes first on the PATH. Each command must end
with 0, or with a code that is documented for it and one line that says why: 1 where
`check` finds something, 69 or 75 where the Hub is needed and does not answer, 65 where
a partial build is not pushed. It takes
many minutes, so that no test runs it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:\$ )?((?:make|csbdata|pip|mkdir|echo|\.) .+)")
#: Codes beside 0, by how a command begins.
_ALLOWED = {
    "csbdata check": {1},
    "csbdata release": {69, 75},
    "csbdata push": {65, 69, 75},
}


def commands(readme: str) -> list[str]:
    """Return the command lines of a README, in order."""
    found = []
    for kind, block in _BLOCK.findall(readme):
        for line in block.splitlines() if kind in {"", "console"} else ():
            command = _COMMAND.fullmatch(line)
            if command:
                found.append(re.sub(r"\s{2,}#.*", "", command[1]))
    return found


def run(command: str, folder: Path) -> tuple[int, float, str]:
    """Run one command; return its exit code, the seconds, its last line on stderr.

    Args:
        command: The line, for bash.
        folder: The clone in which it runs.
    """
    path = f"{folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    start = time.monotonic()
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],  # noqa: S607 (bash as it is here)
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stderr.strip().splitlines()
    if "Traceback" in ended.stderr:
        lines.append("a traceback")
    return ended.returncode, time.monotonic() - start, lines[-1] if lines else ""


def main() -> int:
    """Run them all; return 1 if one ended otherwise than it may."""
    folder = Path(sys.argv[1]).resolve()
    bad = 0
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for command in commands(readme):
        code, seconds, said = run(command, folder)
        allowed = {0}.union(
            *(codes for start, codes in _ALLOWED.items() if command.startswith(start))
        )
        fine = code in allowed and said != "a traceback"
        bad += not fine
        mark = "    " if fine else "BAD "
        sys.stdout.write(f"{mark}{code:3} {seconds:6.1f} s  {command}\n")
        if code:
            sys.stdout.write(f"        {said}\n")
        sys.stdout.flush()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
