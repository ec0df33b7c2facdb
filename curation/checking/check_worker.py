"""The worker process of `csbdata check`: one question about one schema at a time."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from curation.checking.check_lints import refused_values, unused_definitions
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
from curation.json.pointer import Tokens, at, tokens_of
from curation.lint.contradictions import FORMATS, UNKNOWN_FORMAT
from curation.lint.idle_keywords import MISSPELT, nearest
from curation.lint.lint import NON_OBJECT_ROOT
from curation.pipeline.process_document import read
from curation.references.schema import Schema
from curation.rules.clean import empty, references, wrap
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME
from curation.schema.roots import asks_nothing, looks_like_a_schema
from curation.sources.neighbours import NeighbourFiles, neighbour_library
from curation.system.escaping import shortened
from curation.validation.metaschemas import is_valid, valid_under

#: How the detail begins of a reference to the web.
_WEB = re.compile(r"'https?://", re.IGNORECASE)
_SHOWN = 60


#: What a reference that leads nowhere is rejected for.
_LOST_REFERENCE = (Reason.REMOTE_REFERENCE, Reason.UNRESOLVED_REFERENCE)


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
    # To bundle a reference, or to spell it otherwise, is no fault of the author's.
    edits = [it for it in document.changes if it.rule != references.name]
    problems = [
        *map(_rejection, rejected),
        *(_edit(it, summaries) for it in edits),
        *_to_mend(document, meanings),
    ]
    # What was brought in from other files has a report there.
    brought_in = tuple(
        f"{change.pointer}/"
        for change in document.changes
        if change.rule == references.name and change.before == ABSENT
    )
    problems = [it for it in problems if not f"{it.pointer}/".startswith(brought_in)]
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
        schema = document.schema
        # A library of definitions and an empty object are legal schemas.
        is_legal = schema == {} or looks_like_a_schema(schema)
        if rule.name == wrap.name or (rule.name == empty.name and is_legal):
            continue
        result = rule.apply(document, context)
        if not isinstance(result, Rejected):
            document = result
        # One that is lost may have been named by an earlier rule.
        elif result.reason is not Reason.UNRESOLVED_REFERENCE or not any(
            it.reason in _LOST_REFERENCE for it in rejected
        ):
            rejected.append(replace(result, rule=rule.name))
        # The rules that come later rely on a legal schema, and on nothing else.
        schema, dialect = document.schema, BY_NAME.get(document.dialect or "")
        if not isinstance(schema, dict) or (
            isinstance(result, Rejected)
            and (dialect is None or not is_valid(schema, dialect))
        ):
            break
    return document, rejected


def _to_mend(
    document: Document, meanings: Mapping[str, str]
) -> Iterator[SchemaProblem]:
    """Yield the lints that are faults, one for each place.

    Left out are formats of other registries, such as `uint8`; siblings of a `$ref` that
    say what its target says; and `additionalItems` that lets everything through.
    """
    dialect = BY_NAME.get(document.dialect or "")
    schema = None if dialect is None else Schema(document.schema, dialect)
    pointers: set[str] = set()
    for lint in document.lints:
        tokens = tokens_of(lint.pointer)
        if schema is not None and (
            lint.pointer in pointers
            or (lint.code == NON_OBJECT_ROOT and asks_nothing(schema.value))
            or (tokens and _is_harmless(lint.code, tokens, schema))
        ):
            continue
        if tokens:
            pointers.add(lint.pointer)
        meaning = meanings.get(lint.code, "")
        if lint.code == MISSPELT:
            meaning += f": `{nearest(tokens[-1])}`"
        elif lint.code == UNKNOWN_FORMAT:
            meaning += ": probably misspelt"
        yield _lint(lint, meaning)


def _is_harmless(code: str, tokens: Tokens, schema: Schema) -> bool:
    value = at(schema.value, tokens)
    if code == UNKNOWN_FORMAT:
        return _near_format(str(value)) is None
    if tokens[-1] == "additionalItems":
        return value is True or value == {}
    if code != "ref-siblings":
        return False
    target = schema.target(schema.location_at(tokens[:-1]))
    return target is not None and target.keywords.get(tokens[-1]) == value


def _near_format(name: str) -> str | None:
    """Return the format that an unknown name is a slip of, or None.

    Example:
        >>> [_near_format(name) for name in ("datetime", "Date_Time", "uint8")]
        ['date-time', 'date-time', None]
    """
    plain = name.strip().lower().replace("_", "-")
    if plain in FORMATS:
        return plain
    near = difflib.get_close_matches(plain, sorted(FORMATS), n=1, cutoff=0.85)
    return near[0] if near else None


def start(setup: Json) -> Callable[[Json], SchemaReport]:
    """Assemble the rules; return the handler of one question."""
    rule_set("clean")
    library = neighbour_library(msgspec.convert(setup, NeighbourFiles))

    def answer(request: Json) -> SchemaReport:
        return _check(msgspec.convert(request, CheckQuestion), library)

    return answer
