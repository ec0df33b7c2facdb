"""`csbdata explain`: a record's story, a rule, a reject reason, or a rule set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.core.documents import ABSENT, Change, Reason
from curation.core.rule import Rule
from curation.dataset.editions import DEFAULT_BUILD
from curation.rules.guard import evidence_counts
from curation.system.errors import NoInput
from curation.system.terminal import (
    Format,
    FormatOption,
    log,
    print_json,
    show,
    show_whole,
    stdout,
    table,
)
from curation.system.words import counted, shortened

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.dataset.ledger import DocumentStory
    from curation.rules.sets import AnyRule, RuleSet

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_MAX_CHANGES = 5
#: Characters of the lints with their pointers.
_MAX_LINTS = 500
#: The giver of the reasons that no rule gives.
_BEFORE_RULES = "reading and limits"
_REASONS = frozenset(reason.value for reason in Reason)


def explain(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID|RULE|REASON|SET]",
            help="A record's id or config/id, a rule, a reject reason, or a rule set.",
        ),
    ] = None,
    build: Annotated[
        Path, typer.Option("--in", metavar="DIR", help="The build to look into.")
    ] = DEFAULT_BUILD,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Explain a record, a rule, or a reason to reject; without any, list the rules.

    Example: csbdata explain o13947

    Example: csbdata explain template

    Example: csbdata explain clean --format json

    GitHub's files that were rejected before their subset was known are of the config
    `Github`.
    """
    from curation.rules.sets import NAMES, rule_set

    rule_sets = [rule_set(name) for name in NAMES]
    if subject in _REASONS:
        _explain_reason(build, Reason(subject), rule_sets, format_)
    elif subject is None or subject in NAMES:
        listed_sets = [rules for rules in rule_sets if subject in (None, rules.name)]
        _list_rules(listed_sets, format_)
    elif any(subject in rules.numbers for rules in rule_sets):
        _explain_rule(subject, rule_sets, format_)
    else:
        _tell_stories(build, subject, format_)


def _list_rules(rule_sets: list[RuleSet], format_: Format) -> None:
    if format_ is Format.JSON:
        sets: list[Json] = [
            {
                "name": rules.name,
                "summary": rules.summary,
                "rules": [_described(rule, rules) for rule in rules.all_rules],
            }
            for rules in rule_sets
        ]
        reasons: list[Json] = [_explained(reason, rule_sets) for reason in Reason]
        print_json({"rule_sets": sets, "reasons": reasons})
        return
    for rules in rule_sets:
        show(f"{rules.name}: {rules.summary}")
        rows = [
            (rules.numbers[rule.name], rule.name, _lines(rule))
            for rule in rules.all_rules
        ]
        stdout().print(table(("#", "rule", "what it does"), rows, numbers=(0,)))
    meanings = [
        (reason.value, reason.explanation, _givers(reason, rule_sets))
        for reason in Reason
    ]
    show("Reasons for which a document is not in the benchmark:")
    stdout().print(table(("reason", "meaning", "given by"), meanings))


def _explain_rule(name: str, rule_sets: list[RuleSet], format_: Format) -> None:
    uses = [
        (rule, rules)
        for rules in rule_sets
        for rule in rules.all_rules
        if rule.name == name
    ]
    if format_ is Format.JSON:
        described: list[Json] = [
            {"rule_set": rules.name, **_described(rule, rules)} for rule, rules in uses
        ]
        print_json({"rule": described})
        return
    numbered = ", ".join(f"{rules.name} #{rules.numbers[name]}" for _, rules in uses)
    show(f"{name}: a rule of {numbered}", style="bold")
    show(_lines(uses[0][0]))


def _described(rule: AnyRule, rules: RuleSet) -> dict[str, Json]:
    return {
        "position": rules.numbers[rule.name],
        "name": rule.name,
        "scope": "document" if isinstance(rule, Rule) else "benchmark",
        "summary": rule.summary,
        "source": rule.source,
        "reasons": [reason.value for reason in rule.reasons],
        "lints": dict(rule.lints) if isinstance(rule, Rule) else {},
        "evidence": {
            kind.value: number for kind, number in evidence_counts(rule.name).items()
        },
    }


def _lines(rule: AnyRule) -> str:
    lines = [rule.summary, f"Source: {rule.source}"]
    if rule.reasons:
        names = ", ".join(reason.value for reason in rule.reasons)
        lines.append(f"Rejects as: {names}")
    if isinstance(rule, Rule):
        lines += [f"Flags {code}: {meaning}" for code, meaning in rule.lints.items()]
        lines += [
            f"Evidence `{kind.value}` for {number} GitHub records: {kind.explanation}"
            for kind, number in evidence_counts(rule.name).items()
        ]
    return "\n".join(lines)


def _explained(reason: Reason, rule_sets: list[RuleSet]) -> dict[str, Json]:
    return {
        "reason": reason.value,
        "explanation": reason.explanation,
        "rules": {
            rules.name: [
                rule.name for rule in rules.all_rules if reason in rule.reasons
            ]
            for rules in rule_sets
        },
    }


def _givers(reason: Reason, rule_sets: list[RuleSet]) -> str:
    rules: UntypedJson = _explained(reason, rule_sets)["rules"]
    givers = [f"{name}: {', '.join(given)}" for name, given in rules.items() if given]
    return "; ".join(givers) or _BEFORE_RULES


def _explain_reason(
    build: Path, reason: Reason, rule_sets: list[RuleSet], format_: Format
) -> None:
    """Print a reason, and the documents that a build rejected for it.

    A reason is explained without a build, too.
    """
    from curation.dataset.ledger import open_ledger

    rows = None
    try:
        rows = open_ledger(build).rejected(reason)
    except NoInput as error:
        log(f"{error.message}: {build}; name a build with --in to list its documents")
    if format_ is Format.JSON:
        facts = _explained(reason, rule_sets)
        print_json({**facts, "documents": None if rows is None else rows.to_dicts()})
        return
    show(f"{reason.value}: {reason.explanation}", style="bold")
    show(f"given by {_givers(reason, rule_sets)}")
    if any(reason.value in rules.numbers for rules in rule_sets):
        _explain_rule(reason.value, rule_sets, format_)
    if rows is None:
        return
    show(counted(len(rows), "document"))
    if len(rows):
        columns = ["config", "unique_id", "rule"]
        details = [shortened(detail, 100) for detail in rows["detail"]]
        cells = zip(rows.select(columns).rows(), details, strict=True)
        lines = [[*row, detail] for row, detail in cells]
        stdout().print(table([*columns, "detail"], lines))


def _tell_stories(build: Path, name: str, format_: Format) -> None:
    from curation.dataset.ledger import stories
    from curation.packaging.manifest import read_facts

    documents = stories(build, name)
    summaries = {rule.name: rule.summary for rule in read_facts(build).rule_list}
    if format_ is Format.JSON:
        printed = []
        for story in documents:
            entry = asdict(story.entry)
            for change in entry["changes"]:
                for side in ("before", "after"):
                    change[side] = None if change[side] == ABSENT else change[side]
            if not story.kept:
                entry["explanation"] = story.explanation
            record = story.record and asdict(story.record)
            printed.append({**entry, "record": record})
        print_json(printed)
        return
    for number, story in enumerate(documents):
        if number:
            show("")
        _print_story(story, summaries)


def _print_story(story: DocumentStory, summaries: Mapping[str, str]) -> None:
    entry = story.entry
    verdict = f"kept, in {entry.split}" if story.kept else f"rejected: {entry.outcome}"
    show(f"{entry.config}/{entry.unique_id}  {verdict}", style="bold")
    for name, value in _facts(story):
        if value:
            show(f"  {name:<12}{value}")
    if not story.kept:
        show("")
        show(f"  reason      {entry.outcome}: {story.explanation}")
        if entry.rule:
            summary = summaries.get(entry.rule, "")
            show(f"  rule        {entry.rule}: {summary}".rstrip(" :"))
        if entry.detail:
            detail = shortened(entry.detail, 2_000)
            show(f"  detail      {detail}", style="yellow")
    for rule, changes in groupby(entry.changes, key=lambda change: change.rule):
        show("")
        show(f"{rule}: {summaries.get(rule, '')}".strip(" :"), style="bold cyan")
        _print_changes(list(changes))


def _facts(story: DocumentStory) -> Iterable[tuple[str, str]]:
    from curation.lint.lint import lints
    from curation.schema.dialects import BY_NAME

    entry = story.entry
    yield "source", f"{entry.source} ({entry.origin}), {entry.commit}"
    yield "path", entry.path
    yield "licence", entry.licence
    yield "found in", entry.original_repository or ""
    yield "raw sha256", entry.raw_sha256
    yield "sha256", entry.sha256
    record = story.record
    if record is None:
        return
    words = ", ".join(record.dialect_words)
    evidence = f"{record.dialect_found} ({words})" if words else record.dialect_found
    yield "dialect", f"{record.dialect}, {evidence}"
    yield "valid under", ", ".join(record.valid_under)
    figures = (
        f"{counted(record.field_count, 'field')}, fan-out {record.max_fan_out:,}, "
        f"depth {record.depth:,}, {counted(record.size, 'byte')}"
    )
    yield "measures", figures
    yield "features", ", ".join(record.features)
    yield "formats", ", ".join(record.formats)
    defects = lints(json.loads(record.json_schema), BY_NAME[record.dialect])
    described = []
    for code in record.lints:
        pointers = [
            defect.pointer or "the root" for defect in defects if defect.code == code
        ]
        described.append(f"{code} at {', '.join(pointers)}" if pointers else code)
    yield "lints", shortened("; ".join(described), _MAX_LINTS)
    yield "fastjson...", record.fastjsonschema or ""


def _print_changes(changes: Sequence[Change]) -> None:
    from curation.json.line_diff import line_diff

    for change in changes[:_MAX_CHANGES]:
        evidence = change.evidence and f"evidence: {change.evidence}"
        remarks = "; ".join(filter(None, (change.note, evidence)))
        note = f"  ({remarks})" if remarks else ""
        show(f"  at {change.pointer or 'the root'}{note}")
        for line in line_diff(change.before, change.after):
            style = _COLOURS.get(line[0], "")
            show_whole(f"    {line}", style)
    if len(changes) > _MAX_CHANGES:
        hidden = len(changes) - _MAX_CHANGES
        show(f"  ... and {counted(hidden, 'more place')} (--format json)")
