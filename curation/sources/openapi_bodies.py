"""The bodies of requests and responses of an OpenAPI description.

A body is a schema with the components that it needs. Schemas of OpenAPI 3.0 nearly
follow draft-04, with `nullable`; since 3.1 they follow 2020-12 (OpenAPI
Specification 3.0.4 and 3.1.1, "Schema Object").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from shlex import quote
from typing import TypeGuard

import msgspec

from curation.core.json_types import Json
from curation.json.pointer import Tokens, at, pointer, tokens_of_fragment
from curation.schema.dialects import DRAFT_04, DRAFT_2020_12, Dialect
from curation.schema.subschemas import edited_objects, subschemas
from curation.sources.readers import NamedSchema
from curation.system.errors import BadData
from curation.system.words import counted

_SWAGGER = "Swagger 2.0"
_VERBS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
#: The member of a path item that holds its operations with other methods.
_MORE_METHODS = "additionalOperations"
_COMPONENTS = "#/components/schemas/"
#: Members of a schema that OpenAPI alone knows; none of them restricts a value.
OPENAPI_ONLY = frozenset({"discriminator", "example", "externalDocs", "xml"})


def schemas_in(
    value: Json, path: str, log: Callable[[str], None], selected: str = ""
) -> list[NamedSchema]:
    """Return the JSON bodies of a description, then components that none needs.

    Args:
        value: The description.
        path: Its file, for messages.
        log: Prints how many operations have none.
        selected: The name of a component, or the pointer to it, returned anyway.

    Raises:
        BadData: it is of no version 3, or has no schema.
    """
    try:
        description = Description.of(value)
    except ValueError as error:
        hint = "bodies are read of OpenAPI 3.0 to 3.2"
        if _SWAGGER in str(error):
            convert = f"npx swagger2openapi {quote(path)} -o openapi.json"
            hint += f"; to convert it: {convert}"
        raise BadData(str(error), path, hint) from error
    bodies = list(description.bodies())
    found = [*bodies, *description.others(selected)]
    if not found:
        raise BadData("no schema in the OpenAPI description", path)
    operations = {body.name.rpartition(".")[0] for body in bodies}
    without = len([*description.operations()]) - len(operations)
    if without:
        log(f"{path}: {counted(without, 'operation')} without a body in JSON")
    return found


#: Members of a description that hold no schemas, though they look so.
_DATA = frozenset({"example", "examples", "enum"})


def walk(value: Json, tokens: Tokens = ()) -> Iterator[tuple[Tokens, Json, str]]:
    """Yield the schemas of a description, and the objects around them that refer.

    Only the latter come with a reference.

    Args:
        value: A description, or a part of one.
        tokens: Where the part is.
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk(item, (*tokens, str(index)))
    if not isinstance(value, dict):
        return
    if isinstance(reference := value.get("$ref"), str):
        yield tokens, value, reference
    holds = tokens in (("components", "schemas"), ("definitions",))
    for name, inner in value.items():
        if (holds or name == "schema") and isinstance(inner, dict | bool):
            yield (*tokens, name), inner, ""
        elif name not in _DATA and not name.startswith("x-"):
            yield from walk(inner, (*tokens, name))


def dialect_in(document: dict[str, Json]) -> Dialect:
    """Return the dialect of the schemas of a description."""
    version = str(document.get("openapi"))
    is_new = version.startswith("3.") and not version.startswith("3.0")
    return DRAFT_2020_12 if is_new else DRAFT_04


#: Members of which a description has one.
_VERSIONS = ("openapi", "swagger")


def is_description(value: object) -> TypeGuard[dict[str, Json]]:
    """Return whether a document declares any version of OpenAPI."""
    return isinstance(value, dict) and any(
        isinstance(value.get(name), str) for name in _VERSIONS
    )


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """An OpenAPI description, version 3.

    Example:
        >>> description = Description.of(json.loads(Path("openapi.json").read_bytes()))
        >>> [body.name for body in description.bodies()]
        ['createPet.request', 'createPet.201']
    """

    document: dict[str, Json]
    dialect: Dialect
    #: Converted components, filled as they are needed.
    _converted: dict[str, Json] = {}

    @classmethod
    def of(cls, document: Json) -> Description:
        """Return the description that a document is.

        Raises:
            ValueError: it is not version 3.
        """
        version = document.get("openapi") if isinstance(document, dict) else None
        if not (isinstance(document, dict) and isinstance(version, str)):
            old = isinstance(document, dict) and "swagger" in document
            message = (
                f"a description of {_SWAGGER}" if old else "no OpenAPI description"
            )
            raise ValueError(message)  # noqa: TRY004 (what is wrong is the document)
        if not version.startswith(("3.0", "3.1", "3.2")):
            raise ValueError(f"of OpenAPI {version[:20]}")
        return cls(document=document, dialect=dialect_in(document))

    def bodies(self) -> Iterator[NamedSchema]:
        """Yield the bodies in JSON of requests and of answers of success.

        They are named `<operation>.request` and `<operation>.<status>`.
        """
        for name, location in self.operations():
            yield from self._named(f"{name}.request", (*location, "requestBody"))
            inside, answers = self._target((*location, "responses"))
            for status in answers:
                if status.startswith("2"):
                    yield from self._named(f"{name}.{status}", (*inside, status))

    def others(self, selected: str) -> Iterator[NamedSchema]:
        """Yield the components that no body yielded before needs, and a selected one.

        Args:
            selected: Its name, or the pointer to it.
        """
        for name in self._components:
            tokens = ("components", "schemas", name)
            if name not in self._converted or selected in (name, pointer(tokens)):
                yield self._of_file(name, tokens)

    def operations(self) -> Iterator[tuple[str, Tokens]]:
        """Yield the name and the place of each operation."""
        for path in self._members(("paths",)):
            item = ("paths", path)
            # A path item may have operations next to its reference.
            for location in dict.fromkeys((self._target(item)[0], item)):
                more = self._members((*location, _MORE_METHODS))
                others = ((_MORE_METHODS, method) for method in more)
                for tokens in (*((verb,) for verb in _VERBS), *others):
                    if operation := self._members((*location, *tokens)):
                        own = operation.get("operationId")
                        name = own if isinstance(own, str) else f"{tokens[-1]}{path}"
                        yield name, (*location, *tokens)

    def _members(self, location: Tokens) -> dict[str, Json]:
        """Return the members of the object at a place; none without an object."""
        with suppress(LookupError):
            value = at(self.document, location)
            return value if isinstance(value, dict) else {}
        return {}

    def _target(self, location: Tokens) -> tuple[Tokens, dict[str, Json]]:
        """Return a place and its members, or those at the end of its references."""
        visited: set[Tokens] = set()
        while location not in visited:
            visited.add(location)
            members = self._members(location)
            reference = members.get("$ref")
            if not (isinstance(reference, str) and reference.startswith("#/")):
                return location, members
            location = tokens_of_fragment(reference)
        return location, {}

    def _named(self, name: str, location: Tokens) -> Iterator[NamedSchema]:
        location, _ = self._target(location)
        for kind in self._members((*location, "content")):
            plain = kind.partition(";")[0].strip().lower()
            is_json = plain == "application/json" or plain.endswith("+json")
            media_place, media = self._target((*location, "content", kind))
            if is_json and "schema" in media:
                yield self._of_file(name, (*media_place, "schema"))
                return

    def _of_file(self, name: str, tokens: Tokens) -> NamedSchema:
        """Return the schema with these tokens, with the components that it needs."""
        schema: Json = at(self.document, tokens)
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        root = ""
        if isinstance(reference, str) and reference.startswith(_COMPONENTS):
            root = pointer(tokens_of_fragment(reference))
        return NamedSchema(
            name=name,
            schema=self._whole(schema),
            place=pointer(tokens),
            moved=(f"/{self.holder}", "/components/schemas"),
            root=root,
        )

    @property
    def holder(self) -> str:
        """The member of a body that holds its components."""
        return self.dialect.definitions_keyword

    def _whole(self, schema: Json) -> Json:
        root, holder = self._in_json_schema(schema), self.holder
        # A root that only refers to a component is resolved.
        visited: set[Tokens] = set()
        while isinstance(root, dict) and root.keys() == {"$ref"}:
            tokens = self._in_components(root["$ref"])
            if len(tokens) != 1 or tokens in visited:
                break
            visited.add(tokens)
            root = self._component(tokens[0])
        needed: dict[str, Json] = {}
        waiting = [root]
        while waiting:
            for subschema in subschemas(waiting.pop(), self.dialect):
                for name in self._in_components(subschema.get("$ref"))[:1]:
                    if name not in needed:
                        needed[name] = self._component(name)
                        waiting.append(needed[name])
        if not isinstance(root, dict):
            return root
        own = root.get(holder)
        if needed:
            needed = {**own, **needed} if isinstance(own, dict) else needed
            root = {**root, holder: needed}
        return {"$schema": self.dialect.uri, **root}

    def _in_components(self, reference: Json) -> Tokens:
        """Return a component's name and the tokens below it; () of other references."""
        start = f"#/{self.holder}/"
        if not (isinstance(reference, str) and reference.startswith(start)):
            return ()
        tokens = tokens_of_fragment(reference)[1:]
        return tokens if tokens[0] in self._components else ()

    @property
    def _components(self) -> dict[str, Json]:
        return self._members(("components", "schemas"))

    def _component(self, name: str) -> Json:
        if name not in self._converted:
            self._converted[name] = self._in_json_schema(self._components[name])
        return self._converted[name]

    def _in_json_schema(self, schema: Json) -> Json:
        """Return a schema without what OpenAPI alone knows, its references moved."""
        return edited_objects(schema, self.dialect, self._plain)

    def _plain(self, schema: dict[str, Json]) -> Json:
        is_old = self.dialect is DRAFT_04
        plain = in_json_schema(schema, self._moved, is_old=is_old)
        # Reference Object: "any properties added SHALL be ignored".
        is_alone = is_old and isinstance(plain.get("$ref"), str)
        return {"$ref": plain["$ref"]} if is_alone else plain

    def _moved(self, reference: str) -> str:
        name = reference.removeprefix(_COMPONENTS)
        return reference if name == reference else f"#/{self.holder}/{name}"


def in_json_schema(
    schema: dict[str, Json], move: Callable[[str], str], *, is_old: bool
) -> dict[str, Json]:
    """Return a schema object of OpenAPI without what OpenAPI alone knows.

    Args:
        schema: The object; those in it stay as they are.
        move: Returns where a reference leads; empty to take it away.
        is_old: Whether it is of OpenAPI 3.0.
    """
    plain = {
        name: value
        for name, value in schema.items()
        if name not in OPENAPI_ONLY and not name.startswith("x-")
    }
    if isinstance(reference := plain.get("$ref"), str):
        plain["$ref"] = move(reference)
        if not plain["$ref"]:
            del plain["$ref"]
    is_nullable = is_old and plain.pop("nullable", None) is True
    if is_nullable and isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
    return plain
