"""A suite's run at a URL: every answer is an object's, and none is asked for twice."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.stores.object_store import ObjectStore, open_store
from curation.system.errors import BadConfiguration, BadData, TemporarilyUnavailable
from evaluation.core.suite import RecordRequest
from evaluation.core.suite_records import SuiteRecord
from evaluation.generation.model_options import ModelOptions
from evaluation.results.reader import open_run
from evaluation.stored_runs import stored_run
from evaluation.stored_runs.stored_copy import copy_run
from evaluation.suite_runs.records import encode_records
from evaluation.suite_runs.request import SuiteRunRequest, choose_suite
from evaluation.suite_runs.run import run_suite, score_file
from tests.evaluation.servers.loopback import Said, answer, loopback

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

_SCHEMA = (
    '{"type": "object", "required": ["n"], "additionalProperties": {"type": "null"}}'
)
_PASSES = '{"n": null}'


@pytest.fixture
def url() -> str:
    """A folder of objects that is not there yet."""
    return f"memory://{uuid.uuid4().hex}/run"


def _request(tmp_path: Path, base: str, url: str, machine: str) -> SuiteRunRequest:
    data = tmp_path / "made.jsonl"
    data.write_bytes(
        encode_records(SuiteRecord(id=f"r{n}", schema=_SCHEMA) for n in range(3))
    )
    fetch = FetchSettings(cache=tmp_path / machine)
    return SuiteRunRequest(
        chosen=choose_suite("passrate"),
        wanted=RecordRequest(data=str(data), fetch=fetch),
        models=(ModelOptions(model=f"{base}#small", patience=0.01),),
        jobs=1,
        run_dir=url,
        fetch=fetch,
    )


def _stop_before_scoring(
    request: SuiteRunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have everything answered, and stop the driver then."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("evaluation.suite_runs.run._score", stopped)
        with pytest.raises(KeyboardInterrupt):
            run_suite(request)


def _outcomes(folder: Path) -> list[tuple[str, str]]:
    return [(row.id, row.result) for row in open_run(folder).rows()]


def _names(url: str, kind: str) -> list[str]:
    return [name for name in open_store(url).names() if name.startswith(kind)]


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_from_another_machine(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was answered has been sent; a third machine reads rows and responses."""
    monkeypatch.setattr(stored_run, "_ROWS", 1)
    with loopback(lambda _body, _number: answer(_PASSES)) as server:
        _stop_before_scoring(_request(tmp_path, server.base, url, "a"), monkeypatch)
        assert len(_names(url, "responses-")) == len(server.asked) == 3
        result = run_suite(_request(tmp_path, server.base, url, "b"))
        assert len(server.asked) == 3
    assert (result.written, result.found, result.place) == (0, 3, url)
    copied = copy_run(url, tmp_path / "c")
    assert _outcomes(copied) == [("r0", "ok"), ("r1", "ok"), ("r2", "ok")]
    assert open_run(copied).header.finished is not None
    assert (copied / "responses.jsonl").read_bytes().count(b"\n") == 3
    assert (copied / "records.jsonl").read_bytes().count(b"\n") == 3


@pytest.mark.slow
def test_the_same_run_again_sends_nothing_new(tmp_path: Path, url: str) -> None:
    """No object is added to a run that has ended; another run is refused."""
    with loopback(lambda _body, _number: answer(_PASSES)) as server:
        request = _request(tmp_path, server.base, url, "a")
        run_suite(request)
        names = open_store(url).names()
        run_suite(request)
        assert open_store(url).names() == names
        with pytest.raises(BadConfiguration, match="another run"):
            run_suite(replace(request, repairs=1))


@pytest.mark.slow
def test_a_later_answer_replaces_one_that_a_server_in_trouble_left_out(
    tmp_path: Path, url: str
) -> None:
    """Both rows are in the store, and the later one counts."""
    working: list[bool] = []

    def reply(_body: dict[str, Any], _number: int) -> Said:
        return answer(_PASSES) if working else Said(status=503, pieces=[b"busy"])

    with loopback(reply) as server:
        first = run_suite(_request(tmp_path, server.base, url, "a"))
        assert first.in_trouble == 3
        working.append(True)
        second = run_suite(_request(tmp_path, server.base, url, "b"))
    assert (second.written, second.in_trouble) == (3, 0)
    assert {result for _, result in _outcomes(copy_run(url, tmp_path / "c"))} == {"ok"}


@pytest.mark.slow
def test_a_file_of_responses_is_scored_into_a_url(tmp_path: Path, url: str) -> None:
    """Records, responses and rows go there; a copy of it can be scored in place."""
    request = _request(tmp_path, "http://nowhere.example", url, "a")
    file = tmp_path / "theirs.jsonl"
    file.write_text(f'{{"record": "r0", "text": {json.dumps(_PASSES)}}}\n')
    for _ in range(2):
        assert len(_outcomes(score_file(request, file).folder)) == 1
    assert len(_names(url, "responses-")) == len(_names(url, "units-")) == 1
    copied = copy_run(url, tmp_path / "c")
    again = score_file(replace(request, run_dir=None), copied)
    assert again.folder == copied


@pytest.mark.slow
def test_a_list_that_lags_doubles_no_answer(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine asks again before the run has ended; the first answer counts."""
    with loopback(lambda _body, _number: answer(_PASSES)) as server:
        _stop_before_scoring(_request(tmp_path, server.base, url, "a"), monkeypatch)
        with monkeypatch.context() as lagging:
            lagging.setattr(ObjectStore, "names", lambda _self: [])
            run_suite(_request(tmp_path, server.base, url, "b"))
        assert len(server.asked) == 6
        third = run_suite(_request(tmp_path, server.base, url, "c"))
        assert len(server.asked) == 6
    assert (third.found, third.problems) == (3, ())
    assert len(_outcomes(copy_run(url, tmp_path / "d"))) == 3


@pytest.mark.slow
def test_a_second_driver_is_told(tmp_path: Path, url: str) -> None:
    """In one line that says where; what the first one does is not disturbed."""
    told: list[str] = []

    def reply(_body: dict[str, Any], number: int) -> Said:
        if not number:
            with pytest.raises(TemporarilyUnavailable) as raised:
                run_suite(_request(tmp_path, server.base, url, "b"))
            told.append(str(raised.value))
        return answer(_PASSES)

    with loopback(reply) as server:
        request = _request(tmp_path, server.base, url, "a")
        patient = replace(request.models[0], patience=60.0)
        run_suite(replace(request, models=(patient,)))
    assert len(told) == 1
    assert "another run" in told[0]
    assert len(_outcomes(copy_run(url, tmp_path / "c"))) == 3


@pytest.mark.slow
def test_objects_that_somebody_changed_are_said(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that are no more are asked for again; other records are another run."""
    with loopback(lambda _body, _number: answer(_PASSES)) as server:
        _stop_before_scoring(_request(tmp_path, server.base, url, "a"), monkeypatch)
        (batch,) = _names(url, "responses-")
        open_store(url).put(batch, b'{"record": \xff\nno JSON\n')
        result = run_suite(_request(tmp_path, server.base, url, "b"))
        assert (result.written, result.found) == (3, 0)
        assert [problem[:17] for problem in result.problems] == [
            f"responses.jsonl:{number}" for number in (1, 2)
        ]
        assert {found for _, found in _outcomes(result.folder)} == {"ok"}
        open_store(url).put("records.jsonl", b"{}\n")
        with pytest.raises(BadData, match=r"records\.jsonl holds other"):
            run_suite(_request(tmp_path, server.base, url, "c"))
