"""Environments: which Python has an engine, and how one is made by the real pip."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from curation.download.cache import FetchSettings
from curation.system.errors import BadConfiguration, Unavailable
from curation.system.programs import EndedProgram
from curation.system.terminal import set_command_line
from evaluation.commands.engines import _ask_for_leave, app
from evaluation.setup import engine_files, environments
from evaluation.setup.engine_files import (
    EngineAbout,
    EngineFile,
    choose_options,
    engine_paths,
    find_engine,
    install_line,
)
from evaluation.setup.environment_smoke_test import main
from evaluation.setup.environments import (
    RECORD,
    environment_folder,
    environment_python,
    environments_folder,
    existing_environments,
    find_interpreter,
    known_versions,
    make_environment,
    ready_environment,
    version_to_install,
)
from tests.distributions import write_wheel
from tests.evaluation.engines.contract import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson


def default_cache() -> Path:
    """Return the cache that a command uses here."""
    return FetchSettings.from_environment().cache


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty cache."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path))
    return tmp_path


def interpreter(spec: str) -> Path | str:
    """Return the Python in which an engine runs here."""
    return find_interpreter(default_cache(), find_engine(spec))


def pretend(name: str, wanted: str) -> Path:
    """Make what looks like an environment, and return its Python."""
    folder = environment_folder(default_cache(), name, wanted)
    python = environment_python(folder)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    record = {"engine": name, "version": wanted, "packages": {name: wanted}}
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")
    return python


class TestInterpreter:
    """Which Python an engine runs in."""

    def test_is_this_one_where_it_has_the_engine(self) -> None:
        """An installed engine, asked for with or without its version, runs here."""
        pytest.importorskip("outlines_core")
        here = version("outlines-core")
        assert interpreter("outlines-core") == Path(sys.executable)
        assert interpreter(f"outlines-core=={here}") == Path(sys.executable)

    def test_is_this_one_where_nothing_is_needed(self, tmp_path: Path) -> None:
        """An engine without a distribution runs here."""
        file = EngineFile(name="mine", path=tmp_path / "mine.py")
        assert find_interpreter(default_cache(), file) == Path(sys.executable)
        assert install_line(file) == ""

    def test_is_an_environment_of_the_version_wanted(self) -> None:
        """Two versions are two Pythons; without one, the table's first row wins."""
        first = version_to_install(find_engine("llama_cpp")).version
        pythons = {it: pretend("llama_cpp", it) for it in ("9.9.8", "9.9.9", first)}
        for wanted, python in pythons.items():
            assert interpreter(f"llama_cpp=={wanted}") == python
        assert interpreter("llama_cpp") == pythons[first]

    def test_says_why_there_is_none_and_what_to_do(self) -> None:
        """A version that is nowhere is unavailable, with the line that adds it."""
        pretend("llama_cpp", "0.3.2")
        missing = interpreter("llama_cpp==0.3.1")
        assert missing == "llama-cpp-python 0.3.1 is not installed here"
        added = install_line(find_engine("llama_cpp==0.3.1"))
        assert added == "csbdata engines add llama_cpp==0.3.1"

    def test_names_the_extra_that_installs_it_here(self, tmp_path: Path) -> None:
        """Where one does, and any version will do; half an installation is none."""
        about = EngineAbout(distribution="no-such-thing", extra="mine")
        file = EngineFile(name="mine", path=tmp_path / "mine.py", about=about)
        assert find_interpreter(default_cache(), file) == (
            "no-such-thing is not installed here "
            "(pip install 'csbdata[mine]' puts it beside csbdata)"
        )
        about = EngineAbout(distribution="typer", install="typer no-such-thing")
        file = replace(file, about=about)
        assert isinstance(find_interpreter(default_cache(), file), str)
        assert install_line(file) == "pip install typer no-such-thing"


def _listed(name: str) -> dict[str, UntypedJson]:
    answer = CliRunner().invoke(app, ["--format", "json"], catch_exceptions=False)
    (entry,) = (e for e in json.loads(answer.stdout)["engines"] if e["name"] == name)
    return dict(entry)


class TestBroken:
    """An engine that is installed here, of which something is missing."""

    @pytest.fixture(autouse=True)
    def broken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Install xgrammar without what it needs; trials are of this Python."""
        about = tmp_path / "site" / "xgrammar-9.9.dist-info"
        about.mkdir(parents=True)
        facts = "Metadata-Version: 2.1\nName: xgrammar\nVersion: 9.9\n"
        (about / "METADATA").write_text(facts, "utf-8")
        code = "import tvm_ffi_is_missing\n"
        (tmp_path / "site" / "xgrammar.py").write_text(code, "utf-8")
        monkeypatch.syspath_prepend(tmp_path / "site")
        environments._why_not_here.cache_clear()
        only = {"xgrammar": engine_paths()["xgrammar"]}
        monkeypatch.setattr(engine_files, "engine_paths", lambda: only)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
        yield
        environments._why_not_here.cache_clear()

    @pytest.mark.slow
    def test_is_not_taken_for_usable_and_the_advice_works(self) -> None:
        """What is missing is named; once the line was followed, it is used."""
        file = find_engine("xgrammar")
        missing = find_interpreter(default_cache(), file)
        assert isinstance(missing, str)
        assert "xgrammar 9.9 is here and does not run" in missing
        assert "tvm_ffi_is_missing" in missing
        assert install_line(file) == "csbdata engines add xgrammar"
        assert not _listed("xgrammar")["usable"]
        assert _listed("xgrammar")["installed"] is None
        tried = version_to_install(file).version
        own = pretend("xgrammar", tried)
        assert find_interpreter(default_cache(), file) == own
        assert interpreter(f"xgrammar=={tried}") == own
        assert _listed("xgrammar")["usable"]

    @pytest.mark.slow
    def test_falls_back_to_an_environment_of_the_same_version(self) -> None:
        """Where that version was asked for by name, too."""
        own = pretend("xgrammar", "9.9")
        for spec in ("xgrammar", "xgrammar==9.9"):
            assert interpreter(spec) == own


class TestFound:
    """What counts as an environment."""

    def test_leaves_out_torsos(self) -> None:
        """A folder without a record, with a broken one or without Python is none."""
        pretend("xgrammar", "1.0")
        torso = environment_folder(default_cache(), "xgrammar", "2.0")
        environment_python(torso).parent.mkdir(parents=True)
        broken = pretend("xgrammar", "3.0").parent.parent / RECORD
        broken.write_text('{"engine": "xgr', encoding="utf-8")
        pretend("xgrammar", "4.0").unlink()
        assert [each.version for each in existing_environments(default_cache())] == [
            "1.0"
        ]
        assert existing_environments(default_cache(), "outlines_core") == []

    @pytest.mark.parametrize("wanted", ["../../etc", "1.0/..", "", "1 0", ".."])
    def test_is_never_outside_the_cache(self, wanted: str) -> None:
        """What is no version names no folder."""
        with pytest.raises(BadConfiguration, match="no version"):
            environment_folder(default_cache(), "xgrammar", wanted)


class TestTable:
    """The versions that were tried."""

    def test_names_engines_that_there_are(self) -> None:
        """Every row belongs to an engine, and every version has one row."""
        pairs = [(each.engine, each.version) for each in known_versions()]
        assert len(set(pairs)) == len(pairs)
        assert {engine for engine, _ in pairs} <= set(engine_paths())

    def test_pins_everything(self) -> None:
        """A row says exact versions, its own among them, and why."""
        for row in known_versions():
            wanted = (*row.alone, *row.together)
            assert all(each.count("==") == 1 for each in wanted), row
            own = f"{find_engine(row.engine).distribution}=={row.version}"
            assert own in wanted
            assert row.note
            assert row.megabytes

    def test_gives_a_version_it_does_not_know_as_it_asks_to_be(self) -> None:
        """Without a row, pip decides; the distribution's name is the engine file's."""
        row = version_to_install(find_engine("outlines-core==9.9.9"))
        assert row.together == ("outlines-core==9.9.9",)
        assert row.alone == ()

    def test_has_nothing_for_an_engine_that_needs_nothing(self, tmp_path: Path) -> None:
        """Adding an engine of one's own is answered with how to use it."""
        file = EngineFile(name="mine", path=tmp_path / "mine.py")
        with pytest.raises(BadConfiguration, match="needs nothing"):
            version_to_install(file)


class TestCommand:
    """`csbdata engines`."""

    @pytest.mark.slow
    def test_lists_what_is_usable_and_how_to_get_the_rest(self) -> None:
        """Every engine is there: usable, or with the line that installs it."""
        pretend("xgrammar", "0.1.8")
        answer = CliRunner().invoke(app, ["--format", "json"])
        listed = {each["name"]: each for each in json.loads(answer.stdout)["engines"]}
        assert set(listed) == set(engine_paths())
        assert listed["xgrammar"]["usable"]
        assert listed["xgrammar"]["environments"][0]["version"] == "0.1.8"
        assert listed["llama_cpp"]["install"] == "csbdata engines add llama_cpp"
        assert set(listed["xgrammar"]["presets"]) == {"faithful", "vendor", "paper"}

    def test_does_not_make_what_is_there(self) -> None:
        """Adding an environment again is done at once."""
        pretend("xgrammar", "0.1.8")
        answer = CliRunner().invoke(app, ["add", "xgrammar==0.1.8"])
        assert answer.stdout == "csbdata eval --engine xgrammar==0.1.8\n"


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


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of wheels, the only place that pip asks; and an empty cache."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    code = {"tiny_engine.py": "MASK = b'\\xff' * 36\n"}
    write_wheel(folder, "tiny_engine", "1.0", code, "tiny_base")
    write_wheel(folder, "tiny_engine", "2.0", code)
    write_wheel(folder, "tiny_base", "0.1", {"tiny_base.py": ""})
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


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("venv", "cannot make an environment .*python3-venv"),
        ("install", r"pip cannot install it \(no luck\)"),
        (str(environments._TRIAL_FILE), r"does not run \(no luck\).*nothing was kept"),
        ("", ""),
    ],
)
def test_an_environment_has_come_through_each_step(
    broken: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step that fails is named, and nothing is left that looks like one."""

    def run(command: list[str], *_: object) -> EndedProgram:
        if broken in command:
            return EndedProgram("no luck", 1)
        return EndedProgram('said\n[{"name": "tiny", "version": "7"}]\n[said]\n', 0)

    monkeypatch.setattr(environments, "_run", run)
    file = engine(tmp_path, "1.0")
    if not broken:
        made = make_environment(tmp_path, file, lambda _: None)
        assert (made.version, made.packages) == ("1.0", {"tiny": "7"})
        assert json.loads((made.folder / RECORD).read_text()) == {
            "engine": "tiny",
            "version": "1.0",
            "packages": {"tiny": "7"},
            "csbdata": version("csbdata"),
        }
        return
    with pytest.raises(Unavailable, match=said):
        make_environment(tmp_path, file, lambda _: None)
    assert [*tmp_path.glob("environments/*/*")] == []


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

    def test_survives_being_killed(self, tmp_path: Path) -> None:
        """Killed at whatever moment, nothing counts, and the same again finishes."""
        file = engine(tmp_path, "2.0")
        program = (
            "import sys; from pathlib import Path\n"
            "from tests.evaluation.setup import test_environments as tests\n"
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


def test_nobody_is_asked_where_there_is_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a terminal and without -y nothing is installed."""
    row = version_to_install(find_engine("xgrammar==0.1.8"))
    said: list[str] = []
    monkeypatch.setattr("evaluation.commands.engines.log", said.append)
    with (
        set_command_line(("engines", "add", "xgrammar==0.1.8")),
        pytest.raises(BadConfiguration, match="nothing was downloaded") as refused,
    ):
        _ask_for_leave(row, yes=False)
    assert refused.value.hint == "csbdata engines add xgrammar==0.1.8 -y"
    assert _ask_for_leave(row, yes=True)
    assert "xgrammar 0.1.8" in said[0]
    assert "triton" in said[1]


def _examined(name: str) -> list[dict[str, Any]]:
    """Return what an engine of an environment says over the small vocabularies."""
    file = find_engine(name)
    python = find_interpreter(default_cache(), file)
    if not isinstance(python, Path):
        pytest.skip(f"{python}: {install_line(file)}")
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


_TRIED = """
import json
from pathlib import Path

class Made:
    def __init__(self, tokenizer, options):
        self.allowed = options["allowed"]
        told = {name: getattr(tokenizer, name) for name in ("vocab_size", "eos_id")}
        told["special_ids"] = tokenizer.special_ids
        told["tokens"] = [it and [*it] for it in tokenizer.token_bytes]
        told["file"] = json.loads(Path(tokenizer.tokenizer_json).read_bytes())
        Path(options["told"]).write_text(json.dumps(told))

    def compile(self, schema):
        return json.loads(schema)["type"]

    def start(self, grammar):
        return self

    def mask(self):
        return (1 << ord(self.allowed)).to_bytes(33, "little")

load = Made
"""


def test_an_engine_is_tried_on_bytes_and_an_end(tmp_path: Path) -> None:
    """By a `tokenizer.json` of them; an object has to be allowed to begin."""
    tokenizers = pytest.importorskip("tokenizers")
    file, told = tmp_path / "made.py", tmp_path / "told.json"
    file.write_text(_TRIED, "utf-8")
    main(str(file), json.dumps({"allowed": "{", "told": str(told)}))
    with pytest.raises(RuntimeError, match="does not let an object begin"):
        main(str(file), json.dumps({"allowed": "[", "told": str(told)}))
    found = json.loads(told.read_text("utf-8"))
    described = found.pop("file")
    tokens: list[list[int] | None] = [[byte] for byte in range(256)]
    assert found == {
        "vocab_size": 257,
        "eos_id": 256,
        "special_ids": [256],
        "tokens": [*tokens, None],
    }
    text = "".join(map(chr, range(0x800)))
    read = tokenizers.Tokenizer.from_str(json.dumps(described))
    assert read.encode(text, add_special_tokens=False).ids == [*text.encode()]
    assert len(described["model"]["vocab"]) == 256
    assert read.decode([*text.encode()]) == text
    assert read.encode("<|end|>").ids == [256]
