"""Every way in which a matcher may fail to find back is found, and where."""

from __future__ import annotations

import pytest

from evaluation.execution.state_walks import WrongStateError, check_states


class _Turning:
    """A matcher whose mask is what it took; wrong in one way, which has a name."""

    def __init__(self, wrong: str, taken: tuple[int, ...] = ()) -> None:
        self.wrong, self.taken = wrong, taken
        #: Tokens since the last turn; None before any.
        self.since: int | None = None
        #: How many tokens the last rollback took back.
        self.back = 0
        self.is_fork = False

    def mask(self) -> bytes:
        """Return what was taken, and one byte more where the mask is wrong."""
        return bytes(self.taken) + b"\xff" * self._is_wrong_now()

    def _is_wrong_now(self) -> bool:
        return {
            "right after a rollback": self.since == 0 and not self.is_fork,
            "once the same tokens came again": self.since == self.back > 0,
            "after a rollback of 8": self.since == 0 and self.back == 8,
            "at the beginning": self.since == 0 and not self.taken,
            "right after a fork": self.since == 0 and self.is_fork,
            "ahead in a fork": self.since == 4 and self.is_fork,
        }.get(self.wrong, False)

    def commit(self, token: int) -> bool:
        """Take any token."""
        self.taken += (token,)
        self.since = None if self.since is None else self.since + 1
        return True

    def may_end(self) -> bool:
        """Return that any text may end."""
        return True

    def rollback(self, count: int) -> bool:
        """Go back."""
        self.taken = self.taken[: len(self.taken) - count]
        self.since, self.back = 0, count
        return True

    def fork(self) -> _Turning:
        """Return another one in the same state."""
        other = _Turning(self.wrong, self.taken)
        other.since, other.is_fork = 0, True
        return other


@pytest.mark.parametrize("check", ["rollback", "fork"])
def test_a_matcher_that_finds_back_is_right(check: str) -> None:
    """Nothing is said of it."""
    assert check_states(lambda: _Turning(""), range(20), check) is None


@pytest.mark.parametrize(
    ("wrong", "tokens", "check", "said"),
    [
        ("right after a rollback", 8, "rollback", "after a rollback of 1 at token 8"),
        (
            "once the same tokens came again",
            8,
            "rollback",
            "after a rollback of 1 at token 8 and the same tokens again",
        ),
        ("after a rollback of 8", 20, "rollback", "after a rollback of 8 at token 8"),
        ("at the beginning", 8, "rollback", "after a rollback of 8 at token 8"),
        ("at the beginning", 1, "rollback", "after a rollback of 1 at token 1"),
        ("right after a fork", 8, "fork", "after a fork at token 8, of the fork"),
        (
            "ahead in a fork",
            12,
            "fork",
            "after a fork at token 8, of the fork 4 tokens on",
        ),
    ],
)
def test_a_matcher_that_does_not_find_back_is_found(
    wrong: str, tokens: int, check: str, said: str
) -> None:
    """With the turn after which the mask differs."""
    with pytest.raises(WrongStateError) as error:
        check_states(lambda: _Turning(wrong), range(tokens), check)
    assert str(error.value) == f"{said}: the mask differs in 8 tokens"
