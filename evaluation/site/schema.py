"""The script of the first page that judges a reader's schemas in the browser.

It is `judge`, with all that it calls, translated from Python.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from curation.core.json_types import Json, UntypedJson
from curation.fit.profile import Profile, load_profiles
from curation.fit.scan import Scan
from curation.fit.schema_fit import lacks_keywords
from curation.fit.verdict import (
    FitFinding,
    Tool,
    judge_fit,
    judge_name,
    judge_request,
    leads_out,
    verdict_of,
)
from curation.instances.constraints.keyword_values import names_of, object_of
from curation.json.pointer import at, tokens_of
from curation.json.values import identity, type_of
from curation.schema.dialects import DIALECTS
from curation.sources.openapi_bodies import is_description
from curation.sources.readers import NamedSchema, Role
from curation.sources.tools import requested_schemas
from curation.system.words import safe
from curation.validation.metaschemas import standard_documents
from curation.validation.patterns import is_readable
from evaluation.site.translation import Translation

PROFILES: Final = load_profiles("all")
METASCHEMAS: Final = standard_documents()
#: JavaScript alone reads `[]` and `[^]`.
_NO_EMPTY_CLASS = r"(?:\\.|\[(?!\^?\])(?:\\.|[^\]\\])*\]|[^\\\[])*"


class Judged(NamedTuple):
    """What each target does with a schema, or with the tools of a request together."""

    name: str
    #: The fault that makes it unusable; empty without one.
    fault: str
    #: Target, verdict and findings.
    targets: list[tuple[Profile, str, list[FitFinding]]]


def script() -> str:
    """Return `judge` and `safe` in JavaScript."""
    return Translation().script(judge=judge, safe=safe)


def judge(value: Json) -> list[Judged]:
    """Return what all targets do with a schema, or with those that a request holds.

    Raises:
        BadData: a request has tools, and none of them a schema.
    """
    if is_description(value):
        fault = "an OpenAPI description: csbdata fit FILE judges the schemas in it"
        return [Judged("", fault, [])]
    held = requested_schemas(value, "pasted", lambda _message: None)
    if not held:
        return [_judged(NamedSchema("", value))]
    sent = [it for it in held if it.role is not Role.RESULT]
    found = [_judged(it) for it in sent]
    tools = [Tool(it.name, it.schema, it.strict) for it in sent if it.role is Role.TOOL]
    if tools:
        together = [(it, [*judge_request(tools, it)]) for it in PROFILES]
        targets = [(it, str(verdict_of(own)), own) for it, own in together]
        found.append(Judged("all tools of the request", "", targets))
    return found


def _judged(own: NamedSchema) -> Judged:
    schema, is_tool = own.schema, own.role is Role.TOOL
    if not isinstance(schema, dict | bool):
        return Judged(own.name, "neither an object nor a boolean", [])
    scan = Scan(schema)
    fault = fault_of(scan)
    if fault:
        return Judged(own.name, fault, [])
    tool, targets = Tool(own.name, schema, own.strict), []
    for profile in PROFILES:
        findings = [
            *(judge_name(tool, profile) if is_tool else ()),
            *leads_out(scan),
            *judge_fit(schema, profile, tool=is_tool, strict=own.strict),
        ]
        targets.append((profile, str(verdict_of(findings)), findings))
    return Judged(own.name, "", targets)


def fault_of(scan: Scan) -> str:
    """Return why no validator can use a schema; empty if one can.

    References that lead out of it are not a fault: `leads_out` names them.
    """
    schema, dialect = scan.document.value, scan.document.dialect
    if lacks_keywords(schema):
        return "it has no keyword of JSON Schema"
    drafts = [it for it in DIALECTS if dialect.name in (it.name, "any")]
    uris = [draft.uri.partition("#")[0] for draft in drafts]
    if not any(follows(METASCHEMAS[uri], schema, uri, uri) for uri in uris):
        return f"not valid under {', '.join(draft.name for draft in drafts)}"
    for reference in () if leads_out(scan) else scan.references:
        if scan.targets[reference.tokens] is None and reference.text.startswith("#"):
            return f"the reference {reference.text} leads nowhere"
    for place in scan.places:
        named = object_of(place.keywords, "patternProperties")
        for text in (place.keywords.get("pattern"), *named):
            if isinstance(text, str) and not (
                is_readable(text) and re.fullmatch(_NO_EMPTY_CLASS, text)
            ):
                return f"the pattern {text} cannot be read"
    return ""


def follows(  # noqa: C901, PLR0911 - a line for each keyword
    rule: UntypedJson, value: UntypedJson, here: str, root: str
) -> bool:
    """Return whether a metaschema accepts a value, formats aside.

    Args:
        rule: A part of a metaschema; only the keywords that metaschemas have count.
        value: A schema, or a part of one.
        here: The URI of the document that the part is of.
        root: The URI of the metaschema.
    """
    if not isinstance(rule, dict):
        return rule is True
    kind, named = type_of(value), names_of(rule.get("type"))
    if named and kind not in named and not (kind == "integer" and "number" in named):
        return False
    if value not in rule.get("enum", [value]):
        return False
    if "$dynamicRef" in rule or "$recursiveRef" in rule:
        return follows(METASCHEMAS[root], value, root, root)
    if "$ref" in rule:
        uri, _, fragment = rule["$ref"].partition("#")
        folder = "2019-09" if "2019-09" in here else "2020-12"
        there = f"https://json-schema.org/draft/{folder}/{uri}" if uri else here
        if not follows(at(METASCHEMAS[there], tokens_of(fragment)), value, there, root):
            return False
    if not all(follows(it, value, here, root) for it in rule.get("allOf", [])):
        return False
    if "anyOf" in rule and not any(
        follows(it, value, here, root) for it in rule["anyOf"]
    ):
        return False
    if isinstance(value, str):
        return "pattern" not in rule or re.fullmatch(rule["pattern"], value) is not None
    if isinstance(value, list):
        texts = {identity(it) for it in value}
        is_unique = "uniqueItems" not in rule or len(texts) == len(value)
        return (
            is_unique
            and len(value) >= rule.get("minItems", 0)
            and all(follows(rule.get("items", True), it, here, root) for it in value)
        )
    if isinstance(value, dict):
        known, needed = rule.get("properties", {}), rule.get("dependencies", {})
        others = rule.get("additionalProperties", True)
        return all(
            follows(known.get(name, others), value[name], here, root)
            and all(it in value for it in needed.get(name, []))
            for name in value
        )
    if kind in ("integer", "number"):
        least = rule.get("minimum", rule.get("exclusiveMinimum", -1e308))
        is_strict = "exclusiveMinimum" in rule
        return bool(value > least if is_strict else value >= least)
    return True
