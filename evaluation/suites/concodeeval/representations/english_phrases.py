"""The sentences of the natural-language representation, each with its reader.

A phrase says one keyword with its value in one way only, so that what is written can
be read back. Two sentences of the published templates are corrected: of
`exclusiveMaximum` and `maximum`, which were said to be lower bounds, and of `{}`,
which was said to be an object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: A property without a schema of its own: any value will do.
ANY_VALUE: Final = "Any value"
#: What a type's noun is after `A`, and its plural.
NOUNS: Final = {
    "number": ("number", "numbers"),
    "string": ("string", "strings"),
    "boolean": ("boolean", "booleans"),
    "null": ("null", "nulls"),
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """How one keyword of a scalar is said, and read."""

    keyword: str
    #: The words before the value, after `must be` or at the beginning of a line.
    words: str
    #: The words after it.
    after: str = ""
    #: Whether the value stands as it is, and not as JSON.
    is_name: bool = False

    def say(self, value: Json) -> str:
        """Return the keyword with a value in words."""
        shown = str(value) if self.is_name else json.dumps(value)
        return f"{self.words} {shown}{self.after}"

    def read(self, text: str) -> Json:
        """Return the value that is said; None if the text is another phrase."""
        pattern = f"{re.escape(self.words)} (.+){re.escape(self.after)}"
        found = re.fullmatch(pattern, text)
        if found is None:
            return None
        value: Json = found[1] if self.is_name else json.loads(found[1])
        return value


#: What may be asked of a number or of a string.
PHRASES: Final = (
    Phrase("multipleOf", "a multiple of"),
    Phrase("minimum", "greater than or equal to"),
    Phrase("exclusiveMinimum", "strictly greater than"),
    Phrase("maximum", "less than or equal to"),
    Phrase("exclusiveMaximum", "strictly less than"),
    Phrase("format", "of the format", is_name=True),
    Phrase("minLength", "at least", " characters long"),
    Phrase("maxLength", "at most", " characters long"),
)
#: How many items of an array must satisfy `contains`.
COUNT_PHRASES: Final = (
    Phrase("minContains", "Minimum number of such elements:"),
    Phrase("maxContains", "Maximum number of such elements:"),
)
_BY_KEYWORD: Final = {phrase.keyword: phrase for phrase in PHRASES}


def say_scalar(schema: dict[str, Json]) -> str:
    """Return a scalar's schema in one phrase.

    Raises:
        KeyError: it holds a keyword that there is no phrase for.

    Example:
        >>> say_scalar({"type": "number", "minimum": 3})
        'A number that must be greater than or equal to 3'
        >>> say_scalar({})
        'Any value'
    """
    if not schema:
        return ANY_VALUE
    said = [
        _BY_KEYWORD[keyword].say(value)
        for keyword, value in schema.items()
        if keyword != "type"
    ]
    noun = f"A {NOUNS[str(schema['type'])][0]}"
    return f"{noun} that must be {', '.join(said)}" if said else noun


def read_scalar(text: str) -> dict[str, Json]:
    """Return the schema of a phrase that `say_scalar` has said.

    Raises:
        ValueError: it is no such phrase.
    """
    if text == ANY_VALUE:
        return {}
    noun, _, said = text.partition(" that must be ")
    types = [name for name, words in NOUNS.items() if noun == f"A {words[0]}"]
    if not types:
        raise ValueError(f"no type is called {noun!r}")
    schema: dict[str, Json] = {"type": types[0]}
    for text_of_phrase in said.split(", ") if said else ():
        keyword, value = read_phrase(text_of_phrase)
        schema[keyword] = value
    return schema


def read_phrase(text: str) -> tuple[str, Json]:
    """Return the keyword and the value of one phrase.

    Raises:
        ValueError: it is none of ours.
    """
    for phrase in (*PHRASES, *COUNT_PHRASES):
        value = phrase.read(text)
        if value is not None:
            return phrase.keyword, value
    raise ValueError(f"no phrase: {text!r}")
