"""The faults of an engine under development: each class with the smallest schema.

One class is one cause: a keyword that is not enforced, a place at which valid texts are
blocked, a message, a death of the process.
"""

from __future__ import annotations

import json
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.system.errors import CsbdataError
from curation.system.words import command, counted, shortened
from evaluation.analysis.failures import SEVERITY
from evaluation.analysis.recorded_cases import (
    ask_in_new_process,
    engine_of_failure,
    make_case,
    open_engine,
)
from evaluation.analysis.shrink_failure import shrink_failure
from evaluation.core.cases import Bounds, InstanceResult, Result, Row, WalkVerdict
from evaluation.masks.diagnosis import ACCEPTED, OTHER, VARYING
from evaluation.results.outcomes import (
    FAULTS,
    Outcome,
    engine_is_wrong,
    number_in,
    read_outcome,
)
from evaluation.tasks.masks import NAME
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.cache import FetchSettings
    from evaluation.results.reader import RecordedRun
    from evaluation.tokenizers import TokenizerFiles

#: Number of described classes, and seconds to shrink their schemas.
_DESCRIBED: Final = 4
_SECONDS: Final = 8.0
#: Limits of one case while its schema is made smaller.
_BOUNDS: Final = Bounds(compile_seconds=5.0, run_seconds=5.0)
_WIDTH: Final = 300


class EngineFault(NamedTuple):
    """One class of failures, with the failing case whose schema is the smallest."""

    outcome: Outcome
    row: Row
    #: Index of the text that shows it; None where no text does.
    text: int | None
    schemas: int

    @property
    def walked(self) -> InstanceResult | None:
        """The walk that shows it."""
        return None if self.text is None else self.row.walks[self.text]


def faults(run: RecordedRun, label: str) -> list[EngineFault]:
    """Return the classes of an engine's failures, the worst first, then the commonest.

    Args:
        run: A run of task `masks`.
        label: The engine's label.
    """
    smallest: dict[tuple[object, ...], EngineFault] = {}
    for row in run.rows(NAME):
        outcome = read_outcome(row)
        if row.engine != label or outcome not in SEVERITY:
            continue
        by_cause: dict[tuple[object, ...], int | None] = {}
        for index, walked in enumerate(row.walks):
            why = walked.why if engine_is_wrong(walked) else None
            if why:
                by_cause.setdefault((walked.verdict, why.cause), index)
        if not by_cause:
            by_cause[outcome, row.phase, VARYING.sub("", row.detail)] = None
        for key, text in by_cause.items():
            fault = EngineFault(outcome=outcome, row=row, text=text, schemas=1)
            before = smallest.setdefault(key, fault)
            if before is not fault:
                smaller = min(
                    before, fault, key=lambda fault: number_in(fault.row, "size", 0)
                )
                smallest[key] = smaller._replace(schemas=before.schemas + 1)
    return sorted(
        smallest.values(),
        key=lambda fault: (SEVERITY.index(fault.outcome), -fault.schemas),
    )


def fault_lines(
    run: RecordedRun,
    label: str,
    fetch: FetchSettings,
    log: Callable[[str], None],
) -> list[str]:
    """Return the faults of an engine in words, each with the smallest schema found.

    Args:
        run: A run of task `masks`.
        label: The engine's label.
        fetch: Where the tokenizer is.
        log: Prints slow steps.
    """
    classes = faults(run, label)
    if not classes:
        return []
    log(f"{label}: looking for the smallest schemas under which it fails")
    tokenizer = get_tokenizer(str(run.header.tokenizer.name), fetch)
    lines: list[str] = []
    for fault in classes[:_DESCRIBED]:
        lines += _described(run, fault, tokenizer, fetch)
    if len(classes) > _DESCRIBED:
        others = counted(len(classes) - _DESCRIBED, "other cause")
        listing = command("results", "show", run.folder, "--failures")
        lines.append(f"and {others}: {listing}")
    return [*lines, ""]


def _described(
    run: RecordedRun,
    fault: EngineFault,
    tokenizer: TokenizerFiles,
    fetch: FetchSettings,
) -> list[str]:
    row = fault.row
    index = fault.text
    name = f"{row.config}/{row.id}"
    words = fault.outcome.replace("_", " ")
    head = f"{row.engine}: {words} in {counted(fault.schemas, 'schema')}"
    path = run.header.participant(row.engine).spec or ""
    try:
        case = make_case(run, row.task, name, fetch)
        if index is not None:
            case = replace(case, walks=(case.walks[index],))
        engine = engine_of_failure(run, row.engine, name, row.task, fetch.cache)
        with open_engine(engine, tokenizer, _BOUNDS) as ask:
            afresh = ask_in_new_process(engine, tokenizer, _BOUNDS)
            shrunk = shrink_failure(case, ask, afresh, until=monotonic() + _SECONDS)
    except CsbdataError as error:
        reason = _reason(fault, fault.walked, path)
        return [f"{head}: {reason}", f"  schema {name} ({error.message})"]
    shown = shrunk.row.walks[0] if index is not None else None
    lines = [
        f"{head}: {_reason(fault, shown, path)}",
        f"  schema {shortened(shrunk.case.schema, _WIDTH)}",
    ]
    if index is not None:
        walk = shrunk.case.walks[0]
        stop = _stop(walk.text, shrunk.row.walks[0], tokenizer)
        lines.append(
            f"  {'valid' if walk.valid else 'invalid'} text "
            f"{shortened(walk.text, _WIDTH)}{stop}"
        )
    return [*lines, f"  found in {name}"]


def _reason(fault: EngineFault, shown: InstanceResult | None, path: str) -> str:
    """Return why, in a clause; for a crash with the line of the engine's file.

    Args:
        fault: The class of failures.
        shown: The walk that is shown, under the smallest schema.
        path: The engine's file.
    """
    why = fault.walked.why if fault.walked else None
    row = fault.row
    if shown is None or why is None:
        message = row.detail.partition("\n")[0]
        if row.phase and row.result is not Result.COMPILE_ERROR:
            message = f"{row.phase}: {message}"
        # The innermost line of the file in the trace that a crash has printed.
        lines = [line for line in row.warnings if line.startswith(f'File "{path}"')]
        place = "".join(f" ({line.removeprefix('File ')})" for line in lines[:1])
        return message + place
    if shown.verdict in FAULTS:
        return shown.detail
    if why.stands == ACCEPTED:
        setting = f" ({why.setting})" if why.setting else ""
        return f"{why.keyword} is not enforced{setting}"
    # What a smaller schema does without is not the reason.
    why = shown.why or why
    message = "valid text" if why.stands == OTHER else why.stands
    blocked = "" if shown.verdict is WalkVerdict.MASK_GAP else " blocked"
    keyword = f", where {why.keyword} applies" if why.keyword else ""
    setting = f" ({why.setting})" if why.setting else ""
    detail = f": {shown.detail}" if shown.detail else ""
    return f"{message}{blocked}{keyword}{setting}{detail}"


def _stop(text: str, walked: InstanceResult, tokenizer: TokenizerFiles) -> str:
    """Return where in a text an engine stopped, as the bytes of a token."""
    tokens = tokenizer.encoder()([text])[0]
    if walked.verdict is WalkVerdict.UNFINISHED:
        return ", which may not end"
    if walked.at is None or tokens is None or walked.at >= len(tokens):
        return ""
    vocabulary = tokenizer.token_bytes()
    before = b"".join(vocabulary[token] or b"" for token in tokens[: walked.at])
    token = (vocabulary[tokens[walked.at]] or b"").decode("utf-8", "replace")
    so_far = json.dumps(before.decode("utf-8", "replace")[-40:], ensure_ascii=False)
    return f", stopped after {so_far} at token {tokens[walked.at]} ({token!r})"
