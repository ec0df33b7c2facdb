"""Words of messages: numbers with their nouns, commands to paste, text of strangers.

`safe` is applied to all text of schemas, file names and archives printed or
written into a card: no control character steers a terminal.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text


def command(*words: object) -> str:
    """Return a command that a shell reads as it is meant, whatever a folder's name.

    Example:
        >>> command("verify", "my build")
        "csbdata verify 'my build'"
    """
    return shlex.join(["csbdata", *map(str, words)])


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which is given as of one.

    Example:
        >>> counted(1, "schema"), counted(2_000, "address with a password")
        ('1 schema', '2,000 addresses with a password')
    """
    head, space, rest = noun.partition(" with ")
    ending = "" if number == 1 else "es" if head.endswith(("s", "x", "ch")) else "s"
    return f"{number:,} {head}{ending}{space}{rest}"


_LAST_BMP = "\uffff"
# C0 and C1 controls, the marks that reorder or hide text (UAX 9, Unicode's
# "default ignorable" format characters), line separators and half surrogates.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def _visible(match: re.Match[str]) -> str:
    character = match.group()
    form = "\\u{:04x}" if character <= _LAST_BMP else "\\U{:08x}"
    return form.format(ord(character))


def safe(text: str) -> str:
    """Return the text on one line, with each control character made visible.

    ESC becomes the six characters backslash, u, 0, 0, 1, b.
    """
    return _UNSAFE.sub(_visible, text)


_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
#: A spreadsheet takes a cell that begins so for a formula (OWASP, CSV injection).
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def spreadsheet_text(text: str) -> str:
    """Return the text as a cell of CSV that no spreadsheet computes.

    A formula and a text with control characters, which become visible, get an
    apostrophe before them; a number stays.
    """
    shown = _CONTROL.sub(_visible, text)
    if shown == text and not _FORMULA.match(text):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{shown}"
    return text


def safe_lines(text: str) -> str:
    r"""Return the text as `safe` would, keeping the line ends of `\n`."""
    return "\n".join(safe(line) for line in text.split("\n"))


def shortened(text: str, length: int = 80) -> str:
    """Return at most `length` characters of the safe text, with dots if cut."""
    clean = safe(text[: length + 1])
    return clean if len(clean) <= length else clean[: length - 3] + "..."


def plain(text: str, style: str = "") -> Text:
    """Return safe text that rich prints as it is: no markup, no emoji codes."""
    from rich.text import Text  # noqa: PLC0415 - takes time

    return Text(safe_lines(text), style=style)
