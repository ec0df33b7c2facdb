"""A second reader: answers a record from its text, question and schema alone.

It shares no code with the generator. It knows that names of the schema stand in the
text as words, that each thing has its own paragraph, sheet or turns, that texts stand
in quotation marks, and that in a meeting the last word counts.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from evaluation.suites.sob.records import SobRecord

_QUOTED: Final = re.compile(r"“([^”]*)”")
_DAY: Final = re.compile(r"(\d{1,2} [A-Z][a-z]+ \d{4})(?:, (\d\d:\d\d) UTC)?")
_NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_NAME: Final = re.compile(r"(?:of|for|about) ([A-Z]\w+ \w+)")
_MISSING: Final = object()


def read_truth(record: SobRecord) -> Any:  # noqa: ANN401 (any JSON)
    """Return what the text says of the thing that the question asks about."""
    match = _NAME.search(record.question)
    assert match is not None, record.question
    facts = _facts(record, match[1])
    return _value(record.json_schema, "", facts)


def _facts(record: SobRecord, name: str) -> dict[str, str]:
    """Return what is said last under each name of a field."""
    facts: dict[str, str] = {}
    if record.source == "audio":
        lines = [line for line in record.context.splitlines() if f" {name}" in line]
    elif record.source == "text":
        (block,) = (
            part
            for part in record.context.split("\n\n")
            if part.startswith(f"[{name}]")
        )
        lines = re.split(r"(?=\u2018)", block.partition("] ")[2])
    else:
        (block,) = re.findall(
            rf"(?:^|\n)# {name}\n(.*?)(?=\n# |\Z)", record.context, re.DOTALL
        )
        lines = block.splitlines()
    for line in lines:
        field, told = _statement(line, record.source, name)
        if field:
            facts[field] = told
    return facts


def _statement(line: str, source: str, name: str) -> tuple[str, str]:
    if source == "image":
        parts = re.split(r"\s*(?:\||::|\.{4,})\s*", line.strip("| "), maxsplit=1)
        return (parts[0], parts[1]) if len(parts) == 2 else ("", "")
    found = re.search(r"\u2018([^\u2019]*)\u2019", line)
    if found is None:
        return "", ""
    rest = line[: found.start()] + " " + line[found.end() :]
    return found[1], re.sub(r"^\[[\d:]+\] \w+: ", "", rest).replace(name, " ")


def _words(name: str) -> str:
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return " ".join(parts).lower()


def _value(schema: Any, what: str, facts: dict[str, str]) -> Any:  # noqa: ANN401 (any JSON)
    if "properties" in schema:
        members = {}
        for name, inner in schema["properties"].items():
            own = f"{_words(name)} of {what}" if what else _words(name)
            value = _value(inner, own, facts)
            if value is not _MISSING:
                members[name] = value
        is_told = members or not what or _is_told(what, facts)
        return members if is_told else _MISSING
    if "items" in schema:
        items: list[Any] = []
        while len(items) < 9:
            item = _value(schema["items"], f"entry {len(items) + 1} of {what}", facts)
            if item is _MISSING:
                break
            items.append(item)
        return items or _MISSING
    return _leaf(schema, facts[what]) if what in facts else _MISSING


def _is_told(what: str, facts: dict[str, str]) -> bool:
    return any(field.endswith(f" of {what}") for field in facts)


def _leaf(schema: Any, told: str) -> Any:  # noqa: ANN401 (any JSON)
    quoted = _QUOTED.search(told)
    if quoted is not None:
        return quoted[1]
    if "not known" in told:
        return None
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "boolean" in types:
        return re.search(r"\b(yes|no)\b", told)[1] == "yes"  # type: ignore[index]  # it is there
    day = _DAY.search(told)
    if "string" in types and day is not None:
        date = datetime.strptime(day[1], "%d %B %Y").date().isoformat()  # noqa: DTZ007 (a day)
        return date if day[2] is None else f"{date}T{day[2]}:00Z"
    number = _NUMBER.search(told)
    assert number is not None, told
    digits = number[0].rstrip(",").replace(",", "")
    return float(digits) if "." in digits else int(digits)
