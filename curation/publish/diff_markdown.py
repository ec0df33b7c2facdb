"""A comparison of two editions as Markdown: what a changelog is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.dataset.difference import KINDS, config_counts
from curation.packaging.markdown import code, escape_markdown, render_template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from curation.dataset.difference import EditionRow, RecordPair
    from curation.dataset.editions import Edition

_TEMPLATE: Final = "diff/DIFF.md.j2"
#: Records of each kind that a changelog names.
NAMED: Final = 50
#: The parts of a comparison with nothing.
FIRST: Final[Mapping[str, UntypedJson]] = {"kinds": [], "configs": [], "records": []}


def diff_markdown(
    first: Edition,
    second: Edition,
    pairs: Sequence[RecordPair],
    *,
    limit: int | None = None,
) -> str:
    """Return a comparison as a Markdown document.

    Args:
        first: The edition that was there before.
        second: The one that is there now.
        pairs: What `curation.dataset.difference.compare` says of them.
        limit: Records to name of each kind; None for all.
    """
    before, after = first.rows.height, second.rows.height
    differ = f"{len(pairs):,} of them differ" if pairs else "none of them differs"
    return render_template(
        _TEMPLATE,
        {
            "a": escape_markdown(first.name),
            "b": escape_markdown(second.name),
            "sentence": f"{before:,} records before, {after:,} now; {differ}.",
            **parts(first, second, pairs, limit=limit),
        },
    )


def parts(
    first: Edition,
    second: Edition,
    pairs: Sequence[RecordPair],
    *,
    limit: int | None = NAMED,
) -> dict[str, UntypedJson]:
    """Return what the templates in `cards/diff` ask for; arguments as above."""
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
    return {
        "kinds": [_words(kind) for kind in KINDS],
        "configs": configs,
        "records": list(_records(pairs, limit)),
    }


def _records(
    pairs: Sequence[RecordPair], limit: int | None
) -> Iterator[dict[str, UntypedJson]]:
    """Yield the records of each kind, the first of them by name."""
    for kind in KINDS:
        found = [pair for pair in pairs if kind in pair.kinds]
        named = found if limit is None else found[:limit]
        if found:
            yield {
                "kind": _words(kind).capitalize(),
                "count": len(found),
                "lines": [_line(pair) for pair in named],
                "more": len(found) - len(named),
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
