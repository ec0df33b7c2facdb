"""Hangs in native code that holds the interpreter, where the schema says hang."""

import ctypes

_LIBRARY = ctypes.PyDLL(None)

ABOUT = {"summary": "Holds the interpreter for ever where the schema says hang."}


class _Matcher:
    def __init__(self, size):
        self._mask = b"\xff" * ((size + 31) // 32 * 4)

    def mask(self):
        return self._mask

    def commit(self, _token):
        return True

    def may_end(self):
        return True


class _Engine:
    def __init__(self, tokenizer):
        self._size = tokenizer.vocab_size

    def compile(self, schema):
        if "hang" in schema:
            _LIBRARY.sleep(1000)
        return schema

    def start(self, _grammar):
        return _Matcher(self._size)


def load(tokenizer, _options):
    return _Engine(tokenizer)
