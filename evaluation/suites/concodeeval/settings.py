"""Settings of ConCodeEval, fields of its records, and classes of its answers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

import msgspec

from curation.core.documents import Explained
from curation.system.errors import BadUsage
from evaluation.core.records import Record


class SuiteReading(StrEnum):
    """A reading of the points on which the published benchmark contradicts itself."""

    RECOMMENDED = "recommended"
    """Draft 2020-12, satisfiable schemas, typed XML, nothing dropped; a schema in three
    equal parts in Figure 1."""
    PAPER = "paper"
    """As the published schemas, figures and scripts have it: XML as `xmltodict` reads
    it, unclear answers dropped, a schema in parts of 20, 60 and 20 %."""

    @property
    def dialect(self) -> str:
        """The dialect of schemas.

        The published figures come of a Draft 7 validator, which ignores `minContains`
        and `maxContains`.
        """
        return "draft-07" if self is SuiteReading.PAPER else "2020-12"


#: Schemas of the suite by default: 50 of each family.
DEFAULT_COUNT: Final = 600
#: Levels of nesting that validators can process, as of JSON
#: (`evaluation.answers.json_answers`), and maximum characters of an answer.
MAX_DEPTH: Final = 250
MAX_CHARACTERS: Final = 1_000_000
#: A number of things, one at least.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
_Share: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Output(StrEnum):
    """A format of samples."""

    JSON = "json"
    YAML = "yaml"
    XML = "xml"


class TaskName(StrEnum):
    """The two tasks."""

    GENERATION = "generation"
    """Write a sample that satisfies the schema."""
    VALIDATION = "validation"
    """Say whether a given sample satisfies the schema."""


class AnswerClass(Explained):
    """A class of answers that fail; earlier ones take precedence."""

    SCHEMA_ERROR = (
        "schema_error",
        "the validator cannot use the schema; not part of any rate",
    )
    API_ERROR = ("api_error", "no answer: the server or the model failed")
    TOO_LARGE = ("too_large", "an answer of over 1,000,000 characters, not read")
    NO_ANSWER = ("no_answer", "no text, or a fence with nothing in it")
    NO_FENCE = ("no_fence", "no fenced block that is closed (incomplete)")
    SYNTAX = ("syntax", "not a text of the format asked for (invalid)")
    DUPLICATE_NAME = ("duplicate_name", "a repeated member (invalid)")
    NOT_JSON = (
        "not_json",
        "NaN, an infinity, or a name that is not a string (invalid)",
    )
    TOO_DEEP = ("too_deep", "nested over 250 levels (invalid)")
    YAML_ALIAS = ("yaml_alias", "a YAML alias, which is not followed (invalid)")
    YAML_TAG = ("yaml_tag", "an unsupported YAML tag (invalid)")
    XML_DOCTYPE = ("xml_doctype", "an XML document type, never read (invalid)")
    WRONG_ROOT = ("wrong_root", "a value of another type than the schema's root (RTV)")
    VIOLATION = ("violation", "a value that the schema refuses")
    UNCLEAR = ("unclear", "neither yes nor no, or both")
    WRONG_ANSWER = ("wrong_answer", "yes for a rejected sample, or the reverse")


class NotRead(NamedTuple):
    """The reason why a text has no value."""

    why: AnswerClass
    #: For people: the place, and the fault.
    detail: str = ""


class ConcodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of records, prompts and scoring."""

    #: `generation`, `validation`, or `both`.
    task: Literal["generation", "validation", "both"] = "both"
    #: Representations of schemas, separated by commas.
    representations: str = "json,xml,yaml,python,nl"
    #: Formats of samples, separated by commas.
    outputs: str = "json,yaml,xml"
    #: Number of schemas: generated ones, spread over the families, or at most of
    #: `--data`, drawn. Every cell asks about the same ones.
    count: _Count = DEFAULT_COUNT
    #: The schemas drawn, their dialect, and how answers are read and counted.
    reading: SuiteReading = SuiteReading.RECOMMENDED
    #: `chat`: turns of a conversation. `base`: one text that ends with an open fence.
    form: Literal["chat", "base"] = "chat"
    #: Show examples before the question: three of task 1, two of task 2.
    few_shot: bool = False
    #: The folder of a run, of whose most frequent errors the examples of task 1 are
    #: like, as the paper chose its own; empty for fixed examples.
    errors: str = ""
    #: Most tokens of an answer of task 1, and of task 2.
    budget: _Count = 1024
    verdict_budget: _Count = 64
    #: Samples of task 2 for each schema, and the share of them that is valid.
    samples: _Count = 5
    yes_share: _Share = 0.55

    @property
    def chosen_tasks(self) -> tuple[TaskName, ...]:
        """The tasks."""
        return tuple(TaskName) if self.task == "both" else (TaskName(self.task),)

    @property
    def chosen_outputs(self) -> tuple[Output, ...]:
        """The formats of samples.

        Raises:
            BadUsage: one does not exist, or none is named.
        """
        names = [output.value for output in Output]
        return tuple(map(Output, named_choices("outputs", self.outputs, names)))


def named_choices(setting: str, text: str, choices: list[str]) -> list[str]:
    """Return the comma-separated names of a setting, each once.

    Raises:
        BadUsage: one does not exist, or none is named.
    """
    names = list(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    unknown = [name for name in names if name not in choices]
    if unknown or not names:
        message = f"{setting} has no {unknown[0]!r}" if unknown else f"no {setting}"
        raise BadUsage(f"--set {message}", then=f"choose from {', '.join(choices)}")
    return names


class RecordFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of one record."""

    task: TaskName
    #: The representation of the schema: `json`, `xml`, `yaml`, `python`, `nl`.
    representation: str
    #: The format of the sample.
    output: Output
    #: The family, or the config of real schemas.
    family: str
    schema_id: str
    #: The schema as JSON text.
    schema: str
    #: Words of the schema in its representation, separated by white space; the paper
    #: does not name its unit.
    length: int
    #: Task 2: the sample as JSON text.
    sample: str = ""
    #: Task 2: `yes` if the schema accepts it, otherwise `no`.
    label: str = ""
    #: Task 2: the keyword that refuses it.
    keyword: str = ""

    @property
    def cell(self) -> str:
        """Task, representation and format of samples: the beginning of an id."""
        return f"{self.task}-{self.representation}-{self.output}"

    def record(self, name: str, dialect: str) -> Record:
        """Return the record; only a sample asked for as JSON can be constrained."""
        constrained = self.task is TaskName.GENERATION and self.output is Output.JSON
        return Record(
            id=f"{self.cell}:{name}",
            group=self.family,
            schema=self.schema if constrained else None,
            dialect=dialect,
            fields=msgspec.to_builtins(self),
        )


def fields_of(record: Record) -> RecordFields:
    """Return the fields of a record.

    Raises:
        msgspec.ValidationError: the record is another suite's.
    """
    return msgspec.convert(record.fields, RecordFields)
