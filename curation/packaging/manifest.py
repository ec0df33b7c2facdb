"""`manifest.json`: versions, pins, rules, counts and the digest of every file.

It holds nothing that differs from run to run: no date, host, path or duration. A
build first writes what cannot be counted from its files (the facts); everything
else, the card included, is computed from those and the files, and added then.
"""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING

from curation.core.canary import canary
from curation.core.documents import Origin
from curation.dataset.ledger_reader import open_ledger
from curation.dataset.summary import ConfigSummary, Pin, RuleNote, Summary
from curation.packaging.recount import configs_of, instances_of
from curation.system.checksums import FILE as SUMS
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.system.checksums import Sum

#: The file's name in a build folder.
FILE = "manifest.json"
#: What no list of files in the manifest holds: itself, and what lists it.
UNLISTED = frozenset({FILE, SUMS})
#: What decides the content of a build beside its sources; the order is that of
#: the manifest.
_DISTRIBUTIONS = (
    "csbdata",
    "jsonschema",
    "jsonschema-rs",
    "regress",
    "fastjsonschema",
    "pyarrow",
    "huggingface_hub",
    "jinja2",
    "matplotlib",
)


def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in _DISTRIBUTIONS},
    }


def _pin(pin: Pin) -> UntypedJson:
    return {name: value for name, value in asdict(pin).items() if value}


def config_figures(config: ConfigSummary) -> UntypedJson:
    """Return one config's figures as `csbdata build --format json` prints them."""
    return {
        "raw": config.raw,
        "kept": config.kept,
        "rejected": dict(config.rejected),
        "changed": dict(config.changed),
        "splits": dict(config.splits),
        "origin": config.origin,
    }


def facts_of(summary: Summary) -> dict[str, UntypedJson]:
    """Return what the manifest says that nobody can count from the files."""
    return {
        "name": summary.name,
        "data_version": summary.version,
        "canary": canary(),
        "partial": list(summary.partial),
        "rules": summary.rules,
        "versions": _versions(),
        "pins": [_pin(each) for each in summary.pins],
        "rule_list": [asdict(each) for each in summary.rule_notes],
        "extras": sorted(summary.extras),
    }


def read_manifest(folder: Path) -> dict[str, UntypedJson]:
    """Return the manifest of a folder, be it the facts alone.

    Raises:
        NoInput: there is none.
        BadData: it is not one that csbdata writes.
    """
    path = folder / FILE
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoInput(
            "no manifest.json here", str(folder), "csbdata build makes a folder with it"
        ) from error
    except ValueError as error:
        raise BadData("not JSON", str(path)) from error
    if not isinstance(found, dict) or not {"rules", "pins", "canary"} <= found.keys():
        raise BadData(
            "not a manifest of this version of csbdata", str(path), "build again"
        )
    return found


def summary_of(facts: Mapping[str, UntypedJson], folder: Path) -> Summary:
    """Return what a build came to: the facts, and what its files say.

    Raises:
        NoInput: the folder holds no ledger.
        BadData: the facts are not those of a build.
        OSError: a file cannot be read.
    """
    configs = configs_of(open_ledger(folder))
    try:
        return Summary(
            rules=facts["rules"],
            version=facts["data_version"],
            released=facts.get("released", ""),
            rule_notes=tuple(RuleNote(**each) for each in facts["rule_list"]),
            configs=configs,
            extras=frozenset(facts["extras"]),
            pins=tuple(
                Pin(**{**each, "origin": Origin(each["origin"])})
                for each in facts["pins"]
            ),
            instances=instances_of(folder, (each.config for each in configs)),
            partial=tuple(facts["partial"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadData(
            f"not the facts of a build ({error})", str(folder / FILE)
        ) from error


def write_facts(summary: Summary, folder: Path) -> str:
    """Write a manifest of facts alone; returns its path in the folder.

    Raises:
        OSError: it cannot be written.
    """
    return _write(facts_of(summary), folder)


def write_manifest(
    facts: Mapping[str, UntypedJson],
    configs: Iterable[ConfigSummary],
    sums: Mapping[str, Sum],
    folder: Path,
) -> str:
    """Write the manifest; returns its path in the folder.

    `sums` are of every file of the dataset folder; those in `UNLISTED` are left out.

    Raises:
        OSError: it cannot be written.
    """
    known = {name: facts[name] for name in facts if name not in {"configs", "files"}}
    counted = {
        **known,
        "configs": {each.config: config_figures(each) for each in configs},
        "files": {
            name: asdict(sums[name]) for name in sorted(sums) if name not in UNLISTED
        },
    }
    return _write(counted, folder)


def _write(content: UntypedJson, folder: Path) -> str:
    text = json.dumps(content, indent=2, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8", newline="\n")
    return FILE
