"""Tables of cases beside their tests: `tables/NAME.jsonl`, one row a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def table(test_file: str, name: str) -> list[UntypedJson]:
    """Return the rows of a table, each a JSON value.

    Args:
        test_file: The `__file__` of the module beside whose folder `tables` is.
        name: The table's file without its ending.
    """
    path = Path(test_file).parent / "tables" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
