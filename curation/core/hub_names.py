"""Parse names of datasets and models on the Hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
#: The folder that builds are written into.
_BUILDS = "build"
_DATASET_PREFIXES = ("hf://datasets/", "")
_MODEL_PREFIXES = ("hf://models/", "hf://", "")


class HubName(NamedTuple):
    """A repository, and which state of it."""

    #: `owner/name`.
    name: str
    #: Branch, tag or commit; None for the default branch.
    revision: str | None


def dataset_name(text: str) -> HubName | None:
    """Read `owner/name`, `owner/name@revision`, or the same after `hf://datasets/`.

    None for anything else. `build/name` is a folder of ours that is not there, and so
    is a path into a folder that is: neither is asked of the Hub without the prefix.

    Example:
        >>> dataset_name("hf://datasets/epfl-dlab/JSONSchemaBench@2026.11.28")
        HubName(name='epfl-dlab/JSONSchemaBench', revision='2026.11.28')
    """
    folder = text.partition("/")[0]
    if folder == _BUILDS or Path(folder).is_dir():
        return None
    return _parsed(text, _DATASET_PREFIXES)


def model_name(text: str) -> HubName | None:
    """Read `owner/name`, `owner/name@revision`, or the same after `hf://`.

    None for anything else.
    """
    return _parsed(text, _MODEL_PREFIXES)


def _parsed(text: str, prefixes: tuple[str, ...]) -> HubName | None:
    for prefix in prefixes:
        if text.startswith(prefix):
            match = _NAME.fullmatch(text.removeprefix(prefix))
            if match:
                return HubName(name=match["name"], revision=match["revision"])
    return None
