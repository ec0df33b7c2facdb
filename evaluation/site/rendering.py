"""Render templates to pages, with foreign text escaped.

Everything from a record or an engine is text: `{{ }}` escapes markup, and makes
control characters and marks that reorder text visible.
"""

from __future__ import annotations

import gzip
import html
import re
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from curation.system.user_files import safe_name
from curation.system.words import counted, safe, safe_lines
from evaluation.reporting.tables import Cell, duration, to_text
from evaluation.results.edition import is_cut
from evaluation.site.site import Page

if TYPE_CHECKING:
    from evaluation.site.site import Site

#: Scripts and styles.
STATIC: Final = Path(__file__).with_name("static")
#: Spaces inside a figure; a line may end before a bracket.
_INNER: Final = re.compile(r" (?![\[(])")


def render(site: Site, path: str, template: str, title: str, **values: object) -> Page:
    """Return the page of a template.

    Args:
        site: The site that it is of.
        path: Of the page; its depth decides the addresses of all others.
        template: Its name without the ending.
        title: Its heading.
        values: What else the template asks for.

    Raises:
        jinja2.UndefinedError: the template needs a missing value.
    """
    content = part(
        template,
        site=site,
        title=title,
        root="../" * path.count("/"),
        **values,
    )
    return Page(path=path, content=content.encode())


def part(template: str, **values: object) -> str:
    """Return a template filled with values: a page, or a part that a script adds."""
    return _environment().get_template(f"{template}.html.jinja").render(values)


def data_script(path: str, value: object) -> Page:
    """Return a script that sets `packed`: base64 of gzip of JSON."""
    packed = gzip.compress(msgspec.json.encode(value), mtime=0)
    text = f'var packed = "{b64encode(packed).decode()}";\n'
    return Page(path=path, content=text.encode())


def engine_path(engine: str) -> str:
    """Return the path of an engine's page."""
    return f"engine/{safe_name(engine)}.html"


def keyword_path(keyword: str) -> str:
    """Return the path of a keyword's page."""
    return f"can/{safe_name(keyword)}.html"


def record_address(key: str) -> str:
    """Return the address of a record's page, by its `CONFIG/ID`."""
    return f"record.html#{quote(key)}"


def link(address: str, text: str) -> Markup:
    """Return a link, its text escaped."""
    return Markup('<a href="{}">{}</a>').format(address, safe(text))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evaluation.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters |= {
        "counted": counted,
        "duration": duration,
        "figure": figure,
        "percent": lambda share: f"{100 * share:.1f}",
        "lines": _lines,
    }
    environment.globals |= {
        "engine_path": engine_path,
        "is_cut": is_cut,
        "keyword_path": keyword_path,
        "link": link,
        "record_address": record_address,
    }
    return environment


def _visible(value: object) -> object:
    return (
        safe(value) if isinstance(value, str) and type(value) is not Markup else value
    )


def figure(cell: Cell) -> str:
    """Return a cell of a table as the terminal shows it, with unbroken figures."""
    text = safe(to_text(cell))
    return text if isinstance(cell, str) else _INNER.sub("\N{NO-BREAK SPACE}", text)


def _lines(text: str) -> Markup:
    """Return an element's content: text with its line ends, and quotes as they are."""
    return Markup(html.escape(safe_lines(text), quote=False))  # noqa: S704 - escaped
