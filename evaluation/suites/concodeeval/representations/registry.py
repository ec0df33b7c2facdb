"""The five representations, in the order of the paper's tables."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from evaluation.suites.concodeeval.representations.json_text import (
    schema_from_json,
    write_json,
)
from evaluation.suites.concodeeval.representations.natural_language import (
    schema_from_english,
    write_english,
)
from evaluation.suites.concodeeval.representations.python_code import write_python
from evaluation.suites.concodeeval.representations.representation import Representation
from evaluation.suites.concodeeval.representations.xml_text import (
    schema_from_xml,
    write_xml_schema,
)
from evaluation.suites.concodeeval.representations.yaml_text import (
    schema_from_yaml,
    write_yaml,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALL: Final = (
    Representation(name="json", title="JSON", write=write_json, read=schema_from_json),
    Representation(
        name="xml", title="XML", write=write_xml_schema, read=schema_from_xml
    ),
    Representation(name="yaml", title="YAML", write=write_yaml, read=schema_from_yaml),
    # Code is run, in a child process, and never read (`python_runner`).
    Representation(name="python", title="Python", write=write_python, read=None),
    Representation(
        name="nl",
        title="natural language",
        write=write_english,
        read=schema_from_english,
    ),
)
#: Every representation by its name.
REPRESENTATIONS: Final[Mapping[str, Representation]] = MappingProxyType(
    {representation.name: representation for representation in _ALL}
)
