"""Build a dataset folder again from its pinned sources, and compare every row.

The folder's manifest names rules, options, sources with digests and versions. Whatever
follows from these has to come out again: decisions, instances, card and plots. Version
and place of publication are the folder's own.
"""

from __future__ import annotations

import json
import os.path
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl
from polars.exceptions import PolarsError

from curation.core.benchmark import is_table
from curation.core.documents import Missing
from curation.packaging.derived_files import CHANGELOG, carry_over, rebuild
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import BuildFacts, read_facts, versions_here
from curation.pipeline.build import build
from curation.pipeline.request import BuildRequest
from curation.system.checksums import FILE as SUMS
from curation.system.checksums import file_digest, names_in
from curation.system.errors import BadConfiguration, BadData, BadUsage, Unavailable
from curation.system.escaping import shortened
from curation.system.words import counted
from curation.verification.findings import READABLE, Finding
from curation.workers.fingerprint import fingerprint

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.download.acquire import FetchSettings
    from curation.system.progress import Progress

NAME = "sources"
QUESTION = "does every row follow from the pinned sources?"
#: Files that follow from the others, or are compared by their members.
_FOLLOWING = frozenset({MANIFEST, SUMS})
#: Differing rows of a table that are named.
_ROWS = 5
_SHOWN = 60


def replay(
    folder: Path, settings: FetchSettings, *, jobs: int, progress: Progress
) -> list[Finding]:
    """Return the differences of a folder from what its sources give.

    A replay that was interrupted is continued; it lies in the cache until it is done.

    Args:
        folder: The dataset folder.
        settings: Where its archives are.
        jobs: Worker processes.
        progress: Shows the build.

    Raises:
        NoInput: the folder is no build.
        BadData: its manifest cannot be read, names no source or one that there is
            not, or an archive is not what is pinned.
        Unavailable: an archive cannot be had, the folder has schemas of the user's own,
            or other versions of the programs made it.
    """
    facts, manifest = read_facts(folder), str(folder / MANIFEST)
    if not facts.pins:
        raise BadData("names no source", manifest, "csbdata build makes a sound one")
    _refuse_other_versions(folder, facts)
    key = fingerprint(
        rules=facts.rules, options=facts.options, pins=msgspec.to_builtins(facts.pins)
    )
    place = settings.cache / "replays" / key
    request = BuildRequest(
        out=place / "dataset",
        rules=facts.rules,
        pins=tuple(facts.pins),
        fastjsonschema="fastjsonschema" in facts.options,
        instances="instances" in facts.options,
        no_gpl="no-gpl" in facts.options,
        missing=Missing.SKIP,
        replace=True,
        jobs=jobs,
        fetch=settings,
    )
    try:
        build(request, progress)
    except (BadConfiguration, BadUsage) as error:
        raise BadData(f"asks for what there is not ({error})", manifest) from error
    _publish_alike(folder, facts, request.out)
    findings = list(differences(folder, request.out))
    shutil.rmtree(place)
    return findings


def _publish_alike(folder: Path, facts: BuildFacts, again: Path) -> None:
    """Give a new build what no source decides: version, publication, changelog."""
    fresh = read_facts(again)
    alike = msgspec.structs.replace(
        fresh,
        data_version=facts.data_version,
        released=facts.released,
        publication=facts.publication,
        # The reason is that of the machine which lacked a source.
        partial=facts.partial if ": missing (" in str(facts.partial) else fresh.partial,
    )
    if alike != fresh or (folder / CHANGELOG).is_file():
        carry_over(folder, again)
        rebuild(again, alike)


def _refuse_other_versions(folder: Path, facts: BuildFacts) -> None:
    """Refuse to compare what other programs made, whose results may differ.

    Raises:
        Unavailable: naming them, and the command that installs them.
    """
    here = versions_here()
    wrong = {
        name: version
        for name, version in facts.versions.items()
        if here.get(name) != version
    }
    missing = here.keys() - facts.versions.keys()
    if not wrong and not missing:
        return
    names = ", ".join(f"{name} {version}" for name, version in wrong.items())
    raise Unavailable(
        f"made by {names or f'no word which {min(missing)}'}, which is not here",
        str(folder / MANIFEST),
        "install these versions, then the same command again",
    )


def differences(folder: Path, again: Path) -> Iterator[Finding]:
    """Yield the differences of a folder from another build of the same sources.

    Args:
        folder: The dataset folder.
        again: The other build.
    """
    yield from _manifest_differences(folder, again)
    own, right = (names_in(place) - _FOLLOWING for place in (folder, again))
    for name in sorted(right - own):
        yield _finding(name, "is missing; the sources give it")
    for name in sorted(own - right):
        yield _finding(name, "is not among what the sources give")
    for name in sorted(own & right):
        if file_digest(folder / name) == file_digest(again / name):
            continue
        if is_table(name):
            yield from _table_differences(name, folder / name, again / name)
        else:
            yield _finding(name, "its text is not that of the sources")


def _finding(where: str, detail: str) -> Finding:
    return Finding(check=NAME, where=where, detail=detail)


def _manifest_differences(folder: Path, again: Path) -> Iterator[Finding]:
    own, right = (_members(place / MANIFEST) for place in (folder, again))
    for name in sorted(own.keys() | right.keys()):
        if own.get(name) != right.get(name):
            texts = (json.dumps(side.get(name)) for side in (own, right))
            yield _finding(MANIFEST, f"{name} is {_pair(*texts)}")


def _members(path: Path) -> dict[str, Json]:
    members: dict[str, Json] = json.loads(path.read_bytes())
    return {name: value for name, value in members.items() if name != "files"}


def _pair(own: str, right: str) -> str:
    """Return both values, from a little before the place where they part."""
    same = os.path.commonprefix([own, right])  # noqa: RUF071 - by characters
    start = max(0, len(same) - _SHOWN // 3)
    old, new = (shortened(text[start:], _SHOWN) for text in (own, right))
    return f"{old}, not {new}"


def _table_differences(name: str, own: Path, right: Path) -> Iterator[Finding]:
    try:
        rows, again = (pl.read_parquet(path, glob=False) for path in (own, right))
    except (PolarsError, OSError) as error:
        text = shortened(f"{type(error).__name__}: {error}", 200)
        yield Finding(check=READABLE, where=name, detail=text)
        return
    if rows.schema != again.schema:
        columns = ", ".join(
            column
            for column in dict.fromkeys([*rows.columns, *again.columns])
            if rows.schema.get(column) != again.schema.get(column)
        )
        yield _finding(name, f"its columns are not those of a build: {columns}")
        return
    differing = 0
    for place, (row, wanted) in enumerate(
        zip(rows.iter_rows(named=True), again.iter_rows(named=True), strict=False)
    ):
        if row != wanted:
            differing += 1
            if differing <= _ROWS:
                yield _finding(name, f"row {place}: {_row_difference(row, wanted)}")
    if differing > _ROWS:
        yield _finding(name, f"different too: {counted(differing - _ROWS, 'more row')}")
    if rows.height != again.height:
        yield _finding(
            name, f"{counted(rows.height, 'row')}; the sources give {again.height:,}"
        )
    elif not differing:
        yield _finding(name, "its rows are right, but the bytes are not those written")


def _row_difference(row: dict[str, object], wanted: dict[str, object]) -> str:
    record = row.get("unique_id") or row.get("document")
    name = next(name for name in row if row[name] != wanted[name])
    values = _pair(str(row[name]), str(wanted[name]))
    return f"{shortened(str(record), _SHOWN)}: {name} is {values}"
