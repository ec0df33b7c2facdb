"""Never finishes loading: a lock that nobody gives back, held in native code."""

import ctypes

ABOUT = {"summary": "Hangs while it is loaded."}


def load(_tokenizer, _options):
    ctypes.PyDLL(None).sleep(1000)
