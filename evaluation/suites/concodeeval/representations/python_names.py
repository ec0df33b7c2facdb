"""Names in generated Python: of fields and of classes, and nothing else.

Property names come from schemas of anyone: a name stands in code only if it is a plain
identifier that hides nothing; any other becomes an alias, written as a string literal.
"""

from __future__ import annotations

import keyword
import re
from typing import Final

from curation.instances.words import split

#: What a class body must not give another meaning: attributes of pydantic's models,
#: and the names that annotations use.
_TAKEN: Final = frozenset(
    split(
        """
        construct copy dict from_orm json parse_file parse_obj parse_raw schema
        schema_json update_forward_refs validate bool float int list str Annotated Any
        BaseModel ConfigDict Field Literal RootModel
        """
    )
)
_PLAIN: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
_WORDS: Final = re.compile(r"[A-Za-z0-9]+")


def field_name(name: str, position: int) -> str:
    """Return what a property is called in code; not its own name if that will not do.

    Args:
        name: The property's name.
        position: Its position among the properties, from 0.

    Example:
        >>> field_name("size", 0), field_name("class", 1), field_name("a b", 2)
        ('size', 'field_1', 'field_2')
    """
    is_usable = (
        _PLAIN.fullmatch(name)
        and not keyword.iskeyword(name)
        and not name.startswith(("model_", "field_"))
        and name not in _TAKEN
        # Classes begin with a capital, and are named in annotations.
        and not name[0].isupper()
    )
    return name if is_usable else f"field_{position}"


def class_name(hint: str, taken: set[str]) -> str:
    """Return a new class's name, and add it to those that are taken.

    Args:
        hint: What it is the class of: a property's name, `item`.
        taken: The names of other classes.

    Example:
        >>> class_name("price list", {"PriceList"})
        'PriceList2'
    """
    words = _WORDS.findall(hint) if hint.isascii() else []
    stem = "".join(word[:1].upper() + word[1:] for word in words)[:40]
    if not stem or stem[0].isdigit() or stem in _TAKEN or keyword.iskeyword(stem):
        stem = f"Value{stem}"
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}{count}"
    taken.add(name)
    return name
