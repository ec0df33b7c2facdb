"""Every fault that docs/findings.md lists shows in the version that it names."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from evaluation.analysis.recorded_cases import ask_in_new_process
from evaluation.core.cases import Case, InstanceWalk
from evaluation.setup.engine_files import find_engine
from evaluation.setup.environments import NotInstalled, find_interpreter
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import DEFAULT, get_tokenizer
from evaluation.walking.engine_worker import Bounds

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "findings.md"
_REPRODUCERS = sorted((_ROOT / "docs" / "findings").glob("*.json"))
_PROGRAMS = sorted((_ROOT / "docs" / "findings").glob("*.py"))
#: Runs a program with stand-ins for what XGrammar imports and does not use.
_WITH_STAND_INS = """
import runpy, sys
sys.argv = sys.argv[1:]
if "xgrammar" in sys.argv[1]:
    runpy.run_path(sys.argv[0])["import_xgrammar"]()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def _engine(program: Path) -> tuple[str, str]:
    """Return the engine and the version that a program is about."""
    found = re.match(r'"""(\w+) ([\d.]+): ', program.read_text("utf-8"))
    assert found
    return found[1], found[2]


def test_every_program_is_listed_with_its_version() -> None:
    """The page has a row for each, and each row has its program."""
    row = r"^\| (\w+ [\d.]+) \|.*\(findings/(\w+\.py)\) \|$"
    found = re.findall(row, _PAGE.read_text("utf-8"), re.MULTILINE)
    rows = {program: version for version, program in found}
    assert rows == {program.name: " ".join(_engine(program)) for program in _PROGRAMS}


@pytest.mark.nightly
@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda program: program.stem)
def test_the_fault_shows(program: Path) -> None:
    """The program ends with 0 in the version that it names."""
    name, version = _engine(program)
    file = find_engine(f"{name.lower()}=={version}")
    found = find_interpreter(FetchSettings.from_environment().cache, file)
    if isinstance(found, NotInstalled):
        pytest.skip(f"not run: {found.reason}; {found.install}")
    said = subprocess.run(
        [found, "-c", _WITH_STAND_INS, file.path, program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    "reproducer",
    [each for path in _REPRODUCERS for each in json.loads(path.read_text("utf-8"))],
    ids=lambda each: f"{each['spec']}: {each['classes'][0]}",
)
def test_a_reproducer_shows_its_class(reproducer: UntypedJson) -> None:
    """In a new process, blocked at the same byte or accepted to its end."""
    fetch = FetchSettings.from_environment()
    spec, keyword = reproducer["spec"], reproducer["keyword"]
    (engine,) = select_engines(fetch.cache, [spec], reproducer["preset"], [])
    if engine.unavailable:
        pytest.skip(f"not run: {engine.unavailable}")
    valid = reproducer["valid"]
    label = {} if valid else {"keyword": keyword}
    walk = InstanceWalk(text=reproducer["text"], valid=valid, label=label)
    case = Case(
        task="masks", id="a", config="a", schema=reproducer["schema"], walks=(walk,)
    )
    ask = ask_in_new_process(engine, get_tokenizer(DEFAULT, fetch), Bounds())
    (walked,) = ask(case).walks
    assert walked.why
    assert (walked.why.stands, walked.why.keyword) == (reproducer["stands"], keyword)
    assert walked.byte == reproducer["byte"]
