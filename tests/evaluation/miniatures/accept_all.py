"""An engine that allows everything: compliant with nothing, always declared."""

ABOUT = {"summary": "Allows every token, always."}


class _Matcher:
    def __init__(self, size):
        self._mask = b"\xff" * ((size + 31) // 32 * 4)

    def mask(self):
        return self._mask

    def commit(self, _token):
        return True

    def may_end(self):
        return True

    def forced(self):
        return None


class _Engine:
    version = "1"

    def __init__(self, tokenizer, _options):
        self._size = tokenizer.vocab_size

    def compile(self, schema):
        return schema

    def start(self, _grammar):
        return _Matcher(self._size)

    def warnings(self, _grammar):
        return ()


def load(tokenizer, options):
    return _Engine(tokenizer, options)
