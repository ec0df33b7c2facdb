"""The worker process of `csbdata check`: one question about one schema at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from curation.checking.check_lints import refused_values, unused_definitions
from curation.checking.findings import (
    is_benchmark_matter,
    is_named_already,
    is_the_authors,
    own_places,
    to_mend,
)
from curation.checking.report import (
    NOTE,
    CheckQuestion,
    SchemaProblem,
    SchemaReport,
)
from curation.core.documents import (
    ABSENT,
    NOWHERE,
    Change,
    Document,
    Lint,
    RawDocument,
    Reason,
    Rejected,
)
from curation.core.json_types import Json
from curation.core.rule import Context, Library, Rule
from curation.json.pointer import tokens_of
from curation.lint.contradictions import UNKNOWN_FORMAT
from curation.lint.idle_keywords import MISSPELT, nearest
from curation.pipeline.process_document import read
from curation.references.schema import Schema
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME
from curation.sources.neighbours import NeighbourFiles, neighbour_library
from curation.system.escaping import shortened
from curation.validation.metaschemas import is_valid, valid_under

#: How the detail begins of a reference to the web.
_WEB = re.compile(r"'https?://", re.IGNORECASE)
_SHOWN = 60


def _check(question: CheckQuestion, library: Library) -> SchemaReport:
    """Apply the rule set `clean` to a text, and report what it finds."""
    rules = rule_set("clean")
    raw = RawDocument(
        config="local",
        unique_id="checked",
        provenance=NOWHERE,
        content=question.content.encode("latin-1"),
        base_uri=question.base_uri,
    )
    document = read(raw, rules)
    if isinstance(document, Rejected):
        return SchemaReport(problems=(_rejection(document),))
    # Of the file as it is: the rules mend some of what the drafts refuse.
    given = document.schema
    valid = valid_under(given)
    if isinstance(given, bool):
        return SchemaReport(valid_under=valid)
    document, rejected = _through(rules.rules, document, Context(library=library))
    summaries = {rule.name: rule.summary for rule in rules.rules}
    meanings = {code: text for rule in rules.rules for code, text in rule.lints.items()}
    problems = [
        *map(_rejection, rejected),
        *(_edit(it, summaries) for it in document.changes if is_the_authors(it)),
        *(_lint(it, _meaning(it, meanings)) for it in _to_mend(document)),
    ]
    is_own = own_places(document)
    problems = [it for it in problems if is_own(it.pointer)]
    if document.dialect in valid:
        as_read = Schema(given, BY_NAME[document.dialect])
        problems += [_lint(*it) for it in refused_values(as_read)]
        problems += [_lint(*it, level=NOTE) for it in unused_definitions(as_read)]
    return SchemaReport(
        dialect=document.dialect,
        dialect_found=document.dialect_found,
        dialect_words=document.dialect_words,
        valid_under=valid,
        problems=tuple(problems),
    )


def _rejection(rejected: Rejected) -> SchemaProblem:
    reason = rejected.reason
    detail = rejected.detail.removeprefix(f"{rejected.pointer or '(root)'}: ")
    is_remote = reason is Reason.REMOTE_REFERENCE and _WEB.match(detail)
    return SchemaProblem(
        level=NOTE if is_remote else "error",
        pointer=rejected.pointer,
        code=reason,
        message=f"{reason.explanation}: {detail}" if detail else reason.explanation,
    )


def _edit(change: Change, summaries: Mapping[str, str]) -> SchemaProblem:
    before, after = (shortened(it, _SHOWN) for it in (change.before, change.after))
    edit = f"would turn {before} into {after}"
    if change.before == ABSENT:
        edit = f"would add {after}"
    elif change.after == ABSENT:
        edit = f"would drop {before}"
    why = change.note or summaries.get(change.rule, "")
    return SchemaProblem(
        level="warning",
        pointer=change.pointer,
        code=change.rule,
        message=f"{edit} ({why})",
    )


def _lint(lint: Lint, message: str, level: str = "warning") -> SchemaProblem:
    return SchemaProblem(
        level=level, pointer=lint.pointer, code=lint.code, message=message
    )


def _through(
    rules: Sequence[Rule], document: Document, context: Context
) -> tuple[Document, list[Rejected]]:
    """Return a document after the rules, and why they reject it.

    Unlike in a build, later rules still look at a document that an earlier one rejects.
    """
    rejected: list[Rejected] = []
    for rule in rules:
        if is_benchmark_matter(rule.name, document.schema):
            continue
        result = rule.apply(document, context)
        if isinstance(result, Rejected):
            if not is_named_already(result, rejected):
                rejected.append(replace(result, rule=rule.name))
        else:
            document = result
        # The rules that come later rely on a legal schema, and on nothing else.
        if not isinstance(document.schema, dict) or (
            isinstance(result, Rejected)
            and (
                document.dialect is None
                or not is_valid(document.schema, BY_NAME[document.dialect])
            )
        ):
            break
    return document, rejected


def _to_mend(document: Document) -> Iterable[Lint]:
    if document.dialect is None:
        return document.lints
    return to_mend(document.lints, Schema(document.schema, BY_NAME[document.dialect]))


def _meaning(lint: Lint, meanings: Mapping[str, str]) -> str:
    meaning = meanings.get(lint.code, "")
    if lint.code == MISSPELT:
        return f"{meaning}: `{nearest(tokens_of(lint.pointer)[-1])}`"
    if lint.code == UNKNOWN_FORMAT:
        return f"{meaning}: probably misspelt"
    return meaning


def start(setup: Json) -> Callable[[Json], SchemaReport]:
    """Assemble the rules; return the handler of one question."""
    rule_set("clean")
    library = neighbour_library(msgspec.convert(setup, NeighbourFiles))

    def answer(request: Json) -> SchemaReport:
        return _check(msgspec.convert(request, CheckQuestion), library)

    return answer
