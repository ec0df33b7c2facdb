"""The script of the first page that judges a reader's schemas in the browser.

It is `judge`, with all that it calls, translated from Python.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import inf
from typing import Any, Final, NamedTuple, NoReturn, cast

import msgspec
import yaml
from msgspec.structs import replace

from curation.core.documents import Rejected
from curation.core.json_types import Json, UntypedJson
from curation.fit.edits import asserting
from curation.fit.equal_edits import has_exclusive_branches
from curation.fit.profile import Profile, load_profiles
from curation.fit.rewriting import Rewriting
from curation.fit.scan import Scan
from curation.fit.schema_fit import lacks_keywords
from curation.fit.shapes import SHAPE, AnswerShape, derive_shape, with_shape
from curation.fit.verdict import (
    FitFinding,
    Tool,
    decide_verdict,
    judge_fit,
    judge_name,
    judge_request,
    leads_out,
)
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.keyword_values import read_names, read_object
from curation.json.pointer import at, tokens_of_fragment
from curation.json.values import identity, json_type
from curation.json.yaml_reader import parse_yaml
from curation.references.schema import Schema, legal
from curation.schema.dialects import ANY_DIALECT, DIALECTS, DRAFT_2020_12, Dialect
from curation.schema.drafts import usage
from curation.schema.keywords import TYPE_OF_KEYWORD
from curation.sources.openapi_bodies import is_description
from curation.sources.readers import NamedSchema, Role
from curation.sources.tools import requested_schemas
from curation.system.errors import BadData
from curation.system.words import safe
from curation.validation.metaschemas import standard_document, standard_documents
from curation.validation.patterns import is_readable
from evaluation.site.translation import Translation

PROFILES: Final = load_profiles("all")
METASCHEMAS: Final = standard_documents()
#: JavaScript alone reads `[]` and `[^]`.
_NO_EMPTY_CLASS = r"(?:\\.|\[(?!\^?\])(?:\\.|[^\]\\])*\]|[^\\\[])*"


#: In which a rewrite is found; a browser waits for it.
_SECONDS: Final = 5.0
#: A number that JavaScript may not write as Python does.
_INEXACT: Final = re.compile("[0-9]{16}|[0-9]e")


class Judged(NamedTuple):
    """What each target does with a schema, or with the tools of a request together."""

    name: str
    #: The fault that makes it unusable; empty without one.
    fault: str
    #: Target, verdict and findings.
    targets: list[tuple[Profile, str, list[FitFinding]]]
    #: Itself; None for several together.
    schema: NamedSchema | None = None


class Rewritten(NamedTuple):
    """What `csbdata fit --write` writes."""

    verdict: str
    #: The names of the rewrites, in order.
    steps: str
    #: JSON text.
    schema: str


class _UndecidedError(Exception):
    """Only the command knows: a proof or a validator is needed."""


class _Unproven(msgspec.Struct):
    """A comparer that is asked nothing."""

    spent: float = 0.0

    def proofs(self, *_: object) -> NoReturn:
        raise _UndecidedError

    form = witnesses = proofs


class _Uncompiled(Schema):
    """A schema without a compiled validator."""

    @property
    def validator(self) -> None:  # type: ignore[override]  # it compiles nothing
        if describe_fault(Scan(self.value)):
            raise _UndecidedError

    def is_valid(self, value: Json) -> bool:
        """Return whether it surely accepts a value."""
        return follows(self.value, value, "", "", {"": self.value})


def script() -> str:
    """Return `judge` and `safe` in JavaScript."""
    return Translation(_INSTEAD).script(judge=judge, rewrite=rewrite, safe=safe)


def judge(text: str) -> list[Judged]:
    """Return what all targets do with a schema, or with those that a request holds."""
    try:
        value: Json | Rejected = json.loads(text)
    except ValueError:
        value = parse_yaml(text.encode())
    if isinstance(value, Rejected):
        return [Judged("", value.detail, [])]
    try:
        return _judged_all(value)
    except BadData as error:
        return [Judged("", str(error), [])]


def _judged_all(value: Json) -> list[Judged]:
    if is_description(value):
        fault = "an OpenAPI description: csbdata fit FILE judges the schemas in it"
        return [Judged("", fault, [])]
    held = requested_schemas(value, "pasted", lambda _message: None)
    if not held:
        return [_judged(NamedSchema("", value))]
    sent = [item for item in held if item.role is not Role.RESULT]
    found = [_judged(item) for item in sent]
    tools = [
        Tool(item.name, item.schema, item.strict)
        for item in sent
        if item.role is Role.TOOL
    ]
    if tools:
        together = [(item, [*judge_request(tools, item)]) for item in PROFILES]
        targets = [(item, str(decide_verdict(own)), own) for item, own in together]
        found.append(Judged("all tools of the request", "", targets))
    return found


def _judged(own: NamedSchema) -> Judged:
    schema, is_tool = own.schema, own.role is Role.TOOL
    if not isinstance(schema, dict | bool):
        return Judged(own.name, "neither an object nor a boolean", [])
    scan = Scan(schema)
    fault = describe_fault(scan)
    if fault:
        return Judged(own.name, fault, [])
    tool, targets = Tool(own.name, schema, own.strict), []
    for profile in PROFILES:
        findings = [
            *(judge_name(tool, profile) if is_tool else ()),
            *leads_out(scan),
            *judge_fit(schema, profile, tool=is_tool, strict=own.strict),
        ]
        targets.append((profile, str(decide_verdict(findings)), findings))
    return Judged(own.name, "", targets, own)


def rewrite(own: NamedSchema, profile: Profile) -> Rewritten | None:
    """Return what the command writes for a target; None if it alone can decide it."""
    schema, text, scan = own.schema, json.dumps(own.schema), Scan(own.schema)
    dialect, is_clear = scan.document.dialect, True
    if dialect is ANY_DIALECT:
        dialect, used = DRAFT_2020_12, usage(schema)
        # The words of others may show another draft.
        is_clear = used.all_effective(dialect) and "definitions" not in used.telling
    # JavaScript may lose digits; the command removes declarations of drafts inside.
    start = f'{{"$schema": "{dialect.uri}'.removesuffix("#")
    is_plain = text.count('"$schema":') <= text.startswith(start)
    is_legal = all(legal(item.text) == item.text for item in scan.references)
    is_same = is_clear and is_plain and is_legal and not _INEXACT.search(text)
    if not (is_same and _is_valid(schema, dialect)) or leads_out(scan):
        return None
    original, comparer = _Uncompiled(schema, dialect), _Unproven()
    tool, strict = own.role is Role.TOOL, own.strict
    try:
        fit = Rewriting(
            cast("Any", original),
            profile,
            cast("Any", comparer),
            tool=tool,
            strict=strict,
            allow="any",
            prove=False,
            seconds=_SECONDS,
        ).run()
    except _UndecidedError:
        return None
    names = ", ".join([step.rewrite for step in fit.steps])
    sent = json.dumps(fit.schema)
    return Rewritten(str(fit.verdict), names, sent) if fit.fits else None


def _is_valid(schema: Json, dialect: Dialect) -> bool:
    uri = dialect.uri.partition("#")[0]
    return follows(METASCHEMAS[uri], schema, uri, uri, METASCHEMAS)


def _shape_of(schema: Json) -> AnswerShape:
    known: Any = schema.get(SHAPE) if isinstance(schema, dict) else None
    return known or AnswerShape()


def _with_shape(schema: UntypedJson, **changes: UntypedJson) -> UntypedJson:
    return {**schema, SHAPE: replace(_shape_of(schema), **changes)}


def _standard(uri: str) -> Json:
    return METASCHEMAS.get(uri)


#: What the browser lacks or does not need, and what is in its place.
_INSTEAD: Final[dict[Any, Any]] = {
    yaml.CSafeLoader: yaml.SafeLoader,
    CompiledSchema: _Uncompiled,
    Schema.compile: _Unproven.proofs,
    standard_document: _standard,
    derive_shape: _shape_of,
    with_shape: _with_shape,
}


def describe_fault(scan: Scan) -> str:
    """Return why no validator can use a schema; empty if one can.

    References that lead out of it are not a fault: `leads_out` names them.
    """
    schema, dialect = scan.document.value, scan.document.dialect
    if lacks_keywords(schema):
        return "it has no keyword of JSON Schema"
    drafts = [item for item in DIALECTS if dialect.name in (item.name, "any")]
    if not any(_is_valid(schema, draft) for draft in drafts):
        return f"not valid under {', '.join(draft.name for draft in drafts)}"
    for reference in () if leads_out(scan) else scan.references:
        if scan.targets[reference.tokens] is None and reference.text.startswith("#"):
            return f"the reference {reference.text} leads nowhere"
    for place in scan.places:
        named = read_object(place.keywords, "patternProperties")
        for text in (place.keywords.get("pattern"), *named):
            if isinstance(text, str) and not (
                is_readable(text) and re.fullmatch(_NO_EMPTY_CLASS, text)
            ):
                return f"the pattern {text} cannot be read"
    return ""


#: Keywords that `follows` knows in any schema.
_FOLLOWED: Final = frozenset(
    {
        *("type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf", "minLength"),
        *("maxLength", "minimum", "maximum", "exclusiveMinimum", "minItems", "items"),
        *("properties", "required", "additionalProperties"),
    }
)


def follows(  # noqa: C901, PLR0911, PLR0912 - a line for each keyword
    rule: UntypedJson,
    value: UntypedJson,
    here: str,
    root: str,
    documents: Mapping[str, UntypedJson],
) -> bool:
    """Return whether a schema surely accepts a value; formats aside, a metaschema.

    Args:
        rule: A part of a schema.
        value: A value, or a part of one.
        here: The URI of the document that the part is of.
        root: The URI of the schema.
        documents: All documents by URI, a schema's own by the empty one.
    """
    if not isinstance(rule, dict):
        return rule is True
    kind, named = json_type(value), read_names(rule.get("type"))
    if not here:
        about = "number" if kind == "integer" else kind
        spoken = {
            item
            for item in asserting(rule)
            if TYPE_OF_KEYWORD.get(item, about) == about
        }
        if spoken - _FOLLOWED or ("oneOf" in rule and not has_exclusive_branches(rule)):
            return False
    if named and kind not in named and not (kind == "integer" and "number" in named):
        return False
    if value not in rule.get("enum", [rule.get("const", value)]):
        return False
    if "$dynamicRef" in rule or "$recursiveRef" in rule:
        return follows(documents[root], value, root, root, documents)
    if "$ref" in rule:
        uri, _, fragment = rule["$ref"].partition("#")
        folder = "2019-09" if "2019-09" in here else "2020-12"
        there = f"https://json-schema.org/draft/{folder}/{uri}" if uri else here
        target = at(documents[there], tokens_of_fragment(fragment))
        if not follows(target, value, there, root, documents):
            return False
    if not all(
        follows(item, value, here, root, documents) for item in rule.get("allOf", [])
    ):
        return False
    for branches in (rule.get("anyOf"), rule.get("oneOf")):
        if branches is not None and not any(
            follows(item, value, here, root, documents) for item in branches
        ):
            return False
    if isinstance(value, str):
        has_length = (
            rule.get("minLength", 0) <= len(value) <= rule.get("maxLength", inf)
        )
        matches = "pattern" not in rule or re.fullmatch(rule["pattern"], value)
        return has_length and matches is not None and bool(matches)
    if isinstance(value, list):
        texts = {identity(item) for item in value}
        is_unique = "uniqueItems" not in rule or len(texts) == len(value)
        items = rule.get("items", True)
        return (
            is_unique
            and len(value) >= rule.get("minItems", 0)
            and all(follows(items, item, here, root, documents) for item in value)
        )
    if isinstance(value, dict):
        known, needed = rule.get("properties", {}), rule.get("dependencies", {})
        others = rule.get("additionalProperties", True)
        return all(item in value for item in rule.get("required", [])) and all(
            follows(known.get(name, others), value[name], here, root, documents)
            and all(item in value for item in needed.get(name, []))
            for name in value
        )
    if kind in ("integer", "number"):
        least = rule.get("minimum", rule.get("exclusiveMinimum", -inf))
        is_strict = "exclusiveMinimum" in rule
        is_enough = value > least if is_strict else value >= least
        return bool(is_enough) and value <= rule.get("maximum", inf)
    return True
