"""Takes memory without end where the schema says hog."""

ABOUT = {"summary": "Takes memory without end where the schema says hog."}


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
        if "hog" in schema:
            held = []
            while True:
                held.append(b"x" * (8 << 20))
        return schema

    def start(self, _grammar):
        return _Matcher(self._size)


def load(tokenizer, _options):
    return _Engine(tokenizer)
