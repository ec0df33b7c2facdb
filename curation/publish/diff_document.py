"""Write the comparison of two editions as a Markdown document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from curation.dataset.difference import KINDS, EditionRow, RecordPair, config_counts
from curation.packaging.markdown import code, escape_markdown, render_template
from curation.system.words import counted

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.dataset.editions import Edition

_TEMPLATE: Final = "DIFF.md.j2"


def diff_markdown(first: Edition, second: Edition, pairs: Sequence[RecordPair]) -> str:
    """Return a comparison as a Markdown document, with every record's name.

    Args:
        first: The edition before.
        second: The edition now.
        pairs: Their differences, of `curation.dataset.difference.compare`.
    """
    before, after = first.rows.height, second.rows.height
    differ = f"{len(pairs):,} of them differ" if pairs else "none of them differs"
    counts = config_counts(first, second, pairs)
    configs = [
        {
            "config": config,
            "before": figures["a"],
            "now": figures["b"],
            "kinds": [figures[kind] for kind in KINDS],
        }
        for config, figures in counts.items()
    ]
    return render_template(
        _TEMPLATE,
        {
            "a": escape_markdown(first.name),
            "b": escape_markdown(second.name),
            "sentence": f"{counted(before, 'record')} before, {after:,} now; {differ}.",
            "kinds": [_words(kind) for kind in KINDS],
            "configs": configs,
            "records": list(_records(pairs)),
        },
    )


def _records(pairs: Sequence[RecordPair]) -> Iterator[dict[str, UntypedJson]]:
    """Yield the records of each kind."""
    for kind in KINDS:
        of_kind = [pair for pair in pairs if kind in pair.kinds]
        if of_kind:
            yield {
                "kind": _words(kind).capitalize(),
                "lines": [_line(pair) for pair in of_kind],
            }


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _line(pair: RecordPair) -> str:
    places = [_record_name(row) for row in (pair.before, pair.after) if row is not None]
    line = " to ".join(dict.fromkeys(places))
    words = " ".join(code(keyword) for keyword in pair.keywords)
    return f"{line}: {words}" if words else line


def _record_name(row: EditionRow) -> str:
    return code(
        "/".join(part for part in (row.config, row.split, row.unique_id) if part)
    )
