"""The run folder and its fingerprint; what one document may cost, in batches."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

import curation
from curation.core.documents import Reason
from curation.core.json_types import UntypedJson
from curation.instances.dataset.worker import limits as instance_limits
from curation.pipeline.process_document import LIMITS
from curation.system.errors import (
    CannotCreate,
    TemporarilyUnavailable,
)
from curation.workers.fingerprint import (
    code_digest,
    code_files,
    digest_of_files,
    fingerprint,
    versions,
)
from curation.workers.limits import (
    BUSY_MACHINE,
    DOCUMENT_BYTES,
    WorkerLine,
    decode_line,
    too_big,
    too_many,
)
from curation.workers.pool import in_batches
from curation.workers.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_completion_is_found_by_the_next_run(tmp_path: Path) -> None:
    """What was stored under a fingerprint is there under the same."""
    with RunFolder.open(tmp_path / "run", "f1") as run:
        assert run.done("batch-0") is None
        run.store("batch-0", b"\n{}\n\0")
    with RunFolder.open(tmp_path / "run", "f1") as run:
        assert run.done("batch-0") == b"\n{}\n\0"


def test_a_second_holder_of_a_folder_is_turned_away(tmp_path: Path) -> None:
    """One line, exit code 75; the folder is free again afterwards."""
    with RunFolder.open(tmp_path, "f1"):
        with (
            pytest.raises(TemporarilyUnavailable, match="another run") as caught,
            RunFolder.open(tmp_path, "f1"),
        ):
            pass
        assert caught.value.exit_code == 75
        assert "\n" not in str(caught.value)
    with RunFolder.open(tmp_path, "f2"):
        pass


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:0],
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content.replace(b"f1", b"f9"),
        lambda content: content.partition(b"\n")[2],
        lambda content: b"\0" * len(content),
    ],
)
def test_a_damaged_completion_is_none(tmp_path: Path, damage: object) -> None:
    """A file's presence proves nothing: its bytes must have their digest.

    One that was moved or copied is not taken for another batch's.
    """
    assert callable(damage)
    with RunFolder.open(tmp_path, "f1") as run:
        run.store("batch-0", b"payload")
        (file,) = (each for each in tmp_path.rglob("batch-0"))
        file.with_name("batch-1").write_bytes(file.read_bytes())
        file.write_bytes(damage(file.read_bytes()))
        assert run.done("batch-0") is run.done("batch-1") is None


def test_what_killed_runs_left_is_removed(tmp_path: Path) -> None:
    """Unfinished files go at the next start; other fingerprints' work stays a while."""
    with RunFolder.open(tmp_path, "f1") as run:
        run.store("batch-0", b"payload")
        (file,) = (each for each in tmp_path.rglob("batch-0"))
        torso = file.with_name(".batch-1.4711.unfinished")
        torso.write_bytes(b"hal")
    with RunFolder.open(tmp_path, "f1") as run:
        assert not torso.exists()
        assert run.done("batch-0") == b"payload"
    for other in ("f2", "f3"):
        with RunFolder.open(tmp_path, other):
            assert file.exists()
    with RunFolder.open(tmp_path, "f4"):
        assert not file.exists()


CONTENTS = st.dictionaries(
    st.sampled_from("abc"), st.integers() | st.text(), max_size=3
)


@given(CONTENTS, CONTENTS)
def test_fingerprints_are_equal_exactly_where_their_parts_are(
    one: dict[str, object], other: dict[str, object]
) -> None:
    """Nothing that decides a result can change without the fingerprint."""
    assert (fingerprint(**one) == fingerprint(**other)) is (one == other)


def test_another_byte_of_the_code_is_another_digest(tmp_path: Path) -> None:
    """Content, name and number of the files count; where they lie does not."""
    files = [(root, path) for root, path in code_files()][::20]
    copies = [_copied(files, tmp_path / name) for name in ("one", "two")]
    one = digest_of_files(copies[0])
    assert digest_of_files(files) == one == digest_of_files(copies[1])
    for root, path in copies[1]:
        before = path.read_bytes()
        path.write_bytes(before + b"#")
        assert digest_of_files(copies[1]) != one
        path.write_bytes(before)
        other = path.with_name("renamed")
        path.rename(other)
        renamed = [(root, other if found == path else found) for _, found in copies[1]]
        assert digest_of_files(renamed) != one
        other.rename(path)
    assert digest_of_files(copies[1][1:]) != one


def test_the_digest_of_the_code_is_that_of_its_files() -> None:
    """Nothing less enters than what `code_files` lists."""
    assert code_digest() == digest_of_files(code_files())


def _copied(files: list[tuple[Path, Path]], folder: Path) -> list[tuple[Path, Path]]:
    found = []
    for root, path in files:
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        found.append((folder, copy))
    return found


def test_the_code_is_every_module_of_ours() -> None:
    """A change anywhere in the package, or in what ships with it, is another code."""
    files = {path for _, path in code_files()}
    package = Path(curation.__file__).parent
    assert set(package.rglob("*.py")) <= files
    assert {"sources.toml", "README.md.j2"} <= {path.name for path in files}
    assert not any(
        "sample" in path.relative_to(root).parts for root, path in code_files()
    )


def test_the_versions_name_what_decides() -> None:
    """Both validators and Python itself are among them."""
    assert {"python", "jsonschema", "jsonschema-rs", "orjson"} <= versions().keys()


def test_a_place_that_is_no_folder_is_a_fault(tmp_path: Path) -> None:
    """Exit code 73, before any work is done in vain."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(CannotCreate, match="file"),
        RunFolder.open(tmp_path / "file", "f1"),
    ):
        pass


def test_a_text_at_the_limit_is_read_and_one_byte_more_is_not() -> None:
    """The limit is the largest size that is allowed."""
    assert too_big(b"x" * DOCUMENT_BYTES) is None
    verdict = too_big(b"x" * (DOCUMENT_BYTES + 1))
    assert verdict is not None
    assert verdict.reason is Reason.TOO_LARGE
    assert "16,777,217 bytes" in verdict.detail


@pytest.mark.parametrize(
    ("value", "nodes"), [(1, 1), ({}, 1), ({"a": 1, "b": [1, 2]}, 5), ([[], [[]]], 4)]
)
def test_nodes_are_all_values_the_root_included(value: UntypedJson, nodes: int) -> None:
    """Members and elements count one each."""
    assert too_many(value, nodes) is None
    assert too_many(value, nodes - 1) is not None


def test_counting_ends_once_there_are_more_than_enough() -> None:
    """A huge document is not counted to its end."""

    class Last(dict[str, UntypedJson]):
        def values(self) -> NoReturn:
            raise AssertionError("it was counted")

    assert too_many([Last(), *range(1000)], 10) is not None


def test_what_becomes_of_a_document_does_not_turn_on_how_busy_the_machine_is() -> None:
    """Rules and instances have their seconds of processor time, and longer to wait."""
    for each in (LIMITS, instance_limits()):
        assert each.wall_times == BUSY_MACHINE >= 4


weights = st.lists(st.integers(min_value=0, max_value=50))


@given(weights, st.integers(1, 10), st.integers(1, 100))
def test_batches_hold_every_unit_once_and_in_order(
    units: list[int], most: int, heaviest: int
) -> None:
    """Joined again, the batches are the units; only their last one weighs too much."""
    batches = list(in_batches(units, int, most=most, heaviest=heaviest))
    assert list(chain.from_iterable(batches)) == units
    for each in batches:
        assert 1 <= len(each) <= most
        assert sum(each[:-1]) < heaviest


def test_a_batch_is_ready_before_the_next_unit_is_asked_for() -> None:
    """What is read lazily is held one batch at a time."""
    asked: list[int] = []

    def units() -> Iterator[int]:
        for each in range(9):
            asked.append(each)
            yield each

    first = next(iter(in_batches(units(), int, most=3, heaviest=99)))
    assert first == asked == [0, 1, 2]


@pytest.mark.parametrize(
    "line",
    [b"", b"[1, 2]", b'{"request":"1"}', b'"\xff"', b'{"answer":[1,}', b"[" * 9_999],
)
def test_what_is_no_message_says_nothing(line: bytes) -> None:
    """It is an empty message, which no worker may send."""
    assert decode_line(line) == WorkerLine()
