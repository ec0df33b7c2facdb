"""What `engine_noise` appends to a copy of an engine's file: everything takes longer.

Compiling, making a matcher, masks and commits take `SLOWED_BY` times as long, by a loop
that spins. What this wrapper costs by itself is measured and taken off what is owed,
and what is left over, or was paid too much, is carried to the next call. Short calls
and loops are timed by the wall clock, which is read in a tenth of the time that the
processor's takes: two readings as long as a commit could not be paid back. Of what took
so long that it may have waited for its core, the processor's time counts.
"""

# mypy: ignore-errors
# ruff: noqa: F821, D103, ANN001, ANN002, ANN201, ANN202, ANN204
# (appended to a file that defines load; a measuring aid, typed by shape)

from itertools import repeat
from time import perf_counter_ns, thread_time_ns

_load_as_it_is = load
#: Nanoseconds that are worth a loop, and those after which a call may have waited.
_WORTH_A_LOOP, _MAY_HAVE_WAITED = 1_000, 200_000
#: Calls after which the processor's time is read anyway: it bounds the next long one.
_MOST_UNREAD = 32
#: How often so many calls are made to tell what the wrapper costs.
_CALLS, _TOGETHER = 200, 50


_owed = 0.0
_own_ns = 0.0
#: Of the processor, when it was read last, and the calls since.
_processor_ns = _calls = 0


def _slowed(work):
    def slowed(*given):
        global _calls, _owed, _processor_ns  # noqa: PLW0603 - one engine a process
        start = perf_counter_ns()
        found = work(*given)
        taken = perf_counter_ns() - start
        _calls += 1
        if taken > _MAY_HAVE_WAITED or _calls > _MOST_UNREAD:
            now = thread_time_ns()
            taken = min(taken, now - _processor_ns)
            _calls, _processor_ns = 0, now
        _owed += (SLOWED_BY - 1) * taken - _own_ns
        if _owed > _WORTH_A_LOOP:
            clock = thread_time_ns if _owed > _MAY_HAVE_WAITED else perf_counter_ns
            end = clock() + _owed
            while (now := clock()) < end:
                pass
            _owed = end - now
        return found

    return slowed


def _cost_of_wrapper(work):
    """Return the nanoseconds that a wrapped call takes more than a plain one.

    Of a call that does the engine's own work: beside it, all that the wrapper touches
    has to be fetched from further away than in a loop that does nothing.
    """
    wrapped = _slowed(work)
    found = []
    for _ in range(_CALLS):
        start = thread_time_ns()
        for _ in repeat(None, _TOGETHER):
            wrapped()
        middle = thread_time_ns()
        for _ in repeat(None, _TOGETHER):
            work()
        found.append((2 * middle - start - thread_time_ns()) / _TOGETHER)
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
        self.compile = _slowed(engine.compile)
        self._start = _slowed(engine.start)

    def start(self, grammar):
        return _SlowedMatcher(self._start(grammar))


def load(tokenizer, options):
    global _own_ns, _owed, _processor_ns  # noqa: PLW0603 - one engine a process
    # While the wrapper is measured nothing is owed, so that no loop runs in it.
    _own_ns, _owed = 1e9, 0.0
    engine = _load_as_it_is(tokenizer, options)
    matcher = engine.start(engine.compile('{"type": "object"}'))
    _own_ns, _owed = _cost_of_wrapper(matcher.mask), 0.0
    _processor_ns = thread_time_ns()
    return _SlowedEngine(engine)
