"""jsonschema-rs: its validator of each dialect, and how it is kept from fetching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

import jsonschema_rs

from curation.schema.dialects import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Dialect name to the class of validators of its schemas.
RUST_VALIDATORS: Final[Mapping[str, type[jsonschema_rs.Validator]]] = {
    dialect.name: jsonschema_rs.validator_cls_for({"$schema": dialect.uri})
    for dialect in DIALECTS
}
#: Dialect name to the number by which jsonschema-rs calls the draft.
RUST_DRAFTS: Final[Mapping[str, int]] = {
    "draft-04": jsonschema_rs.Draft4,
    "draft-06": jsonschema_rs.Draft6,
    "draft-07": jsonschema_rs.Draft7,
    "2019-09": jsonschema_rs.Draft201909,
    "2020-12": jsonschema_rs.Draft202012,
}


def refuse(uri: str) -> NoReturn:
    """Refuse to fetch a document; every validator here is given this as retriever.

    Raises:
        LookupError: always.
    """
    raise LookupError(uri)
