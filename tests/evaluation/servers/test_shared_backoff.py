"""Requests wait together, what many meet at once is one trouble, and it has an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.servers.pacing import Quota, SharedBackoff


class Clock:
    """A clock that goes on while somebody sleeps."""

    def __init__(self) -> None:
        """Begin at nought."""
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


def _backoff(clock: Clock, minutes: float = 10) -> SharedBackoff:
    return SharedBackoff(minutes, clock=lambda: clock.now, sleep=clock.sleep)


def test_without_trouble_nobody_waits(clock: Clock) -> None:
    """A request is sent at once."""
    _backoff(clock).wait()
    assert clock.slept == []


def test_what_many_meet_at_once_is_one_trouble(clock: Clock) -> None:
    """Eight requests that fail together wait one second, not 128."""
    backoff = _backoff(clock)
    sent = [backoff.wait() for _ in range(8)]
    clock.now += 0.1
    assert all(backoff.again_after(moment) for moment in sent)
    backoff.wait()
    assert sum(clock.slept) == pytest.approx(1.0)


def test_pauses_double_until_there_is_an_answer(clock: Clock) -> None:
    """Trouble after trouble waits longer; after an answer it begins anew."""
    backoff = _backoff(clock)
    for _ in range(3):
        backoff.again_after(backoff.wait())
    backoff.wait()
    assert clock.slept == [1.0, 2.0, 4.0]
    backoff.answered()
    backoff.again_after(backoff.wait())
    backoff.wait()
    assert clock.slept[-1] == 1.0


def test_one_request_that_is_told_to_wait_holds_all(clock: Clock) -> None:
    """`Retry-After` counts for everybody, also where it came to an older request."""
    backoff = _backoff(clock)
    early, late = backoff.wait(), backoff.wait()
    backoff.again_after(late)
    backoff.again_after(early, requested=40.0)
    backoff.wait()
    assert sum(clock.slept) == 40.0


def test_the_budget_is_of_minutes_without_any_answer(clock: Clock) -> None:
    """After so long there is no waiting any more; one answer fills the budget again."""
    backoff = _backoff(clock, minutes=1)
    tries = 0
    while backoff.again_after(backoff.wait()):
        tries += 1
    assert tries == 5
    assert clock.now <= 60
    backoff.answered()
    clock.now += 60
    assert backoff.again_after(backoff.wait())


def test_what_no_quota_holds_is_sent_once_it_is_full() -> None:
    """Else a request of more tokens than a minute has would wait for ever."""
    quota = Quota(remaining=0.0, limit=5.0, rate=1.0, told=0.0)
    assert (quota.pause(9, 0.0), quota.pause(9, 5.0), quota.there(7.0)) == (5, 0, 5)


def test_what_is_answered_speaks_for_nothing_more(clock: Clock) -> None:
    """One request at a time never waits while the server says that some are left."""
    names = ("limit", "remaining", "reset")
    told = {f"x-ratelimit-{each}-requests": "5" for each in names}
    backoff = _backoff(clock)
    for _ in range(9):
        backoff.wait()
        backoff.told({**told, "x-ratelimit-limit-requests": "10"})
    assert clock.slept == []


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 200)), max_size=40))
def test_nobody_waits_beyond_the_budget(steps: list[tuple[bool, float]]) -> None:
    """Whatever a server says, and however long it wants, waiting is bounded."""
    clock = Clock()
    backoff = _backoff(clock, minutes=2)
    without_answer = 0.0
    for answered, asked in steps:
        before = clock.now
        sent = backoff.wait()
        without_answer += clock.now - before
        if answered:
            backoff.answered()
            without_answer = 0.0
        else:
            backoff.again_after(sent, asked)
        assert without_answer <= 120 * (1 + 1e-9)
