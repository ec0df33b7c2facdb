"""`croissant.json` is Croissant: MLCommons' own library validates and reads it."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.core.benchmark import CONFIGS
from curation.system.checksums import file_digest

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

mlcroissant = pytest.importorskip("mlcroissant")
# rdflib, which mlcroissant parses with, warns of a class that it uses itself.
# pandas, which it reads with, warns of an argument that it gives.
pytestmark = pytest.mark.filterwarnings(
    "ignore:ConjunctiveGraph is deprecated:DeprecationWarning",
    "ignore:The inplace keyword in DataFrame.reset_index is deprecated",
)
RESPONSIBLE = (
    "dataCollection",
    "dataBiases",
    "dataLimitations",
    "dataUseCases",
    "dataReleaseMaintenancePlan",
    "personalSensitiveInformation",
)


@pytest.fixture(scope="module")
def described(sample: Path) -> Any:  # noqa: ANN401 (a value of an untyped library)
    """Return the sample's description as mlcroissant understands it."""
    return mlcroissant.Dataset(str(sample / "croissant.json"))


def test_it_is_valid(described: Any) -> None:  # noqa: ANN401 (as above)
    """No error, and no warning but that it has no day of publication."""
    issues = described.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings


def test_it_speaks_of_responsibility(described: Any) -> None:  # noqa: ANN401 (as above)
    """The fields of the responsible-AI vocabulary are understood and filled."""
    known = described.metadata.to_json()
    assert all(known[f"rai:{name}"] for name in RESPONSIBLE)


@pytest.mark.parametrize("config", ["Github_easy", "default"])
def test_its_records_are_those_of_the_files(
    sample: Path,
    described: Any,  # noqa: ANN401 (as above)
    config: str,
) -> None:
    """A record set yields the rows of its config, each with its split."""
    folder = "*" if config == "default" else config
    files = sample.glob(f"{folder}/*.parquet")
    expected = {
        (path.name.split("-")[0], row[0])
        for path in files
        if path.parent.name in (config, *CONFIGS)
        for row in pl.read_parquet(path, columns=["unique_id"]).rows()
    }
    found = [
        (each[f"{config}/split"].decode(), each[f"{config}/columns/unique_id"].decode())
        for each in islice(described.records(config), len(expected) + 1)
    ]
    assert set(found) == expected


def test_every_data_file_has_its_digest(sample: Path) -> None:
    """Each parquet file of a config is a file object with its own sha256."""
    known = json.loads((sample / "croissant.json").read_text())
    objects = {
        each["contentUrl"]: each["sha256"]
        for each in known["distribution"]
        if each["@type"] == "cr:FileObject"
    }
    assert objects
    assert objects == {name: file_digest(sample / name) for name in objects}
    assert {each["@id"] for each in known["recordSet"]} >= {"default", "Github_easy"}
