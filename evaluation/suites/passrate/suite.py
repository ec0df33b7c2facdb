"""The prompted pass rate: settings, classes, records, prompt and table.

Source: "How the JSONSchemaBench works", the description of a public harness (see
NOTICE); where it is silent or contradicts itself, docs/suites/passrate.md names the
reading. The system prompt and the lines of the question define the benchmark, and are
those of the harness.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from curation.core.documents import Explained, Rejected
from curation.json.pointer import at, tokens_of_fragment
from curation.json.text import parse, plain
from curation.json.values import json_type
from curation.system.registry import imported_late
from evaluation.core.records import Message, Prompt, Record
from evaluation.core.suite import ScoredResponse, ScoredRun, Suite
from evaluation.reporting.tables import BRACKETS, Table
from evaluation.suites.common import schema_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.records import RecordRequest, RecordSet
    from evaluation.reporting.tables import Cell

#: Tokens of an answer by default.
DEFAULT_BUDGET = 2048
#: The policy of the published harness, which takes off no thinking and no end token.
PUBLISHED_CLEANING: Final = "strip_all_backticks"


class FailureClass(Explained):
    """A class of answers that fail; earlier ones take precedence."""

    SCHEMA_ERROR = (
        "schema_error",
        "the validator cannot use the schema; not part of any rate",
    )
    API_ERROR = ("api_error", "no answer: the server or the model failed")
    REFUSAL = ("refusal", "the model refuses to answer")
    TRUNCATED = ("truncated", "no JSON, cut off where the budget of tokens was used up")
    EMPTY = ("empty", "no text at all, or thinking that never came to an answer")
    SYNTAX_ERROR = ("syntax_error", "no JSON")
    SCHEMA_VIOLATION = ("schema_violation", "JSON that its schema does not accept")
    HALLUCINATION = (
        "hallucination",
        "members that the schema does not declare, and nothing else wrong",
    )


class PassrateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of prompts and scoring."""

    #: Put title and description of the schema into the task line.
    describe: bool = True
    #: Most tokens of an answer.
    budget: Annotated[int, msgspec.Meta(ge=1)] = DEFAULT_BUDGET
    #: The policy that takes the answer out of the text (`evaluation.answers`).
    cleaning: Literal["outer_fence", "strip_all_backticks"] = "outer_fence"
    #: Whether undeclared members that the schema accepts fail (`strict`), as the prompt
    #: forbids them, or the schema decides; both rates are reported.
    mode: Literal["strict", "schema"] = "strict"
    #: Assert `format`.
    formats: bool = False


def _records(request: RecordRequest, _settings: PassrateSettings) -> RecordSet:
    return schema_records(request)


SYSTEM: Final = (
    "You are a helpful assistant that generates valid JSON. "
    "You MUST output ONLY a valid JSON object that strictly adheres to the provided "
    "schema. "
    "Do not include any text, explanation, or markdown formatting - only the raw JSON "
    "object. "
    "Do not add any fields not specified in the schema."
)


_MAX_HINTS: Final = 20


def prompt(record: Record, settings: PassrateSettings) -> Prompt:
    """Return the conversation that asks for an instance of a record's schema."""
    text = question(record.schema or "true", record.id, settings)
    system = Message(role="system", content=SYSTEM)
    turns = (system, Message(role="user", content=text))
    return Prompt(messages=turns, budget=settings.budget)


def question(schema: str, name: str, settings: PassrateSettings) -> str:
    """Return the text that asks for an instance of one schema.

    Example:
        >>> print(question('{"properties": {"a": {}}}', "x1", PassrateSettings()))
        Generate a valid JSON object (task: x1)
        Fields: 'a' (any)
        <BLANKLINE>
        Required JSON Schema:
        {
          "properties": {
            "a": {}
          }
        }
    """
    read = parse(schema.encode("utf-8", "surrogatepass"))
    value: Json = None if isinstance(read, Rejected) else plain(read)
    root = value if isinstance(value, dict) else {}
    lines = [f"{_described(root, settings)}Generate a valid JSON object (task: {name})"]
    fields = hints(root)
    if fields:
        lines.append(f"Fields: {fields}")
    if not isinstance(read, Rejected):
        schema = json.dumps(value, indent=2, ensure_ascii=False)
    return "\n".join([*lines, "", "Required JSON Schema:", schema])


def hints(root: Mapping[str, Json]) -> str:
    """Return the line of field hints: the top-level properties, in their order.

    Of more than twenty the required ones come first.
    """
    properties = root.get("properties")
    if not isinstance(properties, dict):
        return ""
    names = root.get("required")
    required = set(map(str, names)) if isinstance(names, list) else set()
    hinted = sorted(properties, key=lambda name: name not in required)[:_MAX_HINTS]
    return "; ".join(
        f"'{name}' ({_type(properties[name], root)})"
        + (" [REQUIRED]" if name in required else "")
        for name in properties
        if name in hinted
    )


def _type(schema: Json, root: Mapping[str, Json]) -> str:
    """Return the type of a property for the hints; one `$ref` is followed."""
    if isinstance(schema, dict) and "$ref" in schema and "type" not in schema:
        schema = _target(schema["$ref"], root)
    if not isinstance(schema, dict):
        return "any"
    types = schema.get("type")
    if isinstance(types, str):
        return types
    if isinstance(types, list):
        return "|".join(map(str, types))
    for keyword, implied in (("properties", "object"), ("items", "array")):
        if keyword in schema:
            return implied
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        return "|".join(dict.fromkeys(map(json_type, values))) or "any"
    return "any"


def _target(reference: Json, root: Mapping[str, Json]) -> Json:
    """Return the target of a reference inside the schema; None without one."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    try:
        return at(dict(root), tokens_of_fragment(reference))
    except (LookupError, ValueError):
        return None


def _described(root: Mapping[str, Json], settings: PassrateSettings) -> str:
    if not settings.describe:
        return ""
    values = (root.get(keyword) for keyword in ("title", "description"))
    texts = [" ".join(text.split()) for text in values if isinstance(text, str)]
    return "".join(f"{text.rstrip('.')}. " for text in texts if text)


#: Maximum share of responses without an answer for a meaningful rate.
_DEGRADED: Final = 0.01
_NOTE: Final = (
    "passed: of all responses but those whose schema cannot be used. answered: of the "
    "same without the class api_error. strict: no member that the schema does not "
    "declare; schema: what the schema itself accepts. degraded: over 1 % "
    f"are of class api_error. {BRACKETS}"
)


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own table."""
    from evaluation.results.suite_tables import make_groups, texts_of_group  # noqa: PLC0415 - heavy

    rows: list[tuple[Cell, ...]] = []
    for group in make_groups(run.by_label):
        for label, responses in run.by_label.items():
            rows.append((group, label, *_rates(texts_of_group(responses, group))))
    rates = ("answered", "strict", "schema", "degraded")
    yield Table(
        title="Prompted pass rate",
        columns=("config", "model", "responses", "passed", *rates),
        rows=tuple(rows),
        note=_NOTE,
        name="pass-rate",
    )


def _rates(responses: Sequence[ScoredResponse]) -> tuple[Cell, ...]:
    from evaluation.results.suite_tables import compute_share, passed  # noqa: PLC0415 - heavy

    counted = [scored for scored in responses if scored.verdict.counted]
    answered = [
        scored
        for scored in counted
        if scored.verdict.failure_class != FailureClass.API_ERROR
    ]
    return (
        len(responses),
        passed(counted),
        passed(answered),
        compute_share(counted, "strict"),
        compute_share(counted, "schema"),
        "yes" if len(counted) - len(answered) > _DEGRADED * len(counted) else "",
    )


SUITE = Suite(
    name="passrate",
    summary="Does a model, only asked to, write JSON that its schema accepts?",
    settings=PassrateSettings,
    classes={kind.value: kind.explanation for kind in FailureClass},
    records=_records,
    prompt=prompt,
    scorer=imported_late("evaluation.suites.passrate.scorer", "passrate_scorer"),
    tables=tables,
    paper={
        "describe": False,
        "cleaning": PUBLISHED_CLEANING,
        "mode": "strict",
        "formats": False,
    },
)
