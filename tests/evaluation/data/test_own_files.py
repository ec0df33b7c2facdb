"""JSON Schemas of one's own, as files or as a table, and schemas that are none."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from curation.download.cache import FetchSettings
from curation.instances.dataset.records import maskbench_text
from curation.sources.local import json_lines, made_unique
from curation.system.errors import BadData, CannotCreate, NoInput
from curation.system.progress import Quiet
from curation.workers.limits import Limits
from curation.workers.pool import Pool
from curation.workers.process import Program
from evaluation.data import open_data
from evaluation.data.own_schemas import complaint_about
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.instances.dataset.worker import InstanceRequest
    from curation.workers.pool import BatchResult
    from evaluation.core.records import Record
    from evaluation.data import Dataset


SCHEMA = '{"type":"object","required":["a"],"properties":{"a":{"minimum":1.50}}}'


def _open(where: Path, *, instances: bool = True) -> Dataset:
    settings = FetchSettings(mirror=None, cache=where.parent / "cache")
    return open_data(str(where), settings=settings, instances=instances)


def _schemas(tmp_path: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a folder of files."""
    folder = tmp_path / "schemas"
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def _opened(path: Path) -> Dataset:
    return _open(path, instances=False)


def _named(data: Dataset) -> dict[str, Record]:
    return {each.key: each for each in data.records()}


def test_a_folder_of_schemas_is_read_in_natural_order(tmp_path: Path) -> None:
    """Folders are configs, names ids; numbers and key order stay as they are."""
    names = ("o10.json", "o9.schema.json", "deep/er/x.json", ".git/no.json")
    data = _opened(_schemas(tmp_path, dict.fromkeys(names, SCHEMA)))
    found = _named(data)
    assert list(found) == ["deep/er/x", "files/o9", "files/o10"]
    schema = found["files/o9"].constraint
    assert "1.50" in schema
    assert list(json.loads(schema)) == ["type", "required", "properties"]
    assert (data.origin, data.instances, data.count) == ("files", "none", 3)
    assert "required" in found["files/o9"].features


def test_what_is_no_schema_is_left_out_and_said(
    tmp_path: Path, said: list[str]
) -> None:
    """Broken files of a folder do not stop the others, and are counted."""
    files = {"good.json": "true", "list.json": "[1]", "torn.json": '{"a": '}
    files |= {"deep.json": "[" * 100_000, "a.json": "7", "b.json": "8", "c.json": "9"}
    files |= {"odd.json": '{"type": "strin"}'}
    data = _opened(_schemas(tmp_path, {**files, "bytes.json": b"\xff\xfe\x00"}))
    assert list(_named(data)) == ["files/good"]
    assert data.header()["left_out"] == 8
    assert [line.partition(".")[0] for line in said[:5]] == [
        f"left out: {name}" for name in ("a", "b", "bytes", "c", "deep")
    ]
    assert said[5:] == ["left out: 3 more"]
    assert data.left_out[5] == "list.json: a JSON Schema is an object, true or false"
    assert data.left_out[6].startswith("odd.json: not valid under 2020-12")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("mine.json", "{", r"mine\.json"),
        ("mine.json", "[]", r"mine\.json"),
        ("mine.json", '{"schema": {}, "tests": [1]}', r"mine\.json"),
        ("mine.json", '{"type": "strin"}', "not valid under 2020-12"),
        ("mine.jsonl", '7\n"x"\n', "no row is a schema: row 1: a JSON Schema is"),
        ("mine.jsonl", "", "no schema in it"),
        # A path that does not exist is no name on the Hub.
        *((it, None, "no such file or folder") for it in ("no/such/here", "a b")),
        (".", None, "no file in it"),
    ],
)
def test_what_holds_no_schema_ends_the_command(
    name: str, content: str | None, said: str, tmp_path: Path
) -> None:
    """There is nothing else to measure: one line, with what was looked for."""
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises((BadData, NoInput), match=said):
        _open(path)


def test_maskbench_files_bring_their_instances(tmp_path: Path) -> None:
    """Config, id, order and labels are the files'; near misses keep their keyword."""
    kinds = ("full", "near_miss: required at /required", "from the suite")
    values: tuple[UntypedJson, ...] = ({"b": 1, "a": "\u65e5"}, {}, None)
    tests = [
        {"description": kind, "valid": kind == "full", "data": value}
        for kind, value in zip(kinds, values, strict=True)
    ]
    text = maskbench_text("", {"required": ["a"]}, tests)
    data = _open(_schemas(tmp_path, {"Github_easy---o%2F1.json": text}))
    sample = _named(data)["Github_easy/o/1"]
    assert data.instances == "given"
    assert [(each.text, each.kind, each.valid) for each in sample.instances] == [
        ('{"b": 1, "a": "\u65e5"}', "full", True),
        ("{}", "near_miss", False),
        ("null", "test", False),
    ]
    assert sample.instances[1].keyword == "required"
    assert sample.instances[1].schema_pointer == "/required"


def test_a_reproducer_is_the_unit_that_it_came_from(tmp_path: Path) -> None:
    """Its texts are taken as they are, JSON or not, and so is its name."""
    path = tmp_path / "llguidance-1.json"
    texts = [("1.0e0", True), ("{'", False)]
    content = {
        "schema": {"type": "number"},
        "tests": [{"valid": valid, "text": text} for text, valid in texts],
        "csbdata": {"config": "Snowplow", "id": "sp_1"},
    }
    path.write_text(json.dumps(content))
    sample = _named(_open(path))["Snowplow/sp_1"]
    assert [(each.text, each.valid) for each in sample.instances] == texts


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[InstanceRequest]:
    """Return what workers are asked to make instances for."""
    asked: list[InstanceRequest] = []
    run_batches = Pool.run_batches

    def noted(self: Pool, batches: Iterable[Sequence[Any]]) -> Iterator[BatchResult]:
        for batch in map(list, batches):
            asked.extend(batch)
            yield from run_batches(self, [batch])

    monkeypatch.setattr(Pool, "run_batches", noted)
    return asked


def test_instances_are_made_once_for_each_schema(
    tmp_path: Path, requests: list[InstanceRequest]
) -> None:
    """What is kept is not made again; of an edited folder only the edited schema is."""
    schemas = [{"type": "integer", "minimum": number} for number in range(3)]
    files = {f"{at}.json": json.dumps(schema) for at, schema in enumerate(schemas)}
    folder = _schemas(tmp_path, files)
    first = list(_open(folder).records())
    assert (len(requests), all(each.instances for each in first)) == (3, True)
    assert first[0].dialect == "2020-12"
    assert list(_open(folder).records()) == first
    assert len(requests) == 3
    (folder / "1.json").write_text('{"const": 5}')
    edited = list(_open(folder).records())
    assert len(requests) == 4
    assert [edited[0], edited[2]] == [first[0], first[2]]
    assert edited[1].instances[0].text == "5"


def test_given_instances_stay_beside_made_ones(tmp_path: Path) -> None:
    """Each record has its own; one that was edited since has none of what was made."""
    test = {"valid": True, "data": 7}
    files = {"a.json": json.dumps({"schema": True, "tests": [test]})}
    folder = _schemas(tmp_path, {**files, "b.json": '{"const": 5}'})
    data = _open(folder)
    assert [each.instances[0].text for each in data.records()] == ["7", "5"]
    assert (data.count, data.instances) == (2, "given and made")
    (folder / "b.json").write_text('{"const": 6}')
    with pytest.raises(BadData, match="files/b: changed while it was measured"):
        list(data.records())


def test_a_damaged_store_of_instances_is_made_anew_or_named(tmp_path: Path) -> None:
    """What is kept is a convenience: broken bytes in it cost only time.

    Where only its index is broken, the line says which file to remove.
    """
    path = tmp_path / "mine.json"
    path.write_text('{"const": 5}')
    data = _open(path)
    first = list(data.records())
    kept = tmp_path / "cache" / "instances.sqlite"
    for beside in tmp_path.glob("cache/instances.sqlite-*"):
        beside.unlink()
    sound = kept.read_bytes()
    kept.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4000)
    assert list(_open(path).records()) == first
    kept.write_bytes(sound)
    pages = bytearray(kept.read_bytes())
    pages[2 * 4096 : 3 * 4096] = b"\xff" * 4096
    kept.write_bytes(pages)
    for reads in (lambda: _open(path), lambda: list(data.records())):
        with pytest.raises(CannotCreate, match=r"instances\.sqlite: .*malformed"):
            reads()


def test_a_schema_that_is_hopeless_has_no_instances(tmp_path: Path) -> None:
    """It stays a subject: a schema without instances never counts as passing."""
    path = tmp_path / "mine.json"
    path.write_text('{"type": "object", "minProperties": 2, "maxProperties": 1}')
    data = _open(path)
    assert [each.instances for each in data.records()] == [()]
    assert (data.count, data.instances) == (1, "made")


def _keys(tmp_path: Path) -> set[bytes]:
    """Return the keys of the instances that are kept."""
    with closing(sqlite3.connect(tmp_path / "cache" / "instances.sqlite")) as kept:
        return {key for (key,) in kept.execute("select key from made")}


def _folder(tmp_path: Path, count: int) -> Path:
    files = {f"{number}.json": f'{{"const": {number}}}' for number in range(count)}
    return _schemas(tmp_path, files)


@contextmanager
def _stopped(*_: object, **_named: object) -> Iterator[Callable[[int], None]]:
    """Show progress; somebody stops the command once some are made."""
    made: list[int] = []

    def advance(steps: int) -> None:
        made.append(steps)
        if len(made) > 40:
            raise KeyboardInterrupt

    yield advance


@pytest.mark.slow
def test_what_was_made_before_a_stop_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command goes on behind the last batch that was complete."""
    folder = _folder(tmp_path, 70)
    with monkeypatch.context() as patch:
        patch.setattr(Quiet, "bar", _stopped)
        with pytest.raises(KeyboardInterrupt):
            _open(folder)
    assert 32 <= len(_keys(tmp_path)) < 70
    data = _open(folder)
    assert [each.instances[0].text for each in data.records()] == [
        str(number) for number in range(70)
    ]


_NEVER_ANSWERS = """
import threading
from curation.workers.protocol import serve
serve(lambda _setup: lambda _unit: threading.Event().wait())
"""


def test_a_schema_that_costs_too_much_has_no_instances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, requests: list[InstanceRequest]
) -> None:
    """It is asked twice, the second time for less, and then stays without."""
    worker = tmp_path / "never_answers.py"
    worker.write_text(_NEVER_ANSWERS)
    limits = replace(Limits(), seconds=0.05)
    monkeypatch.setattr("evaluation.data.instance_store.limits", lambda: limits)
    monkeypatch.setattr(
        "evaluation.data.instance_store.program",
        lambda _seed: Program(file=worker, setup=None),
    )
    data = _open(_folder(tmp_path, 2))
    assert [request.lean for request in requests] == [False, False, True, True]
    assert [each.instances for each in data.records()] == [(), ()]
    assert (data.count, data.instances) == (2, "made")


def test_what_old_code_made_is_thrown_away(tmp_path: Path) -> None:
    """Of other versions only what is younger than a week is left alone."""
    folder = _folder(tmp_path, 1)
    _open(folder)
    (made,) = _keys(tmp_path)
    now = int(time.time())
    with closing(sqlite3.connect(tmp_path / "cache" / "instances.sqlite")) as kept:
        for name, age in ((b"young", 604_740), (b"old", 604_860)):
            row = (name, b"{}", "other code", now - age)
            kept.execute("insert into made values (?, ?, ?, ?)", row)
        kept.commit()
    _open(folder)
    assert _keys(tmp_path) == {made, b"young"}


_OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
_MASKBENCH = {"schema": _OBJECT, "tests": [{"valid": True, "data": {"a": "x"}}]}


def _lines(folder: Path, *rows: UntypedJson) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_each_line_is_a_schema_a_row_or_a_file_of_maskbench(tmp_path: Path) -> None:
    """Rows have their own ids, schemas their line's; tests come along."""
    path = _lines(
        tmp_path,
        _OBJECT,
        {"json_schema": json.dumps(_OBJECT), "unique_id": "named"},
        {"json_schema": _OBJECT, "unique_id": "named"},
        _MASKBENCH,
        {},
    )
    data = _opened(path)
    samples = list(data.records())
    assert [sample.group for sample in samples] == ["mine"] * 5
    ids = [sample.id for sample in samples]
    assert ids[:2] == ["mine-1", "named"]
    assert ids[2].startswith("named-")
    assert len(set(ids)) == 5
    assert [len(sample.instances) for sample in samples] == [0, 0, 0, 1, 0]
    assert json.loads(samples[1].constraint) == _OBJECT
    assert (data.count, data.origin) == (5, "files")
    names = [name for _, name, _ in made_unique(json_lines(path.read_bytes()), "mine")]
    assert ids == names


def test_a_parquet_file_of_ones_own_is_read_in_the_same_way(tmp_path: Path) -> None:
    """Columns `unique_id` and `json_schema`, in one file instead of a folder."""
    path = tmp_path / "mine.parquet"
    texts = [json.dumps(_OBJECT), "{"]
    pl.DataFrame({"unique_id": ["a", "b"], "json_schema": texts}).write_parquet(path)
    data = _opened(path)
    assert [sample.id for sample in data.records()] == ["a"]
    assert data.left_out[0].startswith("row 2: not a JSON text")


def test_what_is_no_schema_is_left_out_with_its_row(
    tmp_path: Path, said: list[str]
) -> None:
    """Broken lines and schemas of no draft are said, and are in no denominator."""
    path = _lines(tmp_path, _OBJECT, 7, {"type": "strin"})
    with path.open("ab") as file:
        file.write(b"{broken\n\n")
    data = _opened(path)
    assert data.count == 1
    rows = [line.partition(":")[0] for line in data.left_out]
    assert rows == ["row 2", "row 3", "row 4"]
    assert "not valid under 2020-12: /type" in data.left_out[1]
    assert said[:3] == [f"left out: {line}" for line in data.left_out]
    assert data.header()["left_out"] == 3


def test_an_invalid_schema_with_tests_stays_and_is_said(
    tmp_path: Path, said: list[str]
) -> None:
    """MaskBench asks it too: its figures would not be MaskBench's without it."""
    odd = {**_MASKBENCH, "schema": {"type": "strin"}}
    (tmp_path / "odd.json").write_text(json.dumps(odd))
    (tmp_path / "good.json").write_text(json.dumps(_MASKBENCH))
    data = _opened(tmp_path)
    assert data.count == 2
    assert data.header()["invalid"] == 1
    assert said[0].startswith("invalid, and counted all the same: odd.json: ")


@pytest.mark.parametrize(("schema", "bad"), table(__file__, "drafts"))
def test_a_schema_is_judged_by_the_draft_that_it_declares(
    schema: UntypedJson,
    bad: bool,  # noqa: FBT001 (a parameter of the test)
) -> None:
    """One that declares none needs one draft; an unknown dialect is not judged."""
    assert bool(complaint_about(schema)) is bad
