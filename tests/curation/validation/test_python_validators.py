"""jsonschema starts quickly and still knows what an IRI is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from curation.validation.python_validators import jsonschema
from tests.slow_cases import first_fast

CODE = """
import sys
from curation.validation.python_validators import jsonschema
from tests.slow_cases import first_fast
print("rfc3987_syntax" in sys.modules or "lark" in sys.modules)
checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
print(checker.conforms("http://example.com/\\u00e9", "iri"))
print(checker.conforms("http://[", "iri"), checker.conforms("<", "iri-reference"))
print("lark" in sys.modules)
print(checker.conforms("a b", "uri-reference"), checker.conforms("a", "uri-reference"))
"""


@pytest.mark.slow
def test_the_grammar_of_iris_is_built_when_one_is_checked() -> None:
    """Not before, and with the same verdicts."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    words = done.stdout.split()
    assert words == ["False", "True", "False", "False", "True", "False", "True"]


@pytest.mark.parametrize(
    "module",
    first_fast(
        1,
        [
            "curation.instances.dataset.worker",
            "curation.verification.scan_worker",
            "evaluation.suites.coverage.scorer",
        ],
    ),
)
def test_no_program_builds_the_grammar_when_it_starts(module: str) -> None:
    """It takes a second, which every process of a pool would pay."""
    code = (
        f"import sys, {module}\n"
        "print('jsonschema' in sys.modules, 'lark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]


def test_durations_and_uris_are_judged_by_the_real_libraries() -> None:
    """Their stand-ins import them, and a refusal of theirs is one of the format."""
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    values = {"duration": ("P1D", "P1"), "uri": ("http://a/b", "a b")}
    for name, (good, bad) in values.items():
        assert [checker.conforms(each, name) for each in (good, bad)] == [True, False]
