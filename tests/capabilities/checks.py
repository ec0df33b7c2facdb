"""What the outputs of some rows are held against, worked out without csbdata's code.

Each takes the output of a row's command and raises where it is not as it must be.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import jsonschema_rs
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.capabilities.runner import Output

_RAW = Path(__file__).parents[2] / "raw" / "sample"
#: Names of the ten configs, and how many documents the embedded sample has for each
#: source: files counted with `find`, functions of Glaive's rows by hand.
_CONFIGS = frozenset(
    [
        "Glaiveai2K",
        "Github_trivial",
        "Github_easy",
        "Github_medium",
        "Github_hard",
        "Github_ultra",
        "Snowplow",
        "Kubernetes",
        "WashingtonPost",
        "JsonSchemaStore",
    ]
)
_DRAFTS = {
    "http://json-schema.org/draft-04/schema": "draft-04",
    "http://json-schema.org/draft-06/schema": "draft-06",
    "http://json-schema.org/draft-07/schema": "draft-07",
    "https://json-schema.org/draft/2019-09/schema": "2019-09",
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
    None: "unknown",
}


def _parquet(folder: Path, pattern: str) -> pl.DataFrame:
    return pl.concat(
        [pl.read_parquet(path) for path in sorted(folder.glob(pattern))],
        how="vertical_relaxed",
    )


def _records(output: Output) -> dict[str, pl.DataFrame]:
    """Return the records of the build by their config."""
    folder = output.folders.get("card-dataset", output.folder) / "sample"
    found = {path.parent for path in folder.glob("*/*.parquet")}
    assert {path.name for path in found} == _CONFIGS
    return {path.name: _parquet(path, "*.parquet") for path in found}


def ten_configs_with_instances(output: Output) -> None:
    """Every raw document is in the ledger, every record has instances."""
    folder = output.folder / "sample"
    records = pl.concat(_records(output).values(), how="vertical_relaxed")
    ledger = pl.read_parquet(folder / "ledger" / "documents.pq")
    by_source = Counter(ledger["source"].to_list())
    assert by_source["schemastore"] == len(
        list(_RAW.glob("schemastore/src/schemas/**/*.json"))
    )
    kept = ledger.filter(pl.col("outcome") == "kept")
    assert kept.height == records.height
    assert set(kept["sha256"]) == set(records["sha256"])
    instances = _parquet(folder, "instances/*/*.pq")
    assert set(instances["unique_id"]) == set(records["unique_id"])


def _inside(value: Any) -> Iterator[Any]:  # noqa: ANN401 (any JSON)
    """Yield a JSON value and all that it holds."""
    yield value
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _inside(part)


def _depth(value: Any) -> int:  # noqa: ANN401 (any JSON)
    if not isinstance(value, dict | list):
        return 0
    parts = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, parts), default=0)


def table_8(output: Output) -> None:
    """Sizes and fan-outs of each config are those of its texts."""
    table = output.value["table_8"]
    for config, records in _records(output).items():
        texts = records["json_schema"].to_list()
        sizes = [len(text.encode()) / 1024 for text in texts]
        objects = [
            [part for part in _inside(json.loads(text)) if isinstance(part, dict)]
            for text in texts
        ]
        fan_outs = [max(map(len, each)) for each in objects]
        for name, values in (("size_kb", sizes), ("max_fan_out", fan_outs)):
            assert table[config][name]["least"] == min(values), (config, name)
            assert table[config][name]["most"] == max(values), (config, name)
            median = table[config][name]["median"]
            assert statistics.median_low(values) <= median, (config, name)
            assert median <= statistics.median_high(values), (config, name)


def table_9(output: Output) -> None:
    """The drafts are those that `$schema` names."""
    table = output.value["table_9"]
    for config, records in _records(output).items():
        named = Counter(
            _DRAFTS[(text := json.loads(each).get("$schema")) and text.rstrip("#")]
            for each in records["json_schema"]
        )
        found = {draft: count for draft, count in table[config].items() if count}
        assert found == named, config


def figure_2(output: Output) -> None:
    """Keywords and formats are counted by the records that hold them."""
    used: Counter[str] = Counter()
    formats: Counter[str] = Counter()
    for text in chain.from_iterable(
        each["json_schema"] for each in _records(output).values()
    ):
        objects = [each for each in _inside(json.loads(text)) if isinstance(each, dict)]
        used.update(set(chain.from_iterable(objects)))
        formats.update(
            {each["format"] for each in objects if isinstance(each.get("format"), str)}
        )
    found = output.value["figure_2"]
    for name in ("enum", "uniqueItems", "propertyNames", "anyOf", "$ref"):
        assert found["features"][name] == used[name], name
    for name in ("date-time", "uuid", "email"):
        assert found["formats"][name] == formats[name], name
    plots = output.folders["card-dataset"] / "sample" / "plots"
    assert "<svg" in (plots / "figure-2.svg").read_text("utf-8")


def splits(output: Output) -> None:
    """The splits hold all records, and equal skeletons are in one of them."""
    folder = output.folders["card-dataset"] / "sample"
    counted = output.value["table_1"]
    where: dict[str, set[str]] = {}
    sizes: Counter[str] = Counter()
    for path in folder.glob("*/*.parquet"):
        split = path.name.partition("-")[0]
        records = pl.read_parquet(path)
        sizes[split] += records.height
        counted[path.parent.name] -= records.height
        for name in records["skeleton_sha256"]:
            where.setdefault(name, set()).add(split)
    assert set(counted.values()) == {0}
    assert set(sizes) == {"train", "val", "test"}
    assert sizes["train"] > sizes["test"] > sizes["val"] > 0
    assert all(len(each) == 1 for each in where.values())


def instances_are_what_their_labels_say(output: Output) -> None:
    """Two validators agree with each label, and with the place of a near miss."""
    folder = output.folders["card-dataset"] / "sample"
    kinds: Counter[str] = Counter()
    for config, records in _records(output).items():
        instances = _parquet(folder, f"instances/{config}/*.pq")
        for record in records.iter_rows(named=True):
            schema = json.loads(record["json_schema"])
            fast = jsonschema_rs.validator_for(schema, validate_formats=True)
            slow = jsonschema.validators.validator_for(schema)(schema)
            wanted = instances.filter(pl.col("unique_id") == record["unique_id"])
            for place, each in enumerate(wanted.iter_rows(named=True)):
                value = json.loads(each["text"])
                assert fast.is_valid(value) == each["valid"], (config, each)
                kinds["valid" if each["valid"] else "invalid"] += 1
                if not each["valid"] and place % 7 == 0 and each["keyword"] != "format":
                    found = set(
                        chain.from_iterable(
                            error.absolute_schema_path for error in _causes(slow, value)
                        )
                    )
                    # In draft-04 a strict bound is a boolean beside the bound.
                    keyword = each["keyword"].replace("exclusiveM", "m")
                    assert {each["keyword"], keyword} & found, (config, each)
    assert kinds["valid"] > 300
    assert kinds["invalid"] > 1000


def _causes(validator: Any, value: Any) -> Iterator[Any]:  # noqa: ANN401 (untyped)
    for error in validator.iter_errors(value):
        yield error
        yield from error.context


def relations_of_types(output: Output) -> None:
    """Every integer is a number, and no string is one."""
    found = [each["relation"] for each in output.lines]
    assert found == ["wider", "narrower", "equal", "apart"]


def strict_mode_takes_what_was_sent(output: Output) -> None:
    """OpenAI's documented rules: closed, and every property required."""
    sent = json.loads((output.folder / "sent.json").read_text("utf-8"))
    assert sent["additionalProperties"] is False
    assert set(sent["required"]) == {"deck", "note"}
    assert jsonschema.Draft202012Validator(sent).is_valid({"deck": 3, "note": None})
