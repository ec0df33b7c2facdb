"""The worker process of `csbdata check`: one question about one schema at a time."""

from __future__ import annotations

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
from curation.checking.messages import RulesAnswer, RulesQuestion
from curation.core.documents import NOWHERE, Document, Lint, RawDocument, Rejected
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
from curation.validation.metaschemas import is_valid, valid_under
from curation.workers.collecting import collecting
from curation.workers.protocol import serve


def _apply_rules(question: RulesQuestion, library: Library) -> RulesAnswer:
    """Apply the rule set `clean` to a text."""
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
        return _answer(None, [document], rules.rules)
    # Of the file as it is: the rules mend some of what the drafts refuse.
    given = document.schema
    valid = valid_under(given)
    if isinstance(document.schema, bool):
        return RulesAnswer(valid_under=valid)
    context = Context(library=library)
    document, rejected = _through(rules.rules, document, context)
    answer = _answer(document, rejected, rules.rules, valid)
    if document.dialect not in valid:
        return answer
    as_read = Schema(given, BY_NAME[document.dialect])
    return msgspec.structs.replace(
        answer,
        lints=(*answer.lints, *refused_values(as_read)),
        notes=tuple(unused_definitions(as_read)),
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


def _answer(
    document: Document | None,
    rejected: Sequence[Rejected],
    rules: Sequence[Rule],
    valid: tuple[str, ...] = (),
) -> RulesAnswer:
    summaries = {rule.name: rule.summary for rule in rules}
    if document is None:
        return RulesAnswer(rejected=tuple(rejected), summaries=summaries)
    meanings = {code: text for rule in rules for code, text in rule.lints.items()}
    is_own = own_places(document)
    return RulesAnswer(
        dialect=document.dialect,
        dialect_found=document.dialect_found,
        dialect_words=document.dialect_words,
        valid_under=valid,
        rejected=tuple(it for it in rejected if is_own(it.pointer)),
        changes=tuple(
            it for it in document.changes if is_the_authors(it) and is_own(it.pointer)
        ),
        lints=tuple(
            (it, _meaning(it, meanings))
            for it in _to_mend(document)
            if is_own(it.pointer)
        ),
        summaries=summaries,
    )


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


def start(setup: Json) -> Callable[[Json], RulesAnswer]:
    """Assemble the rules; return the handler of one question."""
    rule_set("clean")
    library = neighbour_library(msgspec.convert(setup, NeighbourFiles))

    def answer(request: Json) -> RulesAnswer:
        return _apply_rules(msgspec.convert(request, RulesQuestion), library)

    return collecting(answer)


if __name__ == "__main__":
    serve(start, encode=msgspec.json.encode)
