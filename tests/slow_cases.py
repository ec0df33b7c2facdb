"""Tables of which `make test` takes the first cases, and `make test-all` every one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def first_fast(count: int, cases: Iterable[object]) -> list[object]:
    """Return the cases as parameters, those after the first ones marked as slow.

    For a claim that costs a process or more in each case, and whose cases go one way.
    """
    return [
        case
        if index < count
        else pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow
        )
        for index, case in enumerate(cases)
    ]
