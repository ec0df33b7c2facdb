"""What a record of the suite holds beside its id."""

from __future__ import annotations

import msgspec

from evaluation.core.suite_records import SuiteRecord
from evaluation.suites.concodeeval.answers.read_answer import Output
from evaluation.suites.concodeeval.settings import TaskName


class TextLength(msgspec.Struct, frozen=True):
    """How long a text is. The paper's Table 3 names no unit: these are three."""

    characters: int
    lines: int
    #: Parted by white space.
    words: int

    @classmethod
    def of(cls, text: str) -> TextLength:
        """Measure a text."""
        return cls(len(text), text.count("\n") + 1, len(text.split()))


class RecordFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of one record."""

    task: TaskName
    #: How the schema is written: `json`, `xml`, `yaml`, `python`, `nl`.
    representation: str
    #: How the sample is written, or is to be written.
    output: Output
    #: The family, or the config of real schemas.
    family: str
    schema_id: str
    #: The schema as JSON text.
    schema: str
    #: Of the schema as it is written.
    length: TextLength
    #: Task 2: the sample as JSON text.
    sample: str = ""
    #: Task 2: `yes` if the schema accepts it, else `no`.
    label: str = ""
    #: Task 2: the keyword that refuses it, and where that stands.
    keyword: str = ""
    schema_pointer: str = ""

    @property
    def cell(self) -> str:
        """Task, representation and format of samples, as ids begin."""
        return f"{self.task}-{self.representation}-{self.output}"

    def record(self, name: str, dialect: str) -> SuiteRecord:
        """Return the record; only a sample asked for as JSON can be constrained."""
        constrained = self.task is TaskName.GENERATION and self.output is Output.JSON
        return SuiteRecord(
            id=f"{self.cell}:{name}",
            group=self.family,
            schema=self.schema if constrained else None,
            dialect=dialect,
            fields=msgspec.to_builtins(self),
        )


def fields_of(record: SuiteRecord) -> RecordFields:
    """Return the fields of a record.

    Raises:
        msgspec.ValidationError: it is no record of this suite.
    """
    return msgspec.convert(record.fields, RecordFields)
