"""XML: an element a member, its type in an attribute, as `json2xml` writes it.

A member whose name is no XML name becomes `<key name="...">`. Where a name or a text
holds what XML cannot say, such as a control character, both are escaped as in a JSON
string, and the element says so: `escaped="true"`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

from evaluation.suites.concodeeval.answers.model import value_of
from evaluation.suites.concodeeval.answers.xml_answer import (
    ESCAPED,
    ITEM,
    KEY,
    read_xml,
)
from evaluation.suites.concodeeval.compatibility import SuiteReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json

_INDENT: Final = "  "
_DECLARATION: Final = '<?xml version="1.0" ?>'
_ROOT: Final = "all"
#: Names that every XML parser takes, colons left out.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
#: Characters that XML 1.0 has not (section 2.2), and the carriage return, which
#: parsers turn into a line feed.
_UNSAYABLE: Final = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_xml(value: Json, *, typed_root: bool = True) -> str:
    """Return a value as an XML document.

    Args:
        value: What is written.
        typed_root: Whether the root element says its type too. It does not in the
            published schemas, whose root is always an object.

    Example:
        >>> print(write_xml({"type": "null"}, typed_root=False))
        <?xml version="1.0" ?>
        <all>
          <type type="str">null</type>
        </all>
    """
    head = f' type="{_type_of(value)}"' if typed_root else ""
    return "\n".join([_DECLARATION, *_element(_ROOT, head, value, "")])


def write_xml_schema(schema: Json) -> str:
    """Return a schema as an XML document, its root without a type if it is an object.

    An object of one member named `item` keeps its type: it would be read as an array.
    """
    is_plain = isinstance(schema, dict) and set(schema) != {ITEM}
    return write_xml(schema, typed_root=not is_plain)


def schema_from_xml(text: str) -> Json:
    """Return the schema of an XML text that `write_xml_schema` wrote.

    Raises:
        ValueError: it is no XML.
    """
    return value_of(read_xml(text, {}, SuiteReading.RECOMMENDED))


def _element(tag: str, head: str, value: Json, indent: str) -> Iterator[str]:
    """Yield the lines of an element.

    Args:
        tag: Its name.
        head: Its attributes, each after a space.
        value: What stands in it.
        indent: What its lines begin with.
    """
    if isinstance(value, dict | list):
        if not value:
            yield f"{indent}<{tag}{head}/>"
            return
        yield f"{indent}<{tag}{head}>"
        inner = indent + _INDENT
        if isinstance(value, dict):
            for name, member in value.items():
                yield from _member(name, member, inner)
        else:
            for item in value:
                yield from _member(ITEM, item, inner)
        yield f"{indent}</{tag}>"
        return
    text = escape(_scalar(value))
    if _needs_escapes(value):
        head, text = f'{head} {ESCAPED}="true"', escape(_escaped(str(value)))
    yield f"{indent}<{tag}{head}>{text}</{tag}>" if text else f"{indent}<{tag}{head}/>"


def _member(name: str, value: Json, indent: str) -> Iterator[str]:
    typed = f' type="{_type_of(value)}"'
    if _NAME.fullmatch(name):
        yield from _element(name, typed, value, indent)
    elif _needs_escapes(name) or "\\" in name or _needs_escapes(value):
        yield from _escaped_member(name, value, indent)
    else:
        yield from _element(KEY, f" name={_attribute(name)}{typed}", value, indent)


def _escaped_member(name: str, value: Json, indent: str) -> Iterator[str]:
    head = (
        f' name={_attribute(_escaped(name))} type="{_type_of(value)}" {ESCAPED}="true"'
    )
    if isinstance(value, str):
        yield f"{indent}<{KEY}{head}>{escape(_escaped(value))}</{KEY}>"
    else:
        yield from _element(KEY, head, value, indent)


def _needs_escapes(value: Json) -> bool:
    """Return whether a value is a text with something that XML cannot say."""
    return isinstance(value, str) and _UNSAYABLE.search(value) is not None


def _attribute(text: str) -> str:
    """Return a text as an attribute's value, its white space kept."""
    return quoteattr(text, {"\n": "&#10;", "\t": "&#9;"})


def _escaped(text: str) -> str:
    """Return a text as it stands in a JSON string of ASCII characters."""
    return json.dumps(text)[1:-1]


def _scalar(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)


def _type_of(value: Json) -> str:
    return "null" if value is None else type(value).__name__
