"""Refuses every schema."""

import runpy

ABOUT = {"summary": "Refuses every schema."}
_accept_all = runpy.run_path(__file__.replace("refuse_all.py", "accept_all.py"))


class _Engine(_accept_all["_Engine"]):
    def compile(self, schema):
        raise ValueError("this engine takes nothing: " + schema[:20])


def load(tokenizer, options):
    return _Engine(tokenizer, options)
