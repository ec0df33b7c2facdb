"""Right about the first text under a grammar, and about no other.

From the second text on it blocks its second token.
"""

import runpy

ABOUT = {"summary": "Wrong only in the second text."}
_accept_all = runpy.run_path(__file__.replace("second_text.py", "accept_all.py"))


class _Matcher(_accept_all["_Matcher"]):
    _taken = 0

    def mask(self):
        return bytes(len(self._mask)) if self._taken == 1 else self._mask

    def commit(self, _token):
        if self._taken == 1:
            return False
        self._taken += 1
        return True


class _Engine(_accept_all["_Engine"]):
    def compile(self, schema):
        return [schema]

    def start(self, grammar):
        first = len(grammar) == 1
        grammar.append("a text")
        return super().start(grammar) if first else _Matcher(self._size)


def load(tokenizer, options):
    return _Engine(tokenizer, options)
