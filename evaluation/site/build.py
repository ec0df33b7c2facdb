"""Build the site of an edition: the pages of every module, and the edition's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.system.atomic_files import atomic_write_bytes
from curation.system.atomic_folders import refuse_foreign
from evaluation.results.edition import INDEX, ROWS
from evaluation.site import about, engines, front, keywords, records, schema
from evaluation.site.rendering import script_names, static_text
from evaluation.site.site import Page, Site, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


#: The modules of pages.
_MODULES: Final = (front, keywords, engines, records, schema, about)
#: The file that is written first, and marks a folder as a site.
_FIRST: Final = f"results/{INDEX}"
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
    refuse_foreign(out, _FIRST)
    paths: list[str] = []
    for page in files_of(open_site(results, data)):
        atomic_write_bytes(out / page.path, page.content)
        paths.append(page.path)
    kept = set(paths)
    for file in (file for name in _FOLDERS for file in (out / name).rglob("*")):
        # Of an earlier edition, or of data that this site does not show.
        if file.is_file() and file.relative_to(out).as_posix() not in kept:
            file.unlink()
    return paths


def files_of(site: Site) -> Iterator[Page]:
    """Yield every file of the site of an edition."""
    yield from _files(site)
    for module in _MODULES:
        yield from module.pages(site)


def _files(site: Site) -> Iterator[Page]:
    """Yield the edition's own files under `results/`, and the scripts."""
    for name in (INDEX, ROWS):
        path = site.folder / name
        yield Page(path=f"results/{name}", content=path.read_bytes())
    for name in script_names():
        yield Page(path=name, content=static_text(name).encode())
