"""Why a text is not JSON, in its author's words, and where."""

from __future__ import annotations

import re
from typing import Final

from curation.core.documents import Reason, Rejected
from curation.json.positions import TextPositions, offsets
from curation.workers.limits import DOCUMENT_BYTES

_PLACE: Final = re.compile(r" ?\(line (\d+),? column (\d+)\)")
_NOT_FINITE: Final = re.compile(r"[:,\[]\s*(-?(?:NaN|Infinity))")
_NO_NUMBER: Final = " is not JSON"
_AS_YAML: Final = "not JSON as YAML: "
_TEMPLATE: Final = re.compile(r"\{\{|\{%|<%")
#: The text where the reader stopped, to the fault.
_STOPS: Final = (
    (r"//|/\*|#", "comments are not allowed"),
    (r"[}\]]", "a comma before `]` or `}` is not allowed"),
    (r"'", "a string needs double quotes"),
    (r"[-+]?(NaN|Infinity|nan|inf)", "NaN and infinities are not allowed"),
    (r"True|False|None", "write true, false and null"),
    (r"[A-Za-z_$]\w*\s*:", "a name needs double quotes"),
)


def syntax_fault(content: bytes, rejected: Rejected) -> tuple[str, int, int]:
    """Return the fault of an unreadable text, its line and its column."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    match = _PLACE.search(rejected.detail)
    line, column = map(int, match.groups()) if match else (1, 1)
    detail = _PLACE.sub("", rejected.detail)
    if rejected.reason is Reason.DUPLICATE_KEYS:
        names = set()
        for tokens, offset in offsets(text):
            if tokens in names:
                line, column = TextPositions(text).at(offset)
                break
            names.add(tokens)
    elif rejected.reason is Reason.BAD_ENCODING:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            detail += "; save it as UTF-8"
        elif b"\0" in content[:1_000]:
            detail = "a binary file, not JSON"
    elif rejected.reason is Reason.NOT_JSON:
        infinite = _NOT_FINITE.search(text) if detail.endswith(_NO_NUMBER) else None
        if infinite:
            line, column = TextPositions(text).at(infinite.start(1))
        detail = _not_json(text, detail, line, column)
    elif len(content) > DOCUMENT_BYTES:
        detail = f"over the limit of {DOCUMENT_BYTES:,} bytes"
    return detail, line, column


def _not_json(text: str, detail: str, line: int, column: int) -> str:
    if not text.strip():
        return "the file is empty"
    if _TEMPLATE.search(text):
        detail = detail.removeprefix(_AS_YAML)
        return f"not valid: a template is rendered first ({detail})"
    after = "".join(text.splitlines(keepends=True)[line - 1 :])[column - 1 :]
    if detail.startswith(_AS_YAML):
        if after.startswith("\t"):
            return "not valid YAML: a tab cannot indent"
        detail = detail.removeprefix(_AS_YAML)
        return detail if detail.startswith("several") else f"not valid YAML: {detail}"
    if detail.endswith(_NO_NUMBER):
        return f"not valid JSON: {detail.removesuffix(_NO_NUMBER)}"
    return f"not valid JSON: {_cause(after.lstrip(), detail)}"


def _cause(after: str, detail: str) -> str:
    if detail == "Extra data":
        return "several values in one file; schemas, one a line, are a .jsonl file"
    if not after or detail.startswith("Unterminated"):
        return "the text is cut off"
    if detail.startswith(("Expecting value", "Expecting property")) or after[0] in "/#":
        for pattern, cause in _STOPS:
            if re.match(pattern, after):
                return cause
    return detail[0].lower() + detail[1:]
