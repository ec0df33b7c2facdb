"""ConCodeEval, as `csbdata suite` runs it: settings, fields of records, the suite."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from curation.system.registry import imported_late
from evaluation.core.records import Record
from evaluation.core.suite import Suite

#: A reading of the points on which the published benchmark contradicts itself.
#: `recommended`: Draft 2020-12, satisfiable schemas, typed XML, nothing dropped; a
#: schema in three equal parts in Figure 1. `paper`: as the published schemas, figures
#: and scripts have it: XML as `xmltodict` reads it, unclear answers dropped, a schema
#: in parts of 20, 60 and 20 %.
Reading: TypeAlias = Literal["recommended", "paper"]
#: The dialect of schemas. The published figures come of a Draft 7 validator, which
#: ignores `minContains` and `maxContains`.
DIALECTS: Final = {"recommended": "2020-12", "paper": "draft-07"}
#: Write a sample that satisfies the schema, or say whether a given one does.
Task: TypeAlias = Literal["generation", "validation"]
#: A format of samples.
Output: TypeAlias = Literal["json", "yaml", "xml"]
OUTPUTS: Final[tuple[Output, ...]] = ("json", "yaml", "xml")
#: Levels of nesting that validators can process, as of JSON
#: (`evaluation.answers.json_answers`).
MAX_DEPTH: Final = 250
#: Formats, classes of answers, sentences of prompts, phrases of schemas in English.
TEXTS: Final = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))
#: A number of things, one at least.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


class UnreadError(Exception):
    """A text has no value: the class of the answer, and the fault for people."""


class ConcodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of records, prompts and scoring."""

    #: `generation`, `validation`, or `both`.
    task: Literal["generation", "validation", "both"] = "both"
    #: Representations of schemas, separated by commas.
    representations: str = "json,xml,yaml,python,nl"
    #: Formats of samples, separated by commas.
    outputs: str = "json,yaml,xml"
    #: Number of schemas, spread over the families. Every cell asks about the same ones.
    count: _Count = 600
    #: The schemas drawn, their dialect, and how answers are read and counted.
    reading: Reading = "recommended"
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
    #: Samples of task 2 for each schema.
    samples: _Count = 5


class RecordFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of one record."""

    task: Task
    #: The representation of the schema: `json`, `xml`, `yaml`, `python`, `nl`.
    representation: str
    output: Output
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

    def record(self, name: str, dialect: str) -> Record:
        """Return the record; only a sample asked for as JSON can be constrained."""
        constrained = self.task == "generation" and self.output == "json"
        return Record(
            id=f"{self.task}-{self.representation}-{self.output}:{name}",
            group=self.family,
            schema=self.schema if constrained else None,
            dialect=dialect,
            fields=msgspec.to_builtins(self),
        )


def read_fields(record: Record) -> RecordFields:
    """Return the fields of a record.

    Raises:
        msgspec.ValidationError: the record is another suite's.
    """
    return msgspec.convert(record.fields, RecordFields)


SUITE = Suite(
    name="concodeeval",
    summary="Does a model understand a schema written five ways?",
    settings=ConcodeSettings,
    classes=TEXTS["classes"],
    records=imported_late("evaluation.suites.concodeeval.records", "records"),
    prompt=imported_late("evaluation.suites.concodeeval.prompts", "prompt"),
    scorer=imported_late("evaluation.suites.concodeeval.scorer", "concode_scorer"),
    tables=imported_late("evaluation.suites.concodeeval.report", "tables"),
    generate=imported_late("evaluation.suites.concodeeval.records", "generate"),
    paper={"reading": "paper", "form": "base", "verdict_budget": 20},
)
