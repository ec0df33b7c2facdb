"""The suite `quality`: right answers with and without a constraint.

The problems are of the paper's three tasks (Table 14). Last Letter (Wei et al. 2022,
arXiv 2201.11903): concatenate the last letters of four names. Shuffle Objects
(Srivastava et al. 2022, arXiv 2206.04615, with five objects): follow exchanges among
five people; the answer is a letter, which the paper puts in parentheses in section 6.1
and not in Table 14, so both are taken. GSM8K (Cobbe et al. 2021, arXiv 2110.14168): a
few steps of arithmetic. Prompts are in `tasks.toml`, problems to try a run with in
`sample.jsonl`.

A response is judged by its JSON, or as the published code did: by the first match of a
regular expression.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.system.errors import BadData, BadUsage, NoInput
from curation.system.registry import imported_late
from curation.system.user_files import read_utf8, reading
from evaluation.answers.extraction import MissingAnswer, TriageRules, triage
from evaluation.answers.json_search import find_json
from evaluation.core.records import (
    Message,
    Prompt,
    Record,
    RecordRequest,
    RecordSet,
    Response,
    Verdict,
)
from evaluation.core.suite import Suite
from evaluation.suites.common import SAMPLE, published_rows

if TYPE_CHECKING:
    from evaluation.core.suite import Judge, Scorer

#: The name of the published problems for `--data`.
PUBLISHED: Final = "published"
_SUFFIXES: Final = (".parquet", ".jsonl", ".json")
_FOLDER: Final = Path(__file__).parent


class QualitySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the suite; `--set NAME=VALUE` sets one."""

    #: How the answer is extracted from a text: `recommended`, the member `answer` of
    #: its JSON, or `paper`, by the regular expressions of the published comparison,
    #: which match no zero, negative number or decimal.
    reading: Literal["recommended", "paper"] = "recommended"
    #: A TOML file of other prompts, such as the published ones: as in `tasks.toml`, the
    #: `instruction` and the `shots` of each task.
    prompts: str = ""
    #: Revisions of the published datasets on the Hub, by task.
    revisions: dict[str, str] = {}


class Problem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One problem, solved."""

    question: str
    #: The steps to the answer, in a few sentences; empty if the authors publish none.
    reasoning: str
    #: The right answer in its canonical form (`QualityTask.canonical`).
    answer: str
    #: Shared by problems of the sample that are not independent; empty otherwise.
    story: str = ""
    #: The name of the task of a problem of the sample.
    task: str = ""


class QualityTask(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """One task: a table of `tasks.toml`."""

    #: The system message; `{form}` represents the form of the answer.
    instruction: str
    #: Worked examples before the question, none of them a problem of the set.
    shots: tuple[Problem, ...]
    #: What its answers are, and their schema.
    form: Literal["letters", "option", "number"]
    answer_schema: dict[str, UntypedJson]
    #: Most characters of the reasoning.
    reasoning_length: int
    #: Tokens of an answer, the same free and constrained; from published free runs.
    budget: int
    published_budget: int
    #: The published code's expression for the answer in a text.
    expression: str
    #: The published problems on the Hub: `owner/name`, the start of the paths of the
    #: files that hold the test split, the columns of question and answer, and rows at
    #: the start that are not problems.
    repository: str
    files: str
    columns: tuple[str, str]
    skip: int = 0

    def canonical(self, value: Json) -> str | None:
        """Return an answer in canonical form; None if it does not have the form.

        Letters are in lower case, an option is a capital, and a number is as short as
        possible: `18`, `18.0`, `1.8e1` and the texts "18" and "1,800" are numbers, as
        only the side without a constraint can write a text; a Boolean is not.
        """
        text = value.strip() if isinstance(value, str) else ""
        if self.form == "number":
            if isinstance(value, int | float) and not isinstance(value, bool):
                text = repr(value)
            elif not re.fullmatch(r"-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?", text):
                return None
            number = Decimal(text.replace(",", "")).normalize()
            return format(number, "f") if number else "0"
        if self.form == "letters":
            return text.lower() if re.fullmatch("[A-Za-z]{4}", text) else None
        option = re.fullmatch(r"\(?([A-Ea-e])\)?", text)
        return option[1].upper() if option else None

    def value(self, answer: str) -> Json:
        """Return the JSON value of a canonical answer."""
        value: Json = json.loads(answer) if self.form == "number" else answer
        return value

    def schema(self) -> str:
        """Return the schema of an answer; as in the paper it can build on reasoning."""
        reasoning: Json = {"type": "string", "maxLength": self.reasoning_length}
        schema: dict[str, Json] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"reasoning": reasoning, "answer": self.answer_schema},
            "required": ["reasoning", "answer"],
            "additionalProperties": False,
        }
        return json.dumps(schema)

    def answer_text(self, problem: Problem) -> str:
        """Return the right answer to a problem as JSON text."""
        answer = self.value(problem.answer)
        members = {"reasoning": problem.reasoning, "answer": answer}
        return json.dumps(members, ensure_ascii=False)

    def problem(self, row: Mapping[str, Json]) -> Problem:
        """Return the problem of a published row.

        Raises:
            KeyError, ValueError: it is not a row of the task.
        """
        question, answer = (str(row[column]) for column in self.columns)
        # Only GSM8K has the reasoning, before the mark.
        reasoning, _, text = answer.strip().rpartition("#### ")
        truth = text.lower() if self.form == "letters" else self.canonical(text)
        if truth is None:
            raise ValueError(text)
        return Problem(question=question, reasoning=reasoning.strip(), answer=truth)


#: The three tasks, in the order of the paper's Table 7.
TASKS: Final = msgspec.toml.decode(
    (_FOLDER / "tasks.toml").read_bytes(), type=dict[str, QualityTask]
)


def with_prompts(name: str, file: str) -> QualityTask:
    """Return a task with the instruction and worked examples of a TOML file.

    Raises:
        NoInput: the file cannot be read.
        BadData: it lacks them.
    """
    with reading(Path(file)):
        text = read_utf8(Path(file))
    try:
        table = msgspec.toml.decode(text)[name]
        prompts = {part: table[part] for part in ("instruction", "shots")}
        fields = {**msgspec.structs.asdict(TASKS[name]), **prompts}
        return msgspec.convert(fields, QualityTask)
    except (msgspec.MsgspecError, LookupError, TypeError) as error:
        hint = "give each task its instruction and shots: question, reasoning, answer"
        raise BadData(f"no prompt of {name}: {error}", file, hint) from error


def quality_records(request: RecordRequest, settings: QualitySettings) -> RecordSet:
    """Return the requested problems, the tasks in turn.

    Args:
        request: `data` is None for the sample, `published` for the problems on the Hub,
            or a folder that holds these, a file `TASK.*` or a folder `TASK` each.
        settings: The revisions of the problems on the Hub.

    Raises:
        BadUsage: an unknown group.
        NoInput: the data is missing.
        BadData: a published row that cannot be read.
        Unavailable: the Hub cannot be reached.
    """
    if unknown := [name for name in request.configs if name not in TASKS]:
        raise BadUsage(f"--config {unknown[0]!r}: there are only {', '.join(TASKS)}")
    lists = []
    origins: dict[str, None] = {}
    for name in TASKS:
        if name in (request.configs or TASKS):
            origin, problems = _problems(name, request.data, settings)
            origins[origin] = None
            # The files of the published problems are their test splits.
            lists.append(as_records(name, problems, "test" if request.data else ""))
    in_turn = (record for turn in zip_longest(*lists) for record in turn if record)
    return RecordSet(
        name=request.data or "quality-sample",
        origin="; ".join(origins),
        records=[*in_turn],
        generated=request.data is None,
    )


def as_records(
    name: str, problems: Sequence[Problem], split: str = ""
) -> Iterator[Record]:
    """Yield a task's problems as records."""
    schema = TASKS[name].schema()
    for index, problem in enumerate(problems):
        yield Record(
            id=f"{index:04d}",
            group=name,
            split=split,
            schema=schema,
            fields={
                "question": problem.question,
                "reasoning": problem.reasoning,
                "answer": problem.answer,
                # A published problem is by itself.
                "cluster": f"{name} {problem.story or f'{index:04d}'}",
            },
        )


def sample(name: str) -> list[Problem]:
    """Return a task's problems of the sample; problems with one story are dependent."""
    content = (_FOLDER / "sample.jsonl").read_bytes()
    problems = msgspec.json.Decoder(Problem).decode_lines(content)
    return [problem for problem in problems if problem.task == name]


def _problems(
    name: str, data: str | None, settings: QualitySettings
) -> tuple[str, list[Problem]]:
    """Return the origin of a task's problems, and the problems."""
    task = TASKS[name]
    if data is None:
        return SAMPLE, sample(name)
    if data == PUBLISHED:
        from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy

        patterns = [f"{task.files}*{suffix}" for suffix in _SUFFIXES]
        revision = settings.revisions.get(name)
        folder = hub_snapshot(task.repository, revision, patterns)
        origin = f"{task.repository}@{folder.name}"
        files = _files(folder, task.files)
    else:
        folder = Path(data)
        origin = f"folder {data}"
        files = _files(folder, f"{name}/{task.files}") or _files(folder, f"{name}.")[:1]
    if not files:
        expected = f"{task.files}*{_SUFFIXES[0]}, nor {name}{_SUFFIXES[0]}"
        raise NoInput(f"no file {expected}, .jsonl or .json", str(folder))
    problems: list[Problem] = []
    for where, row in (row for path in files for row in published_rows(path)):
        try:
            problems.append(task.problem(row))
        except (KeyError, ValueError) as error:
            message = f"no problem of {name} ({type(error).__name__}: {error})"
            raise BadData(message, where) from error
    return origin, problems[task.skip :]


def _files(folder: Path, start: str) -> list[Path]:
    files = (path for path in folder.glob(f"{start}*") if path.is_file())
    return sorted(path for path in files if path.suffix in _SUFFIXES)


_FORM: Final = '{"reasoning": <reasoning about the answer>, "answer": <final answer>}'


def quality_prompt(record: Record, settings: QualitySettings) -> Prompt:
    """Return the conversation that asks for a problem's answer.

    The worked examples are separate turns.

    Raises:
        NoInput: the file of prompts cannot be read.
        BadData: it lacks the prompt of a task.
    """
    task = TASKS[record.group]
    if settings.prompts:
        task = with_prompts(record.group, settings.prompts)
    turns = [("system", task.instruction.replace("{form}", _FORM))]
    for shot in task.shots:
        turns.append(("user", shot.question))
        turns.append(("assistant", task.answer_text(shot)))
    turns.append(("user", str(record.fields["question"])))
    budget = task.published_budget if settings.reading == "paper" else task.budget
    messages = tuple(Message(role=role, content=content) for role, content in turns)
    return Prompt(messages=messages, budget=budget)


#: The answer in canonical form, or None with the failure and its reason.
_Found: TypeAlias = tuple[str | None, str, str]
#: Every class of failure, in the order of precedence.
CLASSES: Final = {
    "api_error": "The answer is missing: the server or the model failed.",
    "refusal": "The model or its provider refused to answer.",
    "truncated": "The tokens were used up before the answer was whole.",
    "empty": "The text is empty, or only thinking.",
    "syntax_error": "The text holds no JSON that can be read.",
    "form_error": "The JSON has no answer of the required form.",
    "wrong_answer": "The answer has the right form and is wrong.",
}


def quality_scorer(settings: QualitySettings) -> Scorer:
    """Return what judges the responses to problems by one reading."""
    is_published = settings.reading == "paper"
    rules = TriageRules(splits_thinking=not is_published)
    read = _by_expression if is_published else _in_json
    unread = "form_error" if is_published else "syntax_error"

    def prepare(record: Record) -> Judge:
        task = TASKS[record.group]

        def judge(response: Response) -> Verdict:
            text = triage(response, rules)
            if isinstance(text, MissingAnswer):
                return _verdict(record, None, text.kind, text.reason)
            answer, failure, reason = read(task, text)
            if failure == unread and response.finish == "length":
                failure = "truncated"
            return _verdict(record, answer, failure, reason)

        return judge

    return prepare


def _by_expression(task: QualityTask, text: str) -> _Found:
    if match := re.search(task.expression, text):
        return str(task.canonical(match[1])), "", ""
    return None, "form_error", "the published expression matches no answer"


def _in_json(task: QualityTask, text: str) -> _Found:
    parsed = find_json(text)
    members = parsed.value
    if parsed.problem is not None:
        return None, "syntax_error", parsed.detail
    if not isinstance(members, dict):
        reason = f"the JSON is not an object but {json.dumps(members)[:60]}"
    elif "answer" not in members:
        reason = 'the member "answer" is missing'
    elif "answer" in parsed.duplicates:
        reason = 'the member "answer" is repeated'
    elif (answer := task.canonical(members["answer"])) is None:
        reason = f"the answer has another form: {json.dumps(members['answer'])[:60]}"
    else:
        return answer, "", ""
    return None, "form_error", reason


def _verdict(record: Record, answer: str | None, failure: str, reason: str) -> Verdict:
    """Return the verdict on an answer in canonical form, or on a text without one."""
    details: dict[str, Json] = {"cluster": record.fields.get("cluster")}
    if answer is not None:
        expected = str(record.fields["answer"])
        details = {"answer": answer, "expected": expected, **details}
        if answer != expected:
            failure, reason = "wrong_answer", f"{answer}, not {expected}"
    return Verdict(
        passed=not failure,
        failure_class=failure,
        reasons=(reason,) if failure else (),
        details=details,
    )


SUITE: Final = Suite(
    name="quality",
    summary="Right answers with and without a constraint: Last Letter, Shuffle "
    "Objects and GSM8K, as section 6 of the JSONSchemaBench paper.",
    settings=QualitySettings,
    classes=CLASSES,
    records=quality_records,
    prompt=quality_prompt,
    scorer=quality_scorer,
    tables=imported_late("evaluation.suites.quality.report", "tables"),
    published=PUBLISHED,
    # Free and constrained answers have the same budget here too: the published free
    # answers had 128 or 256 tokens, the constrained ones no limit.
    paper={"reading": "paper"},
)
