"""MaskBench's runner and scripts, as a checkout of it has them, over our vocabulary.

Its tokenizer has to be of the Hub: ours stands in a folder that is made like the Hub's
cache, and the Hub itself is never asked. Nothing in the checkout is changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.engine.engines import libraries, timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.tokenizers import TokenizerFiles

#: What its runner calls an engine.
FLAGS: Final = {"llguidance": "--llg", "xgrammar": "--xgr-compliant"}
#: The made folder is like the cache of a repository of this name.
_REPOSITORY: Final = "csbdata/vocabulary"
_COMMIT: Final = "0" * 40
_LIMIT_SECONDS: Final = 900
_RUNNER: Final = ("-m", "maskbench.runner", "--multi")
_SCRIPT: Final = ("scripts/run_maskbench.py", "--num-threads", "1")


@dataclass(frozen=True, slots=True)
class MaskBench:
    """MaskBench's programs, for one engine over one folder of files."""

    #: The folder `maskbench` of the checkout.
    checkout: Path
    engine: str
    #: A folder of its files.
    data: Path
    #: Made by `write_hub_cache`.
    hub: Path

    def trouble(self, out: Path) -> str:
        """Return why its runner does not run here, after a trial; empty if it does.

        Its script would start the runner again without end.
        """
        smallest = min(self.data.iterdir(), key=lambda file: file.stat().st_size)
        done = self._run(self._command(_RUNNER, out, smallest), self.checkout)
        return _last_line(done.stderr) if done.returncode else ""

    def runner(self, out: Path) -> dict[str, Any] | str:
        """Return what one process of its runner takes, or why it took nothing."""
        return self._timed(self._command(_RUNNER, out, self.data))

    def script(self, out: Path) -> dict[str, Any] | str:
        """Return what its script takes, which starts runners, one after the other."""
        return self._timed(self._command(_SCRIPT, out, self.data))

    def table(self, results: Path, place: Path) -> dict[str, str] | str:
        """Return its table of a folder of results by its rows, or why there is none.

        Args:
            results: What its runner has written, or an export of ours.
            place: A folder to run it in; of some versions it is written to.
        """
        script = self.checkout / "scripts" / "maskbench_results.py"
        done = self._run([sys.executable, str(script), str(results)], place)
        rows = [line.split("|") for line in done.stdout.splitlines() if line[:1] == "|"]
        cells = {row[1].strip(): row[2].strip() for row in rows if row[1][:1] != ":"}
        return cells or f"no table: {_last_line(done.stderr)}"

    def _command(self, program: Sequence[str], out: Path, files: Path) -> list[str]:
        named = ["--tokenizer", _REPOSITORY, "--output", str(out)]
        return [sys.executable, *program, FLAGS[self.engine], *named, str(files)]

    def _environment(self) -> dict[str, str]:
        # Its script starts `python3`, which has to be this one.
        programs = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        return {
            **os.environ,
            "PATH": os.pathsep.join(programs),
            "PYTHONPATH": libraries(self.engine),
            "HF_HUB_CACHE": str(self.hub),
            "HF_HUB_OFFLINE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def _run(
        self, command: Sequence[str], place: Path
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=self._environment(),
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_SECONDS,
        )

    def _timed(self, command: Sequence[str]) -> dict[str, Any] | str:
        try:
            return timed(
                command,
                folder=self.checkout,
                environment=self._environment(),
                silent=True,
            )
        except SystemExit as error:
            return f"failed: {str(error).rpartition(': ')[2]}"


def write_hub_cache(folder: Path, tokenizer: TokenizerFiles) -> None:
    """Write a vocabulary as if it had been downloaded from the Hub."""
    text = tokenizer.tokenizer_json.read_text("utf-8")
    added = {word["id"]: word["content"] for word in json.loads(text)["added_tokens"]}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
    if tokenizer.eos_id in added:
        settings["eos_token"] = added[tokenizer.eos_id]
    config = {"model_type": "llama", "vocab_size": tokenizer.vocab_size}
    repository = folder / f"models--{_REPOSITORY.replace('/', '--')}"
    snapshot = repository / "snapshots" / _COMMIT
    contents = {
        repository / "refs" / "main": _COMMIT,
        snapshot / "tokenizer.json": text,
        snapshot / "tokenizer_config.json": json.dumps(settings),
        snapshot / "config.json": json.dumps(config),
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def _last_line(said: str) -> str:
    return said.strip().rpartition("\n")[2] or "it said nothing"
