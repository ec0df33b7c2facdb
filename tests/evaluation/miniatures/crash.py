"""Dies of SIGSEGV where the schema says crash."""

import ctypes
import runpy

ABOUT = {"summary": "Dies of SIGSEGV where the schema says crash."}
_accept_all = runpy.run_path(__file__.replace("crash.py", "accept_all.py"))


class _Engine(_accept_all["_Engine"]):
    def compile(self, schema):
        if "crash" in schema:
            ctypes.string_at(0)
        return schema


def load(tokenizer, options):
    return _Engine(tokenizer, options)
