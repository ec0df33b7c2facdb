"""`csbdata score`: one's own extractions against gold documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.commands.options import path_option, with_option_groups
from curation.json.pointer import pointer
from curation.system.errors import BadData, BadUsage
from curation.system.terminal import log
from curation.system.words import command
from evaluation.reporting.printing import (
    ReportFormat,
    ReportFormatOption,
    as_markdown,
    print_tables,
)

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.analysis.score import ExtractionScore

#: Members that name a document, and that hold it; otherwise all the others do.
_NAMES: Final = ("id", "record_id", "record")
_VALUES: Final = ("gold", "ground_truth", "answer", "text", "value")
_MAX_MISTAKES: Final = 2_000
_SHOWN: Final = 200
#: Maximum number of faulty lines named for a file.
_MAX_LINES: Final = 5


@with_option_groups
def score(  # noqa: PLR0913 (options of one command)
    *,
    schema: Annotated[
        Path,
        path_option("FILE", "The JSON Schema."),
    ],
    gold: Annotated[
        Path,
        path_option("FILE", "The right documents, a line each."),
    ],
    answers: Annotated[
        Path,
        path_option("FILE", "The answers, a line each."),
    ],
    preset: Annotated[
        str,
        typer.Option(metavar="NAME", help="sob adds the seven metrics of SOB."),
    ] = "",
    page: Annotated[
        Path | None,
        path_option("FILE", "Write a page with both sides."),
    ] = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Score extractions against gold documents, field by field.

    \b
    Examples:
      csbdata score --schema s.json --gold gold.jsonl --answers answers.jsonl
      csbdata score --schema s.json --gold g.jsonl --answers a.jsonl --page p.html

    A line is {"id": ..., "gold": {...}} or {"id": ..., "text": "..."}; any other object
    with an id is the document itself. `x-eval` in the schema names how a field is
    compared (docs/suites.md).
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.system.atomic_files import atomic_write_bytes
    from evaluation.analysis.score import score as score_documents

    if preset not in ("", "sob"):
        raise BadUsage(f"there is no preset {preset!r}", hint="--preset sob")
    problems: list[str] = []
    try:
        result = score_documents(
            _content(schema),
            _documents(gold, problems),
            _documents(answers, problems),
            preset=preset,
        )
    except BadData as error:
        if error.where:
            raise
        hint = error.hint or command("check", schema)
        raise BadData(error.message, str(schema), hint) from error
    problems += result.problems
    tables = result.tables()
    print_tables(tables, format_, {"problems": [*problems]})
    for problem in problems:
        log(problem, style="yellow")
    if page is not None:
        atomic_write_bytes(page, _page(result, problems).encode())
        log(f"Both sides in {page}")


def _content(path: Path) -> str:
    from curation.system.user_files import reading, refuse_large

    with reading(path):
        return refuse_large(path).read_bytes().decode("utf-8-sig", "replace")


def _documents(path: Path, problems: list[str]) -> Iterator[tuple[str, Json]]:
    """Yield the documents of JSON lines by id; note the other lines."""
    problems_of_lines: list[str] = []
    for number, line in enumerate(_content(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path.name}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems_of_lines.append(f"{where}: no JSON: {str(error)[:_SHOWN]}")
            continue
        names = [name for name in _NAMES if isinstance(row, dict) and name in row]
        if not names:
            problems_of_lines.append(
                f"{where}: no object with a member {' or '.join(_NAMES)}"
            )
            continue
        values = [name for name in _VALUES if name in row]
        remaining = {name: value for name, value in row.items() if name != names[0]}
        yield str(row[names[0]]), row[values[0]] if values else remaining
    problems += problems_of_lines[:_MAX_LINES]
    if len(problems_of_lines) > _MAX_LINES:
        hidden = len(problems_of_lines) - _MAX_LINES
        problems.append(f"{path.name}: {hidden:,} more lines that are no documents")


def _page(result: ExtractionScore, problems: Sequence[str]) -> str:
    """Return a page with the tables and both sides of every mistake."""
    rows = "\n".join(
        f"<tr class={leaf.outcome}><td>{escape(document)}"
        f"<td>{escape(pointer(leaf.path))}"
        f"<td>{leaf.outcome}<td>{_side(leaf.gold)}<td>{_side(leaf.answer)}"
        for document, leaf in result.mistakes[:_MAX_MISTAKES]
    )
    count = min(len(result.mistakes), _MAX_MISTAKES)
    tables = "\n".join(map(as_markdown, result.tables()))
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Extraction</title>
<style>body{{font:15px sans-serif;margin:2em}}td{{border:1px solid #ccc;padding:.3em;
vertical-align:top}}.wrong{{background:#fee}}.omitted{{background:#ffd}}
.invented{{background:#eef}}</style>
<h1>Extraction</h1>
<pre>{escape(tables)}</pre>
<p>{"<br>".join(map(escape, problems))}</p>
<h2>{count:,} of {len(result.mistakes):,} mistakes</h2>
<table><tr><th>document<th>field<th>outcome<th>gold<th>answer
{rows}
</table>
"""


def _side(value: Json) -> str:
    return "" if value is None else escape(json.dumps(value, ensure_ascii=False))
