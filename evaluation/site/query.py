"""Data of all records for the browser, and the page that queries them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from curation.schema.dialects import BY_NAME
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.schema.subschemas import subschemas
from evaluation.results.outcomes import Outcome
from evaluation.site.classes import Class, class_of
from evaluation.site.rendering import data_script, render
from evaluation.tasks.masks import NAME as MASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.results.edition import Line
    from evaluation.site.site import Page, Site

#: The letter of no outcome, in a string with one letter a record.
_NOTHING: Final = "-"
_FLAGS: Final = {True: "1", False: "0", None: _NOTHING}


def pages(site: Site) -> Iterator[Page]:
    """Yield the page, and the data that it shares with `pairs`."""
    yield data_script("records.js", "records", records_data(site))
    names = sorted({name.split(" ")[0] for name, task in site.by_task if task == MASKS})
    examples = ["name:email size:<1000"]
    if names:
        a, b = (names * 2)[:2]
        examples = [f"{a}:silent {b}:right", f"{b}:failed kw:oneOf", *examples]
    title = "Query the records"
    yield render("q.html", "query", site=site, title=title, examples=examples)


def records_data(site: Site) -> dict[str, Any]:
    """Return columns of all records, and what task masks came to under each engine."""
    records = {(it["config"], it["id"]): it for it in _records(site)}
    places = {key: index for index, key in enumerate(records)}
    columns = {name: [it[name] for it in records.values()] for name in _EMPTY}
    outcomes = [str(outcome) for outcome in Outcome]
    data: dict[str, Any] = {
        "classes": {it: class_of({"outcome": it}).slug for it in outcomes},
        "words": {it.slug: it.value for it in Class},
        "outcomes": {chr(97 + index): it for index, it in enumerate(outcomes)},
        "engines": [
            _engine(name, site.by_task[name, MASKS], places)
            for name in site.engines
            if (name, MASKS) in site.by_task
        ],
        "records": columns,
    }
    for plural, name in (("configs", "config"), ("dialects", "dialect")):
        values = sorted(set(columns[name]))
        data[plural] = values
        columns[name] = [values.index(it) for it in columns[name]]
    keywords = sorted(set().union(*columns["keywords"]))
    number = {name: index for index, name in enumerate(keywords)}
    data["keywords"] = keywords
    columns["keywords"] = [
        sorted(number[n] for n in own) for own in columns["keywords"]
    ]
    return data


#: The columns of a record, as they are of one that no dataset describes.
_EMPTY: Final[dict[str, Any]] = {
    "config": "",
    "id": "",
    "title": "",
    "names": "",
    "dialect": "",
    "size": 0,
    "keywords": (),
}


def _records(site: Site) -> Iterator[dict[str, Any]]:
    if site.data is None:
        asked = {(it["config"], it["id"]) for it in site.lines if it["task"] == MASKS}
        for config, id_ in sorted(asked):
            yield {**_EMPTY, "config": config, "id": id_}
    for record in site.records():
        schema = json.loads(record["json_schema"])
        inner = list(subschemas(schema, BY_NAME[record["dialect"]]))
        properties = [it["properties"] for it in inner if "properties" in it]
        names = {name for it in properties if isinstance(it, dict) for name in it}
        title = schema.get("title") if isinstance(schema, dict) else None
        yield {
            "config": record["config"],
            "id": record["unique_id"],
            "title": title if isinstance(title, str) else "",
            "names": "\n".join(sorted(names)),
            "dialect": record["dialect"],
            "size": len(record["json_schema"]),
            "keywords": {name for it in inner for name in it} & KNOWN_KEYWORDS,
        }


def _engine(
    name: str, lines: list[Line], places: dict[tuple[str, str], int]
) -> dict[str, Any]:
    letters = {str(outcome): chr(97 + index) for index, outcome in enumerate(Outcome)}
    outcome, passed, compiled = ([_NOTHING] * len(places) for _ in range(3))
    compile_ns: list[int | None] = [None] * len(places)
    for line in lines:
        index = places.get((line["config"], line["id"]))
        if index is None:  # The edition has it, and the dataset does not.
            continue
        outcome[index] = letters[line["outcome"]]
        passed[index], compiled[index] = (
            _FLAGS[line["passed"]],
            _FLAGS[line["compiled"]],
        )
        compile_ns[index] = line["compile_ns"]
    return {
        "name": name,
        "outcome": "".join(outcome),
        "passed": "".join(passed),
        "compiled": "".join(compiled),
        "compile": compile_ns,
    }
