"""What all tests share: builds of the sample, golden files and how they are renewed."""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from coverage import Coverage
from filelock import FileLock
from hypothesis import HealthCheck, settings

from curation.download.cache import FetchSettings
from curation.pipeline.build import BuildRequest, BuildResult, build
from curation.system.progress import Quiet
from curation.workers import process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.publishing import Connection

# So that a failed `assert` there says what it compared.
pytest.register_assert_rewrite("tests.capabilities.checks")

# A busy machine is slow at drawing examples too; that says nothing of our code. New
# examples are looked for on a developer's machine; continuous integration, which
# judges one change, draws the same ones every time.
settings.register_profile(
    "csbdata",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.register_profile("quick", settings.get_profile("csbdata"), max_examples=15)
settings.load_profile("quick")

# Workers of pytest-xdist find them set, by the library that reads lines for Python:
# output would be folded as on a screen, and what a test sees turn on who runs it.
for _width in ("COLUMNS", "LINES"):
    os.environ.pop(_width, None)

#: Where a law has its settings.
_SETTINGS = "_hypothesis_internal_use_settings"

#: The table of capabilities.
_ROWS = "tests/capabilities/"
#: The files that take longest.
_MAX_LENGTH = (_ROWS, "tests/growth/")

#: What tells a child process to measure its coverage, too.
_COVERAGE = "COVERAGE_PROCESS_CONFIG"


@pytest.fixture(autouse=True, scope="session")
def _workers_count() -> Iterator[None]:
    """Let worker processes measure their coverage where ours is measured.

    They are given an environment of their own, which has nothing of the caller's.
    """
    with pytest.MonkeyPatch.context() as patch:
        if _COVERAGE in os.environ:
            allowed = (*process._ALLOWED, _COVERAGE)
            patch.setattr(process, "_ALLOWED", allowed)
        yield


@pytest.fixture(autouse=True, scope="module")
def _garbage() -> None:
    """Let no search for garbage look at tests, and what files before have left.

    What an engine's worker does is called here too, and it searches at every text.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Let `-n auto` be one more than cores: many a test waits, and needs no core."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Draw more examples of a law in a slow test."""
    is_slow = item.get_closest_marker("slow") is not None
    settings.load_profile("csbdata" if is_slow else "quick")
    # Since it was imported, a law has the settings of that moment.
    law = getattr(item, "obj", None)
    if is_slow and getattr(law, _SETTINGS, None) is settings.get_profile("quick"):
        setattr(law, _SETTINGS, settings.default)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Give slow tests twenty minutes, and nightly ones two hours, before they fail.

    With `--tenth`, deselect the slow tests that are not drawn; the table of
    capabilities stays whole. The files that take longest begin, so that no worker is
    left alone with one at the end.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(_MAX_LENGTH))
    seed = config.getoption("tenth")
    if seed:
        slow = [
            item
            for item in items
            if item.get_closest_marker("slow") and not item.nodeid.startswith(_ROWS)
        ]
        left_out = {*slow} - {*drawn(slow, seed)}
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.timeout(7200))
        elif item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(1200))


def drawn(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    """Draw a tenth of all tests, another tenth for each seed.

    It is every tenth by name: of a file's tests, which take about the same time, each
    draw has as many, so that no draw takes much longer than another.
    """
    first = int.from_bytes(hashlib.sha256(seed.encode()).digest()) % 10
    return sorted(items, key=lambda item: item.nodeid)[first::10]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Save what is covered while pytest-xdist still waits for its worker.

    It kills a worker that has not ended ten seconds after its last test.
    """
    measuring = Coverage.current()
    if measuring is not None:
        measuring.stop()
        measuring.save()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with `browser: NOT RUN` where a test of pages lacks its browser."""
    skipped = terminalreporter.getreports("skipped")
    if any("to drive a browser" in str(report.longrepr) for report in skipped):
        terminalreporter.write_line("browser: NOT RUN")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Search for no garbage meanwhile: tests stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--renew-golden`, to be used after a wanted change, and `--tenth`."""
    parser.addoption(
        "--tenth", metavar="SEED", help="keep a tenth of the slow tests, drawn by SEED"
    )
    parser.addoption(
        "--renew-golden",
        action="store_true",
        help="write the golden files anew instead of comparing with them",
    )


@pytest.fixture(scope="session")
def sample_result(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """Return what building the embedded sample with its instances gave.

    All workers of a test run build it once; its folder is to be read only.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    kept = shared / "sample" / "result.pickle"
    with FileLock(shared / "sample.lock"):
        if not kept.exists():
            cache = shared / "sample" / "cache"
            request = BuildRequest(
                out=shared / "sample" / "built",
                sample=True,
                instances=True,
                jobs=2,
                fetch=FetchSettings(mirror=None, cache=cache, offline=True),
            )
            kept.write_bytes(pickle.dumps(build(request, Quiet())))
    result = pickle.loads(kept.read_bytes())  # noqa: S301 - our own bytes
    assert isinstance(result, BuildResult)
    return result


@pytest.fixture(scope="session")
def sample_build(sample_result: BuildResult) -> Path:
    """Return a build of the embedded sample with its instances, to be read only."""
    return sample_result.request.out


@pytest.fixture
def folder(sample_build: Path, tmp_path: Path) -> Path:
    """Return a build of the sample that a test may spoil."""
    return copytree(sample_build, tmp_path / "built")


@pytest.fixture
def there(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Connection]:
    """Return a Hub that the library is turned to."""
    from tests.publishing import connected  # noqa: PLC0415 (heavy)

    with connected(monkeypatch, tmp_path_factory.mktemp("home")) as connection:
        yield connection


@pytest.fixture(scope="session")
def compare_golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file, or write it there if so told."""
    renew = bool(request.config.getoption("--renew-golden"))

    def compare(path: Path, text: str) -> None:
        if renew:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
