"""XGrammar 0.1.8: a `$ref` that leads back to itself ends the process with SIGSEGV.

Ends with 0 if this is so, with 1 if it is not, with 2 if the engine cannot be
imported.
"""

import signal
import subprocess
import sys

SCHEMA = """{"$ref": "#/$defs/a",
"$defs": {"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}}}}"""
VOCABULARY = [bytes([byte]) for byte in range(256)] + [b"</s>"]
NOT_RUN = 2


def main() -> None:
    """Compile the schema, in the process that is to be seen ending."""
    try:
        import xgrammar  # noqa: PLC0415 (only the child needs it)
    except ImportError as error:
        print(f"not run: {error}")
        sys.exit(NOT_RUN)
    tokens = xgrammar.TokenizerInfo(
        VOCABULARY, xgrammar.VocabType.RAW, vocab_size=257, stop_token_ids=[256]
    )
    compiler = xgrammar.GrammarCompiler(tokens, max_threads=1, cache_enabled=False)
    compiler.compile_json_schema(SCHEMA, strict_mode=False)


if __name__ == "__main__":
    if sys.argv[1:] == ["compile"]:
        main()
        sys.exit()
    child = subprocess.run([*sys.orig_argv, "compile"], check=False)
    if child.returncode == NOT_RUN:
        sys.exit(NOT_RUN)
    print(f"exit status of the process that compiles it: {child.returncode}")
    sys.exit(child.returncode != -signal.SIGSEGV)
