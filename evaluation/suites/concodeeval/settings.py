"""The settings of the suite, and its failure classes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

import msgspec

from curation.core.documents import Explained
from curation.system.errors import BadConfiguration
from evaluation.suites.concodeeval.answers.read_answer import Output
from evaluation.suites.concodeeval.compatibility import SuiteReading
from evaluation.suites.concodeeval.schemas.families import DEFAULT_COUNT

#: A number of things, one at least.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
_Share: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]


class TaskName(StrEnum):
    """The two tasks."""

    GENERATION = "generation"
    """Write a sample that satisfies the schema."""
    VALIDATION = "validation"
    """Say whether a given sample satisfies the schema."""


class AnswerClass(Explained):
    """What became of an answer that did not pass; earlier ones take precedence."""

    SCHEMA_ERROR = (
        "schema_error",
        "the validator cannot use the schema; not part of any rate",
    )
    API_ERROR = ("api_error", "no answer: the server, the engine or the model failed")
    TOO_LARGE = ("too_large", "an answer of over 1,000,000 characters, not read")
    NO_ANSWER = ("no_answer", "no text, or a fence with nothing in it")
    NO_FENCE = ("no_fence", "no fenced block that is closed (incomplete)")
    SYNTAX = ("syntax", "not a text of the format asked for (invalid)")
    DUPLICATE_NAME = ("duplicate_name", "a member that stands twice (invalid)")
    NOT_JSON = ("not_json", "NaN, an infinity, or a name that is no string (invalid)")
    TOO_DEEP = ("too_deep", "nested over 256 levels (invalid)")
    YAML_ALIAS = ("yaml_alias", "a YAML alias, which is not followed (invalid)")
    YAML_TAG = ("yaml_tag", "a YAML tag, of which nothing is made (invalid)")
    XML_DOCTYPE = ("xml_doctype", "an XML document type, never read (invalid)")
    WRONG_ROOT = ("wrong_root", "a value of another type than the schema's root (RTV)")
    VIOLATION = ("violation", "a value that the schema refuses")
    UNCLEAR = ("unclear", "neither yes nor no, or both")
    WRONG_ANSWER = ("wrong_answer", "yes for a sample that is refused, or the reverse")


class ConcodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, how, and how answers are judged."""

    #: `generation`, `validation`, or `both`.
    task: Literal["generation", "validation", "both"] = "both"
    #: How schemas are written, parted by commas.
    representations: str = "json,xml,yaml,python,nl"
    #: How samples are written, parted by commas.
    outputs: str = "json,yaml,xml"
    #: Schemas: so many of the suite's own, spread over its families, or at most so
    #: many of `--data`, drawn. Every chosen cell asks about the same ones.
    count: _Count = DEFAULT_COUNT
    #: Which schemas are drawn, and the dialect in which they are read.
    reading: SuiteReading = SuiteReading.RECOMMENDED
    #: `chat`: turns of a conversation. `base`: one text that ends with an open fence.
    form: Literal["chat", "base"] = "chat"
    #: The paper's prompts: `common`, its two question forms, or `inst` (CodeLlama).
    template: Literal["common", "question", "question_fence", "inst"] = "common"
    #: The system prompt: none, that of the scripts for chat models, or the paper's.
    system: Literal["none", "expert", "granite", "llama"] = "none"
    #: Whether examples come before the question: three of task 1, two of task 2.
    few_shot: bool = False
    #: Most tokens of an answer of task 1, and of task 2.
    budget: _Count = 1024
    verdict_budget: _Count = 64
    #: Whether `format` is asserted in the headline; both rates are reported.
    formats: bool = False
    #: `typed`, or `paper`: as `xmltodict` reads it.
    xml: Literal["typed", "paper"] = "typed"
    #: How Figure 1 cuts a schema in three: equal parts, or the scripts' way.
    locality: Literal["thirds", "20/60/20"] = "thirds"
    #: Samples of task 2 for each schema, and the share of them that is valid.
    samples: _Count = 5
    yes_share: _Share = 0.55
    #: What an answer of task 2 that is no answer counts as: `wrong`, or not at all.
    unanswered: Literal["wrong", "drop"] = "wrong"

    @property
    def chosen_tasks(self) -> tuple[TaskName, ...]:
        """The tasks that are asked."""
        return tuple(TaskName) if self.task == "both" else (TaskName(self.task),)

    @property
    def chosen_outputs(self) -> tuple[Output, ...]:
        """The formats in which samples are written.

        Raises:
            BadConfiguration: one does not exist, or none is named.
        """
        known = [output.value for output in Output]
        return tuple(map(Output, listed("outputs", self.outputs, known)))

    @property
    def xml_reading(self) -> SuiteReading:
        """How XML is read."""
        return SuiteReading.PAPER if self.xml == "paper" else SuiteReading.RECOMMENDED


def listed(setting: str, text: str, known: list[str]) -> list[str]:
    """Return the names of a setting that are parted by commas, each once.

    Raises:
        BadConfiguration: one does not exist, or none is named.
    """
    names = list(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        what = f"{setting} has no {unknown[0]!r}" if unknown else f"no {setting}"
        raise BadConfiguration(f"--set {what}", then=f"choose of {', '.join(known)}")
    return names


def as_published(settings: ConcodeSettings) -> ConcodeSettings:
    """Return the settings of the published scripts."""
    return msgspec.structs.replace(
        settings,
        reading=SuiteReading.PAPER,
        form="base",
        xml="paper",
        locality="20/60/20",
        formats=False,
        verdict_budget=20,
        unanswered="drop",
    )
