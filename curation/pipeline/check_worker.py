"""The worker process of `csbdata check`: one question about one schema at a time.

A unit is a JSON object with a `task`: `rules` tells what the rules of the
benchmark make of the text, `verdict` whether one validator takes it as one draft.
"""

from __future__ import annotations

import gc
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import jsonschema_rs

from curation.core.documents import Origin, Provenance, RawDocument, Reason, Rejected
from curation.core.rule import Context
from curation.json import text as jsontext
from curation.pipeline.process_document import read
from curation.references.library import NoLibrary
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME
from curation.validation.fastjsonschema_worker import COMPILES
from curation.validation.fastjsonschema_worker import verdict as compiled
from curation.validation.metaschemas import complaint, is_valid, recheck, valid_under
from curation.validation.rust_validators import RUST_VALIDATORS, refuse
from curation.workers.protocol import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.documents import Document
    from curation.core.json_types import UntypedJson
    from curation.core.rule import Rule

#: What a reference that leads nowhere is rejected for.
_LOST = (Reason.REMOTE_REFERENCE, Reason.UNRESOLVED_REFERENCE)
#: The verdict of a validator that takes the schema.
ACCEPTS = "accepts"


def _by_jsonschema(schema: UntypedJson, dialect: str) -> str:
    found = recheck(schema, BY_NAME[dialect])
    return ACCEPTS if found is None else str(found)


def _by_jsonschema_rs(schema: UntypedJson, dialect: str) -> str:
    found = complaint(schema, BY_NAME[dialect])
    if found is not None:
        return str(found)
    plain = jsontext.plain(schema)
    try:
        RUST_VALIDATORS[dialect](plain, validate_formats=False, retriever=refuse)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        # The first line is the fact; the rest repeats the schema.
        return str(error).partition("\n")[0] or type(error).__name__
    return ACCEPTS


def _by_fastjsonschema(schema: UntypedJson, dialect: str) -> str:
    if isinstance(schema, dict):
        schema = {**schema, "$schema": BY_NAME[dialect].uri}
    answer = compiled(json.dumps(jsontext.plain(schema)))
    return ACCEPTS if answer == COMPILES else answer


#: Validator name to the function that asks it.
VALIDATORS: dict[str, Callable[[UntypedJson, str], str]] = {
    "jsonschema": _by_jsonschema,
    "jsonschema-rs": _by_jsonschema_rs,
    "fastjsonschema": _by_fastjsonschema,
}


def _raw(content: bytes) -> RawDocument:
    provenance = Provenance(
        source="local", path="", commit="", licence="NOASSERTION", origin=Origin.LOCAL
    )
    return RawDocument(
        config="local", unique_id="checked", provenance=provenance, content=content
    )


def _under_rules(content: bytes) -> UntypedJson:
    """Return what the rule set `clean` makes of a text, place by place.

    A linter names all that is wrong: where a build would end a document, the later
    rules still look at it.
    """
    rules = rule_set("clean")
    context = Context(library=NoLibrary())
    document = read(_raw(content), rules)
    if isinstance(document, Rejected):
        return _report(None, [document], rules.rules)
    rejected: list[Rejected] = []
    for rule in rules.rules:
        result = rule.apply(document, context)
        if not isinstance(result, Rejected):
            document = result
            continue
        if not _told(result, rejected):
            rejected.append(replace(result, rule=rule.name))
        # The rules that come later rely on a legal schema, and on nothing else.
        if document.dialect is None or not is_valid(
            document.schema, BY_NAME[document.dialect]
        ):
            break
    return _report(document, rejected, rules.rules)


def _told(new: Rejected, earlier: list[Rejected]) -> bool:
    """Tell whether it is the lost reference that an earlier rule has named."""
    return new.reason is Reason.UNRESOLVED_REFERENCE and any(
        each.reason in _LOST for each in earlier
    )


def _report(
    document: Document | None, rejected: list[Rejected], rules: tuple[Rule, ...]
) -> UntypedJson:
    summaries = {each.name: each.summary for each in rules}
    meanings = {code: text for each in rules for code, text in each.lints.items()}
    changes = document.changes if document else ()
    lints = document.lints if document else ()
    return {
        "dialect": document.dialect if document else None,
        "dialect_found": document.dialect_found if document else None,
        "valid_under": list(valid_under(document.schema)) if document else [],
        "rejected": [asdict(each) for each in rejected],
        "changes": [asdict(each) for each in changes],
        "lints": [asdict(each) for each in lints],
        "summaries": summaries | meanings,
    }


def start(_setup: UntypedJson) -> Callable[[UntypedJson], UntypedJson]:
    """Assemble the rules; return the handler of one question."""
    rule_set("clean")
    gc.disable()

    def handle(unit: UntypedJson) -> UntypedJson:
        content = unit["content"].encode("latin-1")
        if unit["task"] == "rules":
            return _under_rules(content)
        schema = jsontext.parse(content)
        if isinstance(schema, Rejected):
            return None
        return VALIDATORS[unit["validator"]](schema, unit["dialect"])

    return handle


if __name__ == "__main__":
    serve(start)
