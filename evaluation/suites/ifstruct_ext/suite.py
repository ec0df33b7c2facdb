"""The extended track of IFStruct, as `csbdata suite ifstruct-ext` runs it.

Its rows ask for what the authors of IFStruct list as not enforced yet: patterns, dates
and addresses, lengths, uniqueness, conditions, names that stand once, and text that
YAML reads as something else.
"""

from __future__ import annotations

from typing import Final

from evaluation.suites.ifstruct.suite import make_suite

SUITE: Final = make_suite(
    "ifstruct-ext",
    "IFStruct with patterns, formats, lengths, uniqueness and conditions.",
    extended=True,
)
