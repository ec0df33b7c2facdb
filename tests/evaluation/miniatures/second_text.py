"""Right about the first text under a grammar, and about no other.

From the second text on it blocks its second token.
"""

ABOUT = {"summary": "Wrong only in the second text."}


class _Matcher:
    def __init__(self, size, first):
        self._size = (size + 31) // 32 * 4
        self._first = first
        self._taken = 0

    def mask(self):
        bits = b"\xff" if self._first or self._taken != 1 else b"\0"
        return bits * self._size

    def commit(self, _token):
        if not self._first and self._taken == 1:
            return False
        self._taken += 1
        return True

    def may_end(self):
        return True


class _Engine:
    def __init__(self, size):
        self._size = size

    def compile(self, schema):
        return [schema]

    def start(self, grammar):
        matcher = _Matcher(self._size, len(grammar) == 1)
        grammar.append("a text")
        return matcher


def load(tokenizer, _options):
    return _Engine(tokenizer.vocab_size)
