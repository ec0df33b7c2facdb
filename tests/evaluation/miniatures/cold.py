"""Dies in the mask of any schema that names a property; walks those that do not."""

import ctypes

ABOUT = {"summary": "Dies in the mask of a schema that names a property."}


class _Matcher:
    def __init__(self, schema, size):
        self._schema = schema
        self._mask = b"\xff" * ((size + 31) // 32 * 4)

    def mask(self):
        if "properties" in self._schema:
            ctypes.string_at(0)
        return self._mask

    def commit(self, _token):
        return True

    def may_end(self):
        return True


class _Engine:
    def __init__(self, tokenizer):
        self._size = tokenizer.vocab_size

    def compile(self, schema):
        return schema

    def start(self, grammar):
        return _Matcher(grammar, self._size)


def load(tokenizer, _options):
    return _Engine(tokenizer)
