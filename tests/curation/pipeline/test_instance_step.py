"""The step of a build that makes instances: packaged, loadable, the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.core.benchmark import CONFIGS, InstanceKind
from curation.dataset.editions import open_edition
from curation.fit.records import RecordFit, record_fit
from curation.instances.dataset.make_instances import InstanceTask, make_instances
from curation.pipeline.build import BuildResult, build
from curation.pipeline.instance_step import InstanceStep, batch_name
from curation.system.checksums import read_sums
from curation.system.errors import TemporarilyUnavailable
from curation.system.progress import Quiet
from curation.workers.process import Program
from curation.workers.run_folder import RunFolder

if TYPE_CHECKING:
    from curation.instances.model import InstanceRow
    from curation.workers.limits import Message

_SCHEMAS = {
    "easy": '{"type": "object", "properties": {"b": {"type": "integer"}, "a": '
    '{"enum": ["x", "y"]}}, "required": ["a"], "additionalProperties": false}',
    "array": '{"type": "array", "items": {"type": "string"}, "minItems": 2}',
    "none": '{"type": "string", "minLength": 3, "maxLength": 1}',
    "endless": '{"type": "object", "properties": {"a": {"$ref": "#"}}, '
    '"required": ["a"]}',
}
TASKS = [
    InstanceTask(
        config="Github_easy",
        unique_id=name,
        split="train",
        schema=schema,
        dialect="2020-12",
    )
    for name, schema in _SCHEMAS.items()
]


def _by(worker: Path, *, setup: Message, **_: object) -> Program:
    return Program(file=worker, setup=setup)


_MORTAL_WORKER = """
import os, time
from curation.pipeline.instance_step import start as start_whole
from curation.workers.protocol import serve

def start(setup):
    handle_whole = start_whole(setup)
    def handle(unit):
        # Targets are asked by the text of a schema alone.
        schema = unit if isinstance(unit, str) else unit["schema"]
        if "deadly" in schema and schema is not unit:
            os.abort()
        if "slow" in schema:
            time.sleep(60)  # Beyond the deadline of a unit, which is what ends it.
        return handle_whole(unit)
    return handle

serve(start)
"""


@pytest.fixture
def built(sample_result: BuildResult) -> BuildResult:
    """Return what building the sample with its instances gave, by two workers."""
    assert sample_result.request.jobs == 2
    return sample_result


def test_an_edition_has_no_rows_of_instances(built: BuildResult) -> None:
    """What reads schemas leaves the configs of instances aside."""
    configs = {*CONFIGS}
    assert set(open_edition(str(built.request.out)).rows["config"]) == configs


@pytest.mark.slow
def test_the_number_of_jobs_changes_no_byte(built: BuildResult, tmp_path: Path) -> None:
    """One worker and two give the same files."""
    alone = build(replace(built.request, out=tmp_path / "out", jobs=1), Quiet())
    assert read_sums(alone.request.out) == read_sums(built.request.out)


@pytest.mark.slow
def test_without_the_option_there_are_no_instances(
    built: BuildResult, tmp_path: Path
) -> None:
    """The default build has none, and is another build than that with them."""
    request = replace(built.request, out=tmp_path / "out", instances=False)
    files = read_sums(build(request, Quiet()).request.out)
    assert not any("instances" in name for name in files)


def _rows(step: InstanceStep) -> dict[str, tuple[InstanceRow, ...]]:
    return {task.unique_id: own.instances.instances for task, own in step.records()}


def _fits(step: InstanceStep) -> list[RecordFit]:
    return [own.fit for _, own in step.records()]


def test_a_record_has_witnesses_or_a_reason(tmp_path: Path) -> None:
    """A refuted schema has its proof, an endless one the word for it."""
    with RunFolder.open(tmp_path, "one") as run:
        step = InstanceStep(TASKS, run)
        step.work(jobs=1, progress=lambda _done: None)
        made = {task.unique_id: own.instances for task, own in step.records()}
    assert made["none"].answer == "unsatisfiable"
    assert made["none"].reason == "proof"
    assert made["endless"].answer in {"unknown", "unsatisfiable"}
    assert made["easy"].instances[0].kind == InstanceKind.MINIMAL
    assert json.loads(made["easy"].instances[0].text).keys() == {"a"}


@pytest.mark.slow
def test_a_search_without_end_is_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No clock decides: the step ends and names the record; run again, it goes on."""
    worker = tmp_path / "worker.py"
    worker.write_text(_MORTAL_WORKER)
    by_worker = partial(_by, worker)
    endless = replace(TASKS[0], unique_id="endless", schema='{"title": "slow"}')
    with RunFolder.open(tmp_path / "run", "one") as run:
        step = InstanceStep([endless, TASKS[1]], run)
        with monkeypatch.context() as patch:
            patch.setattr("curation.pipeline.instance_step.BACKSTOP", 0.1)
            patch.setattr("curation.pipeline.instance_step.Program", by_worker)
            with pytest.raises(TemporarilyUnavailable, match="Github_easy/endless"):
                step.work(jobs=1, progress=lambda _done: None)
        assert run.done(batch_name(0)) is None
        step.work(jobs=1, progress=lambda _done: None)
        made = {task.unique_id: own.instances for task, own in step.records()}
    assert made["endless"].instances
    assert made["array"].instances


@pytest.mark.slow
def test_a_schema_that_kills_its_worker_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its neighbours in the batch have their instances, in their places."""
    worker = tmp_path / "worker.py"
    worker.write_text(_MORTAL_WORKER)
    monkeypatch.setattr("curation.pipeline.instance_step.Program", partial(_by, worker))
    deadly = replace(TASKS[0], unique_id="deadly", schema='{"title": "deadly"}')
    with RunFolder.open(tmp_path / "run", "one") as run:
        step = InstanceStep([TASKS[0], deadly, TASKS[1]], run)
        step.work(jobs=1, progress=lambda _done: None)
        made = {task.unique_id: own.instances for task, own in step.records()}
    assert made["deadly"].reason == "crashed"
    assert made["easy"].instances
    assert made["array"].instances


def test_a_bound_crossed_into_infinity_is_no_near_miss() -> None:
    """What JSON cannot write is left out; the rest stays."""
    made = make_instances(
        '{"type": "number", "maximum": 1.7976931348623157e308}', "2020-12"
    )
    assert made.instances
    assert not any("Infinity" in each.text for each in made.instances)


def test_keys_come_in_the_order_of_properties(tmp_path: Path) -> None:
    """`b` stands before `a` in the schema, and so in every instance."""
    with RunFolder.open(tmp_path, "one") as run:
        step = InstanceStep(TASKS, run)
        step.work(jobs=1, progress=lambda _done: None)
        rows = _rows(step)["easy"]
    texts = [each.text for each in rows if '"b"' in each.text and each.valid]
    assert texts
    for text in texts:
        assert list(json.loads(text)) == ["b", "a"]


_KILLED = """
import os, signal, sys
from pathlib import Path
from curation.pipeline import instance_step
from curation.workers.run_folder import RunFolder
from tests.curation.pipeline.test_instance_step import TASKS

instance_step.BATCH_SCHEMAS = 1
done = []

def progress(count):
    done.append(count)
    if sum(done) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

with RunFolder.open(Path(sys.argv[1]), "two") as run:
    step = instance_step.InstanceStep(TASKS, run)
    step.work(jobs=1, progress=progress)
"""


def test_stored_targets_are_found_again_and_none_is_asked_anew(tmp_path: Path) -> None:
    """A batch holds the targets of its schemas; another run reads them from there."""
    with RunFolder.open(tmp_path, "one") as run:
        step = InstanceStep(TASKS, run)
        step.work(jobs=1, progress=lambda _done: None)
        expected = [record_fit(task.schema) for task in TASKS]
        assert _fits(step) == expected
        stored = run.done(batch_name(0)) or b""
        changed = stored.replace(b'"xai"', b'"no such"')
        run.store(batch_name(0), changed)
        again = InstanceStep(TASKS, run)
        again.work(jobs=1, progress=lambda _done: None)
        assert [fit.fits[-1] for fit in _fits(again)].count("no such") > 0


@pytest.mark.slow
def test_a_killed_step_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches that are done are not made again, and the result is the same."""
    monkeypatch.setattr("curation.pipeline.instance_step.BATCH_SCHEMAS", 1)
    with RunFolder.open(tmp_path / "one", "one") as run:
        whole = InstanceStep(TASKS, run)
        whole.work(jobs=1, progress=lambda _done: None)
        expected = _rows(whole)
    root = str(Path(__file__).parents[3])
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path / "two")],
        check=False,
        cwd=root,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert killed.returncode == -signal.SIGKILL
    told: list[int] = []
    with RunFolder.open(tmp_path / "two", "two") as run:
        again = InstanceStep(TASKS, run)
        again.work(jobs=1, progress=told.append)
        assert told[0] == 2
        assert _rows(again) == expected
        assert _fits(again) == [record_fit(task.schema) for task in TASKS]
