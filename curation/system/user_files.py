"""Files: refuse what cannot be used, name files after data, find those that ship."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISBLK, S_ISCHR
from urllib.parse import unquote

from curation.system.errors import BadData, NoInput

#: The packages whose exceptions mean a damaged parquet file.
_TABLE_LIBRARIES = frozenset({"pyarrow", "polars", "pyo3_runtime"})
#: Maximum bytes of a file that is read whole, or line by line.
MAX_BYTES = 2 * 2**30


def refuse_large(path: Path) -> Path:
    """Return the path of a file, to be read at once.

    An inaccessible file is left to its reader, which reports the reason.

    Raises:
        BadData: it is larger than `MAX_BYTES`, or a device without an end.

    Example:
        >>> refuse_large(Path("answers.jsonl")).name
        'answers.jsonl'
    """
    try:
        status = path.stat()
    except OSError:
        return path
    mode, size = status.st_mode, status.st_size
    is_device = S_ISBLK(mode)
    if S_ISCHR(mode):
        is_device = True
        with suppress(OSError), path.open("rb") as file:
            is_device = not os.isatty(file.fileno())
    if is_device:
        raise BadData("a device, and no file", str(path))
    if size > MAX_BYTES:
        message = f"{size:,} bytes, over the limit of {MAX_BYTES:,}"
        raise BadData(message, str(path), "split it, or name another file")
    return path


def read_utf8(path: Path) -> str:
    """Return the text of a file, its ends of lines as they are.

    Raises:
        BadData: it is too large, or not UTF-8: the first other byte is named.
        OSError: it cannot be read.
    """
    try:
        return refuse_large(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise BadData(f"byte {error.start:,} is not UTF-8", str(path)) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say which file cannot be read, if the system refuses in the block.

    Raises:
        NoInput: it does.
    """
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        raise NoInput(f"cannot be read ({why})", str(path)) from error


def existing_path(text: str) -> Path | None:
    """Return the file or folder that a text names; None of any other text."""
    try:
        path = Path(text).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        # Too long for a name, the home of nobody, a zero byte.
        return None


def absolute(expression: str) -> str:
    """Return a source expression that names the same file from every folder.

    Example:
        >>> absolute("owner/name"), absolute("mcp:npx -y server")
        ('owner/name', 'mcp:npx -y server')
    """
    if path := existing_path(expression):
        return str(path.resolve())
    file, _, name = expression.rpartition("#")
    if file and (around := existing_path(file)):
        return f"{around.resolve()}#{name}"
    return expression


@contextmanager
def reading_parquet(where: Path | str) -> Iterator[None]:
    """Raise the libraries' exceptions for a damaged parquet file as `BadData`.

    Besides the libraries' exceptions these are `OSError`, a panic, and `ValueError` of
    columns' names, or of texts in it that should be JSON.

    Args:
        where: The file, or the folder with the files.

    Example:
        >>> with reading_parquet(path):
        ...     rows = polars.read_parquet(path)
    """
    try:
        yield
    except BaseException as error:
        # The system's own faults of a folder may concern the output written there.
        of_file = isinstance(error, OSError) and (
            error.errno is None or not Path(where).is_dir()
        )
        package = type(error).__module__.partition(".")[0]
        if of_file or package in _TABLE_LIBRARIES or isinstance(error, ValueError):
            message = f"not readable as parquet of a build ({error})"
            raise BadData(message, str(where)) from error
        raise


def has_other_bytes(path: str) -> bool:
    """Return whether a path has bytes that are not UTF-8, which Python escapes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return False


def refuse_unprintable(path: Path) -> Path:
    """Return the path, whose name can be written into files and rows.

    Raises:
        NoInput: it has bytes that are not UTF-8.
    """
    if has_other_bytes(path.name):
        name = str(path).encode("utf-8", "backslashreplace").decode()
        raise NoInput("its name is no UTF-8", name, "rename it")
    return path


#: Between split and id in the name of one of MaskBench's files.
MARK = "---"
#: Names that stay as they are, but for blanks.
_PLAIN = re.compile(r"[A-Za-z0-9$@_][A-Za-z0-9$@_.,= -]{0,99}")
_OTHER = re.compile(r"[^A-Za-z0-9$@_.,=-]+")
_MAX_BEGINNING = 60
_DIGEST = 12


def safe_name(name: str) -> str:
    """Return a name as one part of a path or an address, another for each name.

    Blanks become `+`. A name with anything else that is not a letter, a digit or one of
    `$@_.,=-`, or that is too long, is shortened and ends with a digest.

    Args:
        name: Any text, such as an engine's label out of a stranger's run.

    Returns:
        A name that begins with neither a dot nor a hyphen, of 100 characters at most.

    Example:
        >>> safe_name("xgrammar 0.2.8"), safe_name("../../.bashrc")
        ('xgrammar+0.2.8', 'bashrc~1559504cfb83')
    """
    if _PLAIN.fullmatch(name):
        return name.replace(" ", "+")
    beginning = _OTHER.sub("-", name).strip(".-")[:_MAX_BEGINNING]
    from hashlib import sha256  # noqa: PLC0415 - takes 5 ms

    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{beginning}~{digest}"


def parse_name(path: Path) -> tuple[str, str]:
    """Return a file's split (empty where its name has none) and its schema's id."""
    split, _, unique_id = path.stem.partition(MARK)
    return (unquote(split), unquote(unique_id)) if unique_id else ("", unquote(split))


_PACKAGE = Path(__file__).parent.parent
_SHIPPED = _PACKAGE / "_data"


def raw_folder() -> Path:
    """Return the folder of `sources.toml`, the id lists and the sample."""
    return _folder("raw")


def cards_folder() -> Path:
    """Return the folder of the dataset card's templates and texts."""
    return _folder("cards")


def results_folder() -> Path:
    """Return the folder of published results, an edition each."""
    return _folder("results")


def _folder(name: str) -> Path:
    """Prefer the wheel's files; a checkout has the folder beside the package.

    Raises:
        FileNotFoundError: neither exists, so the installation is damaged.
    """
    for parent in (_SHIPPED, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise FileNotFoundError(f"csbdata is installed without its {name!r} folder")


def list_rows(path: Path) -> list[list[str]]:
    """Return the rows of one of our lists: fields with tabs between.

    Comments (`#`) and empty lines are left out.

    Raises:
        OSError: the list is not there.
    """
    lines = path.read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and line[0] != "#"]


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    import hashlib  # noqa: PLC0415 - takes 5 ms

    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
