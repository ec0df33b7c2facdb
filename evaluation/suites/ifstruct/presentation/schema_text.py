"""The raw JSON Schema of the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.core.row_spec import RowSpec


def schema_text(spec: RowSpec) -> str:
    """Return the schema of the list of items as indented JSON."""
    return json.dumps(spec.requirements.schema, indent=2, ensure_ascii=False)
