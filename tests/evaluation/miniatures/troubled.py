"""All troubles in one engine: the schema's `title` names the one that it has.

`flaky` kills its process once, and never again as long as its mark stays; `killed`
leaves a byte in the mark each time.
"""

import ctypes
import os
import runpy
import signal
import sys
import time

ABOUT = {"summary": "Does whatever the schema's title says."}
OPTIONS = {"mark": "str"}

_LIBRARY = ctypes.PyDLL(None)
_accept_all = runpy.run_path(__file__.replace("troubled.py", "accept_all.py"))


class _Matcher(_accept_all["_Matcher"]):
    def __init__(self, schema, size):
        super().__init__(size)
        self._schema = schema

    def mask(self):
        _suffer(self._schema, "walk")
        if "slow-walk" in self._schema:
            time.sleep(0.05)
        if "busy-walk" in self._schema:
            end = time.process_time() + 0.05
            while time.process_time() < end:
                pass
        return self._mask

    def commit(self, _token):
        _suffer(self._schema, "commit")
        return "lie" not in self._schema


class _Engine(_accept_all["_Engine"]):
    def __init__(self, tokenizer, options):
        super().__init__(tokenizer, options)
        self._mark = options.get("mark")

    def compile(self, schema):
        if "refuse" in schema:
            raise ValueError("refused, as it says")
        if "flaky" in schema and not os.path.exists(self._mark):
            open(self._mark, "w").close()
            os.abort()
        if "killed" in schema:
            with open(self._mark, "ab") as mark:
                mark.write(b"x")
            os.kill(os.getpid(), signal.SIGKILL)
        _suffer(schema, "compile")
        return schema

    def start(self, grammar):
        return _Matcher(grammar, self._size)


def _suffer(schema, phase):
    if f"crash-{phase}" in schema:
        ctypes.string_at(0)
    if f"abort-{phase}" in schema:
        os.abort()
    if f"exit-{phase}" in schema:
        os._exit(3)
    if f"hang-{phase}" in schema:
        _LIBRARY.sleep(1000)
    if f"raise-{phase}" in schema:
        raise RuntimeError("raised, as it says")
    if f"panic-{phase}" in schema:
        raise BaseException("panicked, as it says")
    if f"bad-alloc-{phase}" in schema:
        print("terminate called: std::bad_alloc", file=sys.stderr, flush=True)
        os.abort()
    if f"hog-{phase}" in schema:
        held = []
        while True:
            held.append(b"x" * (8 << 20))


def load(tokenizer, options):
    return _Engine(tokenizer, options)
