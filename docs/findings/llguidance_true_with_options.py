"""llguidance 1.9.1: the schema `true` is compiled, and with any option it is refused.

Ends with 0 if this is so, with 1 if it is not, with 2 if the engine cannot be
imported.
"""

import sys

try:
    from llguidance import LLMatcher, LLTokenizer
except ImportError as error:
    print(f"not run: {error}")
    sys.exit(2)

TOKENS = LLTokenizer("byte")


def refusal(**options: object) -> str:
    """Return why `true` is refused; empty if it is compiled."""
    try:
        grammar = LLMatcher.grammar_from_json_schema("true", **options)
        matcher = LLMatcher(TOKENS, grammar, log_level=0)
    except ValueError as error:
        return str(error)
    return matcher.get_error() if matcher.is_error() else ""


if __name__ == "__main__":
    plain, with_option = refusal(), refusal(overrides={"whitespace_flexible": True})
    print(f"without an option: {plain or 'compiled'}")
    print(f"with whitespace_flexible, as it is by default: {with_option or 'compiled'}")
    sys.exit(bool(plain) or not with_option)
