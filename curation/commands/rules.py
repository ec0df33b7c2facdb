"""`csbdata rules`: both rule sets as data, with sources, reasons and lints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.core.documents import Reason
from curation.core.rule import Rule
from curation.system.terminal import (
    Format,
    FormatOption,
    print_json,
    show,
    stdout,
    table,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
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

    try:
        chosen = [rule_set(each) for each in ([name] if name else NAMES)]
    except LookupError as error:
        raise typer.BadParameter(str(error.args[0])) from error
    if format_ is Format.JSON:
        print_json(report(chosen))
    else:
        _print(chosen)


def report(chosen: list[RuleSet]) -> UntypedJson:
    """Return the rule sets and the reasons as one JSON object."""
    return {
        "rule_sets": [
            {
                "name": each.name,
                "summary": each.summary,
                "rules": [_described(rule, each) for rule in each.all_rules],
            }
            for each in chosen
        ],
        "reasons": [
            {
                "reason": reason.value,
                "explanation": reason.explanation,
                "rules": {each.name: _giving(reason, each) for each in chosen},
            }
            for reason in Reason
        ],
    }


def _described(rule: AnyRule, rules_of: RuleSet) -> UntypedJson:
    return {
        "position": rules_of.numbers[rule.name],
        "name": rule.name,
        "scope": "document" if isinstance(rule, Rule) else "benchmark",
        "summary": rule.summary,
        "source": rule.source,
        "reasons": [each.value for each in rule.reasons],
        "lints": dict(rule.lints) if isinstance(rule, Rule) else {},
    }


def _giving(reason: Reason, rules_of: RuleSet) -> list[str]:
    return [each.name for each in rules_of.all_rules if reason in each.reasons]


def _print(chosen: list[RuleSet]) -> None:
    for each in chosen:
        show(f"{each.name}: {each.summary}")
        rows = [
            (each.numbers[rule.name], rule.name, _story(rule))
            for rule in each.all_rules
        ]
        stdout().print(table(("#", "rule", "what it does"), rows, numbers=(0,)))
    reasons = [
        (reason.value, reason.explanation, _givers(reason, chosen)) for reason in Reason
    ]
    show("Reasons for which a document is not in the benchmark:")
    stdout().print(table(("reason", "meaning", "given by"), reasons))


def _story(rule: AnyRule) -> str:
    lines = [rule.summary, f"Source: {rule.source}"]
    if rule.reasons:
        lines.append(f"Rejects as: {', '.join(each.value for each in rule.reasons)}")
    if isinstance(rule, Rule):
        lines += [f"Flags {code}: {meaning}" for code, meaning in rule.lints.items()]
    return "\n".join(lines)


def _givers(reason: Reason, chosen: list[RuleSet]) -> str:
    given = [
        f"{each.name}: {', '.join(names)}"
        for each in chosen
        if (names := _giving(reason, each))
    ]
    return "; ".join(given) or _BEFORE_RULES
