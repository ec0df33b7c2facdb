"""Who takes part: versions and options, decided before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.system.errors import BadConfiguration, BadUsage
from evaluation.setup.selected_engines import select_engines
from tests.evaluation.measuring import miniature


def test_an_option_goes_to_the_engines_that_have_it() -> None:
    """`NAME=VALUE` for all that know it, `ENGINE.NAME=VALUE` for one; labels tell."""
    troubled, accept = select_engines(
        Path("no-cache"),
        [miniature("troubled"), miniature("accept_all")],
        "faithful",
        ["mark=here"],
    )
    assert troubled.options == {"mark": "here"}
    assert troubled.label.endswith(" mark=here")
    assert accept.options == {}
    (one,) = select_engines(
        Path("no-cache"), [miniature("troubled")], "faithful", ["troubled.mark=there"]
    )
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
        select_engines(
            Path("no-cache"), [miniature("troubled")], "faithful", [assignment]
        )


@pytest.fixture
def namesakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay out an engine, a copy of it, and another one of its name and version."""
    monkeypatch.chdir(tmp_path)
    for folder, mark in ((Path(), 1), (Path("copy"), 1), (Path("other"), 2)):
        folder.mkdir(exist_ok=True)
        text = f"ABOUT = {{'version': '1'}}\nMARK = {mark}\ndef load(t, o): pass\n"
        (folder / "my.py").write_text(text, "utf-8")


@pytest.mark.usefixtures("namesakes")
def test_an_engine_takes_part_once() -> None:
    """Said twice is said once, in other words too."""
    specs = ["my.py", "my.py", "./my.py", "copy/my.py"]
    assert len(select_engines(Path("no-cache"), specs, "faithful", [])) == 1


@pytest.mark.usefixtures("namesakes")
def test_two_engines_of_one_label_are_refused() -> None:
    """Their rows could not be told apart; the message has both places."""
    with pytest.raises(BadUsage, match=r"two engines are called my 1: .*other/my\.py"):
        select_engines(Path("no-cache"), ["my.py", "other/my.py"], "faithful", [])


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
    (one,) = select_engines(Path("no-cache"), [str(path)], "faithful", [])
    assert one.label == label


def test_what_decides_the_answers_decides_the_identity() -> None:
    """Options and the file's content do; what it is called in rows does not."""
    plain, marked = (
        select_engines(Path("no-cache"), [miniature("troubled")], "faithful", each)[0]
        for each in ([], ["mark=here"])
    )
    assert plain.identity != marked.identity
    assert (
        plain.identity
        == select_engines(Path("no-cache"), [miniature("troubled")], "faithful", [])[
            0
        ].identity
    )


def test_an_engine_takes_part_in_two_ways() -> None:
    """As its authors ship it beside as the specification is read; labels tell."""
    specs = ["xgrammar", "xgrammar@vendor"]
    faithful, vendor = select_engines(Path("no-cache"), specs, "faithful", [])
    assert (faithful.preset, faithful.options["cache"]) == ("faithful", False)
    # None: what the library does by itself.
    assert (vendor.preset, vendor.options["cache"]) == ("vendor", None)
    assert faithful.label != vendor.label
    assert faithful.identity != vendor.identity
