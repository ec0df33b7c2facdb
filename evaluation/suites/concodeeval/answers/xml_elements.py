"""XML text as elements, with nothing in it followed, fetched or expanded.

A document type is refused as soon as it begins: entities of one's own, and with them
entity bombs and external entities, can stand nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from evaluation.suites.concodeeval.answers.model import (
    MAX_DEPTH,
    NotRead,
    Unreadable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class XmlElement:
    """One element: its name, attributes, text and elements inside."""

    name: str
    attributes: Mapping[str, str]
    #: The character data of the element itself, its pieces joined.
    text: str = ""
    children: list[XmlElement] = field(default_factory=list)


class _RefusalError(Exception):
    """What the reader refuses, and why."""

    def __init__(self, why: Unreadable, detail: str) -> None:
        super().__init__(detail)
        self.why = why


class _Builder:
    """Takes the parser's events."""

    def __init__(self) -> None:
        self.root: XmlElement | None = None
        self._open: list[XmlElement] = []
        #: The pieces of text of each open element.
        self._texts: list[list[str]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take a start tag."""
        if len(self._open) >= MAX_DEPTH:
            raise _RefusalError(Unreadable.TOO_DEEP, f"nested over {MAX_DEPTH} levels")
        element = XmlElement(name, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        self._texts.append([])

    def end(self, _name: str) -> None:
        """Take an end tag."""
        self._open.pop().text = "".join(self._texts.pop())

    def data(self, text: str) -> None:
        """Take character data."""
        self._texts[-1].append(text)

    def doctype(self, name: str, *_: object) -> NoReturn:
        """Refuse a document type."""
        raise _RefusalError(Unreadable.XML_DOCTYPE, f"the document type of <{name}>")


def read_elements(text: str) -> XmlElement | NotRead:
    """Return the root element of an XML text (XML 1.0), or why there is none.

    Example:
        >>> read_elements("<a b='1'>text</a>").attributes
        {'b': '1'}
    """
    builder = _Builder()
    # The encoding is that of the bytes handed over, whatever the text declares.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = builder.doctype
    try:
        parser.Parse(text.strip().encode("utf-8", "surrogatepass"))
        parser.Parse(b"", True)  # noqa: FBT003 (expat takes it by position alone)
    except _RefusalError as error:
        return NotRead(error.why, str(error))
    except expat.ExpatError as error:
        return NotRead(Unreadable.SYNTAX, str(error))
    if builder.root is None:
        return NotRead(Unreadable.SYNTAX, "no element")
    return builder.root
