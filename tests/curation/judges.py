"""Validators that judge instances in tests; none of them fetches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema
import jsonschema_rs
from referencing import Registry
from referencing.jsonschema import specification_with

from curation.schema.dialects import BY_NAME
from curation.validation.metaschemas import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

_PYTHON = {
    "draft-04": jsonschema.Draft4Validator,
    "draft-06": jsonschema.Draft6Validator,
    "draft-07": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}
_RUST = {
    "draft-04": jsonschema_rs.Draft4Validator,
    "draft-06": jsonschema_rs.Draft6Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "2019-09": jsonschema_rs.Draft201909Validator,
    "2020-12": jsonschema_rs.Draft202012Validator,
}


def accepts(
    schema: UntypedJson,
    instance: UntypedJson,
    dialect: str,
    documents: Mapping[str, UntypedJson] | None = None,
) -> bool:
    """Ask jsonschema, with other documents at hand under their URIs."""
    specification = specification_with(BY_NAME[dialect].uri)
    registry: Registry[UntypedJson] = Registry().with_resources(
        (uri, specification.create_resource(each))
        for uri, each in (documents or {}).items()
    )
    return bool(_PYTHON[dialect](schema, registry=registry).is_valid(instance))


def rust_accepts(schema: UntypedJson, instance: UntypedJson, dialect: str) -> bool:
    """Ask jsonschema-rs, with nothing else at hand."""
    return bool(_RUST[dialect](schema, retriever=refuse).is_valid(instance))
