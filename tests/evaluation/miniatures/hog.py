"""Takes memory without end where the schema says hog."""

import runpy

ABOUT = {"summary": "Takes memory without end where the schema says hog."}
_accept_all = runpy.run_path(__file__.replace("hog.py", "accept_all.py"))


class _Engine(_accept_all["_Engine"]):
    def compile(self, schema):
        held = []
        while "hog" in schema:
            held.append(b"x" * (8 << 20))
        return schema


def load(tokenizer, options):
    return _Engine(tokenizer, options)
