"""Engines are found and read without being run; who takes part, on which machine."""

from __future__ import annotations

import getpass
import json
import platform
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from curation.system.errors import BadConfiguration, BadUsage, NoInput
from evaluation.core.run_header import (
    idle_last,
    machine,
    usable_cores,
)
from evaluation.setup.engine_files import (
    EngineFile,
    choose_options,
    engine_paths,
    find_engine,
)
from evaluation.setup.environments import is_complete_here
from evaluation.setup.selected_engines import EngineUnderTest, select_engines
from tests.evaluation.measuring import miniature
from tests.tables import table

_FILE = """
raise SystemExit("this file must not be run")
ABOUT: dict[str, object] = {"distribution": "x"}
OPTIONS = {"flag": "bool", "size": "int|null", "share": "float", "name": "str|null"}
PRESETS = {"faithful": {"flag": True, "size": 3}, "vendor": {}}
def load(tokenizer, options):
    return None
"""


@pytest.fixture
def file(tmp_path: Path) -> EngineFile:
    """Return an engine with options of all types."""
    path = tmp_path / "typed.py"
    path.write_text(_FILE, "utf-8")
    return find_engine(str(path))


def test_a_file_is_read_and_not_run(file: EngineFile) -> None:
    """What an engine says of itself is taken from its text."""
    assert (file.name, file.distribution, file.version) == ("typed", "x", "")
    assert file.spec == str(file.path)


def test_a_version_is_asked_for_by_two_equals_signs() -> None:
    """Dashes and underscores name the same engine."""
    found = find_engine("outlines-core==0.1.26")
    assert (found.name, found.version) == ("outlines_core", "0.1.26")
    assert found.spec == "outlines_core==0.1.26"


def test_what_an_engine_loads_is_part_of_it(tmp_path: Path) -> None:
    """A change of a file that it names beside itself is a change of the engine."""
    table, path = tmp_path / "table.py", tmp_path / "mine.py"
    path.write_text('ABOUT = {"beside": ["table.py"]}\ndef load(t, o): pass\n', "utf-8")
    digests = []
    for content in ("A = 1", "A = 2"):
        table.write_text(content, "utf-8")
        digests.append(find_engine(str(path)).digest())
    assert len(set(digests)) == 2
    assert len(find_engine("llama_cpp_gbnf").beside) == 2


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("flag", "false", False),
        ("size", "12", 12),
        ("size", "null", None),
        ("share", "0.5", 0.5),
        ("name", "a=b", "a=b"),
        ("name", "null", None),
    ],
)
def test_options_have_types(
    file: EngineFile, option: str, text: str, value: object
) -> None:
    """A value laid over the preset is read as its type."""
    assert choose_options(file, "faithful", {option: text})[option] == value
    assert choose_options(file, "faithful", {})["size"] == 3


@pytest.mark.parametrize(
    ("preset", "assignments", "words"),
    [
        ("fathful", {}, "no preset 'fathful': use one of faithful, vendor"),
        ("vendor", {"flg": "true"}, "no option 'flg': flag"),
        ("vendor", {"flag": "yes"}, "takes bool, not 'yes'"),
        ("vendor", {"size": "1.5"}, "takes int or null, not '1.5'"),
        ("vendor", {"share": "null"}, "takes float, not 'null'"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(
    file: EngineFile, preset: str, assignments: dict[str, str], words: str
) -> None:
    """The message says what there is instead."""
    with pytest.raises(BadUsage, match=words):
        choose_options(file, preset, assignments)


def test_an_engine_without_options_takes_none() -> None:
    """Twenty lines need no presets; it is the same under each that others have."""
    file = find_engine(miniature("accept_all"))
    for preset in ("faithful", "vendor", "paper"):
        assert choose_options(file, preset, {}) == {}
    with pytest.raises(BadConfiguration, match="no preset 'papre'"):
        choose_options(file, "papre", {})
    with pytest.raises(BadConfiguration, match="it has none"):
        choose_options(file, "faithful", {"a": "1"})


def test_an_unknown_engine_is_told_what_is_near() -> None:
    """A slip of the pen is answered with the name that was meant.

    Of an engine that there is, the word that it does not know is named.
    """
    with pytest.raises(BadConfiguration, match="llguidance"):
        find_engine("llguidence")
    with pytest.raises(BadUsage, match="llguidance has no preset 'nopreset'"):
        find_engine("llguidance@nopreset")
    with pytest.raises(NoInput, match=r"nowhere\.py"):
        find_engine("nowhere.py")


_LOAD = "\ndef load(tokenizer, options):\n    return None\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *table(__file__, "no_engines"),
        # What Python cannot read: a list for a key, and nesting without end.
        (f"ABOUT = {{[1]: 2}}{_LOAD}", "plain literal"),
        (f"ABOUT = {'-' * 100_000}1{_LOAD}", "not a Python file|plain literal"),
    ],
)
def test_a_file_that_is_no_engine_is_refused(
    tmp_path: Path, text: str, words: str
) -> None:
    """The message says what is missing, and where."""
    path = tmp_path / "bad.py"
    path.write_text(text, "utf-8")
    with pytest.raises(BadConfiguration, match=words) as caught:
        find_engine(str(path))
    assert caught.value.where == str(path)


def test_an_entry_point_without_its_package_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It names the entry point: what is installed beside it is somebody else's."""
    point = SimpleNamespace(name="mine", module="no_such_pkg.engine", value="no:such")
    monkeypatch.setattr(
        "evaluation.setup.engine_files.list_entry_points", lambda _group: [point]
    )
    with pytest.raises(BadConfiguration, match="'mine' names no module"):
        engine_paths()
    point.module = "json"
    assert engine_paths()["mine"] == Path(json.__file__)


@pytest.mark.parametrize("install", ["psutil[test]", "psutil>=5.0rc1", "psutil"])
def test_what_an_engine_needs_is_found_by_name(file: EngineFile, install: str) -> None:
    """Extras and versions of it are no names of packages."""
    about = msgspec.structs.replace(file.about, install=install)
    assert is_complete_here(replace(file, about=about))


def _chosen(specs: list[str], options: list[str]) -> list[EngineUnderTest]:
    return select_engines(Path("no-cache"), specs, "faithful", options)


def test_an_option_goes_to_the_engines_that_have_it() -> None:
    """`NAME=VALUE` for all that know it, `ENGINE.NAME=VALUE` for one; labels tell."""
    troubled, accept = _chosen(
        [miniature("troubled"), miniature("accept_all")], ["mark=here"]
    )
    assert troubled.options == {"mark": "here"}
    assert troubled.label.endswith(" mark=here")
    assert accept.options == {}
    (one,) = _chosen([miniature("troubled")], ["troubled.mark=there"])
    assert one.options == {"mark": "there"}


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("mark", "takes NAME=VALUE"),
        ("makr=1", "no engine of this run has the option 'makr': there are mark"),
        ("other.mark=1", "no engine of this run has the option 'other.mark'"),
        ("troubled.makr=1", "no option 'makr': mark"),
    ],
)
def test_an_option_nobody_has_is_refused(assignment: str, words: str) -> None:
    """The message says which there are."""
    with pytest.raises(BadConfiguration, match=words):
        _chosen([miniature("troubled")], [assignment])


def test_an_engine_takes_part_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said twice is said once, in other words too; another of its label is refused.

    Their rows could not be told apart; the message has both places.
    """
    monkeypatch.chdir(tmp_path)
    for folder, mark in ((Path(), 1), (Path("copy"), 1), (Path("other"), 2)):
        folder.mkdir(exist_ok=True)
        text = f"ABOUT = {{'version': '1'}}\nMARK = {mark}\ndef load(t, o): pass\n"
        (folder / "my.py").write_text(text, "utf-8")
    assert len(_chosen(["my.py", "my.py", "./my.py", "copy/my.py"], [])) == 1
    with pytest.raises(BadUsage, match=r"two engines are called my 1: .*other/my\.py"):
        _chosen(["my.py", "other/my.py"], [])


@pytest.mark.parametrize(
    ("about", "label"),
    [
        ("{}", "mine 7159c1d3"),
        ("{'version': '2.1'}", "mine 2.1"),
        ("{'version': ''}", "mine"),
    ],
)
def test_a_file_without_a_distribution_says_its_version(
    tmp_path: Path, about: str, label: str
) -> None:
    """Where it does not, its digest tells it apart from what it was before."""
    path = tmp_path / "mine.py"
    path.write_text(f"ABOUT = {about}\ndef load(tokenizer, options): pass\n", "utf-8")
    (one,) = _chosen([str(path)], [])
    assert one.label == label


def test_an_engine_takes_part_in_two_ways() -> None:
    """As its authors ship it beside as the specification is read; labels tell."""
    specs = ["xgrammar", "xgrammar@vendor"]
    faithful, vendor = _chosen(specs, [])
    assert (faithful.preset, faithful.options["cache"]) == ("faithful", False)
    # None: what the library does by itself.
    assert (vendor.preset, vendor.options["cache"]) == ("vendor", None)
    assert faithful.label != vendor.label
    assert faithful.identity != vendor.identity


def test_a_machine_is_told_without_names() -> None:
    """Neither the host's name nor the user's is in it, and it is JSON."""
    text = json.dumps(machine(), allow_nan=False).lower()
    for name in (platform.node(), getpass.getuser()):
        assert len(name) < 4 or name.lower() not in text


@pytest.mark.parametrize(
    ("load", "order"),
    [
        ([0, 0, 0], [0, 1, 2]),
        ([0, 3, 99], [2, 0, 1]),
        ([50, 49, 51], [0, 2, 1]),
        ([99, 99, 99], [0, 1, 2]),
        ([99], [0, 1, 2]),
    ],
)
def test_a_busy_core_comes_before_idle_ones(
    load: list[float], order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times are taken on the last: two runs at once do not share it, if one is free."""
    monkeypatch.setattr("psutil.cpu_percent", lambda *_, **__: load)
    assert idle_last([0, 1, 2]) == order
    assert sorted(idle_last(usable_cores())) == usable_cores()
