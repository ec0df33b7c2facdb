"""The forms in which the user may name schemas of their own: `--with FORM:WHAT`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curation.sources.own.hub_rows import read_hub_rows
from curation.sources.own.mcp_server import read_mcp_server
from curation.sources.own.openapi_bodies import read_openapi
from curation.sources.own.pydantic_models import read_models
from curation.sources.own.tool_lists import read_tool_list

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.sources.own.schema import OwnSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of the user's own schemas."""

    #: The word in front of the colon.
    name: str
    #: What stands behind it, as a help text writes it.
    wanted: str
    #: Returns the schemas; told where to say what is worth knowing.
    read: Callable[[str, Callable[[str], None]], list[OwnSchema]]
    #: Whether what stands behind the colon is the path of a file.
    names_file: bool = False


_FORMS = (
    Form(
        name="openapi",
        wanted="FILE",
        read=lambda given, say: read_openapi(Path(given), say),
        names_file=True,
    ),
    Form(
        name="tools",
        wanted="FILE",
        read=lambda given, say: read_tool_list(Path(given), say),
        names_file=True,
    ),
    Form(name="mcp", wanted="COMMAND", read=read_mcp_server),
    Form(name="pydantic", wanted="MODULE", read=read_models),
    Form(name="hf", wanted="OWNER/NAME@REVISION#COLUMN", read=read_hub_rows),
)
#: The forms by their names.
FORMS: Mapping[str, Form] = {form.name: form for form in _FORMS}
