"""The worker process of `csbdata check`: one question about one schema at a time."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from curation.checking.check_lints import (
    UNUSED,
    enum_faults,
    find_misspelling,
    property_faults,
    refused_values,
    unknown_words,
    unused_definitions,
)
from curation.checking.parts import find_parts
from curation.checking.report import CheckQuestion, SchemaReport
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
from curation.core.problems import NOTE, SchemaProblem
from curation.core.rule import Context, Library, Rule
from curation.instances.constraints.keyword_values import (
    accepts_everything,
    read_names,
    read_object,
)
from curation.json.pointer import (
    at,
    parse_tokens,
    to_fragment,
)
from curation.lint.contradictions import FORMATS, TABLES
from curation.lint.lint import MISSPELT, NON_OBJECT_ROOT, OUTSIDE, UNKNOWN_FORMAT
from curation.lint.liveness import NEEDED_BESIDE
from curation.pipeline.process_document import read
from curation.references.closure import lost_references
from curation.references.schema import Schema, to_schema
from curation.rules.clean import (
    bad_patterns,
    empty,
    references,
    validators_agree,
    wrap,
)
from curation.rules.sets import rule_set
from curation.schema.dialects import ANY_DIALECT, BY_NAME, DRAFT_03
from curation.schema.drafts import StatementKind, statement
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
)
from curation.schema.roots import asks_nothing, constrains, looks_like_a_schema
from curation.sources.neighbours import NeighbourFiles, neighbour_library
from curation.sources.syntax import syntax_fault
from curation.system.words import shortened
from curation.validation.dialect_decision import read_dialect
from curation.validation.metaschemas import (
    cut,
    every_complaint,
    is_valid,
    valid_under,
)

#: How the detail begins of a reference to the web, after a pointer in another file.
_WEB = re.compile(r"([^']*: )?'https?://", re.IGNORECASE)
_SHOWN = 60
#: What comes before the name in a reference to a definition, or should.
_TO_DEFINITION = re.compile("^#?/?([^/]*/)?")
#: Maximum reported problems of one kind and schema.
_MAX_PROBLEMS = 100
#: Reasons whose detail replaces their own words.
_PLAIN = frozenset(
    {
        *(Reason.UNRESOLVED_REFERENCE, Reason.REMOTE_REFERENCE, Reason.BAD_PATTERN),
        *(Reason.NOT_A_SCHEMA, Reason.INVALID_SCHEMA, Reason.EMPTY),
    }
)
#: Rules of a build that a check does not apply: a library of definitions is legal,
#: every reference that leads nowhere is named, and a declared draft counts.
_SKIPPED = frozenset({wrap.name, "dead-references", "fitting-draft"})
#: Lints that `unknown_words` reports in its own way.
_WORDS = frozenset({MISSPELT, OUTSIDE})


def _check(question: CheckQuestion, library: Library) -> SchemaReport:
    """Check every schema of a text, and report at which places of the text."""
    content = question.content.encode("latin-1")
    raw = RawDocument(
        config="local",
        unique_id="checked",
        provenance=NOWHERE,
        content=content,
        base_uri=question.base_uri,
    )
    document = read(raw, rule_set("clean"))
    if isinstance(document, Rejected):
        message, line, column = syntax_fault(content, document)
        reason = document.reason
        problem = SchemaProblem("", reason, message, "error", line, column)
        return SchemaReport(problems=(problem,))
    parts, problems = find_parts(document.schema)
    report = SchemaReport()
    for part in parts:
        report = _check_schema(replace(document, schema=part.schema), library)
        problems += [
            msgspec.structs.replace(
                problem, pointer=part.pointer_in_file(problem.pointer)
            )
            for problem in report.problems
            if not (part.holder and problem.code == UNUSED)
        ]
    if len(parts) != 1 or parts[0].holder:
        report = SchemaReport()
    return msgspec.structs.replace(report, problems=tuple(problems))


def _check_schema(document: Document, library: Library) -> SchemaReport:
    """Apply the rule set `clean` to a schema, and report the findings."""
    # On the unchanged file: the rules fix some faults by which drafts refuse it.
    written, valid = document.schema, valid_under(document.schema)
    if isinstance(written, bool):
        return SchemaReport(valid_under=valid)
    if why := _why_instance(written):
        problem = SchemaProblem("", Reason.NOT_A_SCHEMA, why, "error")
        return SchemaReport(problems=(problem,))
    rules = rule_set("clean").rules
    document, rejected_by = _through(rules, document, Context(library=library))
    dialect = BY_NAME.get(document.dialect or "", ANY_DIALECT)
    summaries = {rule.name: rule.summary for rule in rules}
    is_old = document.dialect_found == "upgraded"
    as_read = to_schema(written, DRAFT_03 if is_old else dialect)
    words = [*unknown_words(as_read)]
    problems = [*map(_rejection, rejected_by)]
    named = [*problems, *(word for word in words if word.level != NOTE)]
    reported = {problem.pointer for problem in named} - {""}
    imported: list[str] = []
    for change in document.changes:
        is_added = change.before == ABSENT
        if change.rule == references.name:
            # To bundle a reference, or to spell it otherwise, is not a fault.
            imported += [f"{change.pointer}/"] if is_added else []
        elif not (is_added and change.pointer.endswith("/required")):
            # Whoever takes `required` out of a property knows where it goes.
            problems.append(_edit(change, summaries))
    problems += _faulty_lints(document, to_schema(document.schema, dialect), reported)
    # Definitions from other files have a report there.
    problems = [
        problem
        for problem in problems
        if not f"{problem.pointer}/".startswith(tuple(imported))
    ]
    problems += [*enum_faults(as_read), *property_faults(as_read), *words]
    if document.dialect in valid:
        judged = to_schema(written, dialect)
        problems += [*refused_values(judged), *unused_definitions(judged)]
    return SchemaReport(
        dialect=document.dialect,
        dialect_found=document.dialect_found,
        dialect_words=document.dialect_words,
        valid_under=valid,
        problems=tuple(problems),
    )


def _why_instance(value: Json) -> str:
    """Return why a value is an instance and no schema; empty if it may be one."""
    if not isinstance(value, dict) or not value:
        return ""
    uri = value.get("$schema")
    if isinstance(uri, str) and statement(value).kind is not StatementKind.UNKNOWN:
        return ""
    words = [word for word in value if word not in KNOWN_KEYWORDS]
    if not words or any(map(find_misspelling, words)):
        return ""
    keywords = value.keys() & (KNOWN_KEYWORDS - ANNOTATIONS - {"id"})
    if any(valid_under({keyword: value[keyword]}) for keyword in keywords):
        return ""
    if all(isinstance(value[word], dict) and constrains(value[word]) for word in words):
        return f"no schema, but its properties: put `{words[0]}` below `properties`"
    if "components" in value and "asyncapi" not in value:
        return "a part of an OpenAPI description: check the file that refers to it"
    named = ", ".join(f"`{cut(word, 30)}`" for word in words[:3])
    follows = f"; it follows {cut(uri, 200)}" if isinstance(uri, str) else ""
    return f"an instance, not a schema: no keyword among {named}{follows}"


def _rejection(rejected: Rejected) -> SchemaProblem:
    reason = rejected.reason
    detail = rejected.detail.removeprefix(f"{rejected.pointer or '(root)'}: ")
    is_remote = reason is Reason.REMOTE_REFERENCE and _WEB.match(detail)
    message = f"{reason.explanation}: {detail}" if detail else reason.explanation
    if detail and reason in _PLAIN:
        message = detail
    return SchemaProblem(
        rejected.pointer, reason, message, NOTE if is_remote else "error"
    )


def _edit(change: Change, summaries: Mapping[str, str]) -> SchemaProblem:
    before, after = shortened(change.before, _SHOWN), shortened(change.after, _SHOWN)
    edit = f"{before} should be {after}"
    if change.before == ABSENT:
        edit = f"add {after}"
    elif change.after == ABSENT:
        edit = f"remove {before}"
    why = change.note or summaries.get(change.rule, "")
    undeclared = change.before == ABSENT and change.pointer == "/$schema"
    level = NOTE if undeclared else "warning"
    return SchemaProblem(change.pointer, change.rule, f"{edit} ({why})", level)


def _through(
    rules: Sequence[Rule], document: Document, context: Context
) -> tuple[Document, list[Rejected]]:
    """Return a document after the rules, and why they reject it.

    Unlike in a build, later rules still look at a document that an earlier one rejects,
    and of references, patterns and the metaschema every fault is named.
    """
    rejected: list[Rejected] = []
    for rule in rules:
        schema = document.schema
        # A library of definitions and an empty object are legal schemas.
        is_legal = looks_like_a_schema(schema) or (
            isinstance(schema, dict) and (not schema or "enum" in schema)
        )
        if (
            rule.name in _SKIPPED
            or (rule.name == empty.name and is_legal)
            or (rule.name == validators_agree.name and rejected)
        ):
            continue
        result = rule.apply(document, context)
        if not isinstance(result, Rejected):
            document = result
        else:
            result = replace(result, rule=rule.name)
            # A mark of a template in a value that may hold any text.
            in_data = {"enum", "const"} & {*parse_tokens(result.pointer)}
            if not (result.reason is Reason.TEMPLATE and in_data):
                rejected += _all_such(result, document, context) or [result]
        # The rules that come later rely on a legal schema, and on nothing else.
        schema, dialect = document.schema, BY_NAME.get(document.dialect or "")
        if not isinstance(schema, dict) or (
            isinstance(result, Rejected)
            and (dialect is None or not is_valid(schema, dialect))
        ):
            break
    return document, rejected


def _all_such(
    rejected: Rejected, document: Document, context: Context
) -> list[Rejected]:
    """Return all faults of the kind for which a rule has rejected a document."""
    schema, dialect = document.schema, read_dialect(document)
    faults: list[Rejected] = []
    if rejected.rule == references.name:
        read_as = Schema(schema, dialect, document.base_uri or "")
        faults = [
            replace(lost, detail=lost.detail + _near_target(lost, schema))
            for lost in lost_references(read_as, context.library)
        ]
        if not faults:
            detail = rejected.detail.partition(": ")[2]
            pointer = f"{rejected.pointer}/$ref"
            faults = [replace(rejected, detail=detail, pointer=pointer)]
    elif rejected.reason is Reason.INVALID_SCHEMA:
        for pointer, text in every_complaint(schema, dialect):
            hint = TABLES["hints"].get(pointer.rpartition("/")[2], "")
            detail = f"{dialect.name}: {text}{hint}"
            faults.append(replace(rejected, detail=detail, pointer=pointer))
    elif rejected.reason is Reason.BAD_PATTERN:
        faults = bad_patterns(schema, dialect)
    return faults[:_MAX_PROBLEMS]


def _near_target(lost: Rejected, schema: Json) -> str:
    """Return a proposal for a reference that leads nowhere in its own document."""
    if not isinstance(schema, dict):
        return ""
    reference = ""
    with suppress(LookupError):
        reference = str(at(schema, parse_tokens(lost.pointer)))
    name = _TO_DEFINITION.sub("", reference)
    cutoff = 0.6 if reference.startswith("#") else 1.0
    for container in CONTAINERS:
        names = read_object(schema, container)
        if near := difflib.get_close_matches(name, names, 1, cutoff):
            return f"; did you mean {to_fragment((container, near[0]))!r}?"
    return ""


def _faulty_lints(
    document: Document, schema: Schema, reported: set[str]
) -> Iterator[SchemaProblem]:
    """Yield the lints that are faults, one for each location.

    Args:
        document: A document after the rules.
        schema: Its schema.
        reported: Locations with a problem already; the root is none.
    """
    rules = rule_set("clean").rules
    meanings = {code: text for rule in rules for code, text in rule.lints.items()}
    for lint in document.lints:
        if lint.code in _WORDS or lint.pointer in reported:
            continue
        if message := _message(lint, schema, meanings[lint.code]):
            reported |= {lint.pointer} - {""}
            yield SchemaProblem(lint.pointer, lint.code, message)


def _message(lint: Lint, schema: Schema, meaning: str) -> str:
    """Return the message of a lint, with names of its location; empty for no fault.

    No faults are formats of other registries, such as `uint8`; siblings of a `$ref`
    that say what its target says; and `additionalItems` that lets everything through.

    Args:
        lint: The lint.
        schema: The schema after the rules.
        meaning: The code's.
    """
    tokens = parse_tokens(lint.pointer)
    if not tokens:
        is_asking = lint.code != NON_OBJECT_ROOT or not asks_nothing(schema.value)
        return meaning if is_asking else ""
    name, value = tokens[-1], at(schema.value, tokens)
    text = value if isinstance(value, str) else ""
    near = _near_format(text) if lint.code == UNKNOWN_FORMAT else ""
    holder = schema.location_at(tokens[:-1])
    target = schema.target(holder) if lint.code == "ref-siblings" else None
    if (
        near is None
        or (name == "additionalItems" and accepts_everything(value))
        or (target is not None and target.keywords.get(name) == value)
    ):
        return ""
    known_in = [draft.name for draft in BY_NAME.values() if name in draft.effective]
    drafts = known_in or [""]
    named = TABLES["named"].get(lint.code, "")
    filled = named.format(
        name=name,
        value=cut(text, 60),
        near=near,
        needed=NEEDED_BESIDE.get(name),
        form=" as a list" if name == "additionalItems" else "",
        types=cut(", ".join(read_names(holder.keywords.get("type"))), 60),
        dialect=schema.dialect.name,
        first=drafts[0],
        last=drafts[-1],
    )
    return filled or meaning


def _near_format(name: str) -> str | None:
    """Return the format that an unknown name is a slip of, or None.

    Example:
        >>> [_near_format(name) for name in ("datetime", "Date_Time", "uint8")]
        ['date-time', 'date-time', None]
    """
    plain = name.strip().lower().replace("_", "-")
    plain = TABLES["formats"].get(plain, plain)
    near = difflib.get_close_matches(plain, sorted(FORMATS), n=1, cutoff=0.85)
    return near[0] if near else None


def start(setup: Json) -> Callable[[Json], SchemaReport]:
    """Assemble the rules; return the handler of one question."""
    rule_set("clean")
    library = neighbour_library(msgspec.convert(setup, NeighbourFiles))

    def answer(request: Json) -> SchemaReport:
        return _check(msgspec.convert(request, CheckQuestion), library)

    return answer
