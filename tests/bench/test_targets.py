"""What targets take of a build is counted, with the vendors' libraries or without."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from bench.data import targets

if TYPE_CHECKING:
    from pathlib import Path

_CLOSED = (
    '{"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}, '
    '"required": ["a"], "additionalProperties": false}'
)


def _options(folder: Path, python: str | None) -> Namespace:
    (folder / "a.json").write_text(_CLOSED, "utf-8")
    (folder / "b.json").write_text('{"type": "string"}', "utf-8")
    return Namespace(
        build=folder, sdk_python=python, sdk_node=str(folder), sdk_records=2
    )


def test_what_is_taken_is_counted(tmp_path: Path) -> None:
    """By each target, and by the three providers together."""
    figures = targets.measure(_options(tmp_path, None))
    assert figures["records"] == 2
    assert figures["taken"]["openai-strict"] == 1
    assert figures["taken"]["anthropic"] == 1
    assert figures["counts"]["gemini ignored"] == 1
    assert figures["counts"]["all three providers"] == 0
    assert figures["libraries"] == {}


def test_a_library_that_changes_a_schema_does_not_take_it() -> None:
    """Agreement is counted, and each disagreement has the rule or the change."""
    echo = (
        "import json, sys\n"
        "for line in sys.stdin: print(json.dumps({'schema': json.loads(line)}))"
    )
    drop = "import sys\nfor line in sys.stdin: print('{\"schema\": {}}')"
    texts = [_CLOSED, '{"type": "string"}']
    command = [sys.executable, "-c", echo]
    result = targets._compared("openai-strict", texts, targets._ask(command, texts))
    assert result["alike"] == 1
    assert list(result["apart"]) == [
        "they take it, we do not: root-type type (documented)"
    ]
    changed = targets._ask([sys.executable, "-c", drop], texts)
    assert next(changed) is not None
