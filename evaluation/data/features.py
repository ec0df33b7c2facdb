"""The features of a schema that no table describes."""

from __future__ import annotations

from curation.dialects import ANY_DIALECT
from curation.documents import Rejected
from curation.features import features
from curation.jsontext import parse


def features_of(schema: str) -> tuple[str, ...]:
    """Return the feature names of a schema's text; none where it is no JSON.

    No dialect is decided: what any dialect reads as a keyword counts.
    """
    value = parse(schema.encode("utf-8", "surrogatepass"))
    return () if isinstance(value, Rejected) else features(value, ANY_DIALECT)
