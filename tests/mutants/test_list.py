"""Each promise has a mutant, and each mutant is one of today's code."""

from __future__ import annotations

import re

from tests.mutants.run import ROOT, mutants, mutated

#: The parts of SECURITY.md that promise something of the program.
_PROMISING = ("It is then named in", "## What a build does")


def _security() -> list[str]:
    """Return the promises of SECURITY.md, a sentence each."""
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    parts = [part for begin in _PROMISING for part in text.partition(begin)[1:]]
    opt_out, build = "".join(parts[:2]).partition("\n\n")[0], parts[-1]
    return [opt_out, *re.split(r"(?<=\.)\s+(?=[A-Z])", build.strip())]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_promise_has_a_mutant() -> None:
    """F1 to F60, and each sentence of SECURITY.md on what a build does."""
    promises = {_on_one_line(mutant.promise) for mutant in mutants()}
    numbers = {f"F{number}" for number in range(1, 61)}
    assert numbers <= promises
    sentences = [_on_one_line(sentence) for sentence in _security()]
    assert len(sentences) > 5
    words = promises - numbers
    assert [each for each in sentences if not any(map(each.count, words))] == []
    assert [
        each for each in words if not any(one.count(each) for one in sentences)
    ] == []


def test_every_mutant_can_be_made_and_has_its_test() -> None:
    """The text to replace stands in its file once, and the test in its own."""
    for mutant in mutants():
        assert mutated(mutant)
        file, _, name = mutant.test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text("utf-8"), mutant.test
