"""Commands on one schema load no library that they do not need."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_COMMANDS = (
    ["--version"],
    ["check", "a.json"],
    ["fit", "a.json", "--for", "gemini"],
    ["instances", "a.json"],
)
_HEAVY = {
    *("datasets", "huggingface_hub", "httpx2", "jinja2", "matplotlib", "numpy"),
    *("polars", "pyarrow", "pydantic", "requests", "torch", "transformers", "yaml"),
    *("arrow", "isoduration", "lark", "rfc3986_validator"),
}
_CODE = """
import json, sys
import csbdata
sys.argv[1:] = json.loads(sys.argv[1])
try:
    csbdata.main()
except SystemExit:
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def _modules(folder: Path, *words: str) -> set[str]:
    command = [sys.executable, "-c", *words]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("words", _COMMANDS, ids=lambda words: words[0])
def test_a_command_loads_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    """Neither typer's pydantic nor what reads YAML, tables, the Hub or a date."""
    (tmp_path / "a.json").write_text('{"type": "object"}', "utf-8")
    assert _modules(tmp_path, _CODE, json.dumps(words)) & _HEAVY == set()


def test_importing_csbdata_loads_nothing_of_its_packages(tmp_path: Path) -> None:
    """The names are imported when they are first asked for."""
    code = "import json, sys, csbdata; print(json.dumps([*sys.modules]))"
    packages = {name.partition(".")[0] for name in _modules(tmp_path, code)}
    assert not packages & {"curation", "evaluation", "typer", "polars"}


def test_the_process_of_a_check_loads_no_library_of_formats(tmp_path: Path) -> None:
    """Those of dates, IRIs and YAML wait for a value of theirs."""
    code = (
        "import json, sys, curation.checking.check_worker\n"
        "import curation.validation.python_validators\n"
        "print(json.dumps([*sys.modules]))"
    )
    loaded = _modules(tmp_path, code)
    assert "jsonschema" in loaded
    assert loaded & _HEAVY == set()


@pytest.mark.slow
def test_the_processes_of_a_fit_load_no_validator_written_in_python(
    tmp_path: Path,
) -> None:
    """Not even for a schema that is rewritten; values of two schemas need one."""
    program = "import json, sys, curation.fit.relation_worker\n"
    worker = _modules(tmp_path, program + "print(json.dumps([*sys.modules]))")
    (tmp_path / "a.json").write_text('{"type": "object"}', "utf-8")
    words = ["fit", "a.json", "--for", "openai-strict"]
    command = _modules(tmp_path, _CODE, json.dumps(words))
    assert "jsonschema_rs" in worker & command
    assert (worker | command) & {*_HEAVY, "jsonschema", "referencing"} == set()
