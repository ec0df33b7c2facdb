"""Read the probes of single keywords from `probes.jsonl`, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evaluation.tasks.probe.probe import CONTEXTS, Probe

#: A format that no draft knows.
UNKNOWN: Final = "unknown"


def _read() -> Iterator[Probe]:
    """Yield the probes; a line without `violating` has nothing that violates it."""
    lines = Path(__file__).with_name("probes.jsonl").read_text("utf-8").splitlines()
    for columns in map(json.loads, lines):
        contexts = tuple(columns.get("contexts", CONTEXTS))
        violating = (
            {columns["keyword"]: columns["violating"]} if "violating" in columns else {}
        )
        yield Probe(**columns | {"violating": violating, "contexts": contexts})


KEYWORD_PROBES: Final = tuple(_read())
#: The value of `format` by the name of its probe; `UNKNOWN` for the one that is none.
FORMAT_OF_PROBE: Final[dict[str, str]] = {
    probe.name: str(probe.schema["format"]) if probe.violating else UNKNOWN
    for probe in KEYWORD_PROBES
    if probe.keyword == "format"
}
