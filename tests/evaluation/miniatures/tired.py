"""Quick with the first text under a grammar, slow on purpose with those after it."""

import time

ABOUT = {"summary": "Slows down once it is warm."}


class _Matcher:
    def __init__(self, size, late):
        self._mask = b"\xff" * ((size + 31) // 32 * 4)
        self._late = late

    def mask(self):
        if self._late:
            time.sleep(0.002)
        return self._mask

    def commit(self, _token):
        return True

    def may_end(self):
        return True


class _Engine:
    def __init__(self, size):
        self._size = size

    def compile(self, schema):
        return [schema]

    def start(self, grammar):
        grammar.append("a text")
        return _Matcher(self._size, len(grammar) > 2)


def load(tokenizer, _options):
    return _Engine(tokenizer.vocab_size)
