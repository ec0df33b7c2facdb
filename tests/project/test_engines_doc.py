"""What docs/engines.md says an engine is, is one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from evaluation.core.cases import Result, WalkVerdict
from evaluation.core.run_header import RefusalKind
from evaluation.setup.engine_files import choose_options, find_engine
from tests.evaluation.measuring import measured, request_of, sample

_DOC = Path(__file__).parents[2] / "docs" / "engines.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks() -> list[str]:
    return _BLOCK.findall(_DOC.read_text("utf-8"))


def test_the_engine_of_twenty_lines_runs(tmp_path: Path) -> None:
    """The very lines, put in a file and given by its path, are measured."""
    text = _blocks()[0]
    assert len([line for line in text.splitlines() if line.strip()]) <= 20
    path = tmp_path / "my_engine.py"
    path.write_text(text, "utf-8")
    request = request_of(tmp_path, [sample("any", '{"a": 1}')], padding=5)
    _, run = measured(tmp_path, [str(path)], request)
    (row,) = run.rows()
    assert row.result is Result.OK
    assert [each.verdict for each in row.walks] == [WalkVerdict.ACCEPTED]


def test_what_more_an_engine_can_say_is_read(tmp_path: Path) -> None:
    """`ABOUT`, `OPTIONS` and `PRESETS` of the page are those of an engine."""
    path = tmp_path / "my_engine.py"
    path.write_text(_blocks()[0] + "\n" + _blocks()[1], "utf-8")
    file = find_engine(str(path))
    assert file.distribution == "my-engine"
    assert not file.about.checks_commit
    assert file.about.homepage
    assert [refusal.kind for refusal in file.about.refusals] == ["keyword", "limit"]
    assert choose_options(file, "paper", {"limit": "null"}) == {
        "whitespace": False,
        "limit": None,
    }
    assert choose_options(file, "faithful", {"whitespace": "false", "limit": "7"}) == {
        "whitespace": False,
        "limit": 7,
    }


def test_every_result_is_explained() -> None:
    """The page's tables of results and of kinds of refusals are those there are."""
    named = re.findall(r"^\| `(\w+)` \|", _DOC.read_text("utf-8"), re.MULTILINE)
    assert {each.value for each in Result} <= set(named)
    kinds = get_args(RefusalKind)
    assert all(f"| {kind} |" in _DOC.read_text("utf-8") for kind in kinds)
