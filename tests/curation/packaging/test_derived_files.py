"""What a folder tells of itself follows from its data, byte for byte."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from curation.core.benchmark import CANARY, CONFIGS, METADATA_KEY, SPLITS, natural_key
from curation.core.documents import Origin
from curation.dataset.content_digest import DIGESTS, record_digests
from curation.dataset.edition_statistics import compute_statistics
from curation.dataset.editions import open_edition
from curation.dataset.ledger import write_ledger
from curation.dataset.paper_tables import PLOTS, TARGETS_PLOT
from curation.dataset.parquet import COLUMNS, RECORDS
from curation.download.cache import FetchSettings
from curation.fit.profile import load_profile, provider_names
from curation.instances.dataset.parquet import COLUMNS as INSTANCES
from curation.instances.dataset.parquet import ROWS
from curation.packaging import rewritten_fits
from curation.packaging.counts import count_rows, data_files
from curation.packaging.derived_files import differing_files, is_derived, rebuild
from curation.packaging.manifest import (
    FILE,
    ConfigFigures,
    list_origins,
    read_facts,
    read_manifest,
    whole_manifest,
    write_manifest,
)
from curation.packaging.rewritten_fits import FITS, rewritten_fit
from curation.packaging.tables import LEDGER_FORMS, refuse_foreign_columns
from curation.pipeline.build import BuildRequest, build
from curation.system.checksums import read_sums
from curation.system.errors import BadData, NoInput, TemporarilyUnavailable
from curation.system.progress import Quiet
from curation.verification.run import CHECKS, verify_folder
from curation.workers.run_folder import find_run_folder, locked
from tests.builds import write_build, write_config
from tests.late import Late
from tests.made import count_entries, entry, facts, in_split, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.core.json_types import UntypedJson
    from curation.core.records import BenchmarkRecord
    from curation.dataset import plots
    from curation.packaging.manifest import Manifest
else:
    plots = Late("curation.dataset.plots")


GOLDEN = Path(__file__).parents[2] / "golden" / "sample-card.md"


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@contextmanager
def plots_taken_from(folder: Path) -> Iterator[None]:
    """Copy the plots of a folder where any would be drawn."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "curation.packaging.derived_files.draw_plots",
            lambda _tables, into: copytree(
                folder / "plots", into / "plots", dirs_exist_ok=True
            ),
        )
        yield


@pytest.fixture
def drawn(sample_build: Path) -> Iterator[None]:
    """Take the sample's own plots where a test is not about drawing them."""
    with plots_taken_from(sample_build):
        yield


@pytest.mark.slow
def test_the_card_of_the_sample_is_as_it_was(
    tmp_path: Path, compare_golden: Callable[[Path, str], None]
) -> None:
    """Without instances it is the checked-in one."""
    fetch = FetchSettings(cache=tmp_path / "cache", offline=True)
    build(BuildRequest(out=tmp_path / "built", sample=True, fetch=fetch), Quiet())
    pages = (tmp_path / "built" / name for name in ("README.md", "DETAILS.md"))
    compare_golden(GOLDEN, "".join(page.read_text(encoding="utf-8") for page in pages))


@pytest.mark.slow
def test_rebuilt_from_the_data_everything_has_the_same_bytes(folder: Path) -> None:
    """What a build wrote is written again after all that is derived was removed."""
    before = bytes_of(folder)
    for name in before:
        if is_derived(name) and name != "manifest.json":
            (folder / name).unlink()
    rebuild(folder)
    assert bytes_of(folder) == before


@pytest.mark.slow
@pytest.mark.usefixtures("drawn")
def test_whatever_is_not_what_the_data_give_is_named(folder: Path) -> None:
    """Edited, missing and surplus files are each named; then `rebuild` mends them."""
    with (folder / "README.md").open("a", encoding="utf-8") as stream:
        stream.write("One more line.\n")
    (folder / "plots" / "table-8.png").unlink()
    (folder / "LICENSES" / "old.txt").write_text("of an earlier edition")
    assert differing_files(folder) == [
        "LICENSES/old.txt",
        "README.md",
        "plots/table-8.png",
    ]
    rebuild(folder)
    assert differing_files(folder) == []


@pytest.mark.usefixtures("drawn")
def test_changed_rows_show_in_what_is_derived(folder: Path) -> None:
    """One row less: counts, digests and the card are no longer right."""
    path = folder / "Snowplow" / "test-00000-of-00001.parquet"
    rows = pq.read_table(path)
    pq.write_table(rows.slice(1), path)
    found = differing_files(folder)
    assert {"README.md", "SHA256SUMS"} <= set(found)


def test_the_digests_are_those_of_coreutils(sample_build: Path) -> None:
    """`sha256sum -c` finds every file but its list itself, and each as listed."""
    ended = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"],  # noqa: S607 (as the user has it)
        cwd=sample_build,
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert set(read_sums(sample_build)) == set(bytes_of(sample_build)) - {"SHA256SUMS"}


def test_every_parquet_file_carries_the_canary(sample_build: Path) -> None:
    """The canary is in each file's metadata and the manifest, and in no schema."""
    paths = list(sample_build.rglob("*.parquet"))
    assert paths
    for path in paths:
        metadata = pq.read_schema(path).metadata
        assert metadata[METADATA_KEY.encode()] == CANARY.encode()
        columns = pq.read_table(path)
        assert CANARY not in json.dumps(columns.to_pylist(), default=str)
    assert read_manifest(sample_build).canary == CANARY


@pytest.mark.usefixtures("drawn")
def test_others_files_are_listed_and_left_alone(folder: Path) -> None:
    """A text that somebody wrote is listed and kept."""
    (folder / "NOTES.md").write_text("Mine.\n")
    rebuild(folder)
    assert (folder / "NOTES.md").read_text() == "Mine.\n"
    assert "NOTES.md" in read_sums(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("drawn")
def test_the_core_of_an_edition_is_a_config(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records are those that the edition names, in that order, and no others'.

    `datasets` opens it by its name, the other configs do not change, and without an
    edition of this content it goes.
    """
    ids = {config: _ids(folder, config) for config in ("Snowplow", "Github_easy")}
    chosen = [f"Snowplow/{ids['Snowplow'][1]}", f"Github_easy/{ids['Github_easy'][0]}"]
    before = record_digests(folder)
    edition = tmp_path / "results" / "2026.11"
    edition.mkdir(parents=True)
    before.write_parquet(edition / DIGESTS)
    (edition / "index.json").write_text("{}")
    (edition / "table.md").write_text("engines\n")
    (edition / "core.tsv").write_text(
        f"id\tdifficulty\tstands_for\n{chosen[0]}\t0.5\t2.25\n{chosen[1]}\t1.0\t1.5\n"
    )
    place = "curation.packaging.derived_files.results_folder"
    monkeypatch.setattr(place, lambda: edition.parent)
    rebuild(folder)
    rows = datasets.load_dataset(
        str(folder), "core", split="test", cache_dir=str(tmp_path / "cache")
    )
    assert [f"{row['config']}/{row['unique_id']}" for row in rows] == chosen
    assert rows["stands_for"] == [2.25, 1.5]
    assert rows["difficulty"] == [0.5, 1.0]
    assert differing_files(folder) == []
    assert record_digests(folder).equals(before)
    table = folder / "core" / "test-00000-of-00001.parquet"
    kept = table.read_bytes()
    pq.write_table(pq.read_table(table).slice(1), table)
    assert "core/test-00000-of-00001.parquet" in differing_files(folder)
    table.write_bytes(kept)
    # The card is computed again by another process, which knows of no edition here.
    others = [check for check in CHECKS if check.name != "derived"]
    found = verify_folder(folder, checks=others).findings
    assert [finding for finding in found if finding.failure] == []
    (edition / "index.json").unlink()
    rebuild(folder)
    assert not (folder / "core").exists()


def _ids(folder: Path, config: str) -> list[str]:
    rows = open_edition(str(folder)).rows
    return rows.filter(config=config)["unique_id"].to_list()


def test_a_missing_table_is_named(folder: Path) -> None:
    """A split that the ledger has records of, and nobody has the file of."""
    gone = folder / "Github_easy" / "test-00000-of-00001.parquet"
    gone.unlink()
    with pytest.raises(NoInput, match="test-00000"):
        rebuild(folder)


@pytest.mark.parametrize("act", [rebuild, differing_files, read_manifest])
def test_what_is_no_build_is_refused(
    tmp_path: Path, act: Callable[[Path], object]
) -> None:
    """A folder without manifest is named, and not touched: exit 66."""
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(NoInput, match=re.escape(str(tmp_path))):
        act(tmp_path)
    assert bytes_of(tmp_path) == {"mine.txt": b"x"}


@pytest.mark.usefixtures("drawn")
def test_one_at_a_time_writes_a_folder(folder: Path) -> None:
    """While a build or another card is at work in it, nothing is touched: exit 75."""
    before = bytes_of(folder)
    with (
        locked(find_run_folder(folder)),
        pytest.raises(TemporarilyUnavailable, match="another run is at work"),
    ):
        rebuild(folder)
    assert bytes_of(folder) == before


def test_a_broken_manifest_leaves_the_folder_as_it_was(folder: Path) -> None:
    """Bad facts are named: exit 65; nothing has been replaced."""
    (folder / "manifest.json").write_text("{")
    before = bytes_of(folder)
    with pytest.raises(BadData):
        rebuild(folder)
    assert bytes_of(folder) == before
    assert [each.name for each in folder.parent.iterdir()] == ["built"]


RECORD_TABLE = "Snowplow/test-00000-of-00001.parquet"
#: A table of each kind that a folder holds.
FORMS = {RECORD_TABLE: RECORDS, f"instances/{RECORD_TABLE}": ROWS, **LEDGER_FORMS}


@pytest.mark.parametrize("path", FORMS)
def test_other_columns_are_refused(path: str, tmp_path: Path) -> None:
    """Each column of each table, gone, twice or of another type."""
    columns = FORMS[path].columns
    (tmp_path / path).parent.mkdir(parents=True)
    for place, column in enumerate(columns):
        other = pa.field(column.name, pa.time32("s"))
        for wrong in (
            columns.set(place, other),
            columns.remove(place),
            columns.append(column),
        ):
            pq.write_table(wrong.empty_table(), tmp_path / path)
            with pytest.raises(BadData, match=rf"{path}: .*\b{column.name}\b"):
                refuse_foreign_columns(tmp_path)
    pq.write_table(columns.empty_table(), tmp_path / path)
    refuse_foreign_columns(tmp_path)


def test_nothing_is_derived_of_other_columns(folder: Path) -> None:
    """One line instead of polars' own words."""
    path = folder / RECORD_TABLE
    pq.write_table(pq.read_table(path).drop_columns("lints"), path)
    with pytest.raises(BadData, match="lacks the column lints"):
        rebuild(folder)


@pytest.mark.usefixtures("drawn")
def test_what_a_killed_card_left_is_gone_after_the_next(folder: Path) -> None:
    """SIGKILL leaves the new files beside the folder; the same command removes them."""
    left = folder.with_name(f".{folder.name}.abc.unfinished")
    left.mkdir()
    (left / "README.md").write_text("half")
    rebuild(folder)
    assert not left.exists()


def test_features_are_counted_once(sample_build: Path) -> None:
    """The plot counts as the column does: under each row's own dialect."""
    rows = pl.read_parquet(sorted(sample_build.glob("[A-Z]*/t*.parquet")), glob=False)
    rows = pl.concat(
        [rows, *map(pl.read_parquet, sample_build.glob("[A-Z]*/val*.parquet"))]
    )
    counted = rows.select(pl.col("features").explode()).group_by("features").len()
    shown = compute_statistics(open_edition(str(sample_build))).figure_2["features"]
    assert shown == dict(counted.drop_nulls().iter_rows())


@pytest.mark.slow
def test_plots_and_tables_come_from_the_rows(tmp_path: Path) -> None:
    """Every plot is there, that of targets if any was asked."""
    tables = compute_statistics(open_edition(str(write_build(tmp_path / "build"))))
    counts = {name: sum(drafts.values()) for name, drafts in tables.table_9.items()}
    assert counts == {"Github_easy": 2, "Snowplow": 1, "Kubernetes": 1}
    for taken, names in (
        ({}, PLOTS),
        ({"gemini": 2, "vllm": 3}, [*PLOTS, TARGETS_PLOT]),
    ):
        folder = tmp_path / str(len(taken))
        plots.draw(tables, taken, 4, folder)
        files = {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
        assert {path.name for path in folder.iterdir() if path.stat().st_size} == files


@pytest.mark.parametrize(
    ("samples", "counted", "left_out", "asked"),
    [(0, 3, {}, 3), (1, 2, {"Snowplow": 1}, 2), (3, 3, {}, 3)],
)
def test_rows_of_the_sample_count_if_there_are_no_others(
    samples: int, counted: int, left_out: dict[str, int], asked: int, tmp_path: Path
) -> None:
    """In the tables as in what targets take."""
    rows = [
        (
            "Snowplow",
            replace(
                record(f"s{at}"),
                origin=(Origin.SAMPLE if at < samples else Origin.UPSTREAM).value,
                fits=("vllm",),
                fits_but_for=(),
            ),
        )
        for at in range(3)
    ]
    edition = open_edition(str(write_build(tmp_path, rows)))
    tables = compute_statistics(edition)
    assert sum(tables.table_9["Snowplow"].values()) == counted
    assert tables.left_out == left_out
    counts = count_rows(tmp_path, edition.rows, ["Snowplow"])
    assert (counts["asked"], counts["targets"]["vllm"]["accepted"]) == (asked, asked)


def test_only_what_every_target_was_asked_as_it_is_today_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another profile's answer, or a missing one, is no "no"; a lost witness is one."""
    monkeypatch.setattr(rewritten_fits, "results_folder", lambda: tmp_path)
    rewritten_fits.known.cache_clear()
    assert rewritten_fit("a" * 64) is None
    first, second, *others = provider_names()
    rows = [
        {
            "schema": letter * 16,
            "target": name,
            "profile": load_profile(name).digest,
            "taken": "after safe rewrites" if name == second else "as it stands",
            "kept": None if name == second else name != first,
        }
        for letter in "abc"
        for name in (first, second, *others)
    ]
    rows.pop()
    rows[len(provider_names())]["profile"] = "of yesterday"
    (tmp_path / "2026.11").mkdir()
    pl.DataFrame(rows).write_parquet(tmp_path / "2026.11" / FITS)
    rewritten_fits.known.cache_clear()
    found = [rewritten_fit(letter * 64) for letter in "abc"]
    rewritten_fits.known.cache_clear()
    assert found == [tuple(sorted([second, *others])), None, None]


FACTS = facts(partial=["Half is missing."])
CONFIGS_MADE = count_entries([entry(record("o1"), "Snowplow")])
WHOLE = whole_manifest(FACTS, CONFIGS_MADE)


@pytest.mark.parametrize(
    "content",
    [
        *("{", "[]", "{}", '{"rules": "clean"}', '{"x":' + "[" * 100_000),
        *({"pins": [{"source": 1}]}, {"rule_list": [{}]}, {"partial": None}),
    ],
    ids=["cut", "list", "empty", "half", "deep", "pins", "rules", "partial"],
)
def test_what_is_no_manifest_is_refused(
    tmp_path: Path, content: str | dict[str, object]
) -> None:
    """Broken JSON, and JSON with other names or values, is bad data: exit 65."""
    path = write_build(tmp_path) / FILE
    if not isinstance(content, str):
        content = json.dumps({**json.loads(path.read_bytes()), **content})
    path.write_text(content)
    with pytest.raises(BadData, match=FILE):
        read_facts(tmp_path)


def test_facts_alone_are_no_whole_manifest(tmp_path: Path) -> None:
    """They are read as facts; asked for figures and digests, it is bad data."""
    write_manifest(FACTS, tmp_path)
    assert read_facts(tmp_path) == FACTS
    with pytest.raises(BadData, match="configs"):
        read_manifest(tmp_path)


def manifest_with(folder: Path, origins: dict[str, str]) -> Manifest:
    """Return a manifest whose configs come from these places."""
    made = read_manifest(write_build(folder))
    figures = {
        config: ConfigFigures(
            raw=3, kept=2, rejected={"empty": 1}, changed={}, splits={}, origin=origin
        )
        for config, origin in origins.items()
    }
    return msgspec.structs.replace(made, configs=figures, partial=["X: why."])


_ABSENT = ", ".join(CONFIGS[1:])


@pytest.mark.parametrize(
    ("origins", "sentence"),
    [
        # Of an extra nothing is said.
        (
            {CONFIGS[0]: "index", "Acme": "local"},
            f"1 of the ten configs is real; without {_ABSENT}",
        ),
        (
            {**dict.fromkeys(CONFIGS, "upstream"), "Snowplow": "sample"},
            "9 of the ten configs are real; the embedded sample stands for Snowplow",
        ),
        (dict.fromkeys(CONFIGS, "upstream"), "10 of the ten configs are real"),
        (
            dict.fromkeys(CONFIGS, "sample"),
            "none of the ten configs is real; the embedded sample stands for all ten",
        ),
    ],
)
def test_real_sample_and_absent_configs_are_told_apart(
    origins: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    """In a sentence, and as lists; a config of which nothing was read is absent."""
    made = manifest_with(tmp_path, origins)
    found = list_origins(made)
    assert found.sentence == sentence
    assert {**found.real, **dict.fromkeys(found.sample, "sample")}.items() <= (
        origins.items()
    )
    empty = msgspec.structs.replace(made.configs[CONFIGS[0]], raw=0)
    less = msgspec.structs.replace(made, configs={**made.configs, CONFIGS[0]: empty})
    rest = list_origins(less)
    assert CONFIGS[0] not in {*rest.real, *rest.sample}


def test_other_alphabets_stand_there_as_they_are(tmp_path: Path) -> None:
    """A person reads it: no escapes."""
    write_manifest(facts(partial=["Ganz äöü."]), tmp_path)
    assert "Ganz äöü." in (tmp_path / FILE).read_text("utf-8")


datasets = Late("datasets")
BUILD: dict[str, dict[str, list[BenchmarkRecord]]] = {
    "Github_easy": {split: [in_split(split)] for split in SPLITS},
    "Kubernetes": {"test": [in_split("test", "k"), record("huge", depth=2**40)]},
    "mine": {"train": [in_split("train", "m")]},
}


@pytest.fixture(scope="module")
def small_build(tmp_path_factory: pytest.TempPathFactory, sample_build: Path) -> Path:
    """Write a small build: two configs, an extra, an empty split."""
    made = tmp_path_factory.mktemp("build")
    entries = []
    for config, splits in BUILD.items():
        write_config(made, config, splits)
        entries += [
            entry(each, config, split=split)
            for split, records in splits.items()
            for each in records
        ]
    write_ledger(entries, made)
    write_manifest(facts(extras=["mine"]), made)
    with plots_taken_from(sample_build):
        rebuild(made)
    return made


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Keep `datasets` offline and inside a folder of the test."""
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", 1)
    return str(tmp_path / "cache")


@pytest.mark.slow
def test_every_config_streams(small_build: Path, cache: str) -> None:
    """With `streaming=True` rows come one by one, in the order of the file."""
    for config, splits in BUILD.items():
        for split, records in splits.items():
            streamed = datasets.load_dataset(
                str(small_build), config, split=split, cache_dir=cache, streaming=True
            )
            ids = sorted((record.unique_id for record in records), key=natural_key)
            assert [row["unique_id"] for row in streamed] == ids


def test_the_default_config_holds_all_rows(small_build: Path, cache: str) -> None:
    """Without a config's name all rows come, the extras' excepted."""
    loaded = datasets.load_dataset(str(small_build), cache_dir=cache)
    assert {split: loaded[split].num_rows for split in loaded} == {
        "train": 1,
        "val": 1,
        "test": 3,
    }


def test_a_config_with_an_empty_split_loads_whole(
    small_build: Path, cache: str
) -> None:
    """An empty split does not spoil the others of its config."""
    loaded = datasets.load_dataset(str(small_build), "Kubernetes", cache_dir=cache)
    assert list(loaded) == ["test"]


def _kind(config: str) -> UntypedJson:
    """Return the columns of a config, by its name."""
    name = config.removeprefix("ledger-")
    if config.startswith("ledger"):
        path = f"ledger/{'documents' if config == 'ledger' else name}.parquet"
        return LEDGER_FORMS[path].columns.names
    return (INSTANCES if config.startswith("instances") else COLUMNS).names


@pytest.mark.slow
def test_every_table_is_in_a_config_that_loads(
    sample_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records, instances and ledger, by name; `default` and `instances` hold all."""
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", 1)
    named: dict[str, set[Path]] = {}
    for config in DatasetCard.load(sample_build / "README.md").data["configs"]:
        patterns = [
            pattern
            for files in config["data_files"]
            for pattern in (
                [files["path"]] if isinstance(files["path"], str) else files["path"]
            )
        ]
        name = config["config_name"]
        named[name] = {
            path for pattern in patterns for path in sample_build.glob(pattern)
        }
        loaded = datasets.load_dataset(str(sample_build), name, cache_dir=str(tmp_path))
        assert sum(map(len, loaded.values())) == sum(
            pq.read_metadata(path).num_rows for path in named[name]
        )
        assert all([*table.features] == _kind(name) for table in loaded.values())
    assert list(named)[:2] == ["default", "Glaiveai2K"]
    assert {"instances", "instances-Github_easy", "ledger"} <= named.keys()
    assert set().union(*named.values()) == set(sample_build.rglob("*.parquet"))
    for whole in ("default", "instances"):
        parts = [
            paths
            for name, paths in named.items()
            if name != whole and _kind(name) == _kind(whole)
        ]
        assert named[whole] == set().union(*parts)


def test_records_without_a_split_are_said(tmp_path: Path) -> None:
    """A ledger of others: its config is named, and no index is out of range."""
    odd = ConfigFigures(
        origin="upstream",
        raw=1,
        kept=1,
        rejected={},
        changed={},
        splits={"else": 1},
    )
    with pytest.raises(BadData, match="no split"):
        data_files(tmp_path, {"Snowplow": odd}, [])
