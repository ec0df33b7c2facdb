"""Write each class of wrong walks down, with a smallest reproducer, for its authors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.json_types import Json
from curation.json.pointer import at, tokens_of_fragment
from curation.system.atomic_files import atomic_file
from curation.system.file_names import safe_name
from curation.system.words import counted
from evaluation.analysis.recorded_cases import (
    ask_in_new_process,
    cases_of,
    open_engine,
    participant_of,
)
from evaluation.analysis.shrink_failure import (
    ROOT_MEMBERS,
    shrink,
    smaller_trees,
    stays_judged,
)
from evaluation.core.cases import Case, InstanceWalk, Row, Why
from evaluation.core.spelled_json import Spelled, read_spelled
from evaluation.results.why_classes import WhyClass, classes_of
from evaluation.setup.engine_files import FAITHFUL
from evaluation.tokenizers import get_tokenizer
from evaluation.tokenizers.single_bytes import BYTES
from evaluation.walking.engine_worker import Bounds
from evaluation.walking.why import ACCEPTED

if TYPE_CHECKING:
    from pathlib import Path

    from curation.download.acquire import FetchSettings
    from evaluation.results.reader import RecordedRun

    Ask = Callable[[Case], Row]

_TASK: Final = "masks"
#: Characters of a schema in a table.
_CELL: Final = 90
#: Characters of a schema or a text on a page; the file of reproducers has more.
_LONGEST: Final = 1_000
#: Characters of a schema above which a reproducer is no file to send.
_LARGEST: Final = 4_000
#: Bounds of one try, and the most tries of a schema or a text.
_BOUNDS: Final = Bounds(compile_seconds=10.0, run_seconds=10.0)
_TRIES: Final = 250
#: Texts and schemas are shrunk in turn, so many times at most.
_ROUNDS: Final = 3


def title_of(valid: bool, why: Why) -> str:  # noqa: FBT001 (as a walk has it)
    """Return a class of wrong walks in a line.

    Example:
        >>> title_of(True, Why(stands="escape", keyword="minLength"))
        'valid text, escape: `minLength`'
    """
    keyword = f": `{why.keyword}`" if why.keyword else ""
    setting = f" {why.setting}" if why.setting else ""
    kind = "valid" if valid else "invalid"
    return f"{kind} text, {why.stands}{keyword}{setting}"


def _fence(text: str) -> list[str]:
    """Return a block of JSON, cut where it is longer than people read."""
    more = (
        f" ... ({counted(len(text), 'character')} in all)"
        if len(text) > _LONGEST
        else ""
    )
    return ["```json", f"{text[:_LONGEST]}{more}", "```"]


class Reproducer(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest schema and text that show a class of wrong walks."""

    #: As the run names it, and what `--engine` takes.
    engine: str
    spec: str
    preset: str
    options: dict[str, str] = {}
    schema: str
    text: str
    valid: bool
    stands: str
    keyword: str = ""
    setting: str = ""
    #: Bytes of a valid text that the grammar takes; None if all.
    byte: int | None = None
    walks: int = 0
    schemas: int = 0
    #: Schemas that the engine was asked.
    of: int = 0
    #: How the run's classes that come down to this one are called.
    classes: tuple[str, ...] = ()

    @property
    def case(self) -> Case:
        """What is put to the engine."""
        label = {} if self.valid else {"keyword": self.keyword}
        walk = InstanceWalk(text=self.text, valid=self.valid, label=label)
        return Case(
            task="masks", id="one", config="issues", schema=self.schema, walks=(walk,)
        )

    @property
    def title(self) -> str:
        """The class in a line."""
        return title_of(self.valid, self.why)

    @property
    def why(self) -> Why:
        """The class."""
        return Why(stands=self.stands, keyword=self.keyword, setting=self.setting)

    def text_for_authors(self) -> list[str]:
        """Return an issue for the engine's authors, line by line, in Markdown."""
        options = {name: value for name, value in self.options.items() if value}
        under = f", options {json.dumps(options)}" if options else ""
        content = self.text.encode()
        keyword = f", by `{self.keyword}`" if self.keyword else ""
        judged = "accepts" if self.valid else f"refuses{keyword}"
        lines = [f"{self.engine}{under}. The schema", "", *_fence(self.schema), ""]
        lines += [f"{judged} (jsonschema-rs, formats asserted)", ""]
        lines += [*_fence(self.text), ""]
        if self.stands == ACCEPTED:
            lines.append("The masks let it through to its end.")
        elif self.byte is not None and self.byte < len(content):
            after = content[: self.byte].decode("utf-8", "replace")
            refused = content[self.byte :].decode("utf-8", "replace")[0]
            lines.append(
                f"After {counted(len(after), 'character')} the masks refuse "
                f"`` {refused} `` "
                f"({self.stands})."
            )
        else:
            lines.append(f"What happens: {self.stands} {self.setting}".strip() + ".")
        often = f"In {counted(self.walks, 'walk')} of {self.schemas:,} of {self.of:,} "
        often += f"real schemas; classes: {'; '.join(self.classes)}."
        return [*lines, "", often]


def is_alike(why: Why | None, other: Why) -> bool:
    """Return whether a walk went wrong at such a place, under such a keyword.

    What stands beside the keyword may go: then it was not the cause. Nothing may come.
    """
    if why is None or (why.stands, why.keyword) != (other.stands, other.keyword):
        return False
    beside, before = why.setting.split()[-1:], other.setting.split()[-1:]
    return beside == before if beside or not why.keyword else True


def smallest(case: Case, index: int, why: Why, ask: Ask) -> Case | None:
    """Return the smallest case that goes wrong like one walk.

    None if the walk goes right when it is the only one.

    Args:
        case: A case of which a walk went wrong.
        index: Which one.
        why: Its class, of which place and keyword stay.
        ask: Puts a case to the engine.
    """
    walk = case.walks[index]
    label = {} if walk.valid else {"keyword": why.keyword}
    alone = replace(case, walks=(replace(walk, label=label),))
    if not is_alike(ask(alone).walks[0].why, why):
        return None
    found = [alone]

    def still(smaller: Case) -> bool:
        if stays_judged(json.loads(smaller.schema), smaller.walks) and is_alike(
            ask(smaller).walks[0].why, why
        ):
            found.append(smaller)
            return True
        return False

    def still_under(schema: Json) -> bool:
        return still(replace(found[-1], schema=json.dumps(schema)))

    def still_with(text: Json) -> bool:
        (last,) = found[-1].walks
        return still(replace(found[-1], walks=(replace(last, text=str(text)),)))

    for _ in range(_ROUNDS):
        before = found[-1]
        while any(map(still, _inside(found[-1]))):
            pass
        schema = json.loads(found[-1].schema)
        shrink(schema, smaller_trees, still_under, _TRIES)
        shrink(found[-1].walks[0].text, _shorter, still_with, _TRIES)
        if found[-1] == before:
            break
    return found[-1]


def _inside(case: Case) -> Iterator[Case]:
    """Yield what a schema says of one part of its text, with that part."""
    schema, (walk,) = json.loads(case.schema), case.walks
    if not isinstance(schema, dict):
        return
    base = {name: schema[name] for name in ROOT_MEMBERS if name in schema}
    named = schema.get("properties")
    for member in read_spelled(walk.text).members:
        inner = [schema.get(keyword) for keyword in ("items", "additionalProperties")]
        if member.name and isinstance(named, dict):
            inner.append(named.get(member.name.decoded))
        for part in map(partial(_resolved, schema), inner):
            if isinstance(part, dict):
                text = walk.text[member.value.start : member.value.end]
                yield replace(
                    case,
                    schema=json.dumps({**base, **part}),
                    walks=(replace(walk, text=text),),
                )


def _resolved(root: Json, part: Json) -> Json:
    """Return what a schema refers to, or the schema itself."""
    ref = part.get("$ref") if isinstance(part, dict) else None
    if not isinstance(ref, str) or not ref.startswith("#"):
        return part
    try:
        return at(root, tokens_of_fragment(ref))
    except (LookupError, ValueError):
        return part


def _shorter(text: Json) -> list[str]:
    return sorted(set(_smaller(str(text))), key=len)


def _smaller(text: str) -> Iterator[str]:
    """Yield texts with a part left out, or with one in the place of what holds it."""
    waiting = [read_spelled(text)]
    while waiting:
        value = waiting.pop()
        waiting += [member.value for member in value.members]
        for less in _less(value):
            yield text[: value.start] + less + text[value.end :]


def _less(value: Spelled) -> Iterator[str]:
    for index, member in enumerate(value.members):
        left = value.members[:index] + value.members[index + 1 :]
        yield replace(value, members=left).written()
        yield member.value.written()
    if value.text[0] == '"':
        inner = value.text[1:-1]
        # Of a long text no more parts than are tried.
        size, least = len(inner), max(1, len(inner) // _TRIES)
        while size >= least:
            for start in range(0, len(inner), size):
                yield f'"{inner[:start]}{inner[start + size :]}"'
            size //= 2


def engine_issues(
    run: RecordedRun, fetch: FetchSettings, say: Callable[[str], None]
) -> dict[str, list[Reproducer]]:
    """Return the smallest reproducers of each engine's classes, the worst first.

    Classes that come down to one class are one issue. Each reproducer was seen again in
    a new process; what cannot be is left out, and `say` is told.

    Raises:
        CsbdataError: the run's data, or one of its engines, cannot be had.
    """
    classes = classes_of(row for row in run.rows() if row.task == _TASK)
    wanted = [one for engine in classes.schemas for one in classes.of(engine)]
    cases = cases_of(run, _TASK, {one.example for one in wanted}, fetch)
    tokenizer = get_tokenizer(str(run.header.tokenizer.name), fetch)
    issues: dict[str, list[Reproducer]] = {}
    for label, total in classes.schemas.items():
        engine = participant_of(run, label, fetch.cache)
        afresh = ask_in_new_process(engine, tokenizer, _BOUNDS)
        causes: dict[tuple[str, ...], _Cause] = {}
        with ExitStack() as stack:
            asks = [
                stack.enter_context(open_engine(engine, tokens, _BOUNDS))
                for tokens in (get_tokenizer(BYTES, fetch), tokenizer)
            ]
            for one in classes.of(label):
                about = f"{label}: {title_of(one.valid, one.why)}"
                case = _seen_again(cases[one.example], one, asks, afresh)
                if case is None:
                    say(f"{about}: not seen again by itself, {one.example}")
                    continue
                say(f"{about}: {case.case.schema} {case.case.walks[0].text}")
                why = case.row.walks[0].why or one.why
                key = (str(one.valid), *why.cause)
                known = causes.get(key, case)
                best = min(known, case, key=lambda cause: cause.size)
                classes_so_far = known.classes if key in causes else []
                causes[key] = replace(best, classes=[*classes_so_far, one])
        issues[label] = sorted(
            (_issue(run, total, cause) for cause in causes.values()),
            key=lambda issue: -issue.walks,
        )
    return issues


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    """The smallest case of a class, and the classes of the run that come down to it."""

    case: Case
    row: Row
    classes: list[WhyClass] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.case.schema) + len(self.case.walks[0].text)


def _seen_again(
    case: Case, one: WhyClass, asks: Sequence[Ask], afresh: Ask
) -> _Cause | None:
    """Return the smallest case that shows a class again in a new process.

    Args:
        case: The case with the class's smallest example.
        one: The class.
        asks: What asks the engine, the quickest first.
        afresh: Asks it with the run's tokenizer, in a new process.
    """
    for ask in asks:
        found = smallest(case, one.index, one.why, ask)
        if found is not None:
            row = afresh(found)
            if is_alike(row.walks[0].why, one.why):
                return _Cause(case=found, row=row)
    return None


def _issue(run: RecordedRun, total: int, cause: _Cause) -> Reproducer:
    case, row, group = cause.case, cause.row, cause.classes
    participant = run.header.participant(row.engine)
    (walk,), (walked,) = case.walks, row.walks
    why = walked.why or group[0].why
    return Reproducer(
        engine=row.engine,
        spec=participant.spec or row.engine,
        preset=participant.preset or FAITHFUL,
        options=dict(participant.assigned or {}),
        schema=case.schema,
        text=walk.text,
        valid=walk.valid,
        stands=why.stands,
        keyword=why.keyword,
        setting=why.setting,
        byte=walked.byte,
        walks=sum(one.walks for one in group),
        schemas=len(set().union(*(one.schemas for one in group))),
        of=total,
        classes=tuple(title_of(one.valid, one.why) for one in group),
    )


def write_issues(
    run: RecordedRun, out: Path, fetch: FetchSettings, say: Callable[[str], None]
) -> list[Path]:
    """Write a page for each engine, and its reproducers as JSON, but for large ones.

    Raises:
        CsbdataError: the run's data, or one of its engines, cannot be had.
    """
    written: list[Path] = []
    for label, issues in engine_issues(run, fetch, say).items():
        small = [issue for issue in issues if len(issue.schema) <= _LARGEST]
        texts = {
            ".md": _page(run, label, issues),
            ".json": msgspec.json.format(msgspec.json.encode(small)).decode(),
        }
        for suffix, text in texts.items():
            path = out / f"{safe_name(label)}{suffix}"
            with atomic_file(path) as temporary:
                temporary.write_text(text.rstrip() + "\n", "utf-8")
            written.append(path)
    return written


def _page(run: RecordedRun, label: str, issues: Sequence[Reproducer]) -> str:
    walks = counted(sum(issue.walks for issue in issues), "wrong walk")
    configs = Counter(
        row.config for row in run.rows() if (row.engine, row.task) == (label, _TASK)
    )
    schemas = ", ".join(f"{name} {count:,}" for name, count in configs.items())
    about = (
        "Written by `csbdata results export RUN --format issues`, of "
        f"{counted(configs.total(), 'schema')} ({schemas}), {walks}. Each reproducer "
        "is the smallest that was found, and was seen again in a new process. What an "
        "engine says that it does not support is a stated limit, and no fault."
    )
    lines = [f"# {label}: why walks go wrong", "", about, ""]
    lines += [
        "| | what is wrong | walks | schemas | smallest schema |",
        "|--:|---|--:|--:|---|",
    ]
    for number, issue in enumerate(issues, 1):
        schema = _cell(issue.schema)
        lines.append(
            f"| [{number}](#{number}) | {_cell(issue.title, code=False)} | "
            f"{issue.walks:,} | {issue.schemas:,} of {issue.of:,} | {schema} |"
        )
    for number, issue in enumerate(issues, 1):
        lines += ["", f'## <a id="{number}"></a>{number}. {issue.title}', ""]
        lines += issue.text_for_authors()
    return "\n".join(lines)


def _cell(text: str, *, code: bool = True) -> str:
    """Return a text as a cell of a table in Markdown."""
    short = text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"
    escaped = short.replace("|", "\\|")
    return f"`` {escaped} ``" if code else escaped
