"""Score responses: task 1 by the schema, task 2 by the answer's word.

An answer of task 1 is taken out of its fence and read as JSON, YAML or XML. The
recommended reading of YAML is version 1.2's core schema, in which every JSON text keeps
its meaning. The paper's is PyYAML's: YAML 1.1 with dates turned into strings, where
`no` is a boolean and `12:30:45` the number 45045. jsonschema-rs validates in the
record's dialect. Formats are off in the headline; `scores` has both.

XML goes by an element's `type` (`str`, `int`, `float`, `bool`, `null`, `dict`, `list`)
and, without one, by the schema of the value. The paper's is `xmltodict`'s: the root is
an object with one member, and every scalar a text. A document type is refused:
entities, and with them entity bombs and external entities, can occur nowhere else.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

import msgspec

from curation.json.yaml_reader import (
    YamlError,
    YamlFault,
    YamlOptions,
    finite,
    read_yaml,
    yaml_1_1_scalar,
)
from curation.system.words import shortened
from evaluation.answers.extraction import (
    JsonProblem,
    MissingAnswer,
    NoAnswer,
    TriageRules,
    code_blocks,
    read_json_answer,
    triage,
)
from evaluation.answers.judge import compiled_schema
from evaluation.core.records import FREE, Record, Response, Verdict
from evaluation.suites.concodeeval.suite import (
    MAX_DEPTH,
    ConcodeSettings,
    Output,
    Reading,
    RecordFields,
    UnreadError,
    read_fields,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.core.json_types import Json, UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.json.pointer import Tokens
    from evaluation.core.suite import Judge, Scorer

_FENCE: Final = "```"
#: Maximum characters of an answer.
_MAX_CHARACTERS: Final = 1_000_000
#: Characters of a message in a reason.
_SHOWN: Final = 200
#: Maximum violations of one value to report as reasons.
_MAX_REASONS: Final = 5
#: Scores of an answer of task 1; those that are not 1 are 0.
_SCORES: Final = ("gen_acc", "with_formats", "rtv", "invalid", "incomplete")
#: The parts of a schema in Figure 1, in their order.
PARTS: Final = ("begin", "middle", "end")
#: The end of the first part and the beginning of the last, as shares of all places.
_CUTS: Final = {"recommended": (1 / 3, 2 / 3), "paper": (0.2, 0.8)}
#: One of the words. `no` before a word is a determiner ("no violations"), unless a
#: reason follows.
_WORD: Final = (
    r"\b(yes|no(?!\s+(?!because\b|since\b|as\b|it\b|this\b|that\b|the\b)\w))\b"
)
#: Patterns of a verdict, the most explicit first; the last match counts.
_EXPLICIT: Final = (
    rf"(?i)\b(?:answer|verdict|response|conclusion)\b[^.\n]{{0,30}}?{_WORD}",
    r"(?im)^[^\w\n]*(yes|no)[^\w\n]*$",
    rf"(?i)\A\W*{_WORD}",
    rf"(?i){_WORD}\W*\Z",
)
#: Both words as equals: "yes or no", "Yes? No?".
_PAIR: Final = (
    r"(?i)\b(?:yes\s*(?:or|and|/)\s*no|no\s*(?:or|and|/)\s*yes)\W*\Z"
    r"|\A\W*(?:(?:yes\W+)+no|(?:no\W+)+yes)(?:\W+(?:yes|no))*\W*\Z"
    r"|\b(?:perhaps|maybe|either|(?:may|might|could) be)\W+(?:yes|no)\W*\Z"
)
#: Verdicts in other words.
_IN_PROSE: Final = {
    "yes": r"(?i)\bno (?:violation|error|issue|problem)"
    r"|\bno constraints? (?:is|are) violated"
    r"|(?<!not )\b(?:adheres to|conforms to|satisfies) (?:all|every|the schema)",
    "no": r"(?i)\bviolates\b|\b(?:does not|doesn't) (?:adhere|conform|satisfy)"
    r"|\b(?:not valid|invalid)\b",
}
#: A first line with the name of a language alone.
_LANGUAGE: Final = r"\A[ \t]*\.?[A-Za-z][\w+#-]*[ \t]*\r?\n"
#: Classes of missing answers; all others are `no_answer`.
_MISSING: Final = {NoAnswer.FAILED: "api_error", NoAnswer.TOO_LARGE: "too_large"}
#: Classes of faults in JSON and YAML; all others in YAML are of syntax.
_FAULTS: Final = {
    JsonProblem.NOT_A_NUMBER: "not_json",
    JsonProblem.LONE_SURROGATE: "not_json",
    YamlFault.TAG: "yaml_tag",
    YamlFault.ALIAS: "yaml_alias",
    YamlFault.TOO_DEEP: "too_deep",
    YamlFault.DUPLICATE_NAME: "duplicate_name",
    YamlFault.NOT_JSON: "not_json",
}


_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_BOOLEANS: Final = {"true": True, "false": False, "True": True, "False": False}
#: Types of JSON by those of elements.
_TYPES: Final = {
    "str": "string",
    "int": "number",
    "float": "number",
    "bool": "boolean",
    "null": "null",
    "dict": "object",
    "list": "array",
}


def concode_scorer(settings: ConcodeSettings) -> Scorer:
    r"""Return what judges the responses to records of both tasks.

    Example:
        >>> answer = Response(record=record.key, text="```\n[1]\n```")
        >>> concode_scorer(ConcodeSettings())(record)(answer).failure_class
        'wrong_root'
    """

    def prepare(record: Record) -> Judge:
        fields = read_fields(record)
        compiled = None
        if fields.task == "generation":
            compiled = compiled_schema(fields.schema, record.dialect)
        # Reports slice by these.
        facts = msgspec.to_builtins(fields)
        facts.pop("sample", None)
        facts["schema"] = facts["cluster"] = facts.pop("schema_id")

        def judge(response: Response) -> Verdict:
            verdict = _verdict(fields, compiled, settings, response)
            details = {**facts, **verdict.details}
            return msgspec.structs.replace(verdict, details=details)

        return judge

    return prepare


def _verdict(
    fields: RecordFields,
    compiled: CompiledSchema | str | None,
    settings: ConcodeSettings,
    response: Response,
) -> Verdict:
    has_thinking = settings.reading != "paper"
    rules = TriageRules(longest=_MAX_CHARACTERS, splits_thinking=has_thinking)
    answer = triage(response, rules)
    missing = ""
    if isinstance(answer, MissingAnswer):
        missing = _MISSING.get(answer.kind, "no_answer")
        answer = answer.reason
    if missing == "api_error":
        return _failed(missing, answer)
    if compiled is None:
        reply = missing or parse_reply(answer, settings)
        return _verdict_on_reply(fields, reply, settings.reading)
    if isinstance(compiled, str):
        return msgspec.structs.replace(_failed("schema_error", compiled), counted=False)
    if missing:
        return _unread(missing, answer)
    try:
        # Under an engine the text is the sample alone, without a fence.
        if response.condition.startswith(FREE) or fields.output != "json":
            answer = fenced_answer(answer, fields.output, settings)
        value = read_output(answer, fields.output, compiled.value, settings.reading)
    except UnreadError as error:
        return _unread(*error.args)
    return _validated(compiled, settings.reading, value)


def _unread(kind: str, detail: str) -> Verdict:
    is_incomplete = kind in ("no_fence", "no_answer")
    scores = _scores("incomplete" if is_incomplete else "invalid")
    return _failed(kind, shortened(f"{kind}: {detail}", _SHOWN), scores)


def _scores(*reached: str) -> dict[str, float]:
    """Return the scores of an answer of task 1: 1 for those named."""
    return {name: float(name in reached) for name in _SCORES}


def _failed(kind: str, reason: str, scores: dict[str, float] | None = None) -> Verdict:
    return Verdict(
        passed=False, failure_class=kind, reasons=(reason,), scores=scores or {}
    )


def _validated(compiled: CompiledSchema, reading: Reading, value: Json) -> Verdict:
    validator = compiled.validator_without_formats
    formats = ["with_formats"] if compiled.validator.is_valid(value) else []
    if validator.is_valid(value):
        return Verdict(passed=True, scores=_scores("gen_acc", *formats))
    violated: list[Tokens] = []
    reasons: list[str] = []
    for error in validator.iter_errors(value):
        violated.append(tuple(map(str, error.schema_path)))
        if len(reasons) < _MAX_REASONS:
            path = "/".join(["", *map(str, error.instance_path)]) or "the root"
            message = shortened(error.message, _SHOWN)
            reasons.append(f"{violated[-1][-1]} at {path}: {message}")
    # In the paper's reading null is never of a wrong type.
    may_be_null = value is None and reading == "paper"
    roots = ["rtv"] if ("type",) in violated and not may_be_null else []
    return Verdict(
        passed=False,
        failure_class="wrong_root" if roots else "violation",
        reasons=tuple(reasons),
        scores=_scores(*formats, *roots),
        details={
            "keywords": dict(Counter(path[-1] for path in violated).most_common()),
            "locality": [*locality(compiled, violated, reading)],
        },
    )


def locality(
    compiled: CompiledSchema, violated: Iterable[Tokens], reading: Reading
) -> list[int]:
    """Return how many violated keywords each third of a schema has: Figure 1.

    All places of the schema are listed as they are written, every key of every object;
    a keyword belongs to the part of the list with its place.

    Example:
        >>> compiled = compiled_schema('{"type": "array", "items": {"maximum": 3}}', "")
        >>> locality(compiled, [("items", "maximum")], "recommended")
        [0, 0, 1]
    """
    places = {path: n for n, path in enumerate(_places(compiled.value, ()))}
    cuts = [share * len(places) for share in _CUTS[reading]]
    positions = [places[path] for path in violated if path in places]
    parts = Counter(sum(position >= cut for cut in cuts) for position in positions)
    return [parts[part] for part in range(len(PARTS))]


def _places(value: Json, path: Tokens) -> Iterator[Tokens]:
    """Yield the paths of all members, in the order of the text."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*path, name)
            yield from _places(member, (*path, name))


def _verdict_on_reply(fields: RecordFields, reply: str, reading: Reading) -> Verdict:
    """Return the verdict on a reply of task 2, or on the class of a missing one.

    A reply that is neither yes nor no is wrong; in the paper's reading it is not
    counted.
    """
    is_answered = reply in ("yes", "no")
    passed = reply == fields.label
    kind = "wrong_answer" if is_answered else reply
    reason = "the answer is neither yes nor no"
    if is_answered:
        why = fields.keyword or "the schema accepts the sample"
        reason = f"{reply} where {fields.label} is right: {why}"
    return Verdict(
        passed=passed,
        failure_class="" if passed else kind,
        reasons=() if passed else (reason,),
        scores={"val_acc": float(passed), "answered": float(is_answered)},
        details={"reply": reply},
        counted=is_answered or reading != "paper",
    )


def parse_reply(answer: str, settings: ConcodeSettings) -> str:
    """Return the reply of an answer: `yes`, `no` or `unclear`.

    The most explicit verdict counts: after "answer:" and the like, on a separate
    line, at the beginning, at the end; otherwise a verdict in other words. Both
    words as equals, such as "yes or no", are not an answer, nor is a determiner:
    "There is no upper bound." In the paper's reading, the text in the first fence
    begins with the word, or there is no reply.

    Args:
        answer: The text without thinking.
        settings: The form, as an answer goes on from an open fence, and the reading.

    Example:
        >>> parse_reply("There are no violations.", ConcodeSettings())
        'yes'
        >>> parse_reply("yes or no", ConcodeSettings())
        'unclear'
    """
    answer = answer.strip()
    if settings.reading == "paper":
        text = (first_fence(_continued(answer, settings)) or "").lower()
        words = [word for word in ("yes", "no") if text.startswith(word)]
        return words[0] if words else "unclear"
    if _continued(answer, settings) != answer:
        answer = answer.partition(_FENCE)[0].strip() or answer
    else:
        blocks = [block.content for block in code_blocks(answer)]
        fenced = [block for block in blocks if re.search(r"(?i)\b(yes|no)\b", block)]
        answer = fenced[-1] if fenced else answer
    if re.search(_PAIR, answer):
        return "unclear"
    for pattern in _EXPLICIT:
        if words := re.findall(pattern, answer):
            return str(words[-1]).lower()
    replies = [
        word for word, pattern in _IN_PROSE.items() if re.search(pattern, answer)
    ]
    return replies[0] if len(replies) == 1 else "unclear"


def _continued(answer: str, settings: ConcodeSettings) -> str:
    """Return an answer with the fence that its prompt opened.

    A text that opens a fence itself is read from there.
    """
    is_open = settings.form == "base" and not answer.lstrip().startswith(_FENCE)
    return f"{_FENCE}\n{answer}" if is_open else answer


def fenced_answer(answer: str, output: Output, settings: ConcodeSettings) -> str:
    r"""Return the content of the block that holds the sample.

    That is the last closed block that names the format or no language, as code to check
    a sample with may follow it; else, as in the published scripts, the first block.

    Args:
        answer: The text without thinking.
        output: The format.
        settings: The form, as an answer goes on from an open fence, and the reading.

    Raises:
        UnreadError: there is none, or it is empty.

    Example:
        >>> fenced_answer("Here it is:\n```json\n[1]\n```", "json", ConcodeSettings())
        '[1]'
    """
    answer = _continued(answer, settings)
    content = first_fence(answer)
    languages = ("", output, "yml" if output == "yaml" else "")
    for block in code_blocks(answer) if settings.reading != "paper" else ():
        if block.language in languages:
            content = block.content
    if content is None:
        raise UnreadError(
            "no_fence", "unclosed fence" if _FENCE in answer else "no fence"
        )
    if not content:
        raise UnreadError("no_answer", "the fenced block is empty")
    return content


def first_fence(text: str) -> str | None:
    """Return the text between the first two marks of three backticks, if any.

    A first line with the name of a language alone is not part of it. Source: the
    published scripts.
    """
    pair = re.search(r"(?s)```(.*?)```", text)
    return re.sub(_LANGUAGE, "", pair[1]).strip() if pair else None


def read_output(text: str, output: Output, schema: Json, reading: Reading) -> Json:
    """Return the value of a text.

    Args:
        text: The text.
        output: Its format.
        schema: The schema of the value, for XML without types.
        reading: In the paper's reading, as in Python's `json`, the last of two equal
            names counts.

    Raises:
        UnreadError: it has none.
    """
    if output == "yaml":
        options = _YAML_1_1 if reading == "paper" else _YAML_1_2
        try:
            value: Json = read_yaml(text, options).value
        except YamlError as error:
            kind = _FAULTS.get(error.fault, "syntax")
            raise UnreadError(kind, error.detail[:200]) from None
        return value
    if output == "xml":
        return read_xml(text, schema, reading)
    answer = read_json_answer(text.strip())
    if answer.problem is not None:
        kind = _FAULTS.get(answer.problem, answer.problem.value)
        raise UnreadError(kind, answer.detail)
    if answer.duplicates and reading != "paper":
        detail = f"the member {answer.duplicates[0][:80]!r} stands twice"
        raise UnreadError("duplicate_name", detail)
    return answer.value


def _paper_scalar(text: str, tag: str | None = None) -> UntypedJson:
    """Return a scalar as `yaml.safe_load` and `json.dumps(default=str)` have it."""
    value = yaml_1_1_scalar(text, tag, normalize_dates=True)
    return finite(value, text) if isinstance(value, float) else value


_YAML_1_2: Final = YamlOptions(merge_keys=False, max_values=None, max_depth=MAX_DEPTH)
_YAML_1_1: Final = replace(_YAML_1_2, scalar=_paper_scalar, unique_names=False)


def read_xml(text: str, schema: UntypedJson, reading: Reading) -> Json:
    """Return the value of an XML text.

    Args:
        text: The answer; its root element may have any name.
        schema: The schema of the value, for elements without a `type`.
        reading: The reading.

    Raises:
        UnreadError: it has no value.

    Example:
        >>> read_xml("<all><a type='int'>1</a></all>", {}, "recommended")
        {'a': 1}
        >>> read_xml("<all><a type='int'>1</a></all>", {}, "paper")
        {'all': {'a': {'@type': 'int', '#text': '1'}}}
    """
    if "<!DOCTYPE" in text:
        raise UnreadError("xml_doctype", "it has a document type")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 (without a document type)
    except (ElementTree.ParseError, UnicodeEncodeError) as error:
        raise UnreadError("syntax", str(error)) from None
    if root.find("/".join("*" * MAX_DEPTH)) is not None:
        raise UnreadError("too_deep", f"nested over {MAX_DEPTH} levels")
    if reading == "paper":
        return {root.tag: _as_xmltodict(root)}
    return _value(root, schema)


def _value(element: ElementTree.Element, schema: UntypedJson) -> Json:
    """Return the value of an element.

    Raises:
        UnreadError: it has a number that JSON lacks, or a member twice.
    """
    text = element.text or ""
    kind = _TYPES.get(element.get("type", ""), schema.get("type", ""))
    if element.get("type") == "str":
        return text
    text = text.strip()
    if len(element) and kind not in ("array", "object"):
        kind = "array" if {child.tag for child in element} == {"item"} else "object"
    # A root without a type is an object, as `json2xml` writes it.
    if len(element) or (not text and kind in ("array", "object", "")):
        return (_items if kind == "array" else _members)(element, schema)
    if kind == "null" and text in ("", "null"):
        return None
    if kind == "boolean":
        return _BOOLEANS.get(text, text)
    if kind in ("number", "integer") and _NUMBER.fullmatch(text):
        number: int | float = json.loads(text)
        if abs(number) == math.inf:
            raise UnreadError("not_json", f"the number {text[:40]} is too large")
        return number
    return text


def _items(elements: Iterable[ElementTree.Element], schema: UntypedJson) -> Json:
    inner = schema.get("items") or schema.get("contains") or {}
    return [_value(element, inner) for element in elements]


def _members(element: ElementTree.Element, schema: UntypedJson) -> Json:
    """Return an object; elements of one name are the items of an array."""
    members: dict[str, Json] = {}
    for name, elements in _by_name(element).items():
        inner = schema.get("properties", {}).get(name, {})
        if len(elements) == 1:
            members[name] = _value(elements[0], inner)
        elif any("type" in element.attrib for element in elements):
            detail = f"the member {name[:80]!r} stands twice"
            raise UnreadError("duplicate_name", detail)
        else:
            members[name] = _items(elements, inner)
    return members


def _by_name(element: ElementTree.Element) -> dict[str, list[ElementTree.Element]]:
    """Return the children of an element by their names."""
    by_name: dict[str, list[ElementTree.Element]] = {}
    for child in element:
        # A namespace is no part of a name.
        by_name.setdefault(child.tag.rpartition("}")[2], []).append(child)
    return by_name


def _as_xmltodict(element: ElementTree.Element) -> Json:
    """Return an element as `xmltodict.parse` does by default."""
    members: dict[str, Json] = {f"@{name}": value for name, value in element.items()}
    for name, children in _by_name(element).items():
        values = [_as_xmltodict(child) for child in children]
        members[name] = values if len(values) > 1 else values[0]
    text = (element.text or "").strip()
    if members and text:
        members["#text"] = text
    return members or text or None
