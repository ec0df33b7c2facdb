"""Build a dataset folder again as its manifest says: the same bytes come out."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from curation.core.documents import Missing
from curation.packaging.derived_files import rebuild
from curation.packaging.manifest import read_facts
from curation.pipeline.build import build
from curation.pipeline.request import BuildRequest
from curation.system.checksums import names_in, sums_of
from curation.system.progress import Progress


def files_built_otherwise(folder: Path, *, jobs: int, progress: Progress) -> list[str]:
    """Return the files of a folder that a new build lacks or gives other bytes.

    The new build has the sources, rules and options of the folder's manifest; of what
    no source decides, the repository on the Hub and the reasons why it is partial.

    Raises:
        CsbdataError: the folder is no build, or a source cannot be had.
    """
    facts = read_facts(folder)
    with TemporaryDirectory(prefix="csbdata-rebuild-") as temporary:
        again = Path(temporary) / "dataset"
        request = BuildRequest(
            out=again,
            rules=facts.rules,
            pins=tuple(facts.pins),
            fastjsonschema="fastjsonschema" in facts.options,
            instances="instances" in facts.options,
            missing=Missing.SKIP,
            jobs=jobs,
        )
        build(request, progress)
        told = {"repository": facts.repository, "partial": facts.partial}
        rebuild(again, msgspec.structs.replace(read_facts(again), **told))
        before, now = (sums_of(side, names_in(side)) for side in (folder, again))
    names = sorted(before.keys() | now.keys())
    return [name for name in names if before.get(name) != now.get(name)]
