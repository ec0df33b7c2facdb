"""llguidance 1.9.1: after a long valid text, copies of a matcher made later are dead.

A string of 28,000 characters, which its `maxLength` allows, runs into the limit of
250,000 lexer states. Copies of the compiled matcher share these: in the next copy even
`"a"` fails, while a matcher that is compiled anew takes it. Ends with 0 if this is so,
with 1 if it is not, with 2 if the engine cannot be imported.
"""

import sys

try:
    from llguidance import LLMatcher, LLTokenizer
except ImportError as error:
    print(f"not run: {error}")
    sys.exit(2)

SCHEMA = '{"type": "string", "maxLength": 28000}'
TOKENS = LLTokenizer("byte")


def compiled() -> LLMatcher:
    """Return a matcher of the schema before its first token."""
    grammar = LLMatcher.grammar_from_json_schema(SCHEMA)
    return LLMatcher(TOKENS, grammar, log_level=0)


def walk(matcher: LLMatcher, text: str) -> str:
    """Return how a text fares in its masks: `complete`, or what went wrong where."""
    for place, byte in enumerate(text.encode()):
        mask = matcher.compute_bitmask()
        if matcher.is_error():
            return f"failed at {place}: {matcher.get_error().splitlines()[0]}"
        if not mask[byte >> 3] >> (byte & 7) & 1 or not matcher.consume_token(byte):
            return f"blocked at {place}"
    return "complete" if matcher.is_accepting() else "incomplete"


if __name__ == "__main__":
    first = compiled()
    before = walk(first.deep_copy(), '"a"')
    long = walk(first.deep_copy(), '"' + "x" * 28_000 + '"')
    after = walk(first.deep_copy(), '"a"')
    fresh = walk(compiled(), '"a"')
    print(f'"a" in a copy: {before}')
    print(f"28,000 characters in a copy: {long}")
    print(f'"a" in a copy after that: {after}')
    print(f'"a" in a matcher compiled anew: {fresh}')
    dead = long.startswith("failed") and after.startswith("failed")
    sys.exit(not (dead and before == fresh == "complete"))
