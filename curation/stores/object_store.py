"""A folder of objects at a URL: each is put whole, and nothing is ever appended to.

Every call is tried again where trouble may pass. An object that is created has a name
of its own, so that a put whose answer was lost can be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from curation.credentials.redaction import redacted
from curation.stores.faults import file_system_errors, may_pass
from curation.system.errors import BadConfiguration
from curation.system.extras import install_extra
from curation.system.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Found = TypeVar("_Found")
#: Of one call; the libraries below try some of it again by themselves.
RETRIES: Final = RetryPolicy(attempts=4, first_pause=0.5, longest_pause=8.0, jitter=0.5)
#: Objects that are read at a time.
_TOGETHER: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStore:
    """A folder behind a URL; made by `open_store`."""

    #: As the user named it, without credentials.
    shown: str
    #: The file system, of fsspec.
    files: Any
    root: str
    retries: RetryPolicy = RETRIES

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.root.rpartition("/")[2] or "run"

    def names(self) -> list[str]:
        """Return the names of all objects, in alphabetical order.

        Raises:
            CsbdataError: it cannot be read.
        """

        def listed() -> list[str]:
            # What fsspec remembers of a list would hide an object that lists lack.
            self.files.invalidate_cache()
            try:
                return list(map(str, self.files.find(self.root)))
            except FileNotFoundError:
                return []
            finally:
                self.files.invalidate_cache()

        prefix = f"{self.root}/"
        names = (
            path.removeprefix(prefix)
            for path in self._call(listed)
            if path.startswith(prefix)
        )
        # Keys of an object store may look like paths that lead elsewhere.
        return sorted(name for name in names if ".." not in name.split("/"))

    def get(self, name: str) -> bytes | None:
        """Return what an object holds; None where there is none.

        Raises:
            CsbdataError: it cannot be read.
        """

        def content() -> bytes | None:
            try:
                return bytes(self.files.cat_file(self._path(name)))
            except FileNotFoundError:
                return None

        return self._call(content)

    def get_all(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return what objects hold, by name; one that is not there is left out.

        Raises:
            CsbdataError: one cannot be read.
        """
        found: dict[str, bytes] = {}
        for start in range(0, len(names), _TOGETHER):
            part = names[start : start + _TOGETHER]
            together = self._together([self._path(name) for name in part])
            for name in part:
                # What failed among many is asked for alone: tried again, and said.
                content = together.get(self._path(name)) or self.get(name)
                if content is not None:
                    found[name] = content
        return found

    def _together(self, paths: list[str]) -> dict[str, bytes]:
        def contents() -> dict[str, bytes]:
            found = self.files.cat(paths, recursive=False, on_error="omit")
            return {path: bytes(content) for path, content in found.items()}

        return self._call(contents)

    def put(self, name: str, content: bytes) -> None:
        """Write an object, whatever was there before.

        Raises:
            CsbdataError: it cannot be written.
        """

        def written() -> None:
            self._make_folder(name)
            self.files.pipe_file(self._path(name), content)

        self._call(written)

    def create(self, name: str, content: bytes) -> bool:
        """Write an object where there is none; return whether it is there like this.

        A put that is repeated finds its own object, and that is well.

        Raises:
            CsbdataError: it cannot be written.
        """

        def created() -> bool:
            self._make_folder(name)
            try:
                self.files.pipe_file(self._path(name), content, mode="create")
            except FileExistsError:
                return False
            return True

        return self._call(created) or self.get(name) == content

    def remove(self, name: str) -> None:
        """Remove an object, if it is there.

        Raises:
            CsbdataError: it cannot be removed.
        """

        def removed() -> None:
            try:
                self.files.rm_file(self._path(name))
            except FileNotFoundError:
                return

        self._call(removed)

    def _make_folder(self, name: str) -> None:
        """Make the folder of an object, where folders are things of their own.

        In object stores, whose file systems are asynchronous, that would be a bucket.
        """
        from fsspec.asyn import AsyncFileSystem  # noqa: PLC0415 - `is_url` needs it not

        if not isinstance(self.files, AsyncFileSystem):
            folder = self._path(name).rpartition("/")[0]
            self.files.makedirs(folder, exist_ok=True)

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _call(self, ask: Callable[[], _Found]) -> _Found:
        with file_system_errors(self.shown):
            return self.retries.call(ask, may_pass)


def is_url(place: object) -> bool:
    """Return whether a place is named by a URL, not by a path.

    Example:
        >>> is_url("s3://bucket/run"), is_url("runs/one")
        (True, False)
    """
    return isinstance(place, str) and "://" in place


def open_store(url: str) -> ObjectStore:
    """Return the folder of objects that a URL names; nothing is asked of it yet.

    Raises:
        BadConfiguration: fsspec does not know it, or a package for it is missing.
        CsbdataError: it cannot be reached.
    """
    import fsspec  # noqa: PLC0415 - 40 ms, of which `is_url` needs nothing

    with file_system_errors(url):
        try:
            files, root = fsspec.core.url_to_fs(url)
        except ImportError as error:
            then = install_extra("s3") if url.startswith(("s3:", "s3a:")) else ""
            raise BadConfiguration(str(error), redacted(url), then) from error
    return ObjectStore(shown=redacted(url), files=files, root=str(root).rstrip("/"))
