"""Prints to standard output and standard error, by Python and behind its back."""

import ctypes
import os
import runpy
import sys
import time

ABOUT = {"summary": "Prints by Python and behind its back."}
_accept_all = runpy.run_path(__file__.replace("babbler.py", "accept_all.py"))


class _Engine(_accept_all["_Engine"]):
    def compile(self, schema):
        print("compiling", schema[:10])
        print("careful", file=sys.stderr)
        print(time.strftime("[%H:%M:%S]"), "native: Warning", file=sys.stderr)
        os.write(1, b'{"request": 0, "answer": {"compile_ns": 1}}\n')
        ctypes.CDLL(None).printf(b"by the C library\n")
        return schema


def load(tokenizer, options):
    return _Engine(tokenizer, options)
