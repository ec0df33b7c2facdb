"""Bodies of OpenAPI descriptions as schemas of one dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft4Validator, Draft202012Validator

from curation.json.pointer import at, parse_tokens
from curation.sources.openapi_bodies import Description, schemas_in
from curation.system.errors import BadData

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

PET: UntypedJson = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "nullable": True, "example": "Rex", "x-a": 1},
        "kind": {"type": "string", "enum": ["cat"], "nullable": True},
        "parent": {"$ref": "#/components/schemas/Pet"},
        "nullable": {"type": "boolean"},
    },
    "discriminator": {"propertyName": "kind"},
}


def content(value: UntypedJson) -> UntypedJson:
    """Return a body in JSON."""
    return {"content": {"application/json": value}}


def described(version: str, pet: UntypedJson = PET, **more: UntypedJson) -> UntypedJson:
    """Return a description with a request and an answer of pets."""
    reference = {"$ref": "#/components/schemas/Pet"}
    media = "application/json; charset=utf-8"
    return {
        "openapi": version,
        "paths": {
            "/pets": {
                "summary": "not an operation",
                "post": {
                    "operationId": "create",
                    "requestBody": {"$ref": "#/components/requestBodies/One"},
                    "responses": {
                        "201": {
                            "content": {
                                "text/plain": {"schema": {"type": "string"}},
                                "application/hal+json": {
                                    "schema": {"type": "array", "items": reference}
                                },
                            }
                        },
                        "400": {"content": {media: {"schema": {}}}},
                    },
                },
                "get": {"responses": {"204": {"description": "none"}}},
            }
        },
        "components": {
            "schemas": {"Pet": pet, "Other": {}},
            "requestBodies": {"One": {"content": {media: {"schema": reference}}}},
        },
        **more,
    }


def test_requests_and_successes_have_bodies() -> None:
    """Named by operation; other media types, failures and empty answers have none."""
    bodies = list(Description.of(described("3.0.3")).bodies())
    assert [body.name for body in bodies] == ["create.request", "create.201"]
    assert [body.place.partition("/content/")[0] for body in bodies] == [
        "/components/requestBodies/One",
        "/paths/~1pets/post/responses/201",
    ]


def test_a_body_of_3_0_is_a_schema_of_draft_04() -> None:
    """The root says itself what it is, its parts stand below it, and null is a type."""
    bodies: list[UntypedJson] = [
        body.schema for body in Description.of(described("3.0.3")).bodies()
    ]
    request, answer = bodies
    assert request["$schema"] == "http://json-schema.org/draft-04/schema#"
    assert request["properties"]["name"] == {"type": ["string", "null"]}
    # By 3.0.3 `nullable` changes the type alone: other keywords may refuse null.
    assert request["properties"]["kind"]["enum"] == ["cat"]
    assert request["properties"]["nullable"] == {"type": "boolean"}
    assert request["properties"]["parent"] == {"$ref": "#/definitions/Pet"}
    assert list(request["definitions"]) == ["Pet"]
    assert "discriminator" not in request
    valid = Draft4Validator(answer)
    assert valid.is_valid([{"name": None, "parent": {"name": "x"}}])
    assert not valid.is_valid([{"name": "x", "parent": {}}])


def test_a_body_of_3_1_is_a_schema_of_2020_12() -> None:
    """References lead to `$defs`, and what stands beside them counts."""
    pet = {"$ref": "#/components/schemas/Other", "type": "object", "nullable": True}
    (request, _) = Description.of(described("3.1.0", pet)).bodies()
    assert request.schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/$defs/Other",
        "type": "object",
        "nullable": True,
        "$defs": {"Other": {}},
    }
    Draft202012Validator.check_schema(request.schema)


def test_beside_a_reference_of_3_0_nothing_counts() -> None:
    """OpenAPI 3.0.4, Reference Object: members beside `$ref` are ignored."""
    pet = {"properties": {"a": {"$ref": "#/components/schemas/Other", "type": "null"}}}
    schema: UntypedJson = next(Description.of(described("3.0.0", pet)).bodies()).schema
    assert schema["properties"]["a"] == {"$ref": "#/definitions/Other"}


def request_of(
    version: str, schema: UntypedJson, **schemas: UntypedJson
) -> UntypedJson:
    """Return the schema of the one request of a description."""
    operation = {"requestBody": content({"schema": schema})}
    document: UntypedJson = {"openapi": version, "paths": {"/a": {"post": operation}}}
    document["components"] = {"schemas": schemas}
    (body,) = Description.of(document).bodies()
    return body.schema


@pytest.mark.parametrize(
    ("version", "holder"), [("3.0.0", "definitions"), ("3.1.0", "$defs")]
)
@pytest.mark.parametrize("place", [(), ("properties", "a")])
def test_a_reference_into_a_component_brings_it_in(
    version: str, holder: str, place: tuple[str, ...]
) -> None:
    """With what that component needs, at the root as below it."""
    reference = {"$ref": "#/components/schemas/A~1b%20c/properties/z"}
    schema = request_of(
        version,
        {"properties": {"a": reference}} if place else reference,
        **{
            "A/b c": {"properties": {"z": {"$ref": "#/components/schemas/D"}}},
            "D": {"type": "string"},
        },
    )
    inside: UntypedJson = at(schema, place)
    assert inside["$ref"] == f"#/{holder}/A~1b%20c/properties/z"
    assert schema[holder] == {
        "A/b c": {"properties": {"z": {"$ref": f"#/{holder}/D"}}},
        "D": {"type": "string"},
    }


@pytest.mark.parametrize("own", [{"L": {"type": "null", "$anchor": "l"}}, 7])
def test_the_definitions_of_a_body_stay(own: UntypedJson) -> None:
    """Beside the components that it needs."""
    reference = {"$ref": "#/components/schemas/C"}
    schema = request_of("3.1.0", {"$defs": own, "items": reference}, C={})
    assert schema["$defs"] == ({**own, "C": {}} if isinstance(own, dict) else {"C": {}})


MEDIA: UntypedJson = {"schema": {"type": "null"}}
JSON_BODY = content(MEDIA)
_P = {"$ref": "#/components/pathItems/P"}
_M = content({"$ref": "#/components/mediaTypes/M"})


@pytest.mark.parametrize(
    ("item", "names"),
    [
        ({"query": {"requestBody": JSON_BODY}}, ["query/a"]),
        ({"additionalOperations": {"COPY": {"requestBody": JSON_BODY}}}, ["COPY/a"]),
        (_P, ["post/a"]),
        ({**_P, "get": {"responses": {"200": JSON_BODY}}}, ["post/a", "get/a"]),
        ({"put": {"requestBody": {"$ref": "#/components/requestBodies/Q"}}}, ["put/a"]),
        ({"put": {"requestBody": _M}}, ["put/a"]),
        ({"$ref": "#/components/pathItems/Loop"}, []),
        ({"$ref": "#/components/pathItems/Gone"}, []),
    ],
)
def test_a_body_is_read_wherever_it_stands(item: UntypedJson, names: list[str]) -> None:
    """Of every method, and at the end of every chain of references."""
    description = Description.of(
        {
            "openapi": "3.2.0",
            "paths": {"/a": item},
            "components": {
                "pathItems": {
                    "P": {"$ref": "#/components/pathItems/Q"},
                    "Q": {"post": {"requestBody": JSON_BODY}},
                    "Loop": {"$ref": "#/components/pathItems/Loop"},
                },
                "requestBodies": {
                    "Q": {"$ref": "#/components/requestBodies/R"},
                    "R": JSON_BODY,
                },
                "mediaTypes": {"M": MEDIA},
            },
        }
    )
    bodies = list(description.bodies())
    assert [body.name.rpartition(".")[0] for body in bodies] == names
    assert len([*description.operations()]) == len(names)
    for body in bodies:
        assert at(description.document, parse_tokens(body.place)) == {"type": "null"}


def test_a_reference_to_itself_ends() -> None:
    """A component that is only itself stays what it is: a reference."""
    pet = {"$ref": "#/components/schemas/Pet"}
    (request, _) = Description.of(described("3.0.0", pet)).bodies()
    assert isinstance(request.schema, dict)
    assert request.schema["$ref"] == "#/definitions/Pet"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"swagger": "2.0"}, "of Swagger 2.0.*swagger2openapi .*api.json -o"),
        ({"openapi": "4.0.0"}, "of OpenAPI 4.0.0"),
        ({"openapi": "3.0.0", "paths": {}}, "no schema in the OpenAPI description"),
        ([], "no OpenAPI description"),
        ({"openapi": "3.0.0", "paths": {"/": [], "/a": {"get": 1}}}, "no schema"),
    ],
)
def test_what_is_no_description_is_told_so(document: UntypedJson, said: str) -> None:
    """Each with the file's name and what would be read."""
    with pytest.raises(BadData, match=said):
        schemas_in(document, "api.json", print)


def test_operations_without_bodies_are_counted() -> None:
    """What is left out is said, and components that no body needs are read."""
    told: list[str] = []
    document = described("3.0.1")
    known = len(schemas_in(document, "api.yaml", told.append))
    assert told == ["api.yaml: 1 operation without a body in JSON"]
    components = document.setdefault("components", {}).setdefault("schemas", {})
    components["Alone"] = {"type": "string"}
    found = schemas_in(document, "api.yaml", told.append)
    assert len(found) == known + 1
    assert (found[-1].name, found[-1].place) == ("Alone", "/components/schemas/Alone")


@pytest.mark.parametrize("selected", ["Pet", "/components/schemas/Pet"])
def test_a_component_that_bodies_need_can_be_selected(selected: str) -> None:
    """By its name, or by the pointer to it; in the list it is in those bodies."""
    told: list[str] = []
    document = described("3.0.1")
    names = [it.name for it in schemas_in(document, "a", told.append)]
    assert names == ["create.request", "create.201", "Other"]
    found = schemas_in(document, "a", told.append, selected)
    assert [it.name for it in found] == [*names[:2], "Pet", "Other"]
    assert found[2].place == "/components/schemas/Pet"
