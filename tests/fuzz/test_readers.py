"""Whatever stands in a file or comes from a server, a reader reads it or refuses it."""

from __future__ import annotations

import os
import resource
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.mutations import fuzz
from tests.fuzz.readers import READERS

if TYPE_CHECKING:
    from pathlib import Path

#: Seconds for one reader at night, and inputs of a round: at least two rounds are run.
_SECONDS = float(os.environ.get("CSBDATA_FUZZ_SECONDS", "60"))
_ROUND = 1000
#: Bytes by which the most memory of this process may grow.
_MEMORY = 1 << 30


def _most_memory() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


@pytest.mark.parametrize("name", READERS)
def test_mutated_inputs_are_read_or_refused(name: str, tmp_path: Path) -> None:
    """Only documented errors escape; the same inputs every time."""
    reader = READERS[name](tmp_path)
    fuzz(reader.check, reader.corpus, examples=50)


@pytest.mark.nightly
@pytest.mark.parametrize("name", READERS)
def test_no_mutated_input_breaks_a_reader(name: str, tmp_path: Path) -> None:
    """Nor hangs it or fills the memory: for `CSBDATA_FUZZ_SECONDS`, 60 by default."""
    reader = READERS[name](tmp_path)
    before, end, number = _most_memory(), time.monotonic() + _SECONDS, 0
    while number < 2 or time.monotonic() < end:
        number += 1
        fuzz(reader.check, reader.corpus, examples=_ROUND, number=number)
    assert _most_memory() - before < _MEMORY
