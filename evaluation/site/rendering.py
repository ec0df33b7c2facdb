"""Render templates to pages: foreign text escaped, scripts and styles by digest alone.

Everything that a record or an engine says is text: `{{ }}` escapes markup, and makes
control characters and marks that reorder text visible.
"""

from __future__ import annotations

import gzip
import html
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from curation.system.escaping import safe, safe_lines
from curation.system.file_names import safe_name
from curation.system.words import counted
from evaluation.reporting.tables import Cell, Duration, Rate, text_of
from evaluation.results.edition import is_cut
from evaluation.site.site import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.documents import Explained
    from evaluation.results.edition import Line
    from evaluation.site.site import Site

#: Scripts and styles.
STATIC: Final = Path(__file__).with_name("static")
#: Nothing is fetched but what is the site's own; no text can become a script.
_POLICY: Final = (
    "default-src 'none'; style-src 'sha256-{style}'; script-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
#: Spaces inside a figure; a line may end before what is in brackets.
_INNER: Final = re.compile(r" (?![\[(])")

#: Units of a bar's width and height.
_WIDTH: Final = 1000
_HEIGHT: Final = 28
_BAR: Final = Markup(
    '<svg class="bar" viewBox="0 0 {width} {height}" preserveAspectRatio="none" '
    'role="img" aria-label="{label}">{parts}</svg>'
)
_PART: Final = Markup(
    '<rect class="{name}" x="{x:.1f}" y="3" width="{width:.1f}" height="22">'
    "<title>{title}</title></rect>"
)
#: From the low to the high end of an interval.
_WHISKER: Final = Markup(
    '<path class="whisker" vector-effect="non-scaling-stroke" '
    'd="M{low:.1f} 14H{high:.1f}M{low:.1f} 8V20M{high:.1f} 8V20"/>'
)


def render(site: Site, path: str, template: str, title: str, **values: object) -> Page:
    """Return the page of a template.

    Args:
        site: The site that it is of.
        path: Of the page; its depth decides the addresses of all others.
        template: Its name without the ending.
        title: Its heading.
        values: What else the template asks for.

    Raises:
        jinja2.UndefinedError: the template asks for what is not there.
    """
    style = (STATIC / "site.css").read_text()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    content = part(
        template,
        site=site,
        title=title,
        root="../" * path.count("/"),
        style=Markup(style),  # noqa: S704 - our own file
        policy=_POLICY.format(style=digest),
        **values,
    )
    return Page(path=path, content=content.encode())


def part(template: str, **values: object) -> str:
    """Return what a template makes of values: a page, or a part that a script adds."""
    return _environment().get_template(f"{template}.html.jinja").render(values)


def data_script(path: str, name: str, value: object) -> Page:
    """Return a script that calls `csbdata.data(name, text)`; `data.js` reads the text.

    The text is base64 of gzip of JSON, the same bytes each time.
    """
    packed = gzip.compress(msgspec.json.encode(value), mtime=0)
    text = f'csbdata.data("{name}", "{b64encode(packed).decode()}");\n'
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


def times_of(line: Line) -> dict[str, Duration | None]:
    """Return the time of the compile call and the time between masks."""
    return {
        name: None if line[name] is None else Duration(line[name], cut)
        for name, cut in (("compile_ns", is_cut(line)), ("between_ns", False))
    }


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
        "duration": Duration,
        "figure": figure,
        "percent": _percent,
        "side": _side,
        "lines": _lines,
    }
    environment.globals |= {
        "engine_path": engine_path,
        "keyword_path": keyword_path,
        "link": link,
        "record_address": record_address,
        "stacked_bar": stacked_bar,
        "times_of": times_of,
    }
    return environment


def _visible(value: object) -> object:
    return (
        safe(value) if isinstance(value, str) and type(value) is not Markup else value
    )


def figure(cell: Cell) -> str:
    """Return a cell of a table as the terminal shows it, with unbroken figures."""
    text = safe(text_of(cell))
    return text if isinstance(cell, str) else _INNER.sub("\N{NO-BREAK SPACE}", text)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _side(cell: Cell) -> str:
    """Return the class of a cell: figures stand to the right."""
    return "text" if cell is None or isinstance(cell, str) else "figure"


def _lines(text: str) -> Markup:
    """Return what an element holds: text with its line ends, and quotes as they are."""
    return Markup(html.escape(safe_lines(text), quote=False))  # noqa: S704 - escaped


def stacked_bar(rates: Mapping[Explained, Rate]) -> Markup:
    """Return a bar of shares, with the 95 % interval of the first one.

    It has no style in it, since a page's policy allows none.
    """
    parts, x = Markup(), 0.0
    for each, rate in rates.items():
        width = _WIDTH * (rate.share or 0)
        if width:
            title = f"{each}: {rate}"
            parts += _PART.format(name=each.name.lower(), x=x, width=width, title=title)
        x += width
    first = next(iter(rates.values()))
    if (between := first.interval) is not None:
        parts += _WHISKER.format(low=_WIDTH * between.low, high=_WIDTH * between.high)
    label = "; ".join(f"{each}: {rate}" for each, rate in rates.items() if rate.count)
    return _BAR.format(width=_WIDTH, height=_HEIGHT, label=label, parts=parts)
