"""Tool schemas: the tools and models that packages of PyPI and npm define as data.

A definition is an object with a name and the schema of its arguments or results, in the
form of the Model Context Protocol, OpenAI, Anthropic, Amazon Bedrock or Prefect: a
literal in JavaScript or JSON; in Python a dictionary, a call with keywords or the body
of a class. A JSON file may also be one schema, as Pydantic and zod write it. No code of
a package runs: a schema that is not plain data is left out, and so is one without
properties. The pins list the files, none of which is a test or an example.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import lru_cache

from curation.core.benchmark import TOOLS, is_notice, natural_key
from curation.core.documents import RawDocument
from curation.core.json_types import UntypedJson
from curation.download.pins import load_pins
from curation.json import text as jsontext
from curation.json.javascript import OPAQUE, is_plain, object_literals
from curation.sources.readers import Reading, Source, document, function_name, plain_id
from curation.system.errors import BadData

_NAME = "tool-schemas"
#: What the names of the archives begin with.
_ARCHIVES = "tools-"
#: The member of a definition with its schema, and the suffix of its name.
_SCHEMAS = {
    "parameters": "",
    "input_schema": "",
    "inputSchema": "",
    "output_schema": ".output",
    "outputSchema": ".output",
    "fields": "",
}
_WHOLE = frozenset({"$schema", "$defs", "properties"})
#: Maximum number of schemas of one package; those with the
#: smallest digests stay.
_MAX = 12


def definitions(path: str, text: str) -> Iterator[tuple[int, dict[str, UntypedJson]]]:
    """Yield line and value of possible definitions of a tool in a file.

    Raises:
        SyntaxError: it is Python that this version of Python cannot read.

    Example:
        >>> list(definitions("a.py", "Tool(name='t', parameters={'type': 'object'})"))
        [(1, {'name': 't', 'parameters': {'type': 'object'}})]
    """
    if path.endswith(".py"):
        with warnings.catch_warnings():
            # Escapes that Python does not know are others' concern.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    else:
        yield from object_literals(text, _SCHEMAS)
        return
    constants = _assigned(tree.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            members = _members(node)
        elif isinstance(node, ast.Call):
            members = {word.arg: word.value for word in node.keywords if word.arg}
        elif isinstance(node, ast.ClassDef):
            members = _assigned(node.body)
        else:
            continue
        if not _SCHEMAS.keys().isdisjoint(members):
            value = {name: _value(part, constants) for name, part in members.items()}
            yield node.lineno, value


def _value(node: ast.expr, constants: dict[str, ast.expr]) -> UntypedJson:
    """Return a value as far as it is plain data, constants of the module put in."""
    if isinstance(node, ast.Dict):
        members = _members(node)
        if len(members) == len(node.keys):
            return {name: _value(part, constants) for name, part in members.items()}
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item, constants) for item in node.elts]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _value(node.left, constants), _value(node.right, constants)
        is_text = isinstance(left, str) and isinstance(right, str)
        return left + right if is_text else OPAQUE
    if isinstance(node, ast.Name) and node.id in constants:
        # A name assigned to itself has no value.
        others = {name: part for name, part in constants.items() if name != node.id}
        return _value(constants[node.id], others)
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return OPAQUE
    return value if isinstance(value, str | int | float | None) else OPAQUE


def _members(node: ast.Dict) -> dict[str, ast.expr]:
    """Return the members of a dictionary that have a text as name."""
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return the values of the names assigned once in a body."""
    values: dict[str, list[ast.expr]] = {}
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
    return {name: own[0] for name, own in values.items() if len(own) == 1}


def schemas(definition: dict[str, UntypedJson]) -> Iterator[tuple[str, UntypedJson]]:
    """Yield name and schema of a definition's arguments, and of its results.

    Example:
        >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        >>> [name for name, _ in schemas({"name": "add", "outputSchema": schema})]
        ['add.output']
    """
    for member, suffix in _SCHEMAS.items():
        schema = definition.get(member)
        if isinstance(schema, dict) and schema.keys() == {"json"}:
            # Bedrock's form.
            schema = schema["json"]
        if not isinstance(schema, dict) or not is_plain(schema):
            continue
        properties = schema.get("properties")
        is_schema = schema.get("type") == "object" and isinstance(properties, dict)
        named = definition if "name" in definition else {"name": schema.get("title")}
        if is_schema and properties and named["name"] is not None:
            yield function_name(named) + suffix, schema


def _read_schemas(path: str, content: bytes) -> Iterator[tuple[int, str, UntypedJson]]:
    """Yield line, name and value of each schema of a file."""
    value = jsontext.parse(content) if path.endswith(".json") else None
    if isinstance(value, dict) and not _WHOLE.isdisjoint(value):
        yield 1, plain_id(path.rpartition("/")[2].removesuffix(".json")), value
        return
    for line, definition in definitions(path, content.decode()):
        for name, schema in schemas(definition):
            yield line, name, schema


@lru_cache(maxsize=128)
def read(reading: Reading) -> tuple[RawDocument, ...]:
    """Return `<package>.<tool>_<8 hex digits of the digest>`, each schema once.

    A build reads every source twice: files here are long, and what is read is short.

    Raises:
        BadData: a file cannot be read as its suffix requires.
    """
    package = plain_id(reading.commit.rpartition("@")[0])
    by_digest: dict[str, RawDocument] = {}
    for path in reading.files.paths:
        if is_notice(path):
            continue
        try:
            own = list(_read_schemas(path, reading.files.read(path)))
        except (SyntaxError, ValueError, RecursionError) as error:
            raise BadData(str(error), f"{reading.commit}: {path}") from error
        for line, name, schema in own:
            digest = jsontext.digest(schema)
            if digest not in by_digest:
                by_digest[digest] = document(
                    reading,
                    source=_NAME,
                    config=TOOLS,
                    unique_id=f"{package}.{name}_{digest[:8]}",
                    path=f"{path}#{line}",
                    content=jsontext.write(schema).encode(),
                )
    sample = (by_digest[digest] for digest in sorted(by_digest)[:_MAX])
    return tuple(sorted(sample, key=lambda raw: natural_key(raw.unique_id)))


_PARTS = tuple(name for name in load_pins() if name.startswith(_ARCHIVES))

SOURCE = Source(
    name=_NAME,
    title="Tools and models of packages of PyPI and npm",
    configs=(TOOLS,),
    archives={"paper": _PARTS, "clean": _PARTS},
    read=read,
    extra=True,
    by_default=True,
    in_parts=True,
)
