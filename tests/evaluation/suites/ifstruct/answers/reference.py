"""A right answer to any row: values that its schema accepts, written as it asks.

Values are drawn with a seed. Texts are such as break careless writers of JSON and
YAML: quotes, backslashes, line breaks, and words that YAML takes for something else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Final

import yaml

from evaluation.suites.ifstruct.data_files import escapes
from evaluation.suites.ifstruct.rows import AnswerFormat, FenceWish, Field, all_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.suites.ifstruct.rows import IfstructRecord, Requirements

_TEXTS: Final = (
    "Lise Holm of Nordvik",
    "no",
    "1.10",
    "012",
    "yes: with a colon",
    "- not a list",
    "# no remark",
    "it's Tuesday's",
    'the "old" quay',
    "null",
    "2024-01-01",
    "æ ø å \N{SNOWMAN}",
    "C:\\temp\\new",
    "{curly} [square]",
)
_PRESENT: Final = 0.7
_REACH: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAnswer:
    """A right answer in parts, so that one of them can be broken."""

    requirements: Requirements
    #: The list of items.
    items: list[UntypedJson]
    #: Whether it stands in a code block, and the language that this one names.
    fenced: bool
    language: str
    #: Text around the block.
    before: str = ""
    after: str = ""
    #: The outermost value; the list with its wrapper if it is None.
    outer: UntypedJson = None
    indent: int | None = 2

    @property
    def is_json(self) -> bool:
        """Whether the answer is to be JSON."""
        return self.requirements.format is AnswerFormat.JSON

    @property
    def content(self) -> str:
        """The JSON or YAML text, without its code block."""
        if self.is_json:
            return json_text(self._value(), self.indent)
        return yaml_text(self._value())

    @property
    def text(self) -> str:
        """The whole answer."""
        return self.around(self.content)

    def around(self, content: str) -> str:
        """Return the answer with another content in its place."""
        if not self.fenced:
            return content
        ending = "" if content.endswith("\n") else "\n"
        return f"{self.before}```{self.language}\n{content}{ending}```{self.after}"

    def with_items(self, items: list[UntypedJson]) -> ReferenceAnswer:
        """Return the answer with other items."""
        return replace(self, items=items)

    def _value(self) -> UntypedJson:
        if self.outer is not None:
            return self.outer
        key = self.requirements.wrapper
        return self.items if key is None else {key: self.items}


def json_text(value: UntypedJson, indent: int | None = 2) -> str:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def yaml_text(value: UntypedJson) -> str:
    """Return a value as YAML in block style, every text that needs quotes quoted."""
    text: str = yaml.dump(
        value,
        Dumper=yaml.CSafeDumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=10_000,
    )
    return text


def reference_answer(record: IfstructRecord) -> ReferenceAnswer:
    """Return a right answer to a row; the same one every time."""
    wanted = record.requirements
    draw = Random(f"ifstruct answer {record.seed}")
    fields = dict(all_fields(record.spec.fields)) if record.spec else {}
    items = [
        _value(wanted.schema.get("items", {}), "", fields, draw)
        for _ in range(draw.randint(wanted.least, wanted.most))
    ]
    wish = wanted.fence.wish
    fenced = wish is FenceWish.REQUIRED or (
        wish is FenceWish.FREE and draw.random() < 1 / 2
    )
    talks = wanted.commentary and fenced and draw.random() < 1 / 2
    return ReferenceAnswer(
        requirements=wanted,
        items=items,
        fenced=fenced,
        language=wanted.fence.language or draw.choice((str(wanted.format), "")),
        before="Here you are:\n\n" if talks else "",
        after="\n\nAnything else?" if talks else "",
        indent=draw.choice((None, 2, 4)),
    )


def _value(
    schema: Mapping[str, UntypedJson],
    path: str,
    fields: Mapping[str, Field],
    draw: Random,
) -> UntypedJson:
    """Return a value that a schema of the published keywords accepts."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema.get("type", "string")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            return _object(schema, path, fields, draw)
        case "array":
            return _array(schema, path, fields, draw)
        case "integer" | "number" as number:
            return _number(schema, draw, whole=number == "integer")
        case "boolean":
            return draw.random() < 1 / 2
        case "null":
            return None
    return _text(fields.get(path), draw)


def _object(
    schema: Mapping[str, UntypedJson],
    path: str,
    fields: Mapping[str, Field],
    draw: Random,
) -> UntypedJson:
    required = set(schema.get("required", ()))
    found = {}
    for name, member in schema.get("properties", {}).items():
        inner = f"{path}.{name}" if path else name
        if name in required or draw.random() < _PRESENT:
            found[name] = _value(member, inner, fields, draw)
    if not found and schema.get("properties"):
        # An empty object can be written in YAML as JSON only, which is refused.
        name, member = next(iter(schema["properties"].items()))
        inner = f"{path}.{name}" if path else name
        found[name] = _value(member, inner, fields, draw)
    return found


def _array(
    schema: Mapping[str, UntypedJson],
    path: str,
    fields: Mapping[str, Field],
    draw: Random,
) -> UntypedJson:
    least = schema.get("minItems", 0)
    most = schema.get("maxItems", max(least, 2))
    count = draw.randint(least, most)
    if schema.get("uniqueItems"):
        return [f"{draw.choice(_TEXTS)} {number}" for number in range(count)]
    items = schema.get("items", {})
    return [_value(items, f"{path}[]", fields, draw) for _ in range(count)]


def _number(
    schema: Mapping[str, UntypedJson], draw: Random, *, whole: bool
) -> int | float:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None:
        low = 0 if high is None else high - _REACH
    if high is None:
        high = low + _REACH
    if whole:
        # A bound need not be whole itself.
        return draw.randint(int(-(-low // 1)), int(high // 1))
    number = round(draw.uniform(low, high), 2)
    return number if low <= number <= high else low


def _text(field: Field | None, draw: Random) -> str:
    if field is None:
        return draw.choice(_TEXTS)
    if field.stress:
        return draw.choice(escapes()[draw.choice(field.stress)].texts)
    return draw.choice(_TEXTS)
