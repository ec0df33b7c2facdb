"""A process that compares schemas, for all tests of rewriting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.fit.relation import Comparer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def comparer() -> Iterator[Comparer]:
    """Return one child for all comparisons."""
    with Comparer() as comparer:
        yield comparer
