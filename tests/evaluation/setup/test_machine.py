"""What a run says of its machine."""

from __future__ import annotations

import getpass
import json
import platform

import pytest

from evaluation.setup.machine import (
    clock_cost_ns,
    cpu_governor,
    idle_last,
    machine,
    usable_cores,
)


def test_a_machine_is_told_without_names() -> None:
    """Neither the host's name nor the user's is in it, and it is JSON."""
    text = json.dumps(machine(), allow_nan=False).lower()
    for name in (platform.node(), getpass.getuser()):
        assert len(name) < 4 or name.lower() not in text


def test_reading_the_clock_costs_something() -> None:
    """A reading takes a positive number of whole nanoseconds."""
    assert clock_cost_ns() >= 1
    assert isinstance(clock_cost_ns(), int)


def test_a_governor_is_a_word_or_nothing() -> None:
    """Where the system does not say, nothing is made up."""
    found = cpu_governor()
    assert found is None or found == found.strip() != ""


@pytest.mark.parametrize(
    ("load", "order"),
    [
        ([0, 0, 0], [0, 1, 2]),
        ([0, 3, 99], [2, 0, 1]),
        ([99, 99, 99], [0, 1, 2]),
        ([99], [0, 1, 2]),
    ],
)
def test_a_busy_core_comes_before_idle_ones(
    load: list[float], order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times are taken on the last: two runs at once do not share it, if one is free."""
    monkeypatch.setattr("psutil.cpu_percent", lambda *_, **__: load)
    assert idle_last([0, 1, 2]) == order


def test_no_core_is_lost() -> None:
    """Whatever they do, all that may be used are there."""
    assert sorted(idle_last(usable_cores())) == usable_cores()
