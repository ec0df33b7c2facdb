"""Whatever stands in a file or comes from a server, a reader reads it or refuses it."""

from __future__ import annotations

import os
import resource
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.readers import READERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: Seconds for one reader at night, and inputs of a round: at least two rounds are run.
_SECONDS = float(os.environ.get("CSBDATA_FUZZ_SECONDS", "60"))
_ROUND = 1000
#: Bytes by which the most memory of this process may grow.
_MEMORY = 1 << 30


#: Seconds of processor time that a reader may take for one small input.
_SECONDS_OF_ONE = 20.0
#: Texts and numbers at their ends, in the notations that our readers know.
_PIECES = (
    *(b"null", b"true", b"[", b"]", b"{", b"}", b'"', b"\\u", b"\\ud800", b"\n", b"\0"),
    *(b"-1", b"1e999", b"NaN", b"1" * 310, b"9" * 20, b"[" * 2000, b'{"a":' * 2000),
    *(b"\xff" * 8, b"\x7f" * 8, b"\xef\xbb\xbf", b"../", b"data: ", b"[DONE]"),
)
_EDIT = st.tuples(
    st.sampled_from(("replace", "insert", "drop", "double", "cut", "flip")),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 64),
    st.sampled_from(_PIECES) | st.binary(min_size=1, max_size=8),
)


def _edited(content: bytes, kind: str, place: float, length: int, new: bytes) -> bytes:
    start = int(place * len(content))
    before, held = content[:start], content[start : start + length]
    after = content[start + length :]
    match kind:
        case "replace":
            return before + new + content[start + len(new) :]
        case "insert":
            return before + new + held + after
        case "drop":
            return before + after
        case "double":
            return before + held + held + after
        case "cut":
            return before
        case _:
            return (
                before
                + bytes(byte ^ (1 << length % 8) for byte in held[:1])
                + (held[1:] + after)
            )


@st.composite
def _mutated(draw: st.DrawFn, corpus: Sequence[bytes]) -> bytes:
    content = draw(st.sampled_from(corpus))
    for kind, place, length, new in draw(st.lists(_EDIT, min_size=1, max_size=6)):
        content = _edited(content, kind, place, length, new)
    return content


def fuzz(
    read: Callable[[bytes], None],
    corpus: Sequence[bytes],
    *,
    examples: int,
    number: int = 0,
) -> None:
    """Have mutations of valid inputs read; each at most for some seconds.

    Args:
        read: Reads one input; fails if anything but a documented error escapes.
        corpus: Valid inputs.
        examples: Number of inputs.
        number: Other inputs for another number.
    """

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(_mutated(corpus))
    def run(content: bytes) -> None:
        start = time.process_time()
        read(content)
        assert time.process_time() - start < _SECONDS_OF_ONE

    run()


def _most_memory() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


@pytest.mark.parametrize("name", READERS)
def test_mutated_inputs_are_read_or_refused(name: str, tmp_path: Path) -> None:
    """Only documented errors escape; the same inputs every time."""
    reader = READERS[name](tmp_path)
    fuzz(reader.check, reader.corpus, examples=25)


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
