"""The error classes of the published summary, for each failure that it can count."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.verifier.findings import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.suites.ifstruct.verifier.findings import StructureFinding

_UNREADABLE: Final = "no valid JSON or YAML"
_CLASSES: Final[Mapping[Failure, str]] = MappingProxyType(
    {
        Failure.MISSING_FIELD: "required field missing",
        Failure.MISSING_FENCE: "missing code block",
        Failure.NOT_WRAPPED: "expected a wrapper",
        Failure.WRAPPED: "expected a bare list",
        Failure.WRONG_WRAPPER_KEY: "wrong wrapper key",
        Failure.NOT_A_LIST: "type mismatch",
        Failure.WRONG_TYPE: "type mismatch",
        Failure.COERCED_SCALAR: "type mismatch",
        Failure.ITEM_COUNT: "wrong number of items",
        Failure.TOO_FEW_ITEMS: "wrong number of items",
        Failure.TOO_MANY_ITEMS: "wrong number of items",
        **dict.fromkeys(
            (
                Failure.UNCLOSED_FENCE,
                Failure.WRONG_FORMAT,
                Failure.BYTE_ORDER_MARK,
                Failure.LEADING_TEXT,
                Failure.TRAILING_TEXT,
                Failure.INVALID_JSON,
                Failure.INVALID_YAML,
                Failure.YAML_TAB,
                Failure.YAML_TAG,
                Failure.YAML_ALIASES,
                Failure.TOO_DEEP,
                Failure.TOO_LARGE,
                Failure.NUMBER_TOO_LONG,
                Failure.EMPTY,
                Failure.THINKING_UNCLOSED,
                Failure.TRUNCATED,
            ),
            _UNREADABLE,
        ),
    }
)


def published_class(finding: StructureFinding) -> str:
    """Return what the published summary counts a failure under.

    Of what has no class there it shows the first 80 characters of the message; our
    messages are others, so that our own class stands for them here.
    """
    return _CLASSES.get(finding.failure, str(finding.failure))
