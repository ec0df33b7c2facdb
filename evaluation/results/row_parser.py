"""One line of a run's results, read back: a `Row`, or the reason why it is none.

The types of `Row` are the bounds of what is read; `row.schema.json` publishes them.
"""

from __future__ import annotations

import msgspec
import orjson

from evaluation.core.cases import Row


class NotARow(ValueError):  # noqa: N818 # it says what the line is
    """A line that is no row, with the reason."""


def parse_row(line: bytes) -> Row:
    """Return the row of one line; fields that it does not know are left alone.

    Raises:
        NotARow: the line is not JSON, or a field is missing or of another type.
    """
    # orjson refuses what no JSON of ours holds: NaN, half surrogates, endless nesting.
    try:
        return msgspec.convert(orjson.loads(line), Row)
    except orjson.JSONDecodeError as error:
        raise NotARow(f"not JSON ({error})") from None
    except msgspec.ValidationError as error:
        raise NotARow(str(error)) from None
