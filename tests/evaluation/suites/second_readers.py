"""Second readers of texts: what five published scorers decide, written again.

They follow the published behaviour step by step, with Python's own readers, and share
no code with the suites. None where the published code itself would raise.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import jsonschema
import yaml

if TYPE_CHECKING:
    from evaluation.suites.concodeeval.suite import RecordFields
    from evaluation.suites.ifstruct.rows import IfstructRecord


class _Loader(yaml.SafeLoader):
    """The safe loader, with dates as text."""


class _Fast(yaml.CSafeLoader):
    """The same by libyaml, which takes tabs for white space."""


_Loader.yaml_implicit_resolvers = _Fast.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if not pair[0].endswith(":timestamp")]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _without_thinking(text: str) -> str:
    flags = re.DOTALL | re.IGNORECASE
    for pattern in (
        r"<think>.*?</think>|\[THINK\].*?\[/THINK\]",
        r"^.*?</think>|^.*?\[/THINK\]",
        r"<think>.*$|\[THINK\].*$",
    ):
        text = re.sub(pattern, "", text, flags=flags)
    final = re.search(
        r"(?:<\|start\|>)?assistant(?:<\|channel\|>)?final(?:<\|message\|>)?", text
    )
    text = text[final.end() :] if final else text
    return re.sub(r"<\|(?:end|return)\|>\s*$", "", text).strip()


def ifstruct_passes(text: str, wanted: IfstructRecord) -> bool | None:
    """Return whether the published verifier of IFStruct passes a text."""
    text = _without_thinking(text)
    lines = text.splitlines()
    marks = [place for place, line in enumerate(lines) if line.startswith("```")]
    closed = len(marks) > 1
    if wanted.wish.startswith("required") and not closed:
        return False
    language = lines[marks[0]].strip().lower() if marks else ""
    if marks and not closed:
        return False
    content = "\n".join(lines[marks[0] + 1 : marks[1]]) if closed else text
    is_yaml = wanted.output_format == "yaml"
    others = ("```json",) if is_yaml else ("```yaml", "```yml")
    if closed and language.startswith(others):
        return False
    if wanted.require_no_commentary and closed:
        before, after = text[: text.find("```")], text[text.rfind("```") + 3 :]
        if (before + after).strip():
            return False
    return ifstruct_content_passes(content.strip(), wanted, fenced=closed)


def ifstruct_content_passes(
    content: str, wanted: IfstructRecord, *, fenced: bool, finite: bool = False
) -> bool | None:
    """Return whether the content of an answer passes; None if yaml raises.

    Args:
        content: The content of the block, or the whole answer.
        wanted: The row.
        fenced: Whether it was in a block.
        finite: Whether NaN and infinities are no numbers.
    """
    try:
        value = (
            _yaml(content, finite)
            if wanted.output_format == "yaml"
            else _json(content, fenced)
        )
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    except (TypeError, AttributeError, KeyError):
        return None
    if finite and _is_infinite(value):
        return False
    if isinstance(value, list) and wanted.wrapper is not None:
        return False
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        if isinstance(inner, list):
            if wanted.wrapper is None or key != wanted.wrapper:
                return False
            value = inner
    try:
        if not _fits(value, wanted.json_schema):
            return False
    except TypeError:
        return None
    least, most = wanted.counts
    return not isinstance(value, list) or least <= len(value) <= most


def _is_infinite(value: Any) -> bool:  # noqa: ANN401 (any JSON)
    if isinstance(value, dict | list):
        return any(
            map(_is_infinite, value.values() if isinstance(value, dict) else value)
        )
    return isinstance(value, float) and not math.isfinite(value)


def _json(content: str, fenced: bool) -> Any:  # noqa: ANN401, FBT001 (any JSON)
    if not content or (not fenced and content[0] not in "[{"):
        raise ValueError(content)
    value, end = json.JSONDecoder().raw_decode(content)
    if content[end:].strip():
        raise ValueError(content)
    return value


def _yaml(content: str, fast: bool) -> Any:  # noqa: ANN401, FBT001 (any YAML)
    value = yaml.load(content, Loader=_Fast if fast else _Loader)  # noqa: S506 (a safe loader)
    root = yaml.compose(content, Loader=_Fast if fast else _Loader)
    if root is not None and (root.__dict__.get("flow_style") is True or _flows(root)):
        raise ValueError(content)
    return value


def _flows(node: yaml.Node) -> bool:
    if isinstance(node, yaml.MappingNode):
        pairs = (inner for pair in node.value for inner in pair)
        return bool(node.flow_style) or any(map(_flows, pairs))
    return isinstance(node, yaml.SequenceNode) and any(map(_flows, node.value))


def _fits(value: Any, schema: dict[str, Any]) -> bool:  # noqa: ANN401, C901, PLR0911, PLR0912 (the published steps)
    kind = schema.get("type")
    if isinstance(kind, list):
        if value is None:
            return "null" in kind
        others = [one for one in kind if one != "null"]
        kind = others[0] if len(others) == 1 else kind
    if value is None and kind != "null":
        return False
    if kind == "array":
        if not isinstance(value, list):
            return False
        least, most = schema.get("minItems"), schema.get("maxItems")
        if (least is not None and len(value) < least) or (
            most is not None and len(value) > most
        ):
            return False
        items = schema.get("items")
        return not items or all(_fits(item, items) for item in value)
    if kind == "object":
        if not isinstance(value, dict):
            return False
        members = schema.get("properties", {})
        if any(name not in value for name in schema.get("required", ())):
            return False
        return all(
            name in members and _fits(inner, members[name])
            for name, inner in value.items()
        )
    if kind == "string" and not isinstance(value, str):
        return False
    if kind == "boolean" and not isinstance(value, bool):
        return False
    if kind in ("number", "integer"):
        allowed = (int, float) if kind == "number" else int
        if not isinstance(value, allowed) or isinstance(value, bool):
            return False
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and value < low) or (high is not None and value > high):
            return False
    return "enum" not in schema or value in schema["enum"]


def passrate_passes(text: str, schema: Any) -> bool | None:  # noqa: ANN401 (any schema)
    """Return whether the six lines of the published harness pass a text."""
    text = text.strip()
    if text.startswith("```"):
        text = text.replace("```json", "").replace("```", "").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    try:
        return bool(jsonschema.Draft202012Validator(schema).is_valid(value))
    except (RecursionError, ValueError, OverflowError):
        return None


def sob_metrics(
    text: str,
    truth: Any,  # noqa: ANN401 (any JSON)
    schema: Any,  # noqa: ANN401 (any schema)
    source: str,
) -> dict[str, float] | None:
    """Return SOB's figures of a text, as the published pipeline has them."""
    try:
        return _sob_metrics(_extract_json(text), truth, schema, source)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None


def _extract_json(text: str) -> Any:  # noqa: ANN401 (any JSON)
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return text


def quality_passes(text: str, task: str, truth: str) -> bool:
    """Return whether the published expressions find the right answer in a text."""
    pattern = {
        "last-letter": r'"answer":\s*"([a-zA-Z]{4})"',
        "gsm8k": r'"answer":\s*([1-9][0-9]{0,9})',
        "shuffled-objects": r'"answer":\s*"([A-Ea-e])"',
    }[task]
    if task == "last-letter":
        pattern = pattern.replace("answer", "(?i:answer)")
    found = re.search(pattern, text)
    return found is not None and found[1].lower() == truth.lower()


def concodeeval_passes(text: str, fields: RecordFields) -> bool | None:
    """Return what ConCodeEval's notebooks decide; None for XML, and where they raise.

    The prompt ends with an open fence, which the text goes on with.
    """
    text = text.strip()
    if not text.startswith("```"):
        text = f"```\n{text}"
    parts = text.split("```")
    content = parts[1] if len(parts) > 2 else None
    if content is None:
        return False
    first, newline, rest = content.partition("\n")
    if newline and re.fullmatch(r"\.?[A-Za-z][\w+#-]*", first.strip(" \t\r")):
        content = rest
    if fields.task == "validation":
        return content.strip().lower().startswith(fields.label)
    if fields.output == "xml":
        return None
    try:
        value = (
            json.loads(content.strip())
            if fields.output == "json"
            else json.loads(json.dumps(yaml.load(content, _Loader), default=str))  # noqa: S506 (a safe loader)
        )
        schema = json.loads(fields.schema)
        return bool(jsonschema.Draft7Validator(schema).is_valid(value))
    except (ValueError, yaml.YAMLError):
        return False
    except (TypeError, AttributeError, RecursionError, OverflowError):
        return None


def _sob_metrics(answer: Any, truth: Any, schema: Any, source: str) -> dict[str, float]:  # noqa: ANN401 (any JSON)
    structured = isinstance(answer, dict | list)
    valid = structured and jsonschema.Draft7Validator(schema).is_valid(answer)
    right, own = _leaves(truth), _leaves(answer) if structured else {}
    common = len(right.keys() & own.keys())
    coverage = 0.0
    if own and right and common:
        precision, recall = common / len(own), common / len(right)
        coverage = 2 * precision * recall / (precision + recall)
    gate = (
        float(coverage >= 0.95) if source == "text" else min(1, (coverage / 0.9) ** 2)
    )
    exact = sum(path in own and value == own[path] for path, value in right.items())
    faithful = sum(_words_f1(value, own.get(path)) for path, value in right.items())
    of = len(right)
    typed = sum(_has_type(value, _type_at(schema, path)) for path, value in own.items())
    canonical = [
        json.dumps(one, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        for one in (answer if structured else None, truth)
    ]
    return {
        "json_parse": float(structured),
        "json_pass": float(valid),
        "value_accuracy": valid * gate * (exact / of if of else 1.0),
        "faithfulness": valid * gate * (faithful / of if of else 1.0),
        "path_recall": valid * (common / of if of else 0.0),
        "structure_coverage": valid * coverage,
        "type_safety": valid * (typed / len(own) if own else 0.0),
        "perfect": float(canonical[0] == canonical[1]),
    }


def _leaves(value: Any, prefix: str = "") -> dict[str, Any]:  # noqa: ANN401 (any JSON)
    found: dict[str, Any] = {}
    if isinstance(value, dict):
        for name, inner in value.items():
            found.update(_leaves(inner, f"{prefix}.{name}" if prefix else name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found.update(_leaves(inner, f"{prefix}[{index}]"))
    elif prefix:
        found[prefix] = value
    return found


def _type_at(schema: Any, path: str) -> Any:  # noqa: ANN401 (any schema)
    current = schema
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        if current.get("type") != ("array" if index else "object"):
            return None
        current = current.get("items") if index else current["properties"].get(name)
        if current is None:
            return None
    kind = current.get("type") if isinstance(current, dict) else None
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        kind = others[0] if len(others) == 1 else None
    return kind


def _has_type(value: Any, kind: Any) -> bool:  # noqa: ANN401 (any JSON)
    if isinstance(value, bool) or value is None:
        return bool(kind == ("null" if value is None else "boolean"))
    if isinstance(value, str):
        return bool(kind == "string")
    return kind == "number" or (kind == "integer" and isinstance(value, int))


def _words_f1(one: Any, other: Any) -> float:  # noqa: ANN401 (any JSON)
    words, others = (Counter(_words(value)) for value in (one, other))
    if not words and not others:
        return 1.0
    common = (words & others).total()
    return 2 * common / (words.total() + others.total()) if common else 0.0


def _words(value: Any) -> list[str]:  # noqa: ANN401 (any JSON)
    texts = {None: "null", True: "true", False: "false"}
    is_word = value is None or isinstance(value, bool)
    text = texts[value] if is_word else str(value)
    text = re.sub(r"[^\w\s]", " ", text.lower())
    return re.sub(r"\b(a|an|the)\b", " ", text).split()
