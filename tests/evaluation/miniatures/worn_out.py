"""Fails for good, and without raising, once a text had more than three tokens.

Every later text is blocked at its first token; nothing but what it let through before
gives it away.
"""

ABOUT = {"summary": "Dies in silence after a long text."}


class _Matcher:
    def __init__(self, engine):
        self._engine = engine
        self._taken = 0

    def mask(self):
        if self._taken > 3:
            self._engine.dead = True
        bits = b"\0" if self._engine.dead else b"\xff"
        return bits * ((self._engine.size + 31) // 32 * 4)

    def commit(self, _token):
        self._taken += 1
        return not self._engine.dead

    def may_end(self):
        return not self._engine.dead


class _Engine:
    def __init__(self, size):
        self.size = size
        self.dead = False

    def compile(self, schema):
        self.dead = False
        return schema

    def start(self, _grammar):
        return _Matcher(self)


def load(tokenizer, options):
    return _Engine(tokenizer.vocab_size)
