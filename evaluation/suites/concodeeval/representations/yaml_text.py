"""YAML: block style, members sorted by name, texts quoted where they must be.

What is written means the same in YAML 1.1 and in YAML 1.2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import yaml

from evaluation.suites.concodeeval.answers.model import value_of
from evaluation.suites.concodeeval.answers.yaml_answer import read_yaml

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: Plain texts that YAML 1.2 takes for numbers, and YAML 1.1 does not.
_NUMBER_IN_1_2: Final = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+"
)


class _Dumper(yaml.CSafeDumper):
    """Quotes what either version of YAML would take for something else."""


def _write_text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if _NUMBER_IN_1_2.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)
_Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]  # as PyYAML documents


def write_yaml(value: Json) -> str:
    """Return a value as a YAML document, without a line for its end."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=True,
        allow_unicode=True,
    )
    return text.removesuffix("...\n").rstrip("\n")


def schema_from_yaml(text: str) -> Json:
    """Return the schema of a YAML text that `write_yaml` wrote.

    Raises:
        ValueError: it is no YAML.
    """
    return value_of(read_yaml(text))
