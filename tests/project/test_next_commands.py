"""Every next command that a command proposes can be run as it is printed."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from curation.cli import application
from curation.system.errors import CsbdataError
from curation.system.terminal import command_line_of
from tests.project.test_documented_commands import (
    test_every_command_shown_can_be_parsed as parse,
)

_SCHEMAS = {"a": '{"minimum": 3}', "b": '{"type": "object", "patternProperties": {}}'}
#: In this order, in one folder; each with what it may exit with.
_RUNS = (
    """
build --sample
stats build/sample
fit schemas --for openai-strict,gemini
fit schemas/b.json --for openai-strict
export training training --as trl --data build/sample
eval --engine llguidance --engine none --task masks --limit 5
results show RUN
results compare RUN
results show RUN --failures --engine none
demo --run-dir demo
suite prompts ifstruct --limit 1 --out prompts.jsonl
suite generate ifstruct --rows 2 --out records.jsonl
""".replace("RUN", "my\\ run")
    .strip()
    .splitlines()
)
_EVAL = " --tokenizer bytes --run-dir 'my run'"
_PROPOSED = re.compile(r"^  (csbdata .+?) *$", re.MULTILINE)
#: What is parsed and not run: a model writes for minutes; a folder and a file of yours.
_NOT_RUN = (r"suite run ", r"eval --data FOLDER", r"--write FILE")


def _run(line: str) -> tuple[int | str | None, str]:
    """Return the exit code of a command, and what it printed."""
    words, out = shlex.split(line), io.StringIO()
    code: int | str | None
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        command_line_of(words),
    ):
        try:
            application(words)(words)
        except SystemExit as ended:
            code = ended.code
        except CsbdataError as fault:
            return fault.exit_code, f"{out.getvalue()}{fault}"
    return code, out.getvalue()


@pytest.mark.slow
def test_proposed_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands below a command's answer, in the folder where it was called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    Path("schemas").mkdir()
    for name, text in _SCHEMAS.items():
        Path(f"schemas/{name}.json").write_text(text, "utf-8")
    proposed: dict[str, str] = {}
    for line in _RUNS:
        _, said = _run(line + _EVAL if line.startswith("eval") else line)
        proposed |= dict.fromkeys(_PROPOSED.findall(said), line)
    assert len(proposed) >= len(_RUNS) // 2
    failed = {}
    for command, by in proposed.items():
        _, *words = shlex.split(command)
        parse("", tuple(words))
        if any(re.search(pattern, command) for pattern in _NOT_RUN):
            continue
        code, said = _run(shlex.join(words))
        if code not in {0, 1}:
            failed[command] = (by, code, said[-300:])
    assert failed == {}
