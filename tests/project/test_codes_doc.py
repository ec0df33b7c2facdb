"""docs/codes.md says what the code says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.checking.codes import codes

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).parents[2] / "docs"
_ABOUT_CODES = """# Codes of `csbdata check`

Made from the code by `pytest --renew-golden tests/project/test_codes_doc.py`.

A problem has a code: `file:line:column: pointer: code: message`.

`csbdata explain CODE` has the details of rules and reasons.

"""
_KINDS = {
    "reason": "Reasons: the schema cannot be used as it is",
    "rule": "Rules: an edit that a build makes",
    "lint": "Lints: what stands there and should not",
}


def test_every_code_has_its_line(compare_golden: Callable[[Path, str], None]) -> None:
    """docs/codes.md lists the codes, by kinds, each with its meaning."""
    text = _ABOUT_CODES
    for kind, title in _KINDS.items():
        rows = [
            f"| `{code}` | {about.meaning.replace('|', chr(92) + '|')} |\n"
            for code, about in codes().items()
            if about.kind == kind
        ]
        text += f"## {title}\n\n| code | meaning |\n|---|---|\n{''.join(rows)}\n"
    compare_golden(DOCS / "codes.md", text.rstrip("\n") + "\n")
