"""How others validate texts of this benchmark, written down as they do it.

*Listing 10* is that of arXiv 2501.10868: jsonschema, Draft 2020-12 whatever the schema
declares, formats asserted, and a schema that is itself invalid under 2020-12 violated
by every text.

*As published* is what the metric of lm-evaluation-harness's task `jsonschema_bench`
does, whose validation is that of the paper's published code: beside Listing 10 its
checkers of `ipv4`, `ipv6` and `uuid` return nothing, which jsonschema takes for a
refusal, so that no such string is ever valid; and before parsing, back quotes and then
the letters j, s, o and n are stripped off both ends of a text, so that a fence goes and
`null` becomes `ull`.

One thing is not as they do it: a `$ref` to elsewhere is never fetched, and refuses.
"""

from __future__ import annotations

import ipaddress
import json
import uuid
from typing import TYPE_CHECKING, Final

from referencing import Registry

from curation.validation.python_validators import jsonschema

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonschema import FormatChecker

    from curation.core.json_types import Json

_LISTING_10: Final = jsonschema.FormatChecker()


def accepts_by_listing_10(text: str, schema: str) -> bool:
    """Return whether the paper's Listing 10 takes a text for valid."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return _accepts(value, json.loads(schema), _LISTING_10)


def accepts_as_published(text: str, schema: str) -> bool:
    r"""Return whether the published metric takes a text for valid.

    Example:
        >>> accepts_as_published("```json\n{}\n```", '{"type": "object"}')
        True
        >>> accepts_as_published("null", "true")
        False
    """
    try:
        value = json.loads(text.strip().strip("`").strip("json"))
    except (ValueError, RecursionError):
        return False
    return _accepts(value, json.loads(schema), _as_published())


def _accepts(value: Json, schema: Json, formats: FormatChecker) -> bool:
    try:
        jsonschema.Draft202012Validator.check_schema(schema)  # type: ignore[arg-type]  # anything
        validator = jsonschema.Draft202012Validator(
            schema,  # type: ignore[arg-type]  # anything
            registry=Registry(),
            format_checker=formats,
        )
        return bool(validator.is_valid(value))
    except Exception:  # noqa: BLE001 - as they do it
        return False


def _as_published() -> FormatChecker:
    """Return the published checkers; a checker that returns nothing refuses."""
    formats = jsonschema.FormatChecker()
    parsers: dict[str, Callable[[str], object]] = {
        "ipv4": ipaddress.IPv4Address,
        "ipv6": ipaddress.IPv6Address,
        "uuid": uuid.UUID,
    }

    def returning_nothing(parse: Callable[[str], object]) -> Callable[[object], bool]:
        def check(value: object) -> bool:
            parse(value)  # type: ignore[arg-type]  # as they do it
            return False

        return check

    for name, parse in parsers.items():
        formats.checks(name)(returning_nothing(parse))
    return formats
