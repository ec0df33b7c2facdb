"""Making environments with the real pip, from a folder of wheels made here."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration, Unavailable
from curation.system.terminal import command_line_of
from evaluation.commands.engines import _ask_for_leave
from evaluation.setup.engine_files import (
    EngineAbout,
    EngineFile,
    choose_options,
    find_engine,
)
from evaluation.setup.environment_install import make_environment, ready_environment
from evaluation.setup.environments import (
    environment_folder,
    environments_folder,
    existing_environments,
    find_interpreter,
    version_to_install,
)
from tests.evaluation.engines.contract import TEXTS

_ENGINE = """
from importlib.metadata import version

class Matcher:
    def mask(self):
        return tiny_engine.MASK

class Engine:
    def compile(self, schema):
        return schema
    def start(self, grammar):
        return Matcher()

def load(tokenizer, options):
    global tiny_engine
    import tiny_engine
    return Engine()
"""


def wheel(folder: Path, name: str, wanted: str, code: str, needs: str = "") -> Path:
    """Write a wheel of one module."""
    place = f"{name}-{wanted}.dist-info"
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    contents = {
        f"{name}.py": code,
        f"{place}/METADATA": f"Metadata-Version: 2.1\nName: {name}\n"
        f"Version: {wanted}\n{requires}",
        f"{place}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    contents[f"{place}/RECORD"] = "".join(f"{each},,\n" for each in contents)
    path = folder / f"{name}-{wanted}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in contents.items():
            archive.writestr(member, content)
    return path


def default_cache() -> Path:
    """Return the cache that a command uses here."""
    return FetchSettings.from_environment().cache


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of wheels, the only place that pip asks; and an empty cache."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel(folder, "tiny_engine", "1.0", "MASK = b'\\xff' * 36\n", "tiny_base")
    wheel(folder, "tiny_engine", "2.0", "MASK = b'\\xff' * 36\n")
    wheel(folder, "tiny_engine", "3.0", "MASK = b'\\0' * 36\n")
    wheel(folder, "tiny_base", "0.1", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    return folder


def engine(folder: Path, wanted: str) -> EngineFile:
    """Return an engine's file that needs a version of the tiny engine."""
    path = folder / "tiny.py"
    path.write_text(_ENGINE, encoding="utf-8")
    about = EngineAbout(distribution="tiny-engine", install="tiny-engine")
    return EngineFile(name="tiny", path=path, version=wanted, about=about)


@pytest.mark.slow
@pytest.mark.usefixtures("index")
class TestMake:
    """An environment that counts, or none."""

    def test_what_is_made_counts_from_then_on(self, tmp_path: Path) -> None:
        """The environment holds the engine and what it requires, and is found again."""
        file = engine(tmp_path, "1.0")
        environment = make_environment(default_cache(), file, lambda _: None)
        assert environment == ready_environment(default_cache(), file)
        assert [environment] == existing_environments(default_cache(), "tiny")
        assert environment.packages["tiny_engine"] == "1.0"
        assert environment.packages["tiny_base"] == "0.1"

    def test_keeps_nothing_that_does_not_run(self, tmp_path: Path) -> None:
        """An engine whose first mask is wrong fails its trial and is taken away."""
        with pytest.raises(Unavailable, match=r"does not run .*object begin"):
            make_environment(default_cache(), engine(tmp_path, "3.0"), lambda _: None)
        assert not environment_folder(default_cache(), "tiny", "3.0").exists()

    def test_says_what_pip_says(self, tmp_path: Path) -> None:
        """A version that is nowhere is unavailable, in pip's words."""
        with pytest.raises(Unavailable, match="No matching distribution found"):
            make_environment(default_cache(), engine(tmp_path, "9.9"), lambda _: None)
        assert existing_environments(default_cache()) == []

    def test_survives_being_killed(self, tmp_path: Path) -> None:
        """Killed at whatever moment, nothing counts, and the same again finishes."""
        file = engine(tmp_path, "2.0")
        program = (
            "import sys; from pathlib import Path\n"
            "from tests.evaluation.setup import test_environment_install as tests\n"
            "file = tests.engine(Path(sys.argv[1]), '2.0')\n"
            "cache = tests.default_cache()\n"
            "tests.make_environment(cache, file, print)\n"
        )
        for seconds in (1.0, 3.0, 4.5):
            with subprocess.Popen(
                [sys.executable, "-c", program, str(tmp_path)],
                cwd=Path(__file__).parents[3],
                stdout=subprocess.DEVNULL,
            ) as child:
                time.sleep(seconds)
                child.send_signal(signal.SIGKILL)
            assert child.returncode in (0, -signal.SIGKILL)
            if child.returncode:
                assert existing_environments(default_cache()) == []
        if ready_environment(default_cache(), file) is None:
            make_environment(default_cache(), file, lambda _: None)
        assert [
            each.name for each in environments_folder(default_cache()).glob("[!.]*")
        ] == ["tiny-2.0"]


@pytest.mark.usefixtures("index")
class TestWithoutMaking:
    """What stops before anything is made."""

    def test_says_what_a_python_without_environments_lacks(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where `venv` cannot put a pip, the next step is told, and nothing is left."""
        place = "evaluation.setup.environment_install._ENSUREPIP"
        monkeypatch.setattr(place, ("-c", "raise OSError"))
        with pytest.raises(Unavailable, match="python3-venv"):
            make_environment(default_cache(), engine(tmp_path, "1.0"), lambda _: None)
        assert not environment_folder(default_cache(), "tiny", "1.0").exists()

    def test_asks_only_where_there_is_somebody(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a terminal and without -y nothing is installed."""
        row = version_to_install(find_engine("xgrammar==0.1.8"))
        said: list[str] = []
        monkeypatch.setattr("evaluation.commands.engines.say", said.append)
        typed = ("engines", "add", "xgrammar==0.1.8")
        with (
            command_line_of(typed),
            pytest.raises(BadConfiguration, match="nothing was downloaded") as refused,
        ):
            _ask_for_leave(row, yes=False)
        assert refused.value.then == "csbdata engines add xgrammar==0.1.8 -y"
        assert _ask_for_leave(row, yes=True)
        assert "xgrammar 0.1.8" in said[0]
        assert "triton" in said[1]


def _examined(name: str) -> list[dict[str, Any]]:
    """Return what an engine of an environment says over the small vocabularies."""
    file = find_engine(name)
    python = find_interpreter(default_cache(), file)
    if not isinstance(python, Path):
        pytest.skip(f"{python.reason}: {python.install}")
    contract = Path(__file__).parents[1] / "engines" / "contract.py"
    options = json.dumps(choose_options(file, "faithful", {}))
    said = subprocess.run(
        [str(python), "-P", str(contract), str(file.path), options],
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert said.returncode == 0, said.stderr.decode()
    answers: list[dict[str, Any]] = json.loads(said.stdout)
    return answers


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", ["guidance", "llama_cpp", "llama_cpp_gbnf", "xgrammar", "xgrammar==0.1.8"]
)
def test_an_engine_in_an_environment_keeps_the_contract(name: str) -> None:
    """What is said of engines here holds for those in environments of their own."""
    for answer in _examined(name):
        verdicts = answer["verdicts"]
        assert {text: each == "accepted" for text, each in verdicts.items()} == TEXTS
        assert answer["ends_at_once"] == [False, False]
        assert answer["ends_at_end"] == [True, True]
        # llama.cpp takes the text of special tokens in a string for ordinary text.
        assert (answer["special"] == []) == (name != "llama_cpp")
        assert (answer["forced"] is None) == (name == "llama_cpp")


@pytest.mark.nightly
def test_formatron_keeps_the_contract_but_for_optional_members() -> None:
    """Its grammar keeps the name and comma of a member that may be absent."""
    for answer in _examined("formatron"):
        accepted = {t: each == "accepted" for t, each in answer["verdicts"].items()}
        assert accepted == {**TEXTS, '{"a": 12}': False}
        assert "lied" not in answer["verdicts"].values()
        assert answer["ends_at_once"] == [False, False]
        assert answer["special"] == []
        assert answer["refuses"]
