"""Score responses: task 1 by the schema, task 2 by the answer's word.

An answer of task 1 is taken out of its fence and read as JSON, YAML or XML. The
recommended reading of YAML is version 1.2's core schema, in which every JSON text keeps
its meaning. The paper's is PyYAML's: YAML 1.1 with dates turned into strings, where
`no` is a boolean and `12:30:45` the number 45045. jsonschema-rs validates in the
record's dialect. Formats are off in the headline; `scores` has both.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

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
    MAX_CHARACTERS,
    MAX_DEPTH,
    ConcodeSettings,
    NotRead,
    Output,
    Reading,
    RecordFields,
    fields_of,
)
from evaluation.suites.concodeeval.xml_answer import read_xml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import jsonschema_rs

    from curation.core.json_types import Json, UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.json.pointer import Tokens
    from evaluation.core.suite import Judge, Scorer

_FENCE: Final = "```"
#: Characters of a message in a reason.
_SHOWN: Final = 200
#: Most schemas whose places are kept.
_MOST_PLACES: Final = 1_024
#: Maximum violations of one value to count, and to report as reasons.
_MOST_VIOLATIONS, _MOST_REASONS = 10_000, 5
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
_EXPLICIT: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rf"\b(?:answer|verdict|response|conclusion)\b[^.\n]{{0,30}}?{_WORD}",
        r"^[^\w\n]*(yes|no)[^\w\n]*$",
        rf"\A\W*{_WORD}",
        rf"{_WORD}\W*\Z",
    )
)
#: Both words as equals: "yes or no", "Yes? No?".
_PAIR: Final = re.compile(
    r"\b(?:yes\s*(?:or|and|/)\s*no|no\s*(?:or|and|/)\s*yes)\W*\Z"
    r"|\A\W*(?:(?:yes\W+)+no|(?:no\W+)+yes)(?:\W+(?:yes|no))*\W*\Z"
    r"|\b(?:perhaps|maybe|either|(?:may|might|could) be)\W+(?:yes|no)\W*\Z",
    re.IGNORECASE,
)
#: Verdicts in other words.
_IN_PROSE: Final = {
    "yes": re.compile(
        r"\bno (?:violation|error|issue|problem)|\bno constraints? (?:is|are) violated"
        r"|(?<!not )\b(?:adheres to|conforms to|satisfies) (?:all|every|the schema)",
        re.IGNORECASE,
    ),
    "no": re.compile(
        r"\bviolates\b|\b(?:does not|doesn't) (?:adhere|conform|satisfy)"
        r"|\b(?:not valid|invalid)\b",
        re.IGNORECASE,
    ),
}
_MARKS: Final = re.compile(r"```(.*?)```", re.DOTALL)
#: A first line with the name of a language alone.
_LANGUAGE: Final = re.compile(r"\A[ \t]*\.?[A-Za-z][\w+#-]*[ \t]*\r?\n")
#: Triage of free answers, and of those under an engine, which hold no thinking.
FREE_RULES: Final = TriageRules(longest=MAX_CHARACTERS)
ENGINE_RULES: Final = replace(FREE_RULES, splits_thinking=False)
#: Faults of a value; the others are classes of the same name.
_NO_VALUE: Final = (JsonProblem.NOT_A_NUMBER, JsonProblem.LONE_SURROGATE)
#: All other faults are of syntax.
_YAML_FAULTS: Final = {
    YamlFault.TAG: "yaml_tag",
    YamlFault.ALIAS: "yaml_alias",
    YamlFault.TOO_DEEP: "too_deep",
    YamlFault.DUPLICATE_NAME: "duplicate_name",
    YamlFault.NOT_JSON: "not_json",
}


def concode_scorer(settings: ConcodeSettings) -> Scorer:
    r"""Return what judges the responses to records of both tasks.

    Example:
        >>> answer = Response(record=record.key, text="```\n[1]\n```")
        >>> concode_scorer(ConcodeSettings())(record)(answer).failure_class
        'wrong_root'
    """

    def prepare(record: Record) -> Judge:
        fields = fields_of(record)
        facts: dict[str, Json] = {
            "task": fields.task,
            "representation": fields.representation,
            "output": fields.output,
            "family": fields.family,
            "schema": fields.schema_id,
            "cluster": fields.schema_id,
            "length": fields.length,
        }
        compiled = None
        if fields.task == "validation":
            facts |= {"label": fields.label, "keyword": fields.keyword}
        else:
            compiled = compiled_schema(fields.schema, record.dialect)

        def judge(response: Response) -> Verdict:
            verdict = _verdict(fields, compiled, settings, response)
            # Reports slice by these.
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
    # Under an engine the text is the sample alone, without a fence.
    is_fenced = response.condition.startswith(FREE) or fields.output != "json"
    has_thinking = is_fenced or compiled is None
    if settings.reading == "paper":
        has_thinking = False
    answer = triage(response, FREE_RULES if has_thinking else ENGINE_RULES)
    if isinstance(answer, MissingAnswer) and answer.kind is NoAnswer.FAILED:
        return _failed("api_error", answer.reason)
    if compiled is None:
        return _validation_verdict(fields, answer, settings)
    if isinstance(compiled, str):
        verdict = _failed("schema_error", compiled)
        return msgspec.structs.replace(verdict, counted=False)
    value = _value_of(answer, fields, compiled.value, settings, is_fenced=is_fenced)
    if isinstance(value, NotRead):
        is_incomplete = value.why in ("no_fence", "no_answer")
        reason = shortened(f"{value.why}: {value.detail}", _SHOWN)
        score = "incomplete" if is_incomplete else "invalid"
        return _failed(value.why, reason, **{score: True})
    return _validated(compiled, settings.reading, value)


def _value_of(
    answer: str | MissingAnswer,
    fields: RecordFields,
    schema: Json,
    settings: ConcodeSettings,
    *,
    is_fenced: bool,
) -> Json | NotRead:
    if isinstance(answer, MissingAnswer):
        return not_read(answer)
    text: str | NotRead = answer.strip()
    if is_fenced:
        output = None if settings.reading == "paper" else fields.output
        text = fenced_answer(answer, continues=settings.form == "base", output=output)
    if isinstance(text, NotRead):
        return text
    return read_output(text, fields.output, schema, settings.reading)


def _scores(**scores: bool) -> dict[str, float]:
    return {name: float(scores.get(name, False)) for name in _SCORES}


def _failed(kind: str, reason: str, **scores: bool) -> Verdict:
    return Verdict(
        passed=False,
        failure_class=kind,
        reasons=(reason,),
        scores=_scores(**scores) if scores else {},
    )


def _validated(compiled: CompiledSchema, reading: Reading, value: Json) -> Verdict:
    validator = compiled.validator_without_formats
    with_formats = compiled.validator.is_valid(value)
    if validator.is_valid(value):
        scores = _scores(gen_acc=True, with_formats=with_formats)
        return Verdict(passed=True, scores=scores)
    faults = violations(validator, value)
    # In the paper's reading null is never of a wrong type.
    may_be_null = value is None and reading == "paper"
    is_wrong_root = ("type",) in faults.places and not may_be_null
    return Verdict(
        passed=False,
        failure_class="wrong_root" if is_wrong_root else "violation",
        reasons=faults.reasons,
        scores=_scores(with_formats=with_formats, rtv=is_wrong_root),
        details={
            "keywords": {**faults.keywords},
            "locality": [*locality(compiled, faults.places, reading)],
        },
    )


class Violations(NamedTuple):
    """The violations of one value."""

    #: The number of violations of each keyword, the most frequent first.
    keywords: dict[str, int]
    #: The place of each violated keyword in the schema.
    places: tuple[Tokens, ...]
    #: The first ones in words.
    reasons: tuple[str, ...]


def violations(validator: jsonschema_rs.Validator, value: Json) -> Violations:
    """Return the violations of a value, as jsonschema-rs lists them.

    Example:
        >>> validator = jsonschema_rs.validator_for({"items": {"maximum": 3}})
        >>> violations(validator, [1, 5, 7]).keywords
        {'maximum': 2}
    """
    counted: Counter[str] = Counter()
    places: list[Tokens] = []
    reasons: list[str] = []
    for error in islice(validator.iter_errors(value), _MOST_VIOLATIONS):
        path = tuple(map(str, error.schema_path))
        # A schema that is `false` has no keyword: its holder is named.
        keyword = path[-1] if path else "false"
        counted[keyword] += 1
        places.append(path)
        if len(reasons) < _MOST_REASONS:
            path_text = "/".join(["", *map(str, error.instance_path)]) or "the root"
            message = shortened(error.message, _SHOWN)
            reasons.append(f"{keyword} at {path_text}: {message}")
    return Violations(dict(counted.most_common()), tuple(places), tuple(reasons))


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
    parts = _parts(compiled, reading)
    counts = Counter(parts[path] for path in violated if path in parts)
    return [counts[part] for part in range(len(PARTS))]


@lru_cache(maxsize=_MOST_PLACES)
def _parts(compiled: CompiledSchema, reading: Reading) -> dict[Tokens, int]:
    """Return the number of the part of every place."""
    places = list(_places(compiled.value, ()))
    start, end = (share * len(places) for share in _CUTS[reading])
    return {
        path: (index >= start) + (index >= end) for index, path in enumerate(places)
    }


def _places(value: Json, path: Tokens) -> Iterator[Tokens]:
    """Yield the paths of all members, in the order of the text."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*path, name)
            yield from _places(member, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*path, str(index)))


def _validation_verdict(
    fields: RecordFields, answer: str | MissingAnswer, settings: ConcodeSettings
) -> Verdict:
    """Return the verdict on an answer of task 2.

    An answer that is neither yes nor no is wrong; in the paper's reading it is not
    counted.
    """
    continues = settings.form == "base"
    reply = reply_of(answer, continues=continues, reading=settings.reading)
    if reply not in ("yes", "no"):
        return Verdict(
            passed=False,
            failure_class=reply,
            reasons=("the answer is neither yes nor no",),
            scores={"val_acc": 0.0, "answered": 0.0},
            details={"reply": reply},
            counted=settings.reading != "paper",
        )
    passed = reply == fields.label
    why = fields.keyword or "the schema accepts the sample"
    return Verdict(
        passed=passed,
        failure_class="" if passed else "wrong_answer",
        reasons=() if passed else (f"{reply} where {fields.label} is right: {why}",),
        scores={"val_acc": float(passed), "answered": 1.0},
        details={"reply": reply},
    )


def reply_of(
    answer: str | MissingAnswer,
    *,
    continues: bool,
    reading: Reading = "recommended",
) -> str:
    """Return the reply of an answer: `yes`, `no`, or the class of one that is neither.

    The most explicit verdict counts: after "answer:" and the like, on a separate
    line, at the beginning, at the end; otherwise a verdict in other words. Both
    words as equals, such as "yes or no", are not an answer, nor is a determiner:
    "There is no upper bound."

    Args:
        answer: The text without thinking.
        continues: Whether the prompt ended with an open fence.
        reading: In the paper's, the text in the first fence begins with the word, or
            there is no reply.

    Example:
        >>> reply_of("There are no violations.", continues=False)
        'yes'
        >>> reply_of("yes or no", continues=False)
        'unclear'
    """
    if isinstance(answer, MissingAnswer):
        return not_read(answer).why
    answer = answer.strip()
    opens = answer.startswith(_FENCE)
    if reading == "paper":
        return _published_reply(
            f"{_FENCE}\n{answer}" if continues and not opens else answer
        )
    if continues and not opens:
        answer = answer.partition(_FENCE)[0].strip() or answer
    else:
        blocks = [block.content for block in code_blocks(answer)]
        fenced = [block for block in blocks if re.search(r"(?i)\b(yes|no)\b", block)]
        answer = fenced[-1] if fenced else answer
    if _PAIR.search(answer):
        return "unclear"
    for pattern in _EXPLICIT:
        if words := pattern.findall(answer):
            return str(words[-1]).lower()
    replies = [word for word, pattern in _IN_PROSE.items() if pattern.search(answer)]
    return replies[0] if len(replies) == 1 else "unclear"


def _published_reply(answer: str) -> str:
    text = (first_fence(answer) or "").strip().lower()
    if text.startswith("yes"):
        return "yes"
    return "no" if text.startswith("no") else "unclear"


def fenced_answer(
    answer: str, *, continues: bool, output: Output | None = None
) -> str | NotRead:
    r"""Return the content of the block that holds the sample.

    That is the last closed block that names the format or no language, as code to check
    a sample with may follow it.

    Args:
        answer: The text without thinking.
        continues: Whether the prompt ended with an open fence, which the text
            continues. A text that opens a fence itself is read from there.
        output: The format; None for the first block, as in the published scripts.

    Example:
        >>> fenced_answer("Here it is:\n```json\n[1]\n```", continues=False)
        '[1]'
        >>> fenced_answer("[1]\n```\nThat is all.", continues=True)
        '[1]'
    """
    languages = ("", output, "yml" if output == "yaml" else "")
    if continues and not answer.lstrip().startswith(_FENCE):
        answer = f"{_FENCE}\n{answer}"
    content = first_fence(answer)
    for fenced in code_blocks(answer) if output is not None else ():
        if fenced.language in languages:
            content = fenced.content
    if content is None:
        detail = "unclosed fence" if _FENCE in answer else "no fence"
        return NotRead("no_fence", detail)
    return content or NotRead("no_answer", "the fenced block is empty")


def first_fence(text: str) -> str | None:
    """Return the text between the first two marks of three backticks, if any.

    A first line with the name of a language alone is not part of it. Source: the
    published scripts.
    """
    pair = _MARKS.search(text)
    return _LANGUAGE.sub("", pair[1]).strip() if pair else None


def not_read(answer: MissingAnswer) -> NotRead:
    """Return a missing answer as unread."""
    is_large = answer.kind is NoAnswer.TOO_LARGE
    return NotRead("too_large" if is_large else "no_answer", answer.reason)


def read_output(
    text: str, output: Output, schema: Json, reading: Reading
) -> Json | NotRead:
    """Return the value of a text; the schema is for XML without types."""
    if output == "json":
        return read_json(text, reading)
    if output == "yaml":
        return read_yaml_text(text, reading)
    return read_xml(text, schema, reading)


def read_json(text: str, reading: Reading = "recommended") -> Json | NotRead:
    """Return the value of a JSON text (RFC 8259).

    In the paper's reading, as in Python's `json`, the last of two equal names counts.
    """
    answer = read_json_answer(text)
    if answer.problem is not None:
        in_value = answer.problem in _NO_VALUE
        return NotRead("not_json" if in_value else answer.problem.value, answer.detail)
    if answer.duplicates and reading != "paper":
        detail = f"the member {answer.duplicates[0][:80]!r} stands twice"
        return NotRead("duplicate_name", detail)
    return answer.value


def read_yaml_text(text: str, reading: Reading = "recommended") -> Json | NotRead:
    """Return the value of a YAML text; aliases are not followed."""
    options = _YAML_1_1 if reading == "paper" else _YAML_1_2
    try:
        value: Json = read_yaml(text, options).value
    except YamlError as error:
        return NotRead(_YAML_FAULTS.get(error.fault, "syntax"), error.detail[:200])
    return value


def _json_name(_text: str, value: UntypedJson) -> str:
    """Return the name of a member as `json.dumps` writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def _paper_scalar(text: str, tag: str | None = None) -> UntypedJson:
    """Return a scalar as `yaml.safe_load` and `json.dumps(default=str)` have it."""
    value = yaml_1_1_scalar(text, tag, normalize_dates=True)
    return finite(value, text) if isinstance(value, float) else value


_YAML_1_2: Final = YamlOptions(
    name=_json_name, merge_keys=False, max_values=None, max_depth=MAX_DEPTH
)
_YAML_1_1: Final = replace(_YAML_1_2, scalar=_paper_scalar, unique_names=False)
