"""Dies in the mask of any schema that names a property; walks those that do not."""

import ctypes
import runpy

ABOUT = {"summary": "Dies in the mask of a schema that names a property."}
_accept_all = runpy.run_path(__file__.replace("cold.py", "accept_all.py"))


class _Engine(_accept_all["_Engine"]):
    def start(self, grammar):
        matcher = super().start(grammar)
        if "properties" in grammar:
            matcher.mask = lambda: ctypes.string_at(0)
        return matcher


def load(tokenizer, options):
    return _Engine(tokenizer, options)
