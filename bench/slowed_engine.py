"""What `engine_noise` appends to a copy of an engine's file: everything takes longer.

Compiling, making a matcher, masks and commits take `SLOWED_BY` times as long, by a loop
that spins until that much time has gone. The copy's own `load` is called first.
"""

# mypy: ignore-errors
# ruff: noqa: F821, D103, ANN001, ANN002, ANN201, ANN202, ANN204
# (appended to a file that defines load; a measuring aid, typed by shape)

from time import perf_counter_ns

_load_as_it_is = load


def _slowed(work):
    def slowed(*given):
        start = perf_counter_ns()
        found = work(*given)
        end = start + int(SLOWED_BY * (perf_counter_ns() - start))
        while perf_counter_ns() < end:
            pass
        return found

    return slowed


class _SlowedMatcher:
    def __init__(self, matcher):
        self.mask, self.commit = _slowed(matcher.mask), _slowed(matcher.commit)
        self.may_end = matcher.may_end
        for name in ("forced", "error", "reason"):
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
    return _SlowedEngine(_load_as_it_is(tokenizer, options))
