"""Blocks every text, at a token that the schema decides.

With `minLength` at the third, without at the first.
"""

import runpy

ABOUT = {"summary": "Blocks in one of two places."}
_accept_all = runpy.run_path(__file__.replace("slips.py", "accept_all.py"))


class _Matcher(_accept_all["_Matcher"]):
    def __init__(self, size, place):
        super().__init__(size)
        self._left = place

    def mask(self):
        return self._mask if self._left else bytes(len(self._mask))

    def commit(self, _token):
        self._left -= 1
        return self._left >= 0

    def may_end(self):
        return False


class _Engine(_accept_all["_Engine"]):
    def start(self, grammar):
        return _Matcher(self._size, 2 if "minLength" in grammar else 0)


def load(tokenizer, options):
    return _Engine(tokenizer, options)
