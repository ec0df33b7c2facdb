"""Write the data's `CHANGELOG.md`: one generated section a release.

It holds no path, machine or date, except the month that labels a release. The sections
of earlier releases are copied byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from curation.dataset.difference import KINDS, EditionRow, RecordPair, config_counts
from curation.packaging.markdown import code, escape_markdown, prose, render_template
from curation.publish.dataset_diff import PUBLISHED, DatasetDiff, Level, Version
from curation.system.words import counted

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.dataset.editions import Edition
    from curation.packaging.manifest import Manifest

_TEMPLATE: Final = "diff/DIFF.md.j2"
#: Records of each kind that a changelog names.
NAMED: Final = 50
#: The parts of a comparison with nothing.
FIRST: Final[Mapping[str, UntypedJson]] = {"kinds": [], "configs": [], "records": []}


def diff_markdown(first: Edition, second: Edition, pairs: Sequence[RecordPair]) -> str:
    """Return a comparison as a Markdown document, with every record's name.

    Args:
        first: The edition before.
        second: The edition now.
        pairs: Their differences, of `curation.dataset.difference.compare`.
    """
    before, after = first.rows.height, second.rows.height
    differ = f"{len(pairs):,} of them differ" if pairs else "none of them differs"
    return render_template(
        _TEMPLATE,
        {
            "a": escape_markdown(first.name),
            "b": escape_markdown(second.name),
            "sentence": f"{counted(before, 'record')} before, {after:,} now; {differ}.",
            **parts(first, second, pairs, limit=None),
        },
    )


def parts(
    first: Edition,
    second: Edition,
    pairs: Sequence[RecordPair],
    *,
    limit: int | None = NAMED,
) -> dict[str, UntypedJson]:
    """Return the values of the templates in `cards/diff`; arguments as above.

    `limit` is how many records of each kind are named; None for all.
    """
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
    """Yield the records of each kind, and names of the first."""
    for kind in KINDS:
        own = [pair for pair in pairs if kind in pair.kinds]
        named = own if limit is None else own[:limit]
        if own:
            yield {
                "kind": _words(kind).capitalize(),
                "count": len(own),
                "lines": [_line(pair) for pair in named],
                "more": len(own) - len(named),
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


#: The file's name in a dataset folder.
FILE = "CHANGELOG.md"
_CHANGELOG = "CHANGELOG.md.j2"
_SECTION = re.compile(r"^## ", re.MULTILINE)
_WHAT = {
    Level.MAJOR: "ids, schemas, configs or splits changed; scores do not compare.",
    Level.MINOR: "records or instances were added; what was there is as it was.",
    Level.PATCH: "every record is as it was; what is said of them changed.",
    Level.NONE: "nothing changed.",
}


def changelog(  # noqa: PLR0913 (what a section says)
    *,
    version: Version,
    previous: Version | None,
    before: Manifest | None,
    after: Manifest,
    diff: DatasetDiff,
    earlier: str,
    label: str,
) -> str:
    """Return the whole file: the new section, then those of an earlier file.

    Args:
        version: The release's version.
        previous: The version of the last release; None for the first.
        before: The manifest of the last release; None if it has none.
        after: That of this release.
        diff: The difference of the two releases.
        earlier: The changelog of the last release.
        label: The month of the release, `2026-11`; empty for none.
    """
    section = render_template(
        _CHANGELOG,
        {
            "heading": f"# Changelog of {escape_markdown(after.name)}",
            "version": str(version),
            "sentence": _sentence(previous, diff),
            "label": label,
            **(parts(diff.before, diff.after, diff.pairs) if diff.before else FIRST),
            "instances": diff.instances,
            "rules": list(_rules(before, after)) if before else [],
            "sources": list(_sources(before, after)) if before else [],
            "versions": list(_versions(before.versions if before else {}, after)),
        },
    )
    older = _SECTION.search(earlier)
    return section + ("\n" + earlier[older.start() :] if older else "")


def _sentence(previous: Version | None, diff: DatasetDiff) -> str:
    if previous is None:
        count = diff.after.rows.height
        return f"The first release: {counted(count, 'record')}."
    name = "the edition published with the paper" if previous == PUBLISHED else previous
    return f"Compared with {name}: {_WHAT[diff.level]}"


def _rules(old: Manifest, new: Manifest) -> Iterator[str]:
    before, after = (
        {rule.name: rule for rule in side.rule_list} for side in (old, new)
    )
    for name, rule in after.items():
        if before.get(name) != rule:
            word = "changed" if name in before else "added"
            yield f"{word} {code(name)}: {prose(rule.summary)}"
    yield from (f"gone {code(name)}" for name in before if name not in after)


def _sources(old: Manifest, new: Manifest) -> Iterator[str]:
    before, after = ({pin.archive: pin for pin in side.pins} for side in (old, new))
    for name, pin in after.items():
        if name not in before:
            yield f"added {code(name)} at {code(pin.commit)}"
        elif before[name].sha256 != pin.sha256:
            first = code(before[name].commit)
            yield f"{code(name)}: from {first} to {code(pin.commit)}"
    yield from (f"gone {code(name)}" for name in before if name not in after)


def _versions(old: Mapping[str, str], new: Manifest) -> Iterator[str]:
    for name, version in new.versions.items():
        if old.get(name) != version:
            was = f" (was {escape_markdown(old[name])})" if name in old else ""
            yield f"{escape_markdown(name)} {escape_markdown(version)}{was}"
