"""Mutants are drawn from the code by the seed, and change one place each."""

from __future__ import annotations

from tests.mutants import candidates, draw

_SOURCE = """\
def larger(a: int, b: int) -> bool:
    if not a or b == 1:
        raise ValueError("é" + "b")
    return a < b
"""


def test_every_kind_of_mutant_is_a_change_of_one_place() -> None:
    """Columns count bytes, so that a line with other letters is cut where it should."""
    lines = _SOURCE.encode().splitlines()
    made = set()
    for mutant in candidates("larger.py", _SOURCE):
        line = lines[mutant.line - 1]
        changed = line[: mutant.start] + mutant.text.encode() + line[mutant.end :]
        made.add(changed.decode().strip())
    assert made == {
        "if (a) or b == 1:",
        "if not a and b == 1:",
        "if not a or b != 1:",
        "if not a or b == 2:",
        'raise ValueError("é" - "b")',
        "pass",
        "return a <= b",
    }


def test_a_seed_draws_the_same_mutants() -> None:
    """And another seed draws others."""
    drawn = draw("a seed", 5, ["curation/json"])
    assert drawn == draw("a seed", 5, ["curation/json"])
    assert drawn != draw("another seed", 5, ["curation/json"])
