"""What a run says of its machine."""

from __future__ import annotations

import getpass
import json
import platform

from evaluation.setup.machine import clock_cost_ns, cpu_governor, machine


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
