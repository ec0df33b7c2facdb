"""What `engine_noise` appends to a copy of an engine's file: everything takes longer.

Compiling, making a matcher, masks and commits take `SLOWED_BY` times as long, by a loop
that spins. Calls are short: what this wrapper costs by itself is measured and counted,
and what is still owed is spun off as soon as it is worth a loop. All of it is processor
time: by the wall clock a loop that has to wait for its core would be over at once, and
what it waited would be taken off the calls after it.
"""

# mypy: ignore-errors
# ruff: noqa: F821, D103, ANN001, ANN002, ANN201, ANN202, ANN204
# (appended to a file that defines load; a measuring aid, typed by shape)

from time import thread_time_ns

_load_as_it_is = load
#: Nanoseconds.
_WORTH_A_LOOP = 2_000


_owed = 0.0
_own_ns = 0.0


def _slowed(work):
    def slowed(*given):
        global _owed  # noqa: PLW0603 - one engine a process
        start = thread_time_ns()
        found = work(*given)
        taken = thread_time_ns() - start
        _owed += (SLOWED_BY - 1) * taken - _own_ns
        if _owed > _WORTH_A_LOOP:
            end = thread_time_ns() + _owed
            while thread_time_ns() < end:
                pass
            _owed -= thread_time_ns() - end + _owed
        return found

    return slowed


def _nothing():
    return None


def _cost_of_wrapper():
    """Return the nanoseconds that a wrapped call takes more than a plain one."""
    wrapped = _slowed(_nothing)
    found = []
    for _ in range(2000):
        start = thread_time_ns()
        wrapped()
        middle = thread_time_ns()
        _nothing()
        found.append(2 * middle - start - thread_time_ns())
    return sorted(found)[len(found) // 2]


class _SlowedMatcher:
    def __init__(self, matcher):
        self.mask, self.commit = _slowed(matcher.mask), _slowed(matcher.commit)
        self.may_end = matcher.may_end
        for name in ("forced", "error", "reason", "takes"):
            if hasattr(matcher, name):
                setattr(self, name, getattr(matcher, name))


class _SlowedEngine:
    def __init__(self, engine):
        self.version = engine.version
        self.compile, self.warnings = _slowed(engine.compile), engine.warnings
        self._start = _slowed(engine.start)

    def start(self, grammar):
        return _SlowedMatcher(self._start(grammar))


def load(tokenizer, options):
    global _own_ns, _owed
    _own_ns, _owed = _cost_of_wrapper(), 0.0
    return _SlowedEngine(_load_as_it_is(tokenizer, options))
