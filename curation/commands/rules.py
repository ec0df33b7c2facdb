"""`csbdata rules`: both rule sets as data, with sources, reasons and lints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.core.documents import Reason
from curation.core.rule import Rule
from curation.system.tables import table
from curation.system.terminal import Format, FormatOption, print_json, show, stdout

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.rules.sets import AnyRule, RuleSet

#: Who gives the reasons that no rule gives.
_BEFORE_RULES = "reading and limits"


def rules(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[SET]", help="Only this rule set: clean or paper."),
    ] = None,
    format_: FormatOption = Format.AUTO,
) -> None:
    """List the rules of each rule set in their order, and every reject reason.

    Example: csbdata rules clean

    Example: csbdata rules --format json
    """
    from curation.rules.sets import NAMES, rule_set

    chosen = [rule_set(own) for own in ([name] if name else NAMES)]
    if format_ is Format.JSON:
        print_json(report(chosen))
    else:
        _print(chosen)


def report(chosen: list[RuleSet]) -> dict[str, Json]:
    """Return the rule sets and the reasons as one JSON object."""
    return {
        "rule_sets": [
            {
                "name": rules_of.name,
                "summary": rules_of.summary,
                "rules": [_described(rule, rules_of) for rule in rules_of.all_rules],
            }
            for rules_of in chosen
        ],
        "reasons": [
            {
                "reason": reason.value,
                "explanation": reason.explanation,
                "rules": {
                    rules_of.name: list(_giving(reason, rules_of))
                    for rules_of in chosen
                },
            }
            for reason in Reason
        ],
    }


def _described(rule: AnyRule, rules_of: RuleSet) -> dict[str, Json]:
    return {
        "position": rules_of.numbers[rule.name],
        "name": rule.name,
        "scope": "document" if isinstance(rule, Rule) else "benchmark",
        "summary": rule.summary,
        "source": rule.source,
        "reasons": [reason.value for reason in rule.reasons],
        "lints": dict(rule.lints) if isinstance(rule, Rule) else {},
    }


def _giving(reason: Reason, rules_of: RuleSet) -> list[str]:
    return [rule.name for rule in rules_of.all_rules if reason in rule.reasons]


def _print(chosen: list[RuleSet]) -> None:
    for rules_of in chosen:
        show(f"{rules_of.name}: {rules_of.summary}")
        rows = [
            (rules_of.numbers[rule.name], rule.name, _explained(rule))
            for rule in rules_of.all_rules
        ]
        stdout().print(table(("#", "rule", "what it does"), rows, numbers=(0,)))
    reasons = [
        (reason.value, reason.explanation, _givers(reason, chosen)) for reason in Reason
    ]
    show("Reasons for which a document is not in the benchmark:")
    stdout().print(table(("reason", "meaning", "given by"), reasons))


def _explained(rule: AnyRule) -> str:
    lines = [rule.summary, f"Source: {rule.source}"]
    if rule.reasons:
        lines.append(
            f"Rejects as: {', '.join(reason.value for reason in rule.reasons)}"
        )
    if isinstance(rule, Rule):
        lines += [f"Flags {code}: {meaning}" for code, meaning in rule.lints.items()]
    return "\n".join(lines)


def _givers(reason: Reason, chosen: list[RuleSet]) -> str:
    given = [
        f"{rules_of.name}: {', '.join(names)}"
        for rules_of in chosen
        if (names := _giving(reason, rules_of))
    ]
    return "; ".join(given) or _BEFORE_RULES
