"""Prints without end where the schema says so: by Python, or behind its back."""

import contextlib
import os
import runpy

ABOUT = {"summary": "Prints without end."}
_LINE = b"warning: still here, still warning\n" * 4000
_accept_all = runpy.run_path(__file__.replace("flood.py", "accept_all.py"))


class _Engine(_accept_all["_Engine"]):
    def compile(self, schema):
        while "by-python" in schema:
            print(_LINE.decode())
        if "behind-it" in schema:
            _print_on()
        return schema

    def start(self, grammar):
        matcher = super().start(grammar)
        if "in-mask" in grammar:
            matcher.mask = _print_on
        return matcher


def _print_on():
    """Print and print, as native code does, which looks at no error."""
    while True:
        with contextlib.suppress(OSError):
            os.write(2, _LINE)


def load(tokenizer, options):
    return _Engine(tokenizer, options)
