"""Render templates, with foreign text escaped.

Names, paths and attributions come from archives that anyone may have made. They never
become markup, HTML, a formula or a terminal's control sequence.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from curation.core.json_types import UntypedJson
from curation.system.user_files import cards_folder
from curation.system.words import safe

_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+!|~$])")
# What mail readers, browsers and Markdown make an address of without being asked.
_ADDRESS = re.compile(r"(?i)(https?|ftp|www)([:.])")
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def escape_markdown(value: object) -> str:
    """Escape foreign text to one line without Markdown, HTML or addresses."""
    escaped = html.escape(_PUNCTUATION.sub(r"\\\1", safe(str(value))), quote=False)
    return _ADDRESS.sub(lambda match: f"{match[1]}&#{ord(match[2])};", escaped)


def sentence(value: object) -> str:
    """Escape our own sentence, which may quote foreign text; code spans stay."""
    parts = _SPAN.split(str(value))
    return "".join(
        code(part) if number % 2 else escape_markdown(part)
        for number, part in enumerate(parts)
    )


def prose(value: str) -> str:
    """Escape our own Markdown for a table cell: code spans stay."""
    return safe(value).replace("|", "\\|").replace("<", "&lt;")


def code(value: object) -> str:
    """Return a code span that nothing inside can end."""
    inner = safe(str(value)).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", inner)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def link(address: str) -> str:
    """Return a link to our own or a pin's address; empty without one."""
    if not re.fullmatch(r"https://[\w.~/%#?=&+@:-]+", address, re.ASCII):
        return ""
    return f"<{address}>"


def python(value: UntypedJson) -> str:
    """Return a value as JSON: for a string also a literal of Python, and valid YAML."""
    return json.dumps(value, ensure_ascii=False)


def anchor(title: str) -> str:
    """Return the fragment that the Hub and GitHub give a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


_FILTERS: dict[str, Callable[..., str]] = {
    "text": escape_markdown,
    "sentence": sentence,
    "line": safe,
    "prose": prose,
    "code": code,
    "link": link,
    "python": python,
    "anchor": anchor,
}


def _tally(counts: Mapping[str, int], style: str = "text") -> str:
    """Return names with their counts, the names through a filter."""
    parts = (f"{_FILTERS[style](name)} {count:,}" for name, count in counts.items())
    return ", ".join(parts)


def render_template(template: str, values: Mapping[str, UntypedJson]) -> str:
    """Render a template of `cards/`; the text ends with one line end.

    Raises:
        jinja2.UndefinedError: the template needs an unknown value.
    """
    environment = SandboxedEnvironment(
        loader=FileSystemLoader(cards_folder()),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        # Whole numbers are printed in groups of three.
        finalize=lambda value: f"{value:,}" if type(value) is int else value,
    )
    environment.filters |= {**_FILTERS, "tally": _tally}
    filled = environment.get_template(template).render(values)
    return re.sub(r"\n{3,}", "\n\n", filled).strip() + "\n"
