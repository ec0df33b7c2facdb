"""The codes of problems, and what they mean."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.documents import Reason

#: What a question to a schema ends with that takes too long; no build knows it.
TIMED_OUT = "timed_out"
SLOW = "a question to the schema was not answered within 10 seconds"


class Code(NamedTuple):
    """The meaning of a code."""

    #: `reason`, `rule` or `lint`.
    kind: str
    meaning: str


def codes() -> dict[str, Code]:
    """Return every code of `csbdata check`, by kinds."""
    from curation.checking.check_lints import CODES  # noqa: PLC0415 (as below)
    from curation.rules.sets import rule_set  # noqa: PLC0415 (imports every rule)

    rules = rule_set("clean").rules
    lints = {code: text for rule in rules for code, text in rule.lints.items()}
    return {
        **{str(reason): Code("reason", reason.explanation) for reason in Reason},
        TIMED_OUT: Code("reason", SLOW),
        **{rule.name: Code("rule", rule.summary) for rule in rules},
        **{code: Code("lint", meaning) for code, meaning in {**lints, **CODES}.items()},
    }
