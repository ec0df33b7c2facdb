"""XGrammar 0.1.8: a `$ref` that leads back to itself ends the process with SIGSEGV.

Ends with 0 if this is so, with 1 if it is not.
"""

import signal
import subprocess
import sys

SCHEMA = """{"$ref": "#/$defs/a",
"$defs": {"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}}}}"""
VOCABULARY = [bytes([byte]) for byte in range(256)] + [b"</s>"]


def main() -> None:
    """Compile the schema, in the process that is to be seen ending."""
    import xgrammar  # noqa: PLC0415 (only the child needs it)

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
    print(f"exit status of the process that compiles it: {child.returncode}")
    sys.exit(child.returncode != -signal.SIGSEGV)
