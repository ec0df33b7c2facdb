"""Find engine files and read their declarations.

`ABOUT`, `OPTIONS` and `PRESETS` are literals read from the text: nothing of an
engine runs outside its worker. The entry point group `csbdata.engines` adds modules.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import orjson

from curation.core.json_types import Json
from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    NoInput,
)
from curation.system.registry import closest_names, list_entry_points
from evaluation.core.run_header import RefusalPattern

_T = TypeVar("_T")
GROUP = "csbdata.engines"
#: The preset closest to the specification.
FAITHFUL = "faithful"
#: The preset with the library's defaults.
VENDOR = "vendor"
#: The name of the engine that constrains nothing.
UNCONSTRAINED = "none"
#: The names of presets; an engine has all or none.
PRESETS = (FAITHFUL, VENDOR, "paper")
_FOLDER = Path(__file__).parents[1] / "engines"
_LITERALS = ("ABOUT", "OPTIONS", "PRESETS")


class EngineAbout(msgspec.Struct, frozen=True, kw_only=True):
    """The `ABOUT` of an engine's file."""

    #: The distribution that does the work; empty where the file itself does.
    distribution: str = ""
    #: The version of an engine without a distribution.
    version: str | None = None
    #: What it is, in one line.
    summary: str = ""
    #: SPDX expression.
    licence: str = ""
    #: Where its project is at home, for tools that want an address.
    homepage: str | None = None
    #: What pip is asked to install; by default the distribution.
    install: str | None = None
    #: The extra of csbdata that installs it alongside csbdata; empty if none does.
    extra: str = ""
    #: Whether its `commit` refuses a token that its mask does not allow.
    checks_commit: bool = True
    #: Whether the paper wrote the tokens that this engine offers as the only
    #: continuation without asking the model ("FF" in its Tables 12 and 13).
    forced_in_paper: bool = False
    #: Names of the files in its folder that it loads.
    beside: tuple[str, ...] | str = ()
    #: Names of the environment variables that it reads, as `RUST_LOG`.
    variables: tuple[str, ...] = ()
    #: What its messages mean; the first pattern found in one counts.
    refusals: tuple[RefusalPattern, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFile:
    """An engine asked for: its file, and the version wanted."""

    #: `llguidance`, or the file's stem where a path was given.
    name: str
    path: Path
    #: Version wanted (`xgrammar==0.1.8`); empty for the one installed here.
    version: str = ""
    about: EngineAbout = field(default_factory=EngineAbout)
    #: The files in its folder that it loads.
    beside: tuple[Path, ...] = ()
    #: Option's name to its type: `bool`, `int`, `float`, `str`, or one with `|null`.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Preset's name to options.
    presets: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    #: Why the file is not an engine's; empty if it is.
    fault: str = ""

    def environment(self) -> dict[str, str]:
        """Return the user's environment variables that its process is given.

        `PYTHONPATH` leads to an engine that is not installed; the file names others.
        """
        names = ("PYTHONPATH", *self.about.variables)
        return {name: os.environ[name] for name in names if name in os.environ}

    @property
    def spec(self) -> str:
        """What to write after `--engine` for this engine."""
        built_in = self.path.parent == _FOLDER
        name = self.name if built_in or self.path.name == "" else str(self.path)
        return f"{name}=={self.version}" if self.version else name

    @property
    def distribution(self) -> str:
        """The distribution that does the work; empty where the file itself does."""
        return self.about.distribution

    def digest(self) -> str:
        """Return the sha256 of the file, and of those that it loads from its folder."""
        if self.fault:
            return hashlib.sha256(self.fault.encode()).hexdigest()
        files = (self.path, *self.beside)
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def engine_paths() -> Mapping[str, Path]:
    """Return the file of every engine that has a name, by name.

    Raises:
        BadConfiguration: an entry point does not name a module.
    """
    paths = {
        path.stem: path
        for path in sorted(_FOLDER.glob("*.py"))
        if path.stem != "__init__"
    }
    return {**paths, **dict(_third_party())}


def find_engine(spec: str) -> EngineFile:
    """Return the engine that a user names.

    Args:
        spec: `NAME`, `NAME==VERSION` or the path of an engine's file.

    Raises:
        NoInput: the path is not a file.
        BadUsage: unknown engine.
        BadConfiguration: its file cannot be read.

    Example:
        >>> find_engine("xgrammar==0.1.8").version
        '0.1.8'
    """
    if spec.endswith(".py"):
        path = Path(spec)
        if not path.is_file():
            raise NoInput("no such file", spec)
        return _read(path.stem, path.resolve(), "")
    name, _, version = (part.strip() for part in spec.partition("=="))
    name = name.replace("-", "_")
    files = engine_paths()
    if name not in files:
        engine, _, preset = spec.partition("@")
        if engine.replace("-", "_").partition("==")[0] in files:
            raise BadUsage(
                f"{engine} has no preset {preset!r}",
                hint=f"use one of {', '.join(PRESETS)}",
            )
        near = closest_names(name, files) or sorted(files)
        hint = f"use {', '.join(near)}, or give the path of a .py file"
        raise BadUsage(f"there is no engine {spec!r}", hint=hint)
    return _read(name, files[name], version)


def choose_options(
    file: EngineFile, preset: str, assignments: Mapping[str, str]
) -> dict[str, Json]:
    """Return an engine's options: a preset's, then the assigned ones.

    Args:
        file: The engine.
        preset: The name of one of its presets.
        assignments: Values as text, by the name of the option.

    Raises:
        BadConfiguration: no such preset or option, or a value of another type.
    """
    # An engine without presets is the same under each that others have.
    presets = file.presets or PRESETS
    if preset not in presets:
        names = ", ".join(presets)
        raise BadUsage(
            f"{file.name} has no preset {preset!r}", hint=f"use one of {names}"
        )
    options = dict(file.presets.get(preset, {}))
    for name, text in assignments.items():
        if name not in file.options:
            near = closest_names(name, file.options)
            names = ", ".join(near or file.options) or "it has none"
            raise BadUsage(f"{file.name} has no option {name!r}", hint=names)
        options[name] = _read_value(file, name, text)
    return options


def _read_value(file: EngineFile, name: str, text: str) -> Json:
    kinds = [kind.strip() for kind in file.options[name].split("|")]
    if "null" in kinds and text == "null":
        return None
    for kind in kinds:
        if kind == "bool" and text in ("true", "false"):
            return text == "true"
        with suppress(ValueError):
            if kind in ("int", "float"):
                return int(text) if kind == "int" else float(text)
        if kind == "str":
            return text
    raise BadUsage(f"{file.name}.{name} takes {' or '.join(kinds)}, not {text!r}")


def _read(name: str, path: Path, version: str) -> EngineFile:
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise BadConfiguration(f"not a Python file ({error})", str(path)) from error
    literals: dict[str, dict[str, Json]] = {name: {} for name in _LITERALS}
    loads = False
    for statement in tree.body:
        loads |= isinstance(statement, ast.FunctionDef) and statement.name == "load"
        target, value = _assignment(statement)
        if target in literals and value is not None:
            literals[target] = _literal(target, value, path)
    if not loads:
        raise BadConfiguration("no function `load(tokenizer, options)`", str(path))
    about = _convert("ABOUT", literals["ABOUT"], EngineAbout, path)
    for index, refusal in enumerate(about.refusals):
        try:
            re.compile(refusal.pattern)
        except (re.error, OverflowError, RecursionError) as error:
            message = f"ABOUT: refusals[{index}]: no regular expression ({error})"
            raise BadConfiguration(message, str(path)) from error
    beside = tuple(path.parent / name for name in about.beside)
    if isinstance(about.beside, str) or not all(file.is_file() for file in beside):
        message = "ABOUT: `beside` must list files of its folder"
        raise BadConfiguration(message, str(path))
    presets = _convert("PRESETS", literals["PRESETS"], dict[str, dict[str, Any]], path)
    try:
        # The first rejects names that are not strings, the second invalid numbers.
        orjson.dumps(presets)
        json.dumps(presets, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadConfiguration(f"PRESETS: {error}", str(path)) from error
    return EngineFile(
        name=name,
        path=path,
        version=version,
        about=about,
        beside=beside,
        options=_convert("OPTIONS", literals["OPTIONS"], dict[str, str], path),
        presets=presets,
    )


def _convert(name: str, literal: Mapping[str, Json], type_: type[_T], path: Path) -> _T:
    try:
        return msgspec.convert(literal, type_)
    except msgspec.ValidationError as error:
        raise BadConfiguration(f"{name}: {error}", str(path)) from error


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    """Return the name and value of an assignment; an empty name for all else."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id, statement.value
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id, statement.value
    return "", None


def _literal(name: str, value: ast.expr, path: Path) -> dict[str, Json]:
    try:
        literal = ast.literal_eval(value)
    except (ValueError, TypeError, MemoryError, RecursionError):
        literal = None
    if not isinstance(literal, dict):
        raise BadConfiguration(f"{name} must be a plain literal dict", str(path))
    return literal


def _third_party() -> Iterator[tuple[str, Path]]:
    for point in list_entry_points(GROUP):
        try:
            spec = find_spec(point.module)
        except (ImportError, ValueError):
            spec = None
        if spec is None or spec.origin is None:
            raise BadConfiguration(
                f"the entry point {point.name!r} names no module", point.value
            )
        yield point.name, Path(spec.origin)


def has_name(file: EngineFile) -> bool:
    """Return whether an engine has a name, and so environments."""
    return engine_paths().get(file.name) == file.path


def install_line(file: EngineFile) -> str:
    """Return the line that installs an engine; empty where none is needed.

    What an engine's file given by its path wants is installed alongside csbdata: only
    an engine with a name has environments.
    """
    if not file.distribution:
        return ""
    version = f"=={file.version}" if file.version else ""
    if has_name(file):
        return f"csbdata engines add {file.name}{version}"
    install = file.about.install
    words = (file.distribution if install is None else install).split()
    return shlex.join(["pip", "install", *words])
