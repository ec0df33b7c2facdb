"""llguidance 1.9.1: 512 optional properties compile, and the first `{` fails.

"Current row has 2047 items; max is 2000". Ends with 0 if this is so, with 1
if it is not, with 2 if the engine cannot be imported.
"""

import json
import sys

try:
    from llguidance import LLMatcher, LLTokenizer
except ImportError as error:
    print(f"not run: {error}")
    sys.exit(2)

TOKENS = LLTokenizer("byte")


def first_token(count: int) -> str:
    """Return what becomes of `{` under so many optional properties."""
    properties = {f"p{number}": True for number in range(count)}
    schema = {"properties": properties, "additionalProperties": False, "type": "object"}
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema))
    matcher = LLMatcher(TOKENS, grammar, log_level=0)
    if matcher.is_error():
        return f"refused: {matcher.get_error().splitlines()[0]}"
    if matcher.consume_token(ord("{")):
        return "taken"
    return f"failed: {matcher.get_error().splitlines()[0][:60]}"


if __name__ == "__main__":
    few, many = first_token(499), first_token(512)
    print(f"499 optional properties: {few}")
    print(f"512 optional properties: {many}")
    sys.exit(not (few == "taken" and many.startswith("failed")))
