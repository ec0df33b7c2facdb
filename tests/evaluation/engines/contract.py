"""What every engine has to do, whatever it can: said once, for all of their files.

This file is also run by the interpreter of an environment that knows nothing of
csbdata (`test_environments`): only the standard library is imported.
"""

from __future__ import annotations

import json
import runpy
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.core.engine_protocol import Matcher, Tokenizer

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
)
_WITH_TEXT = json.dumps(
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
)
#: Text, and whether the schema accepts it.
TEXTS = {
    '{"a": 12}': True,
    '{"a": 1, "b": "x"}': True,
    '{"a": "x"}': False,
    '{"a": 1, "b": "z"}': False,
    '{"a": 1, "c": 1}': False,
    '{"b": "x"}': False,
}


def allowed(mask: bytes | bytearray | memoryview, token: int) -> bool:
    """Tell whether a mask has a token."""
    return bool(memoryview(mask).cast("B")[token // 8] >> token % 8 & 1)


def walk(matcher: Matcher, tokens: list[int]) -> str:
    """Return `accepted`, `blocked`, `unfinished` or `lied`, as masks and ends say."""
    for token in tokens:
        if not allowed(matcher.mask(), token):
            return "blocked"
        if not matcher.commit(token):
            return "lied"
    return "accepted" if matcher.may_end() else "unfinished"


def examine(
    path: str,
    options: dict[str, Any],
    tokenizer: Tokenizer,
    encode: Callable[[str], list[int]],
) -> dict[str, Any]:
    """Return what an engine says to everything that is asked of it."""
    engine = runpy.run_path(path)["load"](tokenizer, options)
    grammar = engine.compile(SCHEMA)
    ended = engine.start(grammar)
    before = allowed(ended.mask(), tokenizer.eos_id), ended.may_end()
    for token in encode('{"a": 1}'):
        ended.mask()
        ended.commit(token)
    final = memoryview(ended.mask()).cast("B")
    inside = engine.start(engine.compile(_WITH_TEXT))
    for token in encode('{"a": "'):
        inside.mask()
        inside.commit(token)
    quoted = memoryview(inside.mask()).cast("B")
    try:
        refused = not engine.start(grammar).commit(encode("]")[0])
    except Exception:  # noqa: BLE001 - an exception is a refusal, too
        refused = True
    warnings = getattr(engine, "warnings", lambda _grammar: ())
    return {
        "version": engine.version,
        "verdicts": {text: walk(engine.start(grammar), encode(text)) for text in TEXTS},
        "ends_at_once": before,
        "ends_at_end": (allowed(final, tokenizer.eos_id), ended.may_end()),
        "bits": len(final) * 8,
        "special": [
            each
            for each, content in enumerate(tokenizer.token_bytes)
            if content is None and allowed(quoted, each)
        ],
        "refuses": refused,
        "offered": _offered(engine.start(grammar), encode),
        "forced": _plain(getattr(engine.start(grammar), "forced", lambda: None)()),
        "warnings": list(warnings(grammar)),
    }


def _offered(matcher: Matcher, encode: Callable[[str], list[int]]) -> list[bool] | None:
    """Return whether tokens are taken: a right one, a wrong one, the next right one."""
    takes = getattr(matcher, "takes", None)
    first, second, *_ = encode('{"a": 1}')
    wrong = encode("]")[0]
    return takes and [takes(first), takes(wrong), takes(second)]


def _plain(forced: Sequence[int] | None) -> list[int] | None:
    return None if forced is None else [int(each) for each in forced]


def main(path: str, options: str) -> None:
    """Print what an engine says over the small vocabularies, as JSON.

    Those of guidance and llguidance need a `tokenizer.json`, which one of them has.
    """
    small = runpy.run_path(str(Path(__file__).parent.parent / "small_tokenizer.py"))
    with tempfile.TemporaryDirectory() as folder:
        each = [small["small_tokenizer"](Path(folder))]
        if "guidance" not in Path(path).stem:
            each.append(small["doubled"]())
        answers = [examine(path, json.loads(options), it, it.encode) for it in each]
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
