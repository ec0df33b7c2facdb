"""Rolls back and forks; how wrongly, the schema's `title` says."""

ABOUT = {"summary": "Rolls back and forks, rightly or not."}


class _Matcher:
    def __init__(self, schema, size, taken):
        self._schema = schema
        self._size = size
        self._taken = taken

    def mask(self):
        # Every token is allowed, and one above the vocabulary tells what was taken.
        mask = bytearray(b"\xff" * ((self._size + 31) // 32 * 4 + 8))
        mask[-8:] = (hash(tuple(self._taken)) & (1 << 62) - 1).to_bytes(8, "little")
        return mask

    def commit(self, token):
        self._taken.append(token)
        return True

    def may_end(self):
        return True

    def rollback(self, count):
        if "cannot" in self._schema:
            return False
        if "raises" in self._schema:
            raise RuntimeError("no history")
        short = "short" in self._schema and count > 1
        del self._taken[len(self._taken) - count + short :]
        return True

    def fork(self):
        taken = self._taken if "shared" in self._schema else list(self._taken)
        return _Matcher(self._schema, self._size, taken)


class _Engine:
    def __init__(self, tokenizer):
        self._size = tokenizer.vocab_size

    def compile(self, schema):
        return schema

    def start(self, grammar):
        return _Matcher(grammar, self._size, [])

    def kernel(self, mask):
        return mask.hex


def load(tokenizer, _options):
    return _Engine(tokenizer)
