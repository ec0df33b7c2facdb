"""The Berkeley Function Calling Leaderboard: the functions that its questions offer.

A line of a file is one question with definitions of functions, in
`multi_turn_func_doc` one definition; a document is the `parameters` of a definition.
Types of programming languages are mapped to JSON Schema as the leaderboard does
(`bfcl_eval.constants.type_mappings`), except that `any` is anything, not a string.

`possible_answer` holds the accepted values of each parameter; they are the example of
the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from curation.core.benchmark import natural_key
from curation.core.documents import RawDocument, Rejected
from curation.core.json_types import Json
from curation.json import text as jsontext
from curation.sources.base import Reading, Source
from curation.sources.readers import document, function_name
from curation.system.errors import BadData

_NAME = "bfcl"
_CONFIG = "BFCL"
_ANSWERS = "/possible_answer/"
# A `tuple` is an array; what may be of any type has no `type`.
_TYPES = {
    "dict": "object",
    "HashMap": "object",
    "Hashtable": "object",
    "float": "number",
    "double": "number",
    "long": "integer",
    "short": "integer",
    "byte": "integer",
    "Bigint": "integer",
    "tuple": "array",
    "Array": "array",
    "ArrayList": "array",
    "Queue": "array",
    "Stack": "array",
    "Set": "array",
    "String": "string",
    "char": "string",
    "Boolean": "boolean",
}
_ANY = frozenset({"any", "Any", ""})


def in_json_schema(schema: Json) -> Json:
    """Return a definition's parameters with the types of JSON Schema.

    Types under `properties`, `items` and `additionalProperties` are mapped; nothing
    else is changed, and a type that is not known stays for the rules to judge.

    Example:
        >>> in_json_schema({"type": "tuple", "items": {"type": "any"}})
        {'type': 'array', 'items': {}}
    """
    if not isinstance(schema, dict):
        return schema
    mapped: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword == "type" and isinstance(value, str):
            if value not in _ANY:
                mapped[keyword] = _TYPES.get(value, value)
        elif keyword == "properties" and isinstance(value, dict):
            mapped[keyword] = {
                name: in_json_schema(member) for name, member in value.items()
            }
        elif keyword in {"items", "additionalProperties"}:
            mapped[keyword] = in_json_schema(value)
        else:
            mapped[keyword] = value
    return mapped


def _definitions(value: Json, place: str) -> Iterator[tuple[str, Json]]:
    if not isinstance(value, dict):
        return
    if "parameters" in value:
        yield place, value
    functions = value.get("function")
    for index, function in enumerate(functions if isinstance(functions, list) else ()):
        yield f"{place}/function/{index}", function


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _choice(name: str, accepted: Json, schema: Json, turn: int) -> tuple[Json, bool]:
    """Return the accepted value of a parameter whose turn it is, and whether it counts.

    An empty text among others says that the parameter may be left out, unless it is
    required.
    """
    if not isinstance(accepted, list) or not accepted:
        return accepted, True
    value = accepted[turn % len(accepted)]
    holder = schema if isinstance(schema, dict) else {}
    properties, required = holder.get("properties"), holder.get("required")
    if value == "" and not (isinstance(required, list) and name in required):
        return value, False
    own = properties.get(name) if isinstance(properties, dict) else None
    if isinstance(own, dict):
        if own.get("type") == "object":
            value = _answer(value, own, turn)
        elif own.get("type") == "array" and isinstance(value, list):
            value = [_answer(element, own.get("items"), turn) for element in value]
    return value, True


def _answer(accepted: Json, schema: Json, turn: int) -> Json:
    """Return arguments of a call, or an object among them, with one value each.

    Args:
        accepted: Of each name the values that are accepted.
        schema: Of the object, in JSON Schema.
        turn: Which of the values is taken, counted around.
    """
    if not isinstance(accepted, dict):
        return accepted
    answer: dict[str, Json] = {}
    for name, values in accepted.items():
        value, counts = _choice(name, values, schema, turn)
        if counts:
            answer[name] = value
    return answer


def _turns(accepted: Json) -> int:
    """Return the number of turns after which each accepted value had its own."""
    if isinstance(accepted, dict):
        return max(map(_turns, accepted.values()), default=1)
    if isinstance(accepted, list):
        return max(len(accepted), *map(_turns, accepted), 1)
    return 1


def answers(accepted: Json, schema: Json) -> Iterator[str]:
    """Yield calls that the leaderboard accepts, as JSON texts.

    Not each combination of the accepted values, but as many that each of them occurs.

    Args:
        accepted: Of each parameter the values that are accepted.
        schema: Of the parameters, in JSON Schema.

    Example:
        >>> list(answers({"n": [1, 2], "unit": ["m", ""]}, {"type": "object"}))
        ['{"n": 1, "unit": "m"}', '{"n": 2}']
    """
    for turn in range(_turns(accepted)):
        yield json.dumps(_answer(accepted, schema, turn), ensure_ascii=False)


class _Examples:
    """The accepted answers of the questions, by the digest of the schema called."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._paths = frozenset(reading.files.paths)
        self.texts: dict[str, dict[str, None]] = {}

    def of_file(self, path: str) -> dict[str, Json]:
        """Return the right calls of each question of a file, by the question's id."""
        folder, _, name = path.rpartition("/")
        beside = f"{folder}{_ANSWERS}{name}"
        if beside not in self._paths:
            return {}
        right: dict[str, Json] = {}
        for number, line in _lines(self._reading.files.read(beside)):
            value = _parsed(line, f"{beside}, line {number}")
            if isinstance(value, dict) and isinstance(value.get("id"), str):
                right[str(value["id"])] = value.get("ground_truth")
        return right

    def note(self, calls: Json, name: Json, schema: Json, digest: str) -> None:
        """Take down the calls of one function."""
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(name, str) and name in call:
                texts = dict.fromkeys(answers(call[name], schema))
                self.texts.setdefault(digest, {}).update(texts)


def _parsed(line: bytes, place: str) -> Json:
    """Return the JSON value of a line.

    Raises:
        BadData: it is no JSON.
    """
    value = jsontext.parse(line)
    if isinstance(value, Rejected):
        raise BadData(value.detail, place)
    return value


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `<name>_<8 hex digits of the digest>` for each name and canonical form.

    Of definitions that differ in their description alone, the first in the files
    counts, in the order of their names.

    Raises:
        BadData: a line is no JSON.
    """
    documents: dict[tuple[str, str], RawDocument] = {}
    examples = _Examples(reading)
    paths = (path for path in reading.files.paths if _ANSWERS not in path)
    for path in paths:
        right = examples.of_file(path)
        for number, line in _lines(reading.files.read(path)):
            value = _parsed(line, f"{path}, line {number}")
            question = str(value.get("id")) if isinstance(value, dict) else ""
            for place, definition in _definitions(value, f"{path}#{number}"):
                name, schema = _named(definition)
                digest = jsontext.digest(schema)
                if isinstance(definition, dict):
                    called = definition.get("name")
                    examples.note(right.get(question), called, schema, digest)
                if (name, digest) not in documents:
                    documents[name, digest] = document(
                        reading,
                        source=_NAME,
                        config=_CONFIG,
                        unique_id=f"{name}_{digest[:8]}",
                        path=place,
                        content=jsontext.write(schema).encode(),
                    )
    whole = (
        replace(raw, examples=tuple(examples.texts.get(digest, ())))
        for (_, digest), raw in documents.items()
    )
    yield from sorted(whole, key=lambda raw: natural_key(raw.unique_id))


def _named(definition: Json) -> tuple[str, Json]:
    """Return a function's name, fit for an id, and the schema of its parameters."""
    if not isinstance(definition, dict):
        return "unnamed", None
    return function_name(definition), in_json_schema(definition.get("parameters"))


SOURCE = Source(
    name=_NAME,
    title="Berkeley Function Calling Leaderboard (bfcl-eval)",
    configs=(_CONFIG,),
    archives={"paper": ("bfcl-eval",), "clean": ("bfcl-eval",)},
    read=read,
    extra=True,
)
