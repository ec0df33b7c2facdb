"""The codes of problems: what they mean, and which of them are wanted."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from curation.core.documents import Reason
from curation.system.errors import BadConfiguration, BadUsage, NoInput
from curation.system.registry import closest_names

#: Where a project says what it wants, in its `pyproject.toml`.
TABLE: Final = "tool.csbdata.check"


#: What a question to a schema ends with that takes too long; no build knows it.
TIMED_OUT = "timed_out"
SLOW = "a question to the schema was not answered within 10 seconds"


class Code(NamedTuple):
    """The meaning of a code."""

    #: `reason`, `rule` or `lint`.
    kind: str
    meaning: str


def codes() -> dict[str, Code]:
    """Return every code of `csbdata check` but those of `--for`, by kinds."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeChoice:
    """The codes that are wanted; without any in `select` all but those ignored."""

    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()

    def wants(self, code: str) -> bool:
        """Return whether problems of a code are told."""
        return code not in self.ignore and (not self.select or code in self.select)


def choose_codes(select: str, ignore: str) -> CodeChoice:
    """Return the choice of a command line, else that of the project around it.

    Args:
        select: Codes, separated by commas; empty for those of `pyproject.toml`.
        ignore: The same.

    Raises:
        BadUsage: there is no such code.
        BadConfiguration: the file's table is none.
    """
    table = {} if select and ignore else _table()
    unknown_keys = table.keys() - {"select", "ignore"}
    if unknown_keys:
        raise BadConfiguration(f"[{TABLE}] has no key {min(unknown_keys)!r}")
    given = {"select": select.replace(" ", ""), "ignore": ignore.replace(" ", "")}
    chosen = {
        name: frozenset(text.split(",") if text else table.get(name, ()))
        for name, text in given.items()
    }
    named = chosen["select"] | chosen["ignore"]
    known = codes() if named else {}
    for code in sorted(named):
        if code not in known:
            near = ", ".join(closest_names(code, known))
            then = f"did you mean: {near}" if near else "docs/codes.md has them all"
            raise BadUsage(f"no code {code!r}", then=then)
    return CodeChoice(**chosen)


def _table() -> dict[str, list[str]]:
    """Return the table of the nearest `pyproject.toml` that has it.

    Raises:
        NoInput: a file cannot be read.
        BadConfiguration: the table is no table of lists of texts.
    """
    for folder in (Path.cwd(), *Path.cwd().parents):
        path = folder / "pyproject.toml"
        try:
            text = path.read_text("utf-8") if path.is_file() else ""
            value: Any = tomllib.loads(text)
        except (OSError, ValueError) as error:
            raise NoInput(f"cannot be read: {error}", str(path)) from error
        for name in TABLE.split("."):
            value = value.get(name, {}) if isinstance(value, dict) else {}
        try:
            table = msgspec.convert(value, dict[str, list[str]])
        except msgspec.ValidationError as error:
            then = f'write ignore = ["unused-definition"] below [{TABLE}]'
            raise BadConfiguration(f"{TABLE}: {error}", str(path), then) from error
        if table:
            return table
    return {}
