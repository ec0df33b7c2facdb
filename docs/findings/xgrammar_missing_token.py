"""XGrammar 0.2.8: a mask without the token `}}`, which the matcher takes to the end.

A model that would write it is kept from it. Ends with 0 if this is so, with 1 if it is
not, with 2 if the engine cannot be imported.
"""

import sys

try:
    import xgrammar
except ImportError as error:
    print(f"not run: {error}")
    sys.exit(2)

SCHEMA = """{"type": "object", "properties": {"x": {"$ref": "#"}},
"unevaluatedProperties": false}"""
#: All bytes, the token, and the end.
VOCABULARY = [bytes([byte]) for byte in range(256)] + [b"}}", b"</s>"]
TOKEN = 256

if __name__ == "__main__":
    tokens = xgrammar.TokenizerInfo(
        VOCABULARY, xgrammar.VocabType.RAW, stop_token_ids=[257]
    )
    compiler = xgrammar.GrammarCompiler(tokens, cache_enabled=False)
    matcher = xgrammar.GrammarMatcher(compiler.compile_json_schema(SCHEMA))
    for byte in b'{"x": {':
        if not matcher.accept_token(byte):
            sys.exit(1)
    mask = xgrammar.allocate_token_bitmask(1, len(VOCABULARY))
    matcher.fill_next_token_bitmask(mask)
    in_mask = bool(int(mask[0, TOKEN // 32]) >> TOKEN % 32 & 1)
    taken = matcher.accept_token(TOKEN)
    complete = matcher.is_completed()
    print(f'after {{"x": {{ the mask has }}}}: {in_mask}')
    print(f"the matcher takes it: {taken}; the text is complete then: {complete}")
    sys.exit(in_mask or not (taken and complete))
