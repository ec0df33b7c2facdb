"""The documents of a source by URI."""

from __future__ import annotations

from dataclasses import dataclass, field

from curation.references.library import MOST_KEPT, NO_LIBRARY, PackLibrary


@dataclass(slots=True)
class Counted:
    """Files that count how often each is read."""

    contents: dict[str, bytes]
    read_paths: list[str] = field(default_factory=list)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths, sorted."""
        return tuple(sorted(self.contents))

    def read(self, path: str) -> bytes:
        """Return one file's bytes."""
        self.read_paths.append(path)
        return self.contents[path]


def test_a_document_is_read_when_asked_for_and_once() -> None:
    """Nothing is read before, and the parsed document is kept at hand."""
    files = Counted({"a.json": b'{"type": "null"}'})
    library = PackLibrary(files, {"https://made.example/a": "a.json"})
    assert files.read_paths == []
    first = library.get("https://made.example/a")
    assert first == {"type": "null"}
    assert library.get("https://made.example/a") is first
    assert files.read_paths == ["a.json"]


def test_http_and_https_are_one_document() -> None:
    """Either scheme finds what is known under the other."""
    files = Counted({"a.json": b"{}", "b.json": b"[]"})
    uris = {"https://made.example/a": "a.json", "http://made.example/b": "b.json"}
    library = PackLibrary(files, uris)
    assert library.get("http://made.example/a") == {}
    assert library.get("https://made.example/b") == []


def test_what_cannot_be_read_is_not_there() -> None:
    """Unknown URIs, missing files and broken texts are all None."""
    files = Counted({"broken.json": b"{", "twice.json": b'{"a": 1, "a": 2}'})
    names = ("broken", "twice", "missing")
    uris = {f"https://made.example/{name}": f"{name}.json" for name in names}
    library = PackLibrary(files, uris)
    for name in (*names, "unknown"):
        assert library.get(f"https://made.example/{name}") is None
    assert library.get("urn:made:x") is None
    assert NO_LIBRARY.get("https://made.example/a") is None


def test_only_a_few_documents_are_kept_at_hand() -> None:
    """A source of any size does not fill the memory."""
    count = MOST_KEPT + 10
    files = Counted({f"{n}.json": b"{}" for n in range(count)})
    library = PackLibrary(files, {f"https://x/{n}": f"{n}.json" for n in range(count)})
    for number in range(count):
        library.get(f"https://x/{number}")
    library.get(f"https://x/{count - 1}")
    library.get("https://x/0")
    assert len(files.read_paths) == count + 1
