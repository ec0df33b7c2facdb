"""Prints without end where the schema says so: by Python, or behind its back."""

import contextlib
import os

ABOUT = {"summary": "Prints without end."}
_LINE = b"warning: still here, still warning\n" * 4000


class _Matcher:
    def __init__(self, schema, size):
        self._schema = schema
        self._mask = b"\xff" * ((size + 31) // 32 * 4)

    def mask(self):
        if "in-mask" in self._schema:
            _print_on()
        return self._mask

    def commit(self, _token):
        return True

    def may_end(self):
        return True


class _Engine:
    def __init__(self, size):
        self._size = size

    def compile(self, schema):
        if "by-python" in schema:
            while True:
                print(_LINE.decode())
        if "behind-it" in schema:
            _print_on()
        return schema

    def start(self, grammar):
        return _Matcher(grammar, self._size)


def _print_on():
    """Print and print, as native code does, which looks at no error."""
    while True:
        with contextlib.suppress(OSError):
            os.write(2, _LINE)


def load(tokenizer, _options):
    return _Engine(tokenizer.vocab_size)
