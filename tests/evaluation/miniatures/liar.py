"""An engine whose mask and commit disagree, or whose mask is too small.

The schema says how: `too_strict` leaves a token out of the mask that commit takes,
`too_lax` puts one in that commit refuses, `too_small` covers half the vocabulary.
"""

ABOUT = {"summary": "Its mask and its commit disagree."}


class _Matcher:
    def __init__(self, schema, size):
        self._schema = schema
        self._size = (size + 31) // 32 * 4
        self._taken = 0

    def mask(self):
        if "too_small" in self._schema:
            return b"\xff" * (self._size // 2)
        if "too_strict" in self._schema and self._taken == 1:
            return bytes(self._size)
        return b"\xff" * self._size

    def commit(self, _token):
        if "too_lax" in self._schema and self._taken == 2:
            return False
        self._taken += 1
        return True

    def may_end(self):
        return True

    def reason(self):
        return "told to\nafter 0.1 s"


class _Engine:
    def __init__(self, size):
        self._size = size

    def compile(self, schema):
        return schema

    def start(self, grammar):
        return _Matcher(grammar, self._size)


def load(tokenizer, _options):
    return _Engine(tokenizer.vocab_size)
