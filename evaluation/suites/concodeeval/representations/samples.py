"""Samples in the formats in which models read and write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.concodeeval.answers.read_answer import Output
from evaluation.suites.concodeeval.representations.json_text import write_json
from evaluation.suites.concodeeval.representations.xml_text import write_xml
from evaluation.suites.concodeeval.representations.yaml_text import write_yaml

if TYPE_CHECKING:
    from curation.core.json_types import Json


def write_sample(value: Json, output: Output) -> str:
    r"""Return a sample as text of one format.

    Example:
        >>> write_sample([1, 2], Output.YAML)
        '- 1\n- 2'
    """
    match output:
        case Output.JSON:
            return write_json(value)
        case Output.YAML:
            return write_yaml(value)
    return write_xml(value)
