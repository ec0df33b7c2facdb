"""An engine whose mask and commit disagree, or whose mask is too small.

The schema says how: `too_strict` leaves a token out of the mask that commit takes,
`too_lax` puts one in that commit refuses, `too_small` covers half the vocabulary.
"""

import runpy

ABOUT = {"summary": "Its mask and its commit disagree."}
_accept_all = runpy.run_path(__file__.replace("liar.py", "accept_all.py"))


class _Matcher(_accept_all["_Matcher"]):
    def __init__(self, schema, size):
        super().__init__(size)
        self._schema = schema
        self._taken = 0

    def mask(self):
        if "too_small" in self._schema:
            return self._mask[: len(self._mask) // 2]
        if "too_strict" in self._schema and self._taken == 1:
            return bytes(len(self._mask))
        return self._mask

    def commit(self, _token):
        if "too_lax" in self._schema and self._taken == 2:
            return False
        self._taken += 1
        return True

    def reason(self):
        return "told to\nafter 0.1 s"


class _Engine(_accept_all["_Engine"]):
    def start(self, grammar):
        return _Matcher(grammar, self._size)


def load(tokenizer, options):
    return _Engine(tokenizer, options)
