"""Prompts of both tasks: a schema in five representations, a sample in three formats.

YAML is in block style, members sorted by name. XML has an element a member with its
type in an attribute, as `json2xml` writes it; the families' names of members are names
in XML too. In Python an object is a class of pydantic, a property a field as in the
published example: `size: float = Field(..., lt=5.1)`; keywords that pydantic lacks,
such as `contains` or `format`, are in comments, and the name of a property that would
hide another name is an alias.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache, partial
from itertools import chain, islice
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.dom.minidom import Document, Element

import yaml

from curation.system.errors import BadData
from evaluation.core.records import Message, Prompt, Record
from evaluation.suites.concodeeval.suite import (
    TEXTS,
    ConcodeSettings,
    Output,
    Reading,
    RecordFields,
    fields_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json, UntypedJson

#: The seed of examples drawn by errors, which no records have, and draws for each.
_SHOT_SEED: Final = -1
_SHOT_DRAWS: Final = 20
_ARTICLES: Final = {"json": "a JSON", "yaml": "a YAML", "xml": "an XML"}
_HEAD: Final = """\
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

# A field with a default may be left out."""
_TYPES: Final = {
    "number": "float",
    "string": "str",
    "boolean": "bool",
    "null": "None",
    "array": "list",
    "object": "Item1",
}
#: Arguments of `Field` for keywords.
_ARGUMENTS: Final = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
}
#: Keywords without an argument.
_COMMENTED: Final = ("format", "minContains", "maxContains")
_ENGLISH: Final = TEXTS["english"]


def write_sample(value: Json, output: Output) -> str:
    r"""Return a sample as text of one format.

    Example:
        >>> write_sample([1, 2], "yaml")
        '- 1\n- 2'
    """
    writers = {"json": write_json, "yaml": write_yaml, "xml": write_xml}
    return writers[output](value)


def write_json(value: Json) -> str:
    """Return a value as JSON."""
    return json.dumps(value, indent=4, ensure_ascii=False)


def write_yaml(value: Json) -> str:
    """Return a value as a YAML document, without a line for its end."""
    text: str = yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True)
    return text.removesuffix("...\n").rstrip("\n")


def write_xml(value: Json, *, typed_root: bool = True) -> str:
    """Return a value as an XML document.

    Args:
        value: The value; XML has its characters and the names of its members.
        typed_root: Give the root element its type. Published schemas, whose root is
            always an object, do not.

    Example:
        >>> print(write_xml({"type": "null"}, typed_root=False))
        <?xml version="1.0" ?>
        <all>
          <type type="str">null</type>
        </all>
    """
    document = Document()
    root = document.appendChild(_element("all", value))
    if not typed_root:
        root.removeAttribute("type")
    return document.toprettyxml("  ").rstrip("\n")


def _element(name: str, value: Json) -> Element:
    """Return the element of a value, with those of its members or items."""
    element = Document().createElement(name)
    element.setAttribute("type", "null" if value is None else type(value).__name__)
    if isinstance(value, dict):
        for member, inner in value.items():
            element.appendChild(_element(member, inner))
    elif isinstance(value, list):
        for item in value:
            element.appendChild(_element("item", item))
    elif value not in (None, ""):
        text = value if isinstance(value, str) else json.dumps(value)
        element.appendChild(Document().createTextNode(text))
    return element


class _Value(NamedTuple):
    """What code says of a value: its type, arguments of its `Field`, comments."""

    type: str
    arguments: Sequence[str]
    comments: Sequence[str]

    @property
    def annotation(self) -> str:
        """The type with its constraints."""
        if not self.arguments:
            return self.type
        return f"Annotated[{self.type}, Field({', '.join(self.arguments)})]"


def write_python(schema: UntypedJson) -> str:
    r"""Return a schema as Python code.

    Example:
        >>> code = write_python({"type": "number", "minimum": 3})
        >>> print(code.rpartition("\n\n\n")[2])
        class Schema(RootModel[Annotated[float, Field(ge=3)]]):
            model_config = ConfigDict(strict=True)
    """
    blocks = [_HEAD]
    part = _part(schema)
    if part["type"] == "object":
        blocks.append(_model("Schema" if part is schema else "Item1", part))
    if schema["type"] != "object":
        root = _value(schema)
        body = [*root.comments, "model_config = ConfigDict(strict=True)"]
        blocks.append(_class(f"Schema(RootModel[{root.annotation}])", body))
    return "\n\n\n".join(blocks)


def _part(schema: UntypedJson) -> UntypedJson:
    """Return the schema of an array's elements, or of any other value itself."""
    return schema.get("items") or schema.get("contains") or schema


def _value(schema: UntypedJson) -> _Value:
    """Return what code says of a schema's values."""
    text = _TYPES.get(schema.get("type"), "Any")
    comments: list[str] = []
    if text == "list":
        item = _value(_part(schema))
        holder = "items" if "items" in schema else "contains"
        if holder == "items":
            text = f"list[{item.annotation}]"
        else:
            comments.append(f"# contains: {item.annotation}")
        comments += [f"# of {holder}: {comment[2:]}" for comment in item.comments]
    comments += [
        f"# {name}: {json.dumps(schema[name])}" for name in schema if name in _COMMENTED
    ]
    arguments = [
        f"{argument}={schema[name]!r}"
        for name, argument in _ARGUMENTS.items()
        if name in schema
    ]
    return _Value(text, arguments, comments)


def _model(name: str, schema: UntypedJson) -> str:
    """Return the class of an object of scalars."""
    required = schema.get("required", ())
    extra = "allow" if schema["additionalProperties"] else "forbid"
    body = [f'model_config = ConfigDict(extra="{extra}", strict=True)', ""]
    for position, (member, inner) in enumerate(schema["properties"].items()):
        value = _value(inner)
        arguments = ["..." if member in required else "None", *value.arguments]
        field = member
        if iskeyword(member) or member in TEXTS["reserved_in_python"]:
            field = f"field_{position}"
            arguments.append(f"alias={member!r}")
        body += [*value.comments, f"{field}: {value.type}"]
        if arguments != ["..."]:
            body[-1] += f" = Field({', '.join(arguments)})"
    return _class(f"{name}(BaseModel)", body)


def _class(head: str, body: Sequence[str]) -> str:
    lines = [f"class {head}:", *(f"    {line}" if line else "" for line in body)]
    return "\n".join(lines)


def write_english(schema: UntypedJson) -> str:
    """Return a schema in sentences of fixed forms.

    There are four forms: a scalar, an object of scalars, and an array of either, by
    `items` or by `contains`. A description determines its schema, key order aside.

    Example:
        >>> print(write_english({"type": "string", "maxLength": 9}))
        The schema defines a single value:
        A string that must be at most 9 characters long
    """
    return "\n".join(_lines(schema))


def _lines(schema: UntypedJson) -> Iterator[str]:
    part = _part(schema)
    if schema["type"] == "array":
        yield _ENGLISH["arrays"]["items" if "items" in schema else "contains"]
    elif schema["type"] != "object":
        yield "The schema defines a single value:"
    if part["type"] == "object":
        yield from _object(part)
    else:
        yield _scalar(part)
    for keyword, phrase in _ENGLISH["counts"].items():
        if keyword in schema:
            yield phrase.format(schema[keyword])


def _object(schema: UntypedJson) -> Iterator[str]:
    is_open = schema["additionalProperties"]
    yield _ENGLISH["object"]["head"]
    yield f"* `additionalProperties`: Whether other properties are allowed: {is_open}"
    if required := schema.get("required"):
        yield f"* `required`: These properties must be there: {json.dumps(required)}"
    elif is_open:
        yield "* `required`: No property has to be there."
    yield from ("", "Properties object", "")
    for name, inner in schema["properties"].items():
        yield f"{name}: {_scalar(inner)}"


def _scalar(schema: UntypedJson) -> str:
    """Return the schema of a scalar, or an empty schema, in one phrase."""
    if not schema:
        return "Any value"
    noun: str = _ENGLISH["nouns"][schema["type"]]
    phrases = [
        phrase.format(value)
        for keyword, value in schema.items()
        if (phrase := _ENGLISH["phrases"].get(keyword))
    ]
    return f"{noun} that must be {', '.join(phrases)}" if phrases else noun


#: Every representation by the name in settings and tables, in the paper's order: its
#: name in prompts, and what returns the text of a schema.
REPRESENTATIONS: Final[Mapping[str, tuple[str, Callable[[Json], str]]]] = {
    "json": ("JSON", write_json),
    "xml": ("XML", partial(write_xml, typed_root=False)),
    "yaml": ("YAML", write_yaml),
    "python": ("Python", write_python),
    "nl": ("natural language", write_english),
}


def prompt(record: Record, settings: ConcodeSettings) -> Prompt:
    """Return the prompt of one record; a base form ends with an open fence."""
    fields = fields_of(record)
    is_validation = fields.task == "validation"
    body = (_validation if is_validation else _generation)(fields, settings)
    if settings.form == "base":
        tail = "Answer:" if is_validation else f"{fields.output.upper()} sample:"
        body = f"{body}\n\n{tail}\n```\n"
    budget = settings.verdict_budget if is_validation else settings.budget
    return Prompt(messages=(Message(role="user", content=body),), budget=budget)


def _generation(fields: RecordFields, settings: ConcodeSettings) -> str:
    fence = f" {TEXTS['prompts']['fence']}" if settings.form == "chat" else ""
    if not settings.few_shot:
        name = "described" if fields.representation == "nl" else "common"
        return _filled(name, fields, fields.schema, fence=fence)
    blocks = [
        _filled("examples", fields, fields.schema),
        *(_filled("shot", fields, *shot) for shot in shots(settings)),
        _filled("asked", fields, fields.schema),
        fence.strip(),
    ]
    return "\n\n".join(filter(None, blocks))


def _validation(fields: RecordFields, settings: ConcodeSettings) -> str:
    question = _filled("question", fields, fields.schema, fields.sample)
    if settings.form == "chat" and not settings.few_shot:
        return question
    text = f"Question:\n{question}"
    shot = TEXTS["answered"]
    for label in ("no", "yes") if settings.few_shot else ():
        example = _filled("question", fields, shot["schema"], shot[label])
        text = f"Question:\n{example}\n\nAnswer:\n```\n{label}\n```\n\n{text}"
    return text


def _filled(
    name: str, fields: RecordFields, schema: str, sample: str = "null", fence: str = ""
) -> str:
    """Return a text with a schema and a sample as a record's cell writes them."""
    title, write = REPRESENTATIONS[fields.representation]
    text: str = TEXTS["prompts"][name]
    return text.format(
        output=_ARTICLES[fields.output],
        format=fields.output.upper(),
        input=title,
        schema=write(json.loads(schema)),
        sample=write_sample(json.loads(sample), fields.output),
        fence=fence,
    )


@cache
def shots(settings: ConcodeSettings) -> list[tuple[str, str]]:
    """Return schemas with a valid sample each, as JSON.

    They are like the most frequent errors of a run that the settings name; fixed ones
    follow if it has too few.

    Raises:
        NoInput: missing run.
        BadData: it holds no failed answer of task 1.
    """
    fixed = [(shot["schema"], shot["sample"]) for shot in TEXTS["shots"]]
    mined = _mined_shots(settings.errors, settings.reading) if settings.errors else ()
    return list(islice(chain(mined, fixed), len(fixed)))


def _mined_shots(run: str, reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield an example for each of the most frequent errors of a run's task 1.

    It is of the family of the schema, has the keyword that was violated, where there is
    one, and is drawn apart from all records.
    """
    from evaluation.results.reader import open_run  # noqa: PLC0415 - heavy
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 - heavy
    from evaluation.suites.concodeeval.records import generate_schema, is_writable  # noqa: PLC0415 - heavy

    errors = Counter[tuple[str, str]]()
    for side in scored_run(open_run(run), "concodeeval").by_label.values():
        for answer in side:
            facts: Mapping[str, Any] = answer.verdict.details
            if facts.get("task") == "generation" and not answer.verdict.passed:
                keyword = next(iter(facts.get("keywords", ())), "")
                errors[facts["family"], keyword] += 1
    if not errors:
        raise BadData("no answer of task 1 in it that failed", run)
    for place, ((family, keyword), _) in enumerate(errors.most_common()):
        first = place * _SHOT_DRAWS
        for number in range(first, first + _SHOT_DRAWS):
            record = generate_schema(family, number, _SHOT_SEED, reading)
            valid = [it.text for it in record.instances if it.valid and is_writable(it)]
            if valid and f'"{keyword}' in record.constraint:
                yield record.constraint, min(valid, key=len)
                break
