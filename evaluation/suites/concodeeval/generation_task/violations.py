"""What a value violates, as jsonschema-rs lists it: keyword, and where it stands."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from curation.json.pointer import pointer
from curation.system.escaping import shortened

if TYPE_CHECKING:
    import jsonschema_rs

    from curation.core.json_types import Json

#: Most violations of one value that are counted.
MOST_VIOLATIONS: Final = 10_000
#: Most reasons that are told.
MOST_REASONS: Final = 5
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Violations:
    """What one value violates."""

    #: How often each keyword is violated, the most frequent first.
    keywords: dict[str, int]
    #: Where each violated keyword stands in the schema, a JSON pointer each.
    schema_pointers: tuple[str, ...]
    #: The first ones in words.
    reasons: tuple[str, ...]


def violations(validator: jsonschema_rs.Validator, value: Json) -> Violations:
    """Return what a validator holds against a value, every violation once.

    Example:
        >>> validator = jsonschema_rs.validator_for({"items": {"maximum": 3}})
        >>> violations(validator, [1, 5, 7]).keywords
        {'maximum': 2}
    """
    counted: Counter[str] = Counter()
    places: list[str] = []
    reasons: list[str] = []
    for error in islice(validator.iter_errors(value), MOST_VIOLATIONS):
        path = tuple(map(str, error.schema_path))
        # A schema that is `false` has no keyword: what holds it is named.
        keyword = path[-1] if path else "false"
        counted[keyword] += 1
        places.append(pointer(path))
        if len(reasons) < MOST_REASONS:
            where = pointer(tuple(map(str, error.instance_path))) or "the root"
            message = shortened(error.message, _SHOWN)
            reasons.append(f"{keyword} at {where}: {message}")
    return Violations(dict(counted.most_common()), tuple(places), tuple(reasons))
