"""The dataset card: README.md, whose YAML tells `datasets` where each split is.

The YAML is dumped from plain values, never written as text. `datasets` cannot open
a split without rows, so such a split is not announced. Everything in the body is
generated from what the build, `Reason` and `Record` say.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, NamedTuple

import yaml
from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from curation.benchmark import DEFAULT, SPLITS, instances_config
from curation.documents import Origin, Reason
from curation.packaging.parquet import COLUMNS, file_name
from curation.records import Record
from curation.resources import cards_folder
from curation.summary import ConfigSummary, total_of
from curation.visible_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from curation.documents import Json
    from curation.summary import Summary

#: The file's name in a build folder, and that of its template.
FILE = "README.md"
_TEMPLATE = "README.md.j2"
_NOTE = re.compile(r"((?:^ *#: .*\n)*)^ *(\w+): ", re.MULTILINE)
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+!|~$])")
# Upper bounds of the Hub's closed list of size categories.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))


class Column(NamedTuple):
    """One column of the records, as the card lists it."""

    name: str
    type: str
    meaning: str


def columns() -> tuple[Column, ...]:
    """Return the columns in order; the meanings are the comments in `Record`."""
    source = inspect.getsource(Record)
    notes = {
        name: " ".join(re.findall(r"#: (.*)", comment))
        for comment, name in _NOTE.findall(source)
    }
    return tuple(
        Column(field.name, _type_name(str(field.type)), notes[field.name])
        for field in COLUMNS
    )


def _type_name(arrow: str) -> str:
    return re.sub(r"\w+: ", "", arrow)


def _text(value: object) -> str:
    """Escape foreign text: no Markdown, no HTML, one line."""
    return _html(_PUNCTUATION.sub(r"\\\1", safe(str(value))))


def _prose(value: str) -> str:
    """Escape our own Markdown for a table cell: code spans stay."""
    return safe(value).replace("|", "\\|").replace("<", "&lt;")


def _code(value: object) -> str:
    """Return a code span that nothing inside can end."""
    text = safe(str(value)).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _python(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _data_files(summary: Summary, configs: Iterable[str]) -> list[Json]:
    """Return the `data_files` of one config: each split that has rows."""
    chosen = [summary.of(config) for config in configs]
    files = []
    for split in SPLITS:
        paths = [
            file_name(each.config, split) for each in chosen if each.splits.get(split)
        ]
        if paths:
            files.append({"split": split, "path": paths})
    return files


def _configs(summary: Summary) -> list[Json]:
    names = [each.config for each in summary.configs if each.kept]
    whole = _data_files(summary, [name for name in names if name not in summary.extras])
    listed: list[Json] = []
    if whole:
        listed.append({"config_name": DEFAULT, "data_files": whole, "default": True})
    listed += [
        {"config_name": name, "data_files": _data_files(summary, [name])}
        for name in names
    ]
    return listed + _configs_of_instances(summary)


def _configs_of_instances(summary: Summary) -> list[Json]:
    """Return the configs of instances: outside `default`, one beside each config."""
    return [
        {
            "config_name": instances_config(config),
            "data_files": [
                {"split": split, "path": [file_name(instances_config(config), split)]}
                for split in SPLITS
                if splits.get(split)
            ],
        }
        for config, splits in summary.instances.items()
        if any(splits.values())
    ]


def _size(rows: int) -> str:
    for bound, name in _SIZES:
        if rows < bound:
            return name
    return "100K<n<1M"


def metadata(summary: Summary) -> dict[str, Json]:
    """Return the card's metadata, as `huggingface_hub.DatasetCardData` takes it."""
    rows = sum(each.kept for each in summary.configs)
    return {
        "pretty_name": summary.name,
        "license": "other",
        "license_name": "per-record",
        "size_categories": [_size(rows)],
        "configs": _configs(summary),
    }


def _total(summary: Summary) -> ConfigSummary:
    """Sum the configs; rows of the sample count only where there are no others."""
    real = [each for each in summary.configs if each.origin != Origin.SAMPLE]
    if len(real) == len(summary.configs):
        return total_of(real, "all")
    if real:
        return total_of(real, "all but the sample's")
    return total_of(summary.configs, "all, sample only")


def _examples(configs: Iterable[Json]) -> list[tuple[str, str]]:
    """Return a config and a split for the first two configs."""
    return [
        (each["config_name"], each["data_files"][-1]["split"])
        for each in list(configs)[:2]
    ]


def _environment() -> SandboxedEnvironment:
    environment = SandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.filters |= {
        "text": _text,
        "prose": _prose,
        "code": _code,
        "python": _python,
        "number": "{:,}".format,
    }
    return environment


def card(summary: Summary) -> str:
    """Return the text of README.md."""
    known = metadata(summary)
    source = (cards_folder() / _TEMPLATE).read_text(encoding="utf-8")
    body = (
        _environment()
        .from_string(source)
        .render(
            summary=summary,
            splits=SPLITS,
            total=_total(summary),
            has_default=any(
                each["config_name"] == DEFAULT for each in known["configs"]
            ),
            examples=_examples(known["configs"]),
            reasons=tuple(Reason),
            columns=columns(),
            instances={
                instances_config(config): splits
                for config, splits in summary.instances.items()
            },
        )
    )
    head = yaml.safe_dump(known, sort_keys=False, width=88)
    return f"---\n{head}---\n\n{body}"


def write_card(summary: Summary, folder: Path) -> str:
    """Write README.md; returns its path in the folder.

    Raises:
        OSError: the file cannot be written.
    """
    (folder / FILE).write_text(card(summary), encoding="utf-8", newline="\n")
    return FILE
