"""Do jsonschema and jsonschema-rs both take a schema for one that can be used?

jsonschema's check of the metaschema is slow. It runs on a share of the schemas, chosen
by digest, and on every one for which the two are known to differ.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from curation.validation.metaschemas import validators_may_differ
from curation.validation.verdicts import python_verdict, refers, rust_verdict

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect
    from curation.validation.verdicts import ValidatorVerdict

#: The slow check runs on one schema in so many.
ONE_IN = 256


def is_in_share(text: bytes) -> bool:
    """Return whether the digest of a canonical text chooses it for the slow check."""
    return int.from_bytes(sha256(text).digest()[:4]) % ONE_IN == 0


def both_verdicts(
    schema: Json, dialect: Dialect, text: bytes
) -> tuple[ValidatorVerdict, ValidatorVerdict]:
    """Return what jsonschema and jsonschema-rs say of a schema, in this order.

    Args:
        schema: The schema, whose references are all its own.
        dialect: The dialect that it is read in.
        text: Its canonical form.
    """
    thorough = is_in_share(text) or validators_may_differ(schema, dialect)
    return (
        python_verdict(schema, dialect, thorough=thorough, follow=refers(text)),
        rust_verdict(schema, dialect),
    )
