"""Build the site of an edition: the pages of every module, and the edition's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.system.atomic_files import atomic_write_bytes, refuse_foreign
from evaluation.results.edition import INDEX, ROWS
from evaluation.site import keywords, pages, records
from evaluation.site.rendering import STATIC
from evaluation.site.site import Page, Site, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


#: What yields pages.
_PAGES: Final = (
    *(pages.front, keywords.pages, pages.engines),
    *(records.pages, pages.about),
)
#: Where all that lies is of the site.
_FOLDERS: Final = ("can", "engine", "records", "results")


def build_site(results: Path, data: Path | None, out: Path) -> list[str]:
    """Write the site of an edition into a folder; return the paths of its files.

    Raises:
        NoInput: the edition or the dataset is not there.
        BadData: a file of them cannot be read.
        BadConfiguration: the edition was measured on another dataset.
        CannotCreate: the folder cannot be written, or holds something else.
    """
    # This file is written first, and marks a folder as a site.
    refuse_foreign(out, f"results/{INDEX}")
    paths: list[str] = []
    for page in list_files(open_site(results, data)):
        atomic_write_bytes(out / page.path, page.content)
        paths.append(page.path)
    written = {out / path for path in paths}
    for file in (file for name in _FOLDERS for file in (out / name).rglob("*")):
        # From an earlier edition, or from data that this site omits.
        if file.is_file() and file not in written:
            file.unlink()
    return paths


def list_files(site: Site) -> Iterator[Page]:
    """Yield every file of the site: the edition, scripts, the style and pages."""
    for name in (INDEX, ROWS):
        yield Page(path=f"results/{name}", content=(site.folder / name).read_bytes())
    for file in sorted(STATIC.iterdir()):
        yield Page(path=file.name, content=file.read_bytes())
    for pages_of in _PAGES:
        yield from pages_of(site)
