"""Hangs in native code that holds the interpreter, where the schema says hang."""

import ctypes
import runpy

ABOUT = {"summary": "Holds the interpreter for ever where the schema says hang."}
_accept_all = runpy.run_path(__file__.replace("hang.py", "accept_all.py"))


class _Engine(_accept_all["_Engine"]):
    def compile(self, schema):
        if "hang" in schema:
            ctypes.PyDLL(None).sleep(1000)
        return schema


def load(tokenizer, options):
    return _Engine(tokenizer, options)
