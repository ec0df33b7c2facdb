"""XGrammar 0.2.8: with its cache, `^[a-z]{1,255}$` is refused; without, it is compiled.

The cache is on by default. Ends with 0 if this is so, with 1 if it is not, with 2
if the engine cannot be imported.
"""

import sys

try:
    import xgrammar
except ImportError as error:
    print(f"not run: {error}")
    sys.exit(2)

SCHEMA = '{"type": "string", "pattern": "^[a-z]{1,255}$"}'
VOCABULARY = [bytes([byte]) for byte in range(256)] + [b"</s>"]


def refusal(*, cache: bool) -> str:
    """Return why the schema is refused; empty if it is compiled."""
    tokens = xgrammar.TokenizerInfo(
        VOCABULARY, xgrammar.VocabType.RAW, stop_token_ids=[256]
    )
    compiler = xgrammar.GrammarCompiler(tokens, cache_enabled=cache)
    try:
        compiler.compile_json_schema(SCHEMA)
    except RuntimeError as error:
        return str(error).strip()
    return ""


if __name__ == "__main__":
    with_cache, without = refusal(cache=True), refusal(cache=False)
    print(f"with its cache: {with_cache or 'compiled'}")
    print(f"without: {without or 'compiled'}")
    sys.exit(not with_cache or bool(without))
