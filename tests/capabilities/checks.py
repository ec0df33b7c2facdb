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
from xml.etree import ElementTree

import jsonschema
import jsonschema_rs
import llguidance
import polars as pl
import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.capabilities.runner import Output

_RAW = Path(__file__).parents[2] / "raw" / "sample"
#: Names of the ten configs, as published.
_CONFIGS = frozenset(
    [
        *(f"Github_{size}" for size in ("trivial", "easy", "medium", "hard", "ultra")),
        *("Glaiveai2K", "Snowplow", "Kubernetes", "WashingtonPost", "JsonSchemaStore"),
    ]
)
_MATERIAL = Path(__file__).parent / "material"
_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_VALIDATOR = jsonschema.Draft202012Validator
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
    found = {path.parent for path in folder.glob("*/*.parquet")} - {folder / "ledger"}
    assert {path.name for path in found} == _CONFIGS
    return {path.name: _parquet(path, "*.parquet") for path in found}


def ten_configs_with_instances(output: Output) -> None:
    """Every raw document is in the ledger, every record has instances."""
    folder = output.folder / "sample"
    records = pl.concat(_records(output).values(), how="vertical_relaxed")
    ledger = pl.read_parquet(folder / "ledger" / "documents.parquet")
    by_source = Counter(ledger["source"].to_list())
    assert by_source["schemastore"] == len(
        list(_RAW.glob("schemastore/src/schemas/**/*.json"))
    )
    kept = ledger.filter(pl.col("outcome") == "kept")
    assert kept.height == records.height
    assert set(kept["sha256"]) == set(records["sha256"])
    instances = _parquet(folder, "instances/*/*.parquet")
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
    for path in folder.glob("[A-Z]*/*.parquet"):
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
        instances = _parquet(folder, f"instances/{config}/*.parquet")
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
                    found = {"if"} | set(
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
    assert _VALIDATOR(sent).is_valid({"deck": 3, "note": None})


def every_config_loads(output: Output) -> None:
    """`datasets` finds every table of the build on the Hub, by its config's name."""
    folder = output.folders.get("card-dataset", output.folder) / "sample"
    counts = {name: each.height for name, each in _records(output).items()}
    counts |= {
        f"instances-{name}": _parquet(folder, f"instances/{name}/*.parquet").height
        for name in _CONFIGS
    }
    for path in (folder / "ledger").glob("*.parquet"):
        name = f"ledger-{path.stem}".removesuffix("-documents")
        counts[name] = pl.read_parquet(path).height
    for whole in ("default", "instances"):
        parts = _CONFIGS if whole == "default" else {f"instances-{n}" for n in _CONFIGS}
        counts[whole] = sum(counts[part] for part in parts)
    lines = (line.split() for line in output.stdout.splitlines()[-len(counts) :])
    assert {name: int(count) for name, count in lines} == counts


def published_files_are_replaced(output: Output) -> None:
    """No file of the published layout stays, and `v1` names what was there."""
    every_config_loads(output)
    left = json.loads((output.folder / "left.json").read_text("utf-8"))
    assert set(left["old"]) <= {".gitattributes"}
    assert left["v1"]


def texts_are_judged_as_jsonschema_does(output: Output) -> None:
    """A text counts as empirical coverage if jsonschema accepts it."""
    schema = json.loads((_MATERIAL / "ferry.json").read_text("utf-8"))
    [row] = _run_rows(output.folder / "run", "coverage")
    try:
        value = json.loads(row["label"]["writing"]["text"])
        valid = _VALIDATOR(schema).is_valid(value)
    except ValueError:
        valid = False
    [coverage] = output.rows("coverage")
    assert coverage["declared"]["count"] == coverage["declared"]["of"] == 1
    assert coverage["empirical"]["count"] == valid
    [times] = output.rows("efficiency")
    assert times["GCT"]["median ns"] == _compile_ns(row)
    assert times["TTFT"]["median ns"] > times["GCT"]["median ns"]


def _compile_ns(row: dict[str, Any]) -> int:
    """The compile less what it waited for its core, where the row tells that."""
    waited = row.get("compile_waited_ns") or 0
    ns: int = row["compile_ns"]
    return ns - waited if waited < ns else ns


def _run_rows(run: Path, task: str) -> list[dict[str, Any]]:
    lines = chain.from_iterable(
        path.read_text("utf-8").splitlines() for path in run.glob("attempts.jsonl")
    )
    rows = [row for row in map(json.loads, lines) if row["task"] == task]
    assert rows
    return rows


def repairs_of_the_raw_text(output: Output) -> None:
    """The steps of a record name what stood in the raw file and what stands now."""
    raw = next(_RAW.glob("json-schema-corpus/**/pp_192.json")).read_text("utf-8")
    pattern = json.loads(raw)["properties"]["slug"]["pattern"]
    assert pattern == "^[a-z0-9\\_\\-]+$"
    assert json.dumps(pattern) in output.stdout or pattern in output.stdout
    assert "^[a-z0-9_\\" in output.stdout


def thirteen_packages(output: Output) -> None:
    """Each is in the list of dependencies or of an extra, and in an import."""
    text, _, imports = output.stdout.partition("[build-system]")[2].rpartition("]\n")
    names = "datasets huggingface_hub jsonschema referencing orjson polars typer"
    names += " requests fastjsonschema transformers torch xgrammar llguidance"
    for name in names.split():
        assert f'"{name}' in text, name
        assert f"import {name}\n" in imports or f"from {name}\n" in imports, name


def sources_of_table_1(output: Output) -> None:
    """The ten configs come from six sources, each archive pinned and licensed."""
    sources = {each["source"]: each for each in output.value if not each["extra"]}
    assert set(chain.from_iterable(each["configs"] for each in sources.values())) == (
        _CONFIGS
    )
    assert len(sources) == 6
    for archive in chain.from_iterable(each["archives"] for each in sources.values()):
        assert archive.get("commit") or archive.get("version"), archive
        assert archive["licence"], archive


def templates_are_dropped(output: Output) -> None:
    """Every GitHub file that holds `${` is rejected, and named."""
    held = {
        path.stem
        for path in _RAW.glob("witness-generation/**/github/sat/*.json")
        if "${" in path.read_text("utf-8", errors="replace")
    }
    assert held == {"o101", "o102", "o103"}
    ledger = pl.read_parquet(output.folder / "paper" / "ledger" / "documents.parquet")
    outcomes = dict(ledger.select("unique_id", "outcome").iter_rows())
    assert {outcomes[name] for name in held} == {"template"}
    assert Counter(outcomes.values())["kept"] > 200


def no_published_defect(output: Output) -> None:
    """Valid under their draft, complete, and no two alike."""
    seen = set()
    for config, records in _records(output).items():
        for record in records.iter_rows(named=True):
            schema = json.loads(record["json_schema"])
            name = (config, record["unique_id"])
            kind = jsonschema.validators.validator_for(
                {"$schema": schema.get("$schema", _NEWEST)}
            )
            # Python's regular expressions are not those of JSON Schema.
            assert kind(kind.META_SCHEMA).is_valid(schema), name
            jsonschema_rs.validator_for(schema)
            text = json.dumps(schema, sort_keys=True)
            assert text not in seen, name
            seen.add(text)


def masks_as_llguidance_says(output: Output) -> None:
    """The library itself compiles the same schemas, and the medians are the rows'."""
    texts = {
        (config, record["unique_id"]): record["json_schema"]
        for config, records in _records(output).items()
        for record in records.iter_rows(named=True)
    }
    compiled = [
        row
        for row in _run_rows(output.folder / "run", "masks")
        if row["engine"].startswith("llguidance") and row["result"] != "compile_error"
    ]
    asked = [each["schema"] for each in output.rows("by-schema")]
    refused = set()
    for name in asked:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(
            texts[tuple(name.split("/", 1))], defaults={"whitespace_flexible": True}
        )
        if llguidance.LLMatcher.validate_grammar(grammar):
            refused.add(name)
    outcomes = {
        each["schema"]: next(
            each[name] for name in each if name.startswith("llguidance")
        )
        for each in output.rows("by-schema")
    }
    found = {name for name, told in outcomes.items() if told.startswith("compile")}
    assert found == refused
    assert len(compiled) == len(asked) - len(refused)
    times = {(row["time"], row["engine"]): row for row in output.rows("times")}
    median = statistics.median(map(_compile_ns, compiled))
    assert times["compile", compiled[0]["engine"]]["median"]["ns"] == median


def theoretical_coverage(output: Output) -> None:
    """A schema is covered if every feature of it is supported."""
    assert output.rows("theoretical-coverage")
    supported = {
        each["feature"]
        for each in output.rows("declared-features")
        if each["llguidance 0.2.0rc (paper)"] == "yes"
    }
    # Figure 4 of the paper: what Guidance supports, and what it does not.
    assert {"required", "enum", "items", "$ref", "pattern"} <= supported
    assert not {"uniqueItems", "contains", "dependencies"} & supported
    row = output.rows("theoretical-coverage")[0]
    assert row["config"] == "Github_trivial"
    assert row["fully"]["of"] == 20


def pauses_of_the_server(output: Output) -> None:
    """0.4 seconds to the first token, and 0.1 between two."""
    [row] = output.rows("efficiency")
    assert 0.4e9 <= row["TTFT"]["median ns"] < 5e9
    assert 0.09e9 <= row["TPOT"]["median ns"] < 1e9
    assert row["GCT"] is None


def engines_of_the_paper(output: Output) -> None:
    """They are listed, each with the command that installs it."""
    listed = json.loads((output.folder / "engines.json").read_text("utf-8"))["engines"]
    names = {each["name"] for each in listed if "engines add" in each["install"]}
    assert names >= {"guidance", "llguidance", "xgrammar", "outlines_core", "llama_cpp"}


def providers_write_valid_texts(output: Output) -> None:
    """Each is asked once and its answer, `{"deck": 3}`, is valid."""
    assert len(output.lines) == 3
    for name, each in zip(("openai", "anthropic", "gemini"), output.lines, strict=True):
        tables = {table["name"]: table["rows"] for table in each["tables"]}
        [row] = tables["coverage"]
        assert row["engine"].startswith(name)
        assert row["empirical"]["count"] == row["empirical"]["of"] == 1


def shots_are_valid_and_no_records(output: Output) -> None:
    """The examples of the prompt hold, and none of their schemas is a record."""
    texts = {
        json.dumps(json.loads(text), sort_keys=True)
        for records in _records(output).values()
        for text in records["json_schema"]
    }
    assert len(output.lines) == 3
    for prompt in output.lines:
        sections = prompt["messages"][-1]["content"].split("## Input Schema:\n")[1:]
        *shots, asked = [each.split("## Expected Output:") for each in sections]
        assert len(shots) == 2
        for schema, answer in shots:
            jsonschema.validate(json.loads(answer), json.loads(schema))
            assert json.dumps(json.loads(schema), sort_keys=True) not in texts
        assert json.dumps(json.loads(asked[0]), sort_keys=True) in texts


def truth_table_of_undeclared_members(output: Output) -> None:
    """Closed and implicitly open objects refuse them, explicitly open ones do not."""
    open_ones = {"open-explicit", "map", "pattern"}
    rows = output.rows("by-schema")
    assert len(rows) == 9
    for row in rows:
        name = row["schema"].removeprefix("truth/")
        expected = "passed" if name in open_ones else "hallucination"
        assert row["extra free"] == expected, row
        assert row["plain free"] == "passed", row
        assert row["wrong free"] == "schema violation", row


def golden_vectors_of_ifstruct(output: Output) -> None:
    """The names of the records say what becomes of their answers."""
    rows = _run_rows(output.folder / "run", "ifstruct")
    assert len(rows) == 21
    for row in rows:
        [verdict] = row["label"]["verdicts"]
        assert verdict["passed"] == row["id"].startswith("pass"), row
    [total] = [row for row in output.rows("pass-rate") if row["group"] == "all"]
    assert total["passed"]["count"] == 7


def choices_of_ifstruct(output: Output) -> None:
    """Every style, format, shape and fence of the article is drawn."""
    text = (output.folder / "rows.jsonl").read_text("utf-8")
    rows = [json.loads(line)["fields"] for line in text.splitlines()]
    assert len(rows) == 60
    for name, count in (("presentation", 6), ("output_format", 2), ("fence", 5)):
        assert len({row[name] for row in rows}) == count, name
    assert {row["require_wrapper_key"] for row in rows} == {True, False}
    for row in rows:
        _VALIDATOR.check_schema(row["json_schema"])


def slices_of_ifstruct(output: Output) -> None:
    """YAML passes where it was asked for: choices and errors are told apart."""
    rows = output.rows("choices")
    assert {row["choice"] for row in rows} >= {"style", "voice", "escaping"}
    drawn = {row["drawn"] for row in rows if row["choice"] == "escaping"}
    assert drawn == {"plain", "stressed"}
    counted = [row for row in output.rows("pass-rate") if row["group"] == "all"]
    of_styles = [row["passed"]["count"] for row in rows if row["choice"] == "style"]
    assert sum(of_styles) == counted[0]["passed"]["count"]
    assert len(output.rows("classes")) == 1


def records_of_three_sources(output: Output) -> None:
    """40 records; truths satisfy their schemas; most texts are in their contexts."""
    text = (output.folder / "records.jsonl").read_text("utf-8")
    records = [json.loads(line)["fields"] for line in text.splitlines()]
    sources = Counter(record["source"] for record in records)
    assert sources == {"text": 13, "image": 14, "audio": 13}
    grounded = []
    for record in records:
        truth = record["ground_truth"]
        jsonschema.validate(truth, record["json_schema"])
        texts = [each for each in _inside(truth) if isinstance(each, str)]
        grounded += [each in record["context"] for each in texts]
        assert record["question"]
    assert sum(grounded) > 0.6 * len(grounded)


def five_representations(output: Output) -> None:
    """JSON, YAML and XML read back as the same schema; Python compiles."""
    text = (output.folder / "prompts.jsonl").read_text("utf-8")
    names = ("json", "yaml", "xml", "python", "nl")
    by_schema: dict[str, dict[str, str]] = {}
    for prompt in map(json.loads, text.splitlines()):
        asked, _, schema = prompt["record"].split("/")[1].partition(":")
        content = prompt["messages"][-1]["content"]
        # In English the schema stands before the task, else behind it.
        english = "-nl-" in prompt["record"]
        body = content if english else content.split("\n\n", 1)[1]
        by_schema.setdefault(schema, {})[asked.split("-")[1]] = body
    assert len(by_schema) == 12
    assert len({name.rsplit("_i_", 1)[0] for name in by_schema}) == 12
    for each in by_schema.values():
        assert set(each) == set(names)
        schema = json.loads(each["json"])
        assert yaml.safe_load(each["yaml"]) == schema
        root = ElementTree.fromstring(each["xml"])  # noqa: S314 (our own text)
        assert _of_xml(root, schema) == schema
        compile(each["python"], "schema.py", "exec")
        assert all(f"{name}: " in each["nl"] for name in schema.get("properties", ()))
        assert each["nl"].startswith("The schema defines")


def _of_xml(element: ElementTree.Element, like: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Read an element as the value that it must be."""
    if isinstance(like, dict):
        return {part.tag: _of_xml(part, like.get(part.tag)) for part in element}
    if isinstance(like, list):
        parts = list(element)
        return [_of_xml(*each) for each in zip(parts, like, strict=True)]
    text = element.text or ""
    if isinstance(like, bool):
        return text == "true"
    return text if isinstance(like, str) else type(like)(text)


def three_valid_shots(output: Output) -> None:
    """The published examples were not all valid; these are."""
    text = (output.folder / "prompts.jsonl").read_text("utf-8")
    for prompt in map(json.loads, text.splitlines()):
        blocks = prompt["messages"][-1]["content"].split("JSON format schema:\n")[1:]
        *shots, asked = [each.split("JSON sample:\n```\n") for each in blocks]
        assert len(shots) == 3
        assert len(asked) == 1
        for schema, sample in shots:
            value = json.loads(sample.partition("```")[0])
            jsonschema.validate(value, json.loads(schema), _VALIDATOR)
        # Of the errors all are of one family of objects, the first of `minimum`.
        assert {json.loads(schema)["type"] for schema, _ in shots} == {"object"}
        assert "minimum" in shots[0][0]


def equal_builds(output: Output) -> None:
    """All files of two builds are equal; nothing stood there before the end."""
    left = output.folder / "left.txt"
    assert not left.exists() or not left.read_text("utf-8")
    killed, whole = output.folder / "killed", output.folder / "whole"
    names = {path.relative_to(whole) for path in whole.rglob("*") if path.is_file()}
    assert len(names) > 30
    assert names == {
        path.relative_to(killed) for path in killed.rglob("*") if path.is_file()
    }
    for name in names:
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name


def compared_as_the_rows_say(output: Output) -> None:
    """What one engine passes and the other does not is counted from the rows."""
    run = output.folders["js-masks"] / "run"
    verified = json.loads((output.folder / "verified.json").read_text("utf-8"))
    equal = verified["tables"][0]["rows"][-1]["equal"]
    assert equal["of"] >= 20
    assert equal["count"] >= 0.98 * equal["of"]
    [row] = output.rows("what-compiles-paired")
    by_engine = Counter(
        each["engine"]
        for each in _run_rows(run, "masks")
        if each["result"] != "compile_error"
    )
    assert row["a compiles"]["count"] == by_engine[row["a"]]
    assert row["b compiles"]["count"] == by_engine[row["b"]]
