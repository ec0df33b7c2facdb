"""Sentences of a request, in the words of a voice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.ifstruct.core.fields import Field, FieldType
from evaluation.suites.ifstruct.presentation.wording import plain_text, rules_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evaluation.suites.ifstruct.core.row_spec import RowSpec


def prose(spec: RowSpec, sentence: Callable[[str, str], str]) -> str:
    """Return a paragraph that tells all fields.

    Args:
        spec: The choices of the row.
        sentence: Makes a sentence of a field's name and of what it holds.
    """
    return " ".join(_sentences(spec.fields, sentence))


def _sentences(
    fields: tuple[Field, ...], sentence: Callable[[str, str], str]
) -> Iterator[str]:
    for field in fields:
        yield sentence(field.name, _facts(field))


def _facts(field: Field) -> str:
    parts = [plain_text(field), rules_text(field)]
    parts += [field.about[:1].lower() + field.about[1:]] if field.about else []
    parts += ["this one may be left out"] if field.optional else []
    facts = ", ".join(part for part in parts if part)
    if not field.fields:
        return facts
    inner = ", ".join(f"`{one.name}` ({_facts(one)})" for one in field.fields)
    each = "each one having" if field.type is FieldType.OBJECTS else "having"
    return f"{facts}, {each} {inner}"
