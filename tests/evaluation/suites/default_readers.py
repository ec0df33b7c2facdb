"""Second readers of the default reading, written from docs/suites.md and its pages.

They share no code with the suites. Each returns whether a text passes.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import jsonschema
import yaml

from tests.evaluation.suites.second_readers import ifstruct_content_passes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.concodeeval.suite import RecordFields
    from evaluation.suites.ifstruct.rows import IfstructRecord

_OPEN = r"(?:<(?:seed:think|think|thinking|thought|reasoning)>|\[think\]|◁think▷)"
_CLOSE = r"(?:</(?:seed:think|think|thinking|thought|reasoning)>|\[/think\]|◁/think▷)"
_ENDS = (
    *("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>"),
    *("<|end|>", "<|eom_id|>", "<｜end▁of▁sentence｜>", "<end_of_turn>", "<eos>"),  # noqa: RUF001 (as models write it)
    "</s>",
)


_BEGINS = re.compile(r'\s*(?:[{"]|```|- |\[(?!/?think\]))', re.IGNORECASE)


def answer_of(text: str) -> str:
    """Return a text without reasoning, end tokens and byte order marks."""
    text = text.strip("\ufeff\u200b")
    while (ended := text.rstrip()).endswith(_ENDS):
        text = ended[: ended.rindex("<")]
    if _BEGINS.match(text):
        return text.strip()
    final = re.search(
        r"(?s)\A.*<\|channel\|>final(?: ?<\|constrain\|> ?\w+)?<\|message\|>"
        r"|\A\s*(?:analysis|commentary).*?assistant\s*final",
        text,
    )
    if final:
        return text[final.end() :].strip()
    if text.lstrip().startswith("<|channel|>"):
        return ""
    ends = [0, *(tag.end() for tag in re.finditer(_CLOSE, text, re.IGNORECASE))]
    begins = next((end for end in ends if _BEGINS.match(text[end:])), None)
    if begins is not None:
        return text[begins:].strip().removeprefix("\ufeff")
    head, *rest = re.split(_OPEN, text[ends[-1] :], maxsplit=1, flags=re.IGNORECASE)
    if not head.strip() and not rest:
        first, *thought = re.split(_OPEN, text, maxsplit=1, flags=re.IGNORECASE)
        head = first if thought else ""
    return head.strip().removeprefix("\ufeff")


def to_json(text: str) -> Any:  # noqa: ANN401 (any JSON)
    """Return the value of a JSON text (RFC 8259) of at most 250 levels."""

    def number(spelling: str) -> float:
        if not math.isfinite(float(spelling)):
            raise ValueError(spelling)
        return float(spelling)

    value = json.loads(text, parse_float=number, parse_constant=number)
    json.dumps(value, ensure_ascii=False).encode()
    if _levels(value) > 250:
        raise ValueError(text)
    return value


def _levels(value: Any) -> int:  # noqa: ANN401 (any JSON)
    level, layer = 0, [value]
    while layer := [it for it in layer if isinstance(it, dict | list)]:
        level += 1
        layer = [
            inner
            for it in layer
            for inner in (it.values() if isinstance(it, dict) else it)
        ]
    return level


def _last_value(text: str) -> str:
    """Return the last whole object of a text, one on its own lines before others."""
    spans: list[tuple[bool, bool, int, int]] = []
    start = 0
    while found := re.compile(r"[{\[]").search(text, start):
        try:
            _, end = json.JSONDecoder().raw_decode(text, found.start())
        except json.JSONDecodeError as error:
            start = max(found.start() + 1, error.pos)
            continue
        start = end
        before, after = text[: found.start()], text[end:]
        apart = re.search(r"(?:\A|\n|:)[\s*`]*\Z", before[-40:] or "\n") is not None
        apart = apart and re.match(r"[ \t*`.]*\r?(?:\n|\Z)", after) is not None
        holds = re.match(r"\[?\s*\{", text[found.start() :]) is not None
        spans.append((holds, apart, found.start(), end))
    if not spans:
        return text
    *_, first, end = max(spans)
    return text[first:end]


def _found(text: str) -> Any:  # noqa: ANN401 (any JSON)
    text = answer_of(text)
    try:
        return to_json(text)
    except json.JSONDecodeError:
        return to_json(_last_value(text))


def passrate_passes(text: str, schema: Any) -> bool:  # noqa: ANN401 (any schema)
    """Return whether a text is JSON of a schema that declares all of its members."""
    text = answer_of(text)
    opening = re.match(r'```+[ \t]*(?:[^\s`{\["]*(?!`))?[ \t]*\r?\n?', text)
    if opening:
        text = text[opening.end() :]
        text = text.rstrip("`") if text.endswith("```") else text
    try:
        return jsonschema.Draft202012Validator(schema).is_valid(to_json(text.strip()))
    except (ValueError, RecursionError):
        return False


def sob_passes(text: str, truth: Any, schema: Any) -> bool:  # noqa: ANN401 (any JSON)
    """Return whether a text is the truth, and its schema accepts it."""
    try:
        value = _found(text)
    except (ValueError, RecursionError):
        return False
    valid = isinstance(value, dict | list)
    valid = valid and jsonschema.Draft202012Validator(schema).is_valid(value)
    return bool(valid) and _same(value, truth)


def _same(value: Any, truth: Any) -> bool:  # noqa: ANN401 (any JSON)
    if isinstance(value, dict) and isinstance(truth, dict):
        return value.keys() == truth.keys() and all(
            _same(value[name], truth[name]) for name in truth
        )
    if isinstance(value, list) and isinstance(truth, list):
        return len(value) == len(truth) and all(map(_same, value, truth))
    return bool(value == truth and isinstance(value, bool) is isinstance(truth, bool))


def quality_passes(text: str, task: str, truth: str) -> bool:
    """Return whether the member `answer` of the last object is the truth."""
    try:
        value = _found(text)
    except (ValueError, RecursionError):
        return False
    answer = value.get("answer") if isinstance(value, dict) else None
    if text.count('"answer"') > 1 and _repeated(answer_of(text)):
        return False
    if task == "gsm8k":
        plain = str(answer).strip().replace(",", "")
        number = isinstance(answer, int | float | str) and not isinstance(answer, bool)
        return (
            number
            and bool(re.fullmatch(r"-?\d+(\.\d+)?", plain))
            and (float(plain) == float(truth))
        )
    letters = answer.strip() if isinstance(answer, str) else ""
    if task == "shuffled-objects":
        letters = re.sub(r"\A\(?(.)\)?\Z", r"\1", letters)
    return letters.lower() == truth.lower()


def _repeated(text: str) -> bool:
    names: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names[:] = [name for name, _ in pairs]
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=note)
    except ValueError:
        json.loads(_last_value(text), object_pairs_hook=note)
    return names.count("answer") > 1


def ifstruct_passes(text: str, wanted: IfstructRecord) -> bool | None:
    """Return whether a text follows its row to the letter; None if yaml raises."""
    text = answer_of(text)
    lines = text.split("\n")
    marks = [place for place, line in enumerate(lines) if line.startswith("```")]
    wish, _, required = wanted.wish.partition(":")
    talks, is_yaml = not wanted.require_no_commentary, wanted.output_format == "yaml"
    if len(marks) == 1 or (wish == "required" and not marks):
        return False
    content = text
    if marks:
        words = lines[marks[0]].strip("`\r ").split()
        language = words[0].lower() if words else ""
        if wish == "forbidden" or required not in ("", language):
            return False
        if language in (("json",) if is_yaml else ("yaml", "yml")):
            return False
        around = [
            *lines[: marks[0]],
            lines[marks[-1]].strip("`"),
            *lines[marks[-1] + 1 :],
        ]
        if not talks and ("".join(around).strip() or len(marks) > 2):
            return False
        content = "\n".join(lines[marks[0] + 1 : marks[1]])
    elif talks and not is_yaml:
        content = _last_value(text)
    return ifstruct_content_passes(
        content.strip(), wanted, fenced=bool(marks), finite=True
    )


def concodeeval_passes(text: str, fields: RecordFields) -> bool | None:
    """Return whether a sample satisfies its schema, or a reply is its label."""
    text = answer_of(text)
    if fields.task == "validation":
        return _reply(text) == fields.label
    languages = {"", fields.output, "yml" if fields.output == "yaml" else ""}
    blocks = list(re.finditer(r"(?s)(`{3,9}+)(.*?)\1", text))
    named = [re.match(r"[ \t]*([\w+#.-]*)[ \t]*\r?\n", it[2]) for it in blocks]
    contents = [
        it[2][name.end() :] if name else it[2]
        for it, name in zip(blocks, named, strict=True)
        if (name[1].lower() if name else "") in languages
    ]
    if not contents:
        return None if blocks or text.count("```") > 1 else False
    readers = {"json": _json_once, "yaml": _yaml_1_2, "xml": _typed_xml}
    try:
        value = readers[fields.output](contents[-1].strip())
    except (ValueError, RecursionError, yaml.YAMLError, ElementTree.ParseError):
        return False
    schema = json.loads(fields.schema)
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def _reply(text: str) -> str:
    blocks = re.findall(r"(?s)```(.*?)```", text)
    words = [_verdicts(it) for it in blocks or [text]]
    words = [it for it in words if it] or [_verdicts(text)]
    return words[-1][-1] if words[-1] and len({*words[-1]}) == 1 else ""


def _verdicts(text: str) -> list[str]:
    """Return every yes and no; a determiner is none, a part of other signs unclear."""
    text = text.lower()
    return [
        "unclear" if found[2] and re.search(r"\w", text[: found.start()]) else found[1]
        for found in re.finditer(r"\b(yes|no(?![ \t]+[a-z]))\b([^\w\s]+\w)?", text)
    ]


def _json_once(text: str) -> Any:  # noqa: ANN401 (any JSON)
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(pairs)
        return dict(pairs)

    to_json(text)
    return json.loads(text, object_pairs_hook=unique)


class _Core(yaml.SafeLoader):
    """The core schema of YAML 1.2."""


_Core.yaml_implicit_resolvers = {}


for _tag, _form in (
    ("null", r"^(?:~|null|Null|NULL|)$"),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$"),
    ("int", r"^[-+]?[0-9]+$"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"),
):
    _Core.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_form), None)
_Core.add_constructor(
    "tag:yaml.org,2002:float", lambda _loader, node: to_json(_spelt(node.value))
)
_Core.add_constructor("tag:yaml.org,2002:int", lambda _loader, node: int(node.value))


def _spelt(text: str) -> str:
    return repr(float(text))


def _yaml_1_2(text: str) -> Any:  # noqa: ANN401 (any YAML)
    for event in yaml.parse(text, Loader=_Core):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            raise ValueError(event)
    root = yaml.compose(text, Loader=_Core)
    for node in _mappings(root):
        names = [(key.tag, key.value) for key, _ in node.value]
        if len({*map(str, names)}) < len(names) or not all(
            isinstance(key, yaml.ScalarNode) for key, _ in node.value
        ):
            raise ValueError(names)
    value = yaml.load(text, Loader=_Core)  # noqa: S506 (a safe loader)
    return to_json(json.dumps(value))


def _mappings(node: Any) -> Iterator[Any]:  # noqa: ANN401 (any node)
    if isinstance(node, yaml.MappingNode):
        yield node
        for pair in node.value:
            for inner in pair:
                yield from _mappings(inner)
    elif isinstance(node, yaml.SequenceNode):
        for inner in node.value:
            yield from _mappings(inner)


def _typed_xml(text: str) -> Any:  # noqa: ANN401 (any JSON)
    if "<!DOCTYPE" in text:
        raise ValueError(text)
    return _typed(ElementTree.fromstring(text))  # noqa: S314 (no entities without a document type)


def _typed(element: ElementTree.Element) -> Any:  # noqa: ANN401 (any JSON)
    kind, text = element.get("type"), element.text or ""
    escaped = element.get("escaped") == "true"
    if kind == "dict":
        names = [it.get("name", "") if it.tag == "key" else it.tag for it in element]
        members = [_typed(it) for it in element]
        if len({*names}) < len(names):
            raise ValueError(names)
        return dict(zip(names, members, strict=True))
    if kind == "list":
        return [_typed(it) for it in element]
    if kind == "str":
        return json.loads(f'"{text}"') if escaped else text
    return None if kind == "null" else to_json(text.strip().lower())
