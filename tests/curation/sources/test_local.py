"""The user's own schemas: folders, JSONL, parquet; neighbours."""

from __future__ import annotations

import errno
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.download.packs import single_file
from curation.sources import local
from curation.sources.neighbours import (
    NeighbourLibrary,
    find_neighbours,
    neighbour_library,
    to_base_uri,
)
from curation.sources.readers import claimed_uri, claimed_uris
from curation.system.errors import BadConfiguration, BadData, NoInput
from curation.workers.limits import DOCUMENT_BYTES
from tests.curation.sources.given import Held, held, reading

if TYPE_CHECKING:
    from collections.abc import Iterator


def table(**columns: list[object]) -> Held:
    """Return a parquet file with the columns."""
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), sink)
    return Held({"own.parquet": sink.getvalue()})


def found(files: Held) -> dict[str, bytes]:
    """Return id to content, in reading order."""
    given = reading("local", files, config="Ours")
    return {each.unique_id: each.content for each in local.read(given)}


_LINES = [
    b'{"type": "string", "minLength": 1.0}',
    b"",
    b'{"unique_id": "x", "json_schema": {"maximum": 1E3}}',
    b'{"unique_id": "y", "json_schema": "{\\"type\\":\\"null\\"}"}\r',
    b'{"unique_id": 7, "json_schema": true}',
    b"not json",
    b'{"json_schema": {"type": "array"}}',
]
_TWICE = [b'{"unique_id": "x", "json_schema": %d}' % it for it in (1, 2, 2, 2)]
#: Files, and the content of each id, in reading order.
_READ: list[tuple[Held, dict[str, bytes]]] = [
    # A folder is read recursively. An id is the relative path without `.json`; other
    # files are none.
    (
        held(**{"b/c10.json": 1, "b/c9.json": 2, "a.json": 3, "notes.md": b"#"}),
        {"a": b"3", "b/c9": b"2", "b/c10": b"1"},
    ),
    # An object in `json_schema` is the schema, and not an empty one around it.
    (
        held(**{"a.json": {"unique_id": "x", "json_schema": {"type": "null"}}}),
        {"a": b'{"type": "null"}'},
    ),
    # YAML is JSON by its name; beside another file of its stem it keeps the suffix.
    (
        held(
            **{"a.yaml": b"type: 'null'", "b.yml": b"on: 1", "b.json": 2},
            **{"c.yaml": b"{}", "c.yml": b"- 1"},
        ),
        {"a": b'{"type": "null"}', "b": b"2", "b.yml": b'{"on": 1}'}
        | {"c.yaml": b"{}", "c.yml": b"[1]"},
    ),
    # Broken YAML goes on as it is, and is rejected as what it is.
    (held(**{"a.yaml": b"a: [1"}), {"a": b"a: [1"}),
    # A line is a schema, called after its line and its text as it is, or names itself.
    (
        Held({"own.jsonl": b"\n".join(_LINES)}),
        {
            "own-1": b'{"type": "string", "minLength": 1.0}',
            "own-5": b"true",
            "own-6": b"not json",
            "own-7": b'{"type": "array"}',
            "x": b'{"maximum": 1E3}',
            "y": b'{"type":"null"}',
        },
    ),
    # Of ids that occur twice the first one stays, and the others add their row.
    (
        Held({"own.jsonl": b"\n".join(_TWICE)}),
        {"x": b"1", "x-2": b"2", "x-3": b"2", "x-4": b"2"},
    ),
    # A table has a column or two; a missing text is empty, a missing id the row's
    # number.
    (
        table(
            json_schema=["{}", None, "[]"], unique_id=["b", "a", None], other=[1, 2, 3]
        ),
        {"a": b"", "b": b"{}", "own-3": b"[]"},
    ),
    (table(json_schema=["{}"]), {"own-1": b"{}"}),
]


@pytest.mark.parametrize(("files", "contents"), _READ)
def test_each_kind_of_file_is_read(files: Held, contents: dict[str, bytes]) -> None:
    """Every schema with its id, in natural order."""
    assert [*found(files).items()] == [*contents.items()]


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    """A text file, a pipe and a name that is no UTF-8; nothing but such is an error."""
    (tmp_path / "c.md").touch()
    with pytest.raises(NoInput, match=r"no \.json or \.yaml file among 1"):
        local.require_files(local.open_source(str(tmp_path)))
    (tmp_path / "a.json").write_text("{}")
    os.mkfifo(tmp_path / "b.json")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.json")).write_text("{}")
    opened = local.open_source(str(tmp_path))
    assert local.require_files(opened) == (
        f"{tmp_path}: 3 files are not read: b.json (no regular file), c.md (no .json or"
        " .jsonc or .yaml or .yml), caf\\udce9.json (its name is no UTF-8)"
    )
    assert [text.id for text in opened.texts()] == ["a"]


def test_what_may_not_be_looked_at_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed folder and a closed file are not read, and are no end of the others."""
    for name in ("a", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "b.json").write_text("{}")
    (tmp_path / "c.json").write_text("{}")
    scandir, stat = os.scandir, Path.stat

    def closed_folder(path: str | Path) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, "not for you", str(path))
        return scandir(path)

    def closed_file(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.name == "c.json":
            raise PermissionError(errno.EACCES, "not for you", str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", closed_folder)
        patch.setattr(Path, "stat", closed_file)
        opened = local.open_source(str(tmp_path))
        assert local.require_files(opened) == (
            f"{tmp_path}: 2 files are not read: c.json (cannot be read (not for you)),"
            " closed (cannot be read (not for you))"
        )
        assert [text.id for text in opened.texts()] == ["a/b"]


def test_no_more_is_read_of_a_file_than_a_reader_takes(tmp_path: Path) -> None:
    """A sparse file of a terabyte costs nothing, whatever its name ends with."""
    for name in ("a.json", "weights.safetensors"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2**40)
    (text,) = local.open_source(str(tmp_path)).texts()
    assert len(text.read()) == DOCUMENT_BYTES + 1
    assert local.open_source(str(tmp_path)).files.digest


def test_yaml_claims_its_uri() -> None:
    """By its `$id`, as JSON does; an equal copy in JSON counts as the same document."""
    files = held(
        **{
            "a.yaml": b"$id: https://example.com/a",
            "b.yml": b"$id: https://example.com/b",
            "c.json": {"$id": "https://example.com/b"},
            "d.yaml": b"a: [1",
        }
    )
    uris = local.uris(reading("local", files, config="Ours"))
    claims = {uri: path for uri, path in uris.items() if "example.com" in uri}
    assert claims == {
        "https://example.com/a": "a.yaml",
        "https://example.com/b": "b.yml",
    }


def test_without_a_config_nothing_is_read() -> None:
    """There is no name to fall back on."""
    with pytest.raises(BadConfiguration, match="config"):
        list(local.read(reading("local", held(**{"a.json": {}}))))


def test_references_between_files_resolve() -> None:
    """Every file has a place to refer from, and claims count as well."""
    files = held(**{"a b.json": {"$id": "https://example.com/a"}, "d/e.json": {}})
    given = reading("local", files, config="Ours")
    bases = {each.unique_id: each.base_uri for each in local.read(given)}
    uris = local.uris(given)
    assert uris["https://example.com/a"] == "a b.json"
    assert {str(bases["a b"]), str(bases["d/e"])} < set(uris)
    assert bases["d/e"] == "https://local.invalid/d/e.json"


def test_a_row_says_where_it_stands() -> None:
    """The path of a document names the file and the row."""
    files = Held({"own.jsonl": b'\n{"type": "null"}\n'})
    (document,) = local.read(reading("local", files, config="Ours"))
    assert document.provenance.path == "own.jsonl#2"
    assert local.uris(reading("local", files, config="Ours")) == {}


def test_a_file_that_cannot_be_read_is_no_input(tmp_path: Path) -> None:
    """Such as one that went after it was looked at: exit code 66, with its name."""
    for path in (tmp_path, tmp_path / "gone.json"):
        with pytest.raises(NoInput, match="cannot be read"):
            single_file(path)


def test_a_made_row_says_where_its_schema_stands(tmp_path: Path) -> None:
    """The path of a document is the pointer in the user's file, or its name there."""
    body = {"content": {"application/json": {"schema": {"type": "null"}}}}
    operation = {"operationId": "send", "requestBody": body}
    api = {"openapi": "3.1.0", "paths": {"/a/b": {"put": operation}}}
    tools = [{"name": "ask me", "parameters": {"type": "object"}}]
    paths = []
    for form, content in (("openapi", api), ("tools", tools)):
        file = tmp_path / f"{form}.json"
        file.write_text(json.dumps(content))
        files = local.open_source(str(file)).files
        given = replace(reading("local", Held({}), config="Ours"), files=files)
        paths += [each.provenance.path for each in local.read(given)]
    inside = "/paths/~1a~1b/put/requestBody/content/application~1json/schema"
    assert paths == [f"openapi.json#{inside}", "tools.json#/0/parameters"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (table(unique_id=["a"]), "json_schema"),
        (table(unique_id=["a"], json_schema=[{"type": "null"}]), "parquet"),
        (Held({"own.parquet": b"PAR1"}), "parquet"),
    ],
)
def test_a_foreign_table_is_a_fault(files: Held, message: str) -> None:
    """One line says what is wrong with the file."""
    with pytest.raises(BadData, match=message):
        found(files)


def test_a_text_of_a_build_that_is_no_utf_8_is_a_fault(tmp_path: Path) -> None:
    """One line names the table, as for any other damage of it."""
    (tmp_path / "a").mkdir()
    own = table(json_schema=[b"\xff"], unique_id=["a"]).read("own.parquet")
    (tmp_path / "a" / "0.parquet").write_bytes(own)
    with pytest.raises(BadData, match=r"0\.parquet"):
        local.open_source(str(tmp_path)).files.read("a")


def test_many_rows_of_one_id_cost_no_more_than_others() -> None:
    """Each takes the next count: tried from the first, they take hours."""
    rows = [(number, "x", b"{}") for number in range(1, 20_000)]
    counted = (f"x-{number}" for number in range(2, 20_000))
    assert [made[1] for made in local.made_unique(rows, "s")] == ["x", *counted]


@pytest.mark.parametrize(
    ("file", "named", "name"),
    [
        ("v1.2/x.json", "v1.2", "v1.2"),
        ("v1.2/x.json", "v1.2/", "v1.2"),
        ("a.b.json", "a.b.json", "a.b"),
    ],
)
def test_a_folder_keeps_what_follows_its_point(
    file: str, named: str, name: str, tmp_path: Path
) -> None:
    """It has no ending, as a file has one."""
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("{}")
    assert local.open_source(f"{tmp_path}/{named}").name == name


@given(st.lists(st.tuples(st.sampled_from(["a", "a-2", "s-1", None]), st.binary())))
def test_no_two_rows_ever_share_an_id(rows: list[tuple[str | None, bytes]]) -> None:
    """Whatever the file says, and the same every time."""
    numbered = [(number, *row) for number, row in enumerate(rows, start=1)]
    unique = list(local.made_unique(numbered, "s"))
    assert len({unique_id for _, unique_id, _ in unique}) == len(rows)
    assert unique == list(local.made_unique(numbered, "s"))


OWN = "https://example.com/s/a.json"


@pytest.mark.parametrize(
    ("uri", "leads_to"),
    [
        (to_base_uri("b.yaml"), {"type": "integer"}),
        (to_base_uri("sub/c d.yml"), {"type": "integer"}),
        (to_base_uri("d.json"), {"type": "null"}),
        (to_base_uri("../out.json"), None),
        (to_base_uri("broken.yaml"), None),
        (to_base_uri("gone.json"), None),
        (OWN, {"$id": OWN}),
        ("http://example.com/s/a.json", {"$id": OWN}),
        ("https://example.com/s/b.yaml", {"type": "integer"}),
        ("http://example.com/s/d.json", {"type": "null"}),
        ("https://example.com/s/gone.json", None),
        ("https://example.com/d.json", None),
    ],
)
def test_a_reference_leads_to_the_files_of_a_folder(
    tmp_path: Path, uri: str, leads_to: object
) -> None:
    """JSON and YAML, by the place or the `$id`, by http as by https; none outside."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "out.json").write_text("{}")
    own = f'{{"$id": "{OWN}"}}'
    for name, text in {
        "a.json": own,
        "b.yaml": "type: integer",
        "sub/c d.yml": "type: integer",
        "d.json": '{"type": "null"}',
        "broken.yaml": "a: [1",
    }.items():
        (root / name).write_text(text)
    library = neighbour_library(find_neighbours(root, {"a.json": own.encode()}))
    assert library.get(uri) == leads_to


def test_a_missing_file_is_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many files beside it claim a URI in the same place."""
    claims = {
        f"https://example.com/s/{number}.json": f"{number}.json" for number in range(50)
    }
    library = NeighbourLibrary(tmp_path, claims)
    asked: list[str] = []
    monkeypatch.setattr(library, "_document", asked.append)
    for uri in ("https://example.com/s/gone.json", "http://example.com/s/gone.json"):
        assert library.get(uri) is None
    assert asked == ["gone.json"] * 2


def test_a_link_to_itself_is_no_document(tmp_path: Path) -> None:
    """Nor the end of the check in which a reference leads to it."""
    (tmp_path / "loop.json").symlink_to("loop.json")
    assert NeighbourLibrary(tmp_path, {}).get(to_base_uri("loop.json")) is None


URI = "https://example.com/a.json"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"$id": "https://example.com/a.json"}', URI),
        (b'{"id"\n:"https://example.com/a.json#"}', URI),
        (b'{"id": "https://example.com/b", "$id": "https://example.com/a.json"}', URI),
        (b'{"$id": "https://example.com/a.json#part"}', None),
        (b'{"$id": "a.json"}', None),
        (b'{"$id": "https:///a.json"}', None),
        (b'{"properties": {"id": "https://example.com/a.json"}}', None),
        (b'{"properties": {"id": {"$id": "https://example.com/a.json"}}}', None),
        (b'{"$id": 3, "default": {"id": "https://example.com/a.json"}}', None),
        (b'[{"$id": "https://example.com/a.json"}]', None),
        (b'{"$id": "https://example.com/a.json"', None),
        (b"\xff", None),
        (b"", None),
    ],
)
def test_a_document_claims_by_the_id_at_its_root(
    content: bytes, expected: str | None
) -> None:
    """Only an absolute URI without a fragment, at the root, is a claim."""
    assert claimed_uri(content) == expected


def test_a_uri_that_two_documents_claim_leads_nowhere() -> None:
    """Equal copies count as one; different claimants cancel each other out."""
    claim = {"$id": URI}
    other = {"$id": "https://example.com/b.json"}
    files = held(a=claim, b=claim, c=other, d={**other, "type": "object"}, e={})
    assert claimed_uris(files.read, files.paths) == {URI: "a"}
