"""Read and write `manifest.json`: versions, pins, rules, counts.

It holds nothing that differs from run to run: no date, host, path or duration. A build
first writes `BuildFacts`, which cannot be counted from its files; `Manifest` adds the
figures that are.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import msgspec

from curation.core.benchmark import CONFIGS
from curation.core.documents import Origin
from curation.system.errors import BadData, NoInput, other_version
from curation.system.user_files import refuse_large

#: The file's name in a build folder.
FILE = "manifest.json"
#: Programs that decide the content of a build besides its sources; the order is
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


def versions_here() -> dict[str, str]:
    """Return the versions of Python and of the installed programs."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in _DISTRIBUTIONS},
    }


#: The dataset's name, and its name while a part of it is missing.
NAME = "JSONSchemaBench"
PARTIAL_NAME = "JSONSchemaBench-partial"


class ConfigFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one config, as the manifest lists them."""

    #: Raw documents read.
    raw: int
    kept: int
    #: Reason to the number of raw documents rejected for it.
    rejected: Mapping[str, int]
    #: Rule to the number of kept records that it changed.
    changed: Mapping[str, int]
    #: Split to kept records, in the order of the splits.
    splits: Mapping[str, int]
    #: `upstream`, `index`, `sample` or `local`; a config never mixes the sample
    #: with real rows. Several names are joined with `+`.
    origin: str


class Pin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One archive that the build read; the manifest leaves empty fields out."""

    source: str
    archive: str
    origin: Origin
    #: Commit, revision or version.
    commit: str = ""
    #: Digest over the selected files, path and content.
    sha256: str = ""
    licence: str = ""
    #: SPDX terms aside, whom to name.
    attribution: str = ""
    #: Address of the upstream archive or package, without any host's credentials.
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleNote:
    """One rule, as the card and the manifest list it."""

    name: str
    summary: str
    source: str


class BuildFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The facts of a manifest, which cannot be counted from the folder's files."""

    #: The dataset's name.
    name: str
    #: The GUID by which a text from the benchmark is known again.
    canary: str
    #: One sentence for each reason why the build is partial.
    partial: list[str]
    #: The same for each config outside the ten that is not whole.
    lacking: list[str] = []
    #: Name of the rule set.
    rules: str
    #: Version of Python and of each distribution that decides the content.
    versions: dict[str, str]
    pins: list[Pin]
    rule_list: list[RuleNote]
    #: Configs outside the ten and outside `default`.
    extras: list[str]
    #: Options besides the rules: `fastjsonschema`, `instances`.
    options: list[str]
    #: `OWNER/NAME` on the Hub; absent until given to `csbdata card`.
    repository: str = ""


class Manifest(BuildFacts, frozen=True, kw_only=True, omit_defaults=True):
    """The whole of `manifest.json`."""

    #: By the config's name.
    configs: dict[str, ConfigFigures]


_Stated = TypeVar("_Stated", bound=BuildFacts)


def read_facts(folder: Path) -> BuildFacts:
    """Return the facts of a folder's manifest, which may lack the rest.

    Raises:
        NoInput: it is missing.
        BadData: it was not written by csbdata.
    """
    return _read(folder, BuildFacts)


def read_manifest(folder: Path) -> Manifest:
    """Return the whole manifest of a folder.

    Raises:
        NoInput: it is missing.
        BadData: it was not written by csbdata, or holds facts alone.
    """
    return _read(folder, Manifest)


def _read(folder: Path, kind: type[_Stated]) -> _Stated:
    path = folder / FILE
    try:
        return msgspec.json.decode(refuse_large(path).read_bytes(), type=kind)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoInput(
            "no manifest.json here", str(folder), "csbdata build makes a folder with it"
        ) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise NoInput(f"cannot be read ({why})", str(path)) from error
    except msgspec.ValidationError as error:
        raise other_version(error, path) from error
    except (ValueError, RecursionError) as error:
        raise BadData("not JSON", str(path)) from error


def write_manifest(facts: BuildFacts, folder: Path) -> str:
    """Write a manifest, whole or of facts alone; return its path in the folder.

    Raises:
        OSError: it cannot be written.
    """
    text = json.dumps(msgspec.to_builtins(facts), indent=2, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8", newline="\n")
    return FILE


def whole_manifest(facts: BuildFacts, configs: Mapping[str, ConfigFigures]) -> Manifest:
    """Return the manifest of facts, and of the figures of every config."""
    fields = {name: getattr(facts, name) for name in BuildFacts.__struct_fields__}
    return Manifest(**fields, configs=dict(configs))


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOrigins:
    """The origins of the ten configs of a build, each group in benchmark order."""

    #: Config to `upstream` or `index`: schemas that others have published.
    real: Mapping[str, str]
    #: Configs that hold the embedded sample, which was written for this project.
    sample: tuple[str, ...]
    #: The number of real configs, and the names of the others, such as
    #: `9 of the ten configs are real; the embedded sample stands for Glaiveai2K`.
    sentence: str


def list_origins(manifest: Manifest) -> BuildOrigins:
    """Return the origins of a build's ten configs, from its manifest."""
    real, sample, absent = {}, [], []
    for config in CONFIGS:
        figures = manifest.configs.get(config)
        if figures is None or not figures.raw:
            absent.append(config)
        elif figures.origin == Origin.SAMPLE:
            sample.append(config)
        else:
            real[config] = figures.origin
    verb = "are" if len(real) > 1 else "is"
    parts = [f"{len(real) or 'none'} of the ten configs {verb} real"]
    for words, configs in (
        ("the embedded sample stands for", sample),
        ("without", absent),
    ):
        listed = "all ten" if len(configs) == len(CONFIGS) else ", ".join(configs)
        if configs:
            parts.append(f"{words} {listed}")
    return BuildOrigins(real=real, sample=tuple(sample), sentence="; ".join(parts))
