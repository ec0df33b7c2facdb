"""Prints to standard output and standard error, by Python and behind its back."""

import ctypes
import os
import sys
import time

_LIBRARY = ctypes.CDLL(None)

ABOUT = {"summary": "Prints by Python and behind its back."}


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
        print("compiling", schema[:10])
        print("careful", file=sys.stderr)
        print(time.strftime("[%H:%M:%S]"), "native: Warning", file=sys.stderr)
        os.write(1, b'{"request": 0, "answer": {"compile_ns": 1}}\n')
        _LIBRARY.printf(b"by the C library\n")
        return schema

    def start(self, _grammar):
        return _Matcher(self._size)


def load(tokenizer, _options):
    return _Engine(tokenizer)
